"""A played game as a small JSON document, and its replay with every action and score checked.

::

    {"format": "jolly record", "version": 1,
     "rules": {"target": 250},                        fields of Rules that differ from the default
     "seed": 7,                                       what the game was seeded with, or null
     "agents": ["greedy", "runs/x/best"],             by seat
     "rounds": [{"deck": "Ac 2d * ...",               in the order in which it was dealt (R2)
                 "reshuffles": ["Th ..."],            each recycled stock in the order in which it was drawn (R12)
                 "actions": ["draw", "lay Kc Kd Kh", "discard Th"],
                 "scores": [80, -20],                 null, as "closer", where the round was not finished
                 "closer": 0,                         seat, or null
                 "hand_jolly": false}],
     "totals": [80, -20]}

Rounds and actions are counted from 0. A record is a plain ``dict``.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from jolly_env import document as doc
from jolly_env.actions import parse_action
from jolly_env.cards import format_cards
from jolly_env.explain import why_not
from jolly_env.game import Game, checked_game
from jolly_env.rules import Rules
from jolly_env.state import Phase

Record: TypeAlias = dict[str, Any]

FORMAT, VERSION = "jolly record", 1
KEYS = ("format", "version", "rules", "seed", "agents", "rounds", "totals")
ROUND_KEYS = ("deck", "reshuffles", "actions", "scores", "closer", "hand_jolly")
POINTS = 2**62


class DamagedRecord(ValueError):  # noqa: N818 - named as IllegalAction is
    """A record that is not one, or that does not replay; the message names where it first goes wrong."""


def of(game: Game, agents: Sequence[str] | None = None) -> Record:
    """Return the record of a game as far as it is played; ``agents`` are named by seat.

    ``ValueError`` for a game that went on from a position, whose deal is not known, or for a wrong number of agents.
    """
    checked_game(game)
    if agents is not None and (isinstance(agents, str | bytes) or not isinstance(agents, Iterable)):
        raise ValueError(f"record: agents: expected a list of names, got {doc.shown(agents)}")
    names = [f"player_{seat}" for seat in range(game.players)] if agents is None else [str(name) for name in agents]
    if len(names) != game.players:
        raise ValueError(f"record: {len(names)} agents, but the game has {game.players} players")
    logs = [*game.finished, game.log()]
    if not all(log["deck"] for log in logs):
        raise ValueError(
            "record: the game went on from a position, so its deal is not known; save the position instead"
        )
    again: Game | None = None
    rounds = []
    for log in logs:
        again = _deal(again, game.rules, game.seed, log["deck"], log["reshuffles"])
        rounds.append(
            {
                "deck": format_cards(log["deck"]),
                "reshuffles": [format_cards(cards) for cards in log["reshuffles"]],
                "actions": [_played(again, action) for action in log["actions"]],
                "scores": log["scores"],
                "closer": log["closer"],
                "hand_jolly": log["hand_jolly"],
            }
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": game.rules.to_json(),
        "seed": game.seed,
        "agents": names,
        "rounds": rounds,
        "totals": game.totals,
    }


def save(record: Record, path: str | Path) -> None:
    """Write a record to a file: beside it first, then renamed, so that a failure leaves an older file as it was.

    ``DamagedRecord`` for a document that has not the form of a record.
    """
    replace_file(path, (json.dumps(check_form(record), indent=1, ensure_ascii=False) + "\n").encode())


def load(path: str | Path) -> Record:
    """Return the record in a file, its form checked; ``DamagedRecord`` names the file and the first fault.

    ``ValueError`` for what is no path.
    """
    file = _path(path)
    try:
        document = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DamagedRecord(f"{path}: not a JSON document: {error}") from None
    return check_form(document, str(path))


def check_form(document: Any, name: str = "record") -> Record:
    """Return a document if it has the form of a record; ``DamagedRecord`` begins with ``name``."""
    try:
        fields = doc.members(document, "record", KEYS, KEYS)
        doc.heading(fields, "record", FORMAT, VERSION)
        players = doc.rules(fields["rules"], "rules").players
        if fields["seed"] is not None:
            doc.whole(fields["seed"], "seed", 0, 10**40)
        for seat, agent in enumerate(doc.entries(fields["agents"], "agents", players)):
            doc.text(agent, f"agents[{seat}]")
        doc.whole_list(fields["totals"], "totals", players, -POINTS, POINTS)
        rounds = doc.entries(fields["rounds"], "rounds")
        if not rounds:
            raise ValueError("rounds: a record has at least one")
        for number, played in enumerate(rounds):
            path = f"rounds[{number}]"
            _check_round(played, path, players)
            if played["scores"] is None and number + 1 < len(rounds):
                raise ValueError(f"{path}.scores: only the last round may be unfinished")
    except ValueError as error:
        raise DamagedRecord(f"{name}: {error}") from None
    return fields


def replay(record: Any, name: str | None = None) -> Iterator[Game]:
    """Play a record, or the record in a file, again: yield the game after each deal and each action.

    The game is played on afterwards: ``clone`` it to keep a position. Each action must be legal and be written as the
    game writes it, and scores, closers, Hand-Jollys and totals must come out the same: ``DamagedRecord`` names the file
    (or ``name``), the round, the action and what is wrong first.
    """
    if isinstance(record, str | Path):
        name = str(record) if name is None else name
        record = load(record)
    name = "record" if name is None else name
    check_form(record, name)
    rules = Rules.from_json(record["rules"])
    game: Game | None = None
    for number, played in enumerate(record["rounds"]):
        where = f"{name}: round {number}"
        try:
            cards = doc.cards(played["deck"], "deck")
            given = [doc.cards(text, f"reshuffles[{i}]") for i, text in enumerate(played["reshuffles"])]
            game = _deal(game, rules, record["seed"], cards, given)
        except ValueError as error:
            raise DamagedRecord(f"{where}: {error}") from None
        yield game
        for i, text in enumerate(played["actions"]):
            try:
                _play(game, text)
            except ValueError as error:
                raise DamagedRecord(f"{where}, action {i}, {doc.shown(text)}: {error}") from None
            yield game
        _check_outcome(game, played, where)
    assert game is not None
    if game.totals != record["totals"]:
        raise DamagedRecord(f"{name}: totals: {record['totals']}, but the rounds add up to {game.totals} (R18)")


def check(record: Any, name: str | None = None) -> Game:
    """Replay a record, or the record in a file, to its end and return the game; errors as in :func:`replay`."""
    game: Game | None = None
    for position in replay(record, name):
        game = position
    assert game is not None
    return game


def replace_file(path: str | Path, data: bytes) -> None:
    """Write a file beside ``path`` and rename it to that; on an ``OSError`` nothing of it remains."""
    path = _path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        if isinstance(error, OSError):  # it names the user's file, not ours beside it
            error.filename, error.filename2 = str(path), None
        raise


def _path(given: Any) -> Path:
    """Return the path of a file; ``ValueError`` for what is none."""
    try:
        return Path(given)
    except TypeError:
        raise ValueError(f"record: expected the path of a file, got {doc.shown(given)}") from None


def _deal(game: Game | None, rules: Rules, seed: int | None, deck: Any, reshuffles: Any) -> Game:
    """Begin a game, or its next round, with these cards; by the seed where it deals the same.

    So the random streams of a replayed game, too, are those of the game that was played.
    """
    if game is None:
        dealt = Game(rules, seed=seed, reshuffles=reshuffles) if seed is not None else None
        return dealt if dealt and dealt.deck == deck else Game(rules, seed=seed, deck=deck, reshuffles=reshuffles)
    before = game.clone()
    game.next_round(None, reshuffles)
    if game.deck == deck:
        return game
    before.next_round(deck, reshuffles)
    return before


def _played(game: Game, action: int) -> str:
    """Play an action and return it in notation."""
    text = game.format(action)
    game.step(action)
    return text


def _play(game: Game, text: str) -> None:
    """Play an action in notation; ``ValueError`` if it is not legal, or not written as the game writes it."""
    action = parse_action(text)
    if not game.is_legal(action):
        raise ValueError(f"not legal: {why_not(game.state, action)}")
    written = game.format(action)
    if written != text:
        raise ValueError(f"the action there is {written!r}")
    game.step(action)


def _check_round(value: Any, path: str, players: int) -> None:
    """Make sure that a round has the form of one; ``ValueError`` names the first fault."""
    played = doc.members(value, path, ROUND_KEYS, ROUND_KEYS)
    doc.text(played["deck"], f"{path}.deck")
    for name in ("reshuffles", "actions"):
        for i, text in enumerate(doc.entries(played[name], f"{path}.{name}")):
            doc.text(text, f"{path}.{name}[{i}]")
    if played["scores"] is not None:
        doc.whole_list(played["scores"], f"{path}.scores", players, -POINTS, POINTS)
    if played["closer"] is not None:
        doc.whole(played["closer"], f"{path}.closer", 0, players - 1)
    doc.flag(played["hand_jolly"], f"{path}.hand_jolly")


def _check_outcome(game: Game, played: dict[str, Any], where: str) -> None:
    """Make sure that a replayed round came out as the record says."""
    if len(game.reshuffles) != len(played["reshuffles"]):
        raise DamagedRecord(
            f"{where}: {len(played['reshuffles'])} reshuffles, but the row was recycled {len(game.reshuffles)} times"
        )
    over = game.phase in (Phase.ROUND_OVER, Phase.GAME_OVER)
    if (played["scores"] is not None) != over:
        raise DamagedRecord(
            f"{where}: {len(played['actions'])} actions, and the round is {'over' if over else 'not over'}, but it has "
            f"{'no ' if over else ''}scores"
        )
    outcome = game.log()
    for name in ("scores", "closer", "hand_jolly"):
        if played[name] != outcome[name]:
            raise DamagedRecord(f"{where}: {name}: {played[name]}, but the actions lead to {outcome[name]}")
