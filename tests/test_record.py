"""Records: golden rounds and games of several rounds replay; a damaged record says where it first goes wrong."""

from __future__ import annotations

import copy
import errno
import json
import os
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jolly_env import Rules, record
from jolly_env.game import Game
from jolly_env.record import DamagedRecord
from jolly_env.state import Phase

GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "data" / "rounds.jsonl").read_text().splitlines()]


def golden_game(golden: dict) -> Game:
    rules = Rules(players=golden["players"], **golden["rules"])
    game = Game(rules, seed=1, deck=golden["deck"], reshuffles=golden["reshuffles"])
    for action in golden["actions"]:
        game.step(action)
    return game


def random_game(seed: int, steps: int = 10**6, **rules) -> Game:
    """A game of random legal actions, melds preferred."""
    chance = random.Random(seed)
    game = Game(Rules(**rules), seed=seed)
    while not game.over and steps > 0:
        if game.phase is Phase.ROUND_OVER:
            game.next_round()
        legal = game.legal_actions().tolist()
        lays = [a for a in legal if 20 <= a < 786]
        game.step(chance.choice(lays if lays and chance.random() < 0.6 else legal))
        steps -= 1
    return game


@pytest.mark.parametrize("golden", GOLDEN, ids=[f"{g['kind']}-{i}" for i, g in enumerate(GOLDEN)])
def test_golden_rounds_are_records(golden, tmp_path):
    game = golden_game(golden)
    path = tmp_path / "round.json"
    record.save(record.of(game), path)
    seats = []
    for position in record.replay(path):
        seats.append(position.seat)
    assert seats[: len(golden["seats"])] == golden["seats"]
    assert position.to_bytes() == game.to_bytes()
    document = json.loads(path.read_text())
    assert document["rounds"][0]["scores"] == golden["scores"] == document["totals"]
    assert document["rounds"][0]["closer"] == golden["closer"]
    assert document["rounds"][0]["hand_jolly"] == golden["hand_jolly"]


@pytest.mark.parametrize("steps", [0, 1, 70, 500, 10**6])
def test_a_game_of_several_rounds_comes_back_with_its_random_streams(steps, tmp_path):
    game = random_game(3, steps, players=3, target=900)
    record.save(record.of(game, ["greedy", "random", "runs/x/best"]), tmp_path / "game.json")
    loaded = record.load(tmp_path / "game.json")
    assert loaded["agents"] == ["greedy", "random", "runs/x/best"]
    assert loaded["rules"] == {"players": 3, "target": 900}
    assert len(loaded["rounds"]) == len(game.finished) + 1 > (steps > 500)
    again = record.check(loaded)
    assert again.states.tobytes() == game.states.tobytes()
    assert record.of(again, loaded["agents"]) == loaded


def test_a_replay_shows_every_position():
    game = random_game(5)
    positions = [position.clone() for position in record.replay(record.of(game))]
    assert len(positions) == len(game.played) + 1
    assert [len(position.played) for position in positions] == list(range(len(positions)))


def test_a_card_put_on_top_is_part_of_the_record():
    for seed in range(6):
        game = random_game(seed, 5)
        game.put_on_top(game.stock()[-1])
        chance = random.Random(seed)
        while not game.over:
            if game.stock() and chance.random() < 0.2:
                game.put_on_top(chance.choice(game.stock()))
            game.step(chance.choice(game.legal_actions().tolist()))
        assert record.check(record.of(game)).totals == game.totals


def test_what_has_no_record():
    with pytest.raises(ValueError, match="3 agents, but the game has 2 players"):
        record.of(Game(seed=1), ["a", "b", "c"])
    with pytest.raises(ValueError, match="went on from a position"):
        record.of(Game.from_json(Game(seed=1).to_json()))


WHOLE = record.of(random_game(11, players=2, target=600))


def changed(*path, to=None, **parts):
    """The whole record with one part changed, or deleted where nothing is given."""
    document = copy.deepcopy(WHOLE)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    if to is None and not parts:
        del holder[path[-1]]
    else:
        holder[path[-1]] = to
    return document


FIRST = WHOLE["rounds"][0]
LATE = next(i for i, text in enumerate(FIRST["actions"]) if text.startswith("discard") and i > 20)


def test_the_record_to_be_damaged_is_whole_and_has_rounds():
    assert len(WHOLE["rounds"]) > 1
    record.check(WHOLE)


DAMAGE = [
    ([], "game.json: record: expected an object, got []"),
    (changed("totals"), "game.json: record: the key 'totals' is missing"),
    ({**WHOLE, "colour": 1}, "game.json: record: no key 'colour'"),
    (changed("format", to="chess"), "game.json: record.format: expected 'jolly record', got 'chess'"),
    (changed("version", to=2), "game.json: record.version: 2 is newer than 1"),
    (changed("version", to=0), "game.json: record.version: 0 is older than 1"),
    (changed("rules", to={"players": 9}), "game.json: rules: players=9"),
    (changed("agents", to=["a"]), "game.json: agents: expected 2 entries, got 1"),
    (changed("seed", to="x"), "game.json: seed: expected a whole number"),
    (changed("rounds", to=[]), "game.json: rounds: a record has at least one"),
    (changed("rounds", 0, "deck"), "game.json: rounds[0]: the key 'deck' is missing"),
    (changed("rounds", 0, "actions", 3, to=7), "game.json: rounds[0].actions[3]: expected a text, got 7"),
    (changed("rounds", 0, "scores", to=[1.5, 2]), "game.json: rounds[0].scores[0]: expected a whole number"),
    (changed("rounds", 0, "scores", to=[1]), "game.json: rounds[0].scores: expected 2 entries, got 1"),
    (changed("rounds", 0, "deck", to=FIRST["deck"][:-2]), "game.json: round 0: deck: 109 cards, but the pack has 110"),
    (changed("rounds", 1, "deck", to="Xx"), "game.json: round 1: deck: card 0 is 'Xx'"),
    (
        changed("rounds", 0, "actions", 0, to="fly"),
        "game.json: round 0, action 0, 'fly': action 'fly': expected one like",
    ),
    (
        changed("rounds", 0, "actions", LATE, to="draw"),
        f"game.json: round 0, action {LATE}, 'draw': not legal: draw: there is one draw a turn",
    ),
    (
        changed("rounds", 0, "actions", LATE, to=FIRST["actions"][LATE].replace("discard ", "discard  ")),
        f"game.json: round 0, action {LATE}, '{FIRST['actions'][LATE].replace(' ', '  ')}': the action there is",
    ),
    (changed("rounds", 0, "scores", to=[0, 0]), "game.json: round 0: scores: [0, 0], but the actions lead to ["),
    (changed("rounds", 0, "hand_jolly", to=not FIRST["hand_jolly"]), "game.json: round 0: hand_jolly: "),
    (changed("rounds", 0, "reshuffles", to=["Ac"] * 9), "game.json: round 0"),
    (changed("totals", to=[0, 0]), "game.json: totals: [0, 0], but the rounds add up to ["),
]


@pytest.mark.parametrize(("document", "message"), DAMAGE, ids=[message[11:50] for _, message in DAMAGE])
def test_a_damaged_record_says_where_it_first_goes_wrong(document, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("game.json").write_text(json.dumps(document))
    with pytest.raises(DamagedRecord, match="^" + re.escape(message)) as caught:
        record.check("game.json")
    assert "\n" not in str(caught.value)


def test_missing_and_surplus_actions_are_seen():
    short = copy.deepcopy(WHOLE)
    short["rounds"][-1]["actions"].pop()
    with pytest.raises(DamagedRecord, match=r"actions, and the round is not over, but it has scores"):
        record.check(short)
    long = copy.deepcopy(WHOLE)
    long["rounds"][-1]["actions"].append("draw")
    with pytest.raises(DamagedRecord, match=r"action \d+, 'draw': not legal: draw: the game is over"):
        record.check(long)
    with pytest.raises(DamagedRecord, match=r"next_round|the game is over"):
        record.check({**WHOLE, "rounds": WHOLE["rounds"] + WHOLE["rounds"][-1:]})
    unfinished = copy.deepcopy(WHOLE)
    unfinished["rounds"][0]["scores"] = None
    with pytest.raises(DamagedRecord, match=r"rounds\[0\].scores: only the last round may be unfinished"):
        record.check(unfinished)


@pytest.mark.parametrize("wrong", [None, 5, 0.5, b"game.json", ["game.json"], {}])
def test_what_is_no_path_is_named(wrong):
    message = f"record: expected the path of a file, got {wrong!r}"
    for call in (record.load, lambda path: record.save(WHOLE, path)):
        with pytest.raises(ValueError, match="^" + re.escape(message)):
            call(wrong)


@pytest.mark.parametrize("wrong", [None, 5, 0.5, b"game.json", [], {"format": "chess"}, {**WHOLE, "totals": None}])
def test_what_is_no_record_is_neither_played_nor_saved(wrong, tmp_path):
    path = tmp_path / "game.json"
    for call in (record.check_form, record.check, lambda r: next(record.replay(r)), lambda r: record.save(r, path)):
        with pytest.raises(DamagedRecord, match=r"^record: (record|totals)"):
            call(wrong)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [None, 5, "game.json", {}, Game])
def test_what_is_no_game_has_no_record(wrong):
    with pytest.raises(ValueError, match=r"^game: expected a jolly_env\.Game, got "):
        record.of(wrong)


@pytest.mark.parametrize("wrong", [5, "ab", b"ab"])
def test_agents_are_a_list_of_names(wrong):
    with pytest.raises(ValueError, match=f"^record: agents: expected a list of names, got {wrong!r}"):
        record.of(Game(seed=1), wrong)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"format": "jolly record"}'])
def test_a_file_that_is_no_record(text, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(text)
    with pytest.raises(DamagedRecord, match=re.escape(str(path))):
        record.load(path)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_changed_is_noticed(data):
    """A record with one character of its text changed is damaged, or says the same game."""
    text = json.dumps(WHOLE)
    place = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:place] + data.draw(st.characters(codec="ascii")) + text[place + 1 :]
    try:
        document = json.loads(damaged)
    except ValueError:
        return
    try:
        record.check(document)
    except DamagedRecord as error:
        assert "\n" not in str(error)
        return
    document["seed"], document["agents"] = WHOLE["seed"], WHOLE["agents"]
    assert [r["actions"] for r in document["rounds"]] == [r["actions"] for r in WHOLE["rounds"]]
    assert document["totals"] == WHOLE["totals"]


@pytest.mark.parametrize("failing", ["fsync", "replace", "write"])
def test_a_full_disk_leaves_the_old_file_as_it_was(failing, tmp_path, monkeypatch):
    path = tmp_path / "game.json"
    record.save(WHOLE, path)
    before = path.read_bytes()

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    if failing == "replace":
        monkeypatch.setattr(Path, "replace", full)
    elif failing == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        open_file = os.fdopen

        def nearly_full(handle, mode):
            file = open_file(handle, mode, buffering=0)
            os.close(handle)
            return file

        monkeypatch.setattr(os, "fdopen", nearly_full)
    with pytest.raises(OSError):
        record.save({**WHOLE, "agents": ["x", "y"]}, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["game.json"]
