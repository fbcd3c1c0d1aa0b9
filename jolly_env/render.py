"""A table as text for a terminal: what a seat may know, or everything.

Suits are ♣♦♥♠, hearts and diamonds red where colours are wanted; a joker in a run is written with the card that it
stands for, ``*7♥``. A meld stands with the seat that laid most of it, and a small number marks the cards of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from jolly_env.cards import CARD_KINDS, JOKER, JOKER_CHAR, RANK_CHARS, RANKS, SUIT_SYMBOLS, Card
from jolly_env.game import Game, checked_game
from jolly_env.notation import meld_slots, meld_words
from jolly_env.observation import as_record, rules_of, wide
from jolly_env.state import Ending, Phase

WIDTH = 100
"""Columns that a line keeps to."""
RED, BOLD, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
SMALL = "⁰¹²³"
INDENT = 12

_PHASES = {Phase.DRAW: "to draw", Phase.PLAY: "to play", Phase.ROUND_OVER: "round over", Phase.GAME_OVER: "game over"}
_ENDINGS = {Ending.EXHAUSTED: "no draw was left (R12)", Ending.CUT_OFF: "cut off (R17)"}


def render_text(observation: Any, colour: bool = True) -> str:
    """Return the table as the seat of an observation knows it, in lines of at most 100 columns.

    ``observation`` is a record of OBSERVATION, an array of one, or its flat vector; ``ValueError`` for anything else.
    """
    record = as_record(observation)
    if np.ndim(record):
        if np.size(record) != 1:
            raise ValueError(f"render: expected one observation, got an array of {np.size(record)}")
        record = np.reshape(record, 1)[0]
    return "\n".join(_table(record, {int(record["seat"]): record["hand"]}, colour))


def render_game(game: Game, colour: bool = True) -> str:
    """Return the table with all hands, the next cards of the stock, and the outcome of a round that is over.

    ``ValueError`` for what is no game.
    """
    state = checked_game(game).state
    lines = _table(game.observe(0)[0], {seat: state["hands"][seat] for seat in range(game.players)}, colour)
    if game.phase in (Phase.ROUND_OVER, Phase.GAME_OVER):
        if game.closer is not None:
            how = f"player_{game.closer} closed" + (" with a Hand-Jolly" if game.hand_jolly else "")
        else:
            how = _ENDINGS.get(game.ending, "the round ended")
        scores = ", ".join(f"player_{seat} {points:+d}" for seat, points in enumerate(game.scores))
        lines.append(f"{how}: {scores}")
    else:
        lines += _flow("stock", (_card(c, c, colour) for c in game.stock()))
    return "\n".join(lines)


def _table(record: Any, hands: Mapping[int, Any], colour: bool) -> list[str]:
    """Return the lines of a table; ``hands`` are the counts of the hands to show, by seat."""
    me = int(record["seat"])
    players = rules_of(record).players
    mover = (me + int(record["to_move"])) % players
    phase = Phase(int(record["phase"]))
    who = f"player_{mover} {_PHASES[phase]}" if phase in (Phase.DRAW, Phase.PLAY) else _PHASES[phase]
    facts = [
        f"round {int(wide(record, 'round'))}",
        f"turn {int(wide(record, 'turn'))}",
        who,
        f"stock {int(record['stock_size'])}",
        f"row {int(record['row_size'])}",
    ]
    if record["opening_laid"] > 0:
        facts.append(f"{int(record['opening_laid'])} of {rules_of(record).opening_points} points to open")
    lines = [_styled("  ".join(facts), BOLD, colour)]
    row = [int(c) for c in record["row_cards"][: int(record["row_size"])]]
    lines += _flow("row", [_card(c, c, colour) for c in row] or [("-", 1)])
    lines += [line for m in range(int(record["meld_count"])) for line in _meld(record, m, me, players, colour)]
    for seat in range(players):
        lines += _player(record, seat, (seat - me) % players, seat == mover, hands.get(seat), colour)
    return lines


def _meld(record: Any, m: int, me: int, players: int, colour: bool) -> list[str]:
    """Return the lines of a meld."""
    slots = meld_slots(record, m)
    seats = [(me + int(record["meld_seats"][m][slot])) % players for slot in slots]
    owner = max(range(players), key=seats.count)
    words = []
    for (laid, meant), seat in zip(meld_words(record, m), seats, strict=True):
        word, width = _card(laid, meant, colour)
        mark = "" if seat == owner else SMALL[seat]
        words.append((word + mark, width + len(mark)))
    fresh = "  new" if record["meld_this_turn"][m] else ""
    lines = _flow(f"m{m:<2} by {owner}", words)
    return [*lines[:-1], lines[-1] + fresh]


def _player(record: Any, seat: int, place: int, moves: bool, hand: Any, colour: bool) -> list[str]:
    """Return the lines of a player: ``place`` is the seat as counted from the observer, ``hand`` None if hidden."""
    turn = int(wide(record, "opened_turn")[place])
    facts = [
        f"{'>' if moves else ' '} player_{seat}",
        f"{int(record['hand_size'][place]):2} cards",
        f"laid {int(record['laid'][place]):4}",
        f"total {int(wide(record, 'total')[place]):5}",
        "not opened" if turn < 0 else f"opened in turn {turn}",
    ]
    lines = [_styled("  ".join(facts), BOLD if moves else "", colour)]
    if hand is not None:
        lines += _flow("hand", [_card(c, c, colour) for c in _listed(hand)] or [("-", 1)])
    else:
        known = [_card(c, c, colour) for c in _listed(record["known"][place])]
        lines += _flow("known", known) if known else []
    return lines


def _listed(counts: Any) -> list[Card]:
    """Return cards given as counts, by suit."""
    return [card for card in range(CARD_KINDS) for _ in range(int(counts[card]))]


def _card(laid: Card, meant: Card, colour: bool) -> tuple[str, int]:
    """Return a card as it is shown, and how many columns it takes."""
    if meant == JOKER:
        return JOKER_CHAR, 1
    suit, rank = divmod(meant, RANKS)
    word = (JOKER_CHAR if laid == JOKER else "") + RANK_CHARS[rank] + SUIT_SYMBOLS[suit]
    return _styled(word, RED if suit in (1, 2) else "", colour), len(word)


def _styled(text: str, style: str, colour: bool) -> str:
    """Return a text in a style if colours are wanted."""
    return f"{style}{text}{PLAIN}" if colour and style else text


def _flow(title: str, words: Iterable[tuple[str, int]]) -> list[str]:
    """Return words of known widths in lines of at most WIDTH columns, less room for a remark, under a title."""
    lines, line, used = [], "  " + title.ljust(INDENT - 2), INDENT
    for word, width in words:
        if used + width + 1 > WIDTH - 6:
            lines.append(line.rstrip())
            line, used = " " * INDENT, INDENT
        line += word + " "
        used += width + 1
    return [*lines, line.rstrip()]
