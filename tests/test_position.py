"""Positions: written by hand, there and back to the byte, and no inconsistency that passes or crashes."""

from __future__ import annotations

import copy
import functools
import json
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jolly_env import Rules
from jolly_env.actions import parse_action
from jolly_env.batch import Batch
from jolly_env.cards import format_cards
from jolly_env.determinize import determinize
from jolly_env.game import Game
from jolly_env.position import KEYS, to_json
from jolly_env.state import Phase

MINIMAL = {"hands": ["Ac 2d *", "Th 9h"]}


def walk(seed: int, **rules):
    """Yield a game after each of its actions, melds preferred."""
    chance = random.Random(seed)
    game = Game(Rules(**rules), seed=seed)
    while True:
        yield game
        if game.over:
            return
        if game.phase is Phase.ROUND_OVER:
            game.next_round()
        else:
            legal = game.legal_actions().tolist()
            lays = [a for a in legal if 20 <= a < 786]
            game.step(chance.choice(lays if lays and chance.random() < 0.6 else legal))


def test_two_hands_are_a_position():
    game = Game.from_json(MINIMAL)
    assert (game.phase, game.seat, game.players) == (Phase.DRAW, 0, 2)
    assert len(game.stock()) == 105
    assert game.legal_actions().tolist() == [0]
    assert game.totals == [0, 0]
    assert Game.from_json(MINIMAL).states.tobytes() == game.states.tobytes()
    assert Game.from_json({**MINIMAL, "seed": 1}).stock() != game.stock()
    assert sorted(Game.from_json({**MINIMAL, "seed": 1}).stock()) == sorted(game.stock())


def test_the_top_of_the_stock_is_given_and_the_rest_is_shuffled():
    game = Game.from_json({**MINIMAL, "stock": "Ks * 4d ..."})
    assert format_cards(game.stock()[:3]) == "Ks * 4d"
    assert len(game.stock()) == 105


def test_the_turn_follows_from_the_seat():
    game = Game.from_json({**MINIMAL, "seat": 1, "row": "4c 5c 6c"})
    assert (int(game.state["turn"]) - 1) % 2 == 0
    assert game.state["row_seats"][:3].tolist() == [0, 1, 0]
    assert game.state["discarded"][0].sum() == 2


def test_a_half_finished_opening():
    document = {
        "hands": ["Qc Qd Qh 2s", "3c 3d"],
        "phase": "play",
        "melds": [{"cards": "5h *6h 7h", "seats": 0, "turn": 0}],
    }
    game = Game.from_json(document)
    assert int(game.state["opening_laid"]) == 18
    assert [game.format(a) for a in game.legal_actions()] == ["lay Qc Qd Qh"]
    game.step(parse_action("lay Qc Qd Qh"))
    assert game.state["opened_turn"].tolist() == [0, -1, -1, -1]
    game.step(parse_action("discard 2s"))
    assert game.closer == 0 and game.hand_jolly
    assert game.scores == [(48 + 30) * 2, -6 * 2]


def test_who_has_opened_follows_from_the_melds():
    melds = [{"cards": "5h *6h 7h", "seats": 1}, {"cards": "Kc Kd Kh", "seats": [1, 1, 0]}]
    game = Game.from_json({**MINIMAL, "melds": melds, "row": "4c"})
    assert (game.state["opened_turn"][:2] >= 0).all()
    assert game.state["laid"][:2].tolist() == [10, 38]
    assert game.is_legal(1)


@pytest.mark.parametrize(
    ("seed", "rules"),
    [
        (0, {}),
        (1, {"players": 3, "target": 300}),
        (2, {"players": 4, "hand_size": 19, "opening_points": 0, "recycle_keep": 0}),
        (3, {"target": 2000, "max_rounds": 3, "hand_size": 5}),
        (4, {"players": 3, "max_turns": 40, "opening_points": 70, "target": 500}),
        (5, {"pack": (1,) * 52, "jokers": 0, "hand_size": 7, "opening_points": 20}),
        (6, {"pack": (2,) * 20 + (0,) * 32, "hand_size": 10, "recycle_keep": 1, "players": 3}),
    ],
)
def test_a_document_brings_every_byte_back(seed, rules):
    phases = set()
    for i, game in enumerate(walk(seed, **rules)):
        phases.add(game.phase)
        if i % 5 == 0 or game.phase in (Phase.ROUND_OVER, Phase.GAME_OVER):
            document = json.loads(json.dumps(game.to_json()))
            assert set(document) == {*KEYS} - {"seed"}
            again = Game.from_json(document)
            assert again.states.tobytes() == game.states.tobytes()
            assert again.rules == game.rules
            assert again.to_json() == document
    assert {Phase.DRAW, Phase.PLAY, Phase.GAME_OVER} <= phases


def test_a_state_dealt_from_an_observation_is_a_position_too():
    for i, game in enumerate(walk(7, players=3)):
        if i % 20 == 0 and not game.over:
            state = determinize(game.observe(game.seat)[0], i)
            document = to_json(state)
            assert Game.from_json(document).states.tobytes() == state.tobytes()


def test_what_is_left_out_keeps_the_play_the_same():
    """A document cut down to what a person would write gives the same legal actions."""
    kept = ("rules", "round", "turn", "seat", "phase", "hands", "melds", "opened", "row", "stock", "totals")
    for i, game in enumerate(walk(9, players=2)):
        if i % 4 == 0 and not game.over:
            document = {key: value for key, value in game.to_json().items() if key in kept}
            again = Game.from_json(document)
            assert again.legal_actions().tolist() == game.legal_actions().tolist()
            assert again.stock() == game.stock()


SMALL = {"pack": [1] * 6 + [0] * 46, "jokers": 0, "hand_size": 2, "hand_limit": 4}
KINGS = {"cards": "Kc Kd Kh Ks", "seats": 0}
FAULTS = [
    ([], "position: expected an object, got []"),
    ({}, "position: the key 'hands' is missing"),
    ({**MINIMAL, "colour": 1}, "position: no key 'colour'"),
    ({**MINIMAL, "format": "chess"}, "position.format: expected 'jolly position', got 'chess'"),
    ({**MINIMAL, "version": 2}, "position.version: 2 is newer than 1"),
    ({**MINIMAL, "version": 0}, "position.version: 0 is older than 1"),
    ({**MINIMAL, "rules": {"players": 7}}, "rules: players=7: expected a whole number from 2 to 4"),
    ({**MINIMAL, "rules": {"player": 2}}, "rules: no field 'player'"),
    ({**MINIMAL, "rules": []}, "rules: expected a mapping"),
    ({"hands": ["Ac"]}, "hands: expected 2 entries, got 1"),
    ({"hands": "Ac 2c"}, "hands: expected a list, got 'Ac 2c'"),
    ({"hands": ["Ac", 7]}, "hands[1]: expected a text, got 7"),
    ({"hands": ["Ac", "2c 1c"]}, "hands[1]: card 1 is '1c'"),
    ({"hands": ["Ac", ""]}, "hands[1]: it is empty"),
    ({"hands": ["Ac Ac", "Ac"]}, "hands[1]: Ac is here once more than the pack has it (R1)"),
    ({"hands": ["Ac", "* * * * * * *"]}, "hands[1]: * is here once more"),
    ({"hands": [format_cards(range(20)), "Ac"]}, "hands[0]: 20 cards, but at this point a hand has 19 at most (R7)"),
    ({**MINIMAL, "phase": "think"}, "phase: expected one of 'draw', 'play', 'round over', 'game over', got 'think'"),
    ({**MINIMAL, "seat": 2}, "seat: expected a whole number from 0 to 1, got 2"),
    ({**MINIMAL, "seat": True}, "seat: expected a whole number from 0 to 1, got True"),
    ({**MINIMAL, "seat": 1.0}, "seat: expected a whole number from 0 to 1, got 1.0"),
    ({**MINIMAL, "seat": 0, "turn": 1}, "seat: turn 1 of round 0 is not that of seat 0 (R2)"),
    ({**MINIMAL, "turn": 200}, "turn: 200 turns are over, and the round is cut off after 200 (R17)"),
    ({**MINIMAL, "turn": 10**50}, "turn: expected a whole number from 0 to 200, got a very long number"),
    ({**MINIMAL, "round": 1}, "round: without a target one round is the whole game (R18)"),
    ({**MINIMAL, "melds": [{"cards": "Kc Kd", "seats": 0}]}, "melds[0].cards: meld 'Kc Kd': 2 cards"),
    ({**MINIMAL, "melds": [{"cards": "Kc Ac 2c", "seats": 0}]}, "melds[0].cards: meld 'Kc Ac 2c': "),
    ({**MINIMAL, "melds": [{"cards": "6c * * 9c", "seats": 0}]}, "two jokers are neighbours (R5)"),
    ({**MINIMAL, "melds": [{"seats": 0}]}, "melds[0]: the key 'cards' is missing"),
    ({**MINIMAL, "melds": [{"cards": "Kc Kd Kh", "seats": [0, 0]}]}, "melds[0].seats: expected 3 entries, got 2"),
    ({**MINIMAL, "melds": [{"cards": "Kc Kd Kh", "seats": 2}]}, "melds[0].seats: expected a whole number from 0 to 1"),
    ({**MINIMAL, "melds": [KINGS, KINGS, KINGS]}, "melds[2].cards: Kc is here once more"),
    (
        {**MINIMAL, "melds": [{**KINGS, "turn": 0}], "turn": 0},
        "melds[0].turn: nothing is laid in turn 0 before its draw",
    ),
    (
        {**MINIMAL, "melds": [{**KINGS, "turn": 2}, {**KINGS, "turn": 1}], "turn": 4},
        "melds[1].turn: 1, but melds stand",
    ),
    (
        {**MINIMAL, "phase": "play", "melds": [{**KINGS, "turn": 0, "seats": 1}], "turn": 0, "opened": [None, None]},
        "melds[0].seats: it was laid in this turn, so seat 0 laid all of it",
    ),
    (
        {**MINIMAL, "phase": "play", "melds": [{"cards": "2c 3c 4c", "seats": 0, "turn": 0}]},
        "melds: what lies of this turn can no longer become an opening with a card left to discard (R8)",
    ),
    (
        {"hands": [format_cards(range(17)), "Ac"], "phase": "play", "melds": [{**KINGS, "turn": 0}], "turn": 0},
        "melds: seat 0 would have held 21 cards in this turn, and the limit is 20 (R7)",
    ),
    ({**MINIMAL, "melds": [KINGS], "opened": [None, None]}, "opened[0]: cards of the seat lie on the table"),
    ({**MINIMAL, "opened": [0, None], "turn": 2}, "opened[0]: the seat has opened, but nothing of it lies"),
    (
        {**MINIMAL, "melds": [KINGS], "opened": [1, None], "turn": 2},
        "opened[0]: turn 1 of round 0 is not that of seat 0",
    ),
    ({**MINIMAL, "melds": [KINGS], "turn": 0}, "turn: 0, but seat 0 must have had a turn"),
    (
        {**MINIMAL, "phase": "play", "melds": [{**KINGS, "turn": 0}], "turn": 0, "opened": [None, None]},
        "opened[0]: 40 points lie, so the seat opened in this turn, 0 (R8)",
    ),
    ({**MINIMAL, "row": ["4c"]}, "row[0]: expected a list, got '4c'"),
    ({**MINIMAL, "row": [["4c", 2]]}, "row[0][1]: expected a whole number from 0 to 1, got 2"),
    ({**MINIMAL, "row": [["4c 5c", 1]]}, "row[0][0]: expected one card, got 2"),
    ({**MINIMAL, "row": "4c 4c 4c"}, "row: 4c is here once more"),
    ({**MINIMAL, "stock": "4c"}, "stock: 104 cards of the pack are nowhere, Ac among them (R1)"),
    ({**MINIMAL, "stock": "4c 4c 4c ..."}, "stock: 4c is here once more"),
    ({"rules": SMALL, "hands": ["Ac 2c", "3c 4c"], "row": "5c 6c", "stock": ""}, "no draw is legal"),
    (
        {"rules": {**SMALL, "recycle_keep": 1}, "hands": ["Ac 2c", "3c 4c"], "row": "5c 6c", "stock": ""},
        "stock: it is empty as a turn begins, so the row would have been recycled (R12)",
    ),
    ({**MINIMAL, "seed": -1}, "seed: expected a whole number from 0"),
    ({**MINIMAL, "known": ["", "Ac"]}, "known[1]: Ac is not that often in the hand"),
    ({**MINIMAL, "row": "4c", "discarded": ["", ""]}, "discarded[1]: 4c lies in the row as a discard of this seat"),
    ({"rules": {"jokers": 0}, "hands": ["Ac", "2c"], "discarded": ["*", ""]}, "discarded[0]: * is here more often"),
    ({**MINIMAL, "draws": [60, 60]}, "draws: 120 cards drawn"),
    ({**MINIMAL, "draws": [1]}, "draws: expected 2 entries, got 1"),
    ({**MINIMAL, "recycled": {"times": 1, "size": 3}}, "recycled: the key 'left' is missing"),
    ({**MINIMAL, "recycled": {"times": 1, "size": 3, "left": ["4c 5c 6c", ""]}}, "are not the 3 recycled"),
    ({**MINIMAL, "history": [[0, "fly"]]}, "history[0][1]: action 'fly'"),
    ({**MINIMAL, "history": [[0, 839]]}, "history[0][1]: expected a whole number from 0 to 838, got 839"),
    ({**MINIMAL, "history": [[0, 1]] * 129}, "history: 129 actions, but 128 at most are kept"),
    ({**MINIMAL, "last_round": {"ending": "draw"}}, "last_round.ending: expected one of"),
    ({**MINIMAL, "truncated": True}, "truncated: only a game that is over is cut off (R17)"),
    ({**MINIMAL, "truncated": 1}, "truncated: expected true or false, got 1"),
    ({**MINIMAL, "rules": {"target": 9}, "totals": [9, 0]}, "totals: the target of 9 is reached"),
    ({**MINIMAL, "phase": "round over"}, "phase: by totals and rounds the game is over (R18)"),
    (
        {**MINIMAL, "phase": "game over", "rules": {"target": 9}},
        "phase: by totals and rounds the game is not over (R18)",
    ),
    (
        {**MINIMAL, "phase": "game over", "last_round": {"ending": "closed", "closer": 1}},
        "hands[1]: it holds cards, though the seat closed the round (R13)",
    ),
    ({**MINIMAL, "random": {"rng": 7}}, "random.rng: expected a text, got 7"),
    ({**MINIMAL, "random": {"rng": str(2**64)}}, "random.rng: expected a number below 2**64"),
    ({**MINIMAL, "leftovers": {"history_end": 300}}, "leftovers.history_end: expected a whole number from 128 to 256"),
    (
        {**MINIMAL, "leftovers": {"stock_before": "Ac " * 9}},
        "leftovers: 9 and 0 cards beside a stock of 105 are too many",
    ),
]


@pytest.mark.parametrize(("document", "message"), FAULTS, ids=[message[:40] for _, message in FAULTS])
def test_a_fault_says_where_it_stands_and_what_it_is(document, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        Game.from_json(document)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def played(seed: int, steps: int) -> dict:
    """A whole document of a game in the middle."""
    for i, game in enumerate(walk(seed, players=2 + seed % 3, target=300)):
        if i >= steps or game.over:
            return game.to_json()
    raise AssertionError


@functools.cache
def documents() -> list[dict]:
    """Sound and faulty documents to change."""
    sound = [played(seed, steps) for seed, steps in ((0, 3), (1, 60), (2, 150), (3, 400))]
    return sound + [document for document, _ in FAULTS if isinstance(document, dict)]


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["Ac", "* 2c", "..."]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.sampled_from(
    ["", "Ac", "*", "5h 6h *7h", "Kc Kd *", "draw", "play", "game over", "closed", "cut off", -1, 0, 1, 2, 200]
)


def spots(value, path=()):
    """The paths of all values in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from spots(inner, (*path, key))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_whatever_is_changed_the_position_is_sound_or_refused_in_one_line(data):
    document = copy.deepcopy(data.draw(st.sampled_from(documents())))
    for _ in range(data.draw(st.integers(1, 2))):
        paths = [path for path in spots(document) if path][:400]
        if not paths:
            break
        path = data.draw(st.sampled_from(paths))
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        change = data.draw(st.sampled_from(["junk", "word", "delete"]))
        if change == "delete":
            del holder[path[-1]]
        else:
            holder[path[-1]] = data.draw(JUNK if change == "junk" else WORDS)
    try:
        game = Game.from_json(document)
    except ValueError as error:
        assert "\n" not in str(error)
        return
    assert Game.from_json(json.loads(json.dumps(game.to_json()))).states.tobytes() == game.states.tobytes()
    chance = random.Random(0)
    for _ in range(40):
        if game.phase in (Phase.ROUND_OVER, Phase.GAME_OVER):
            break
        legal = game.legal_actions()
        assert len(legal)
        game.observe(game.seat)
        game.step(int(chance.choice(legal)))


@pytest.mark.parametrize("given", [None, 5, "Ac", b"Ac", [], [[1], [2, 3]], {}, Game, Batch(2, seed=1)])
def test_only_a_game_or_one_state_has_a_position(given):
    with pytest.raises(ValueError, match=r"^position: expected a jolly_env\.Game or one state, got "):
        to_json(given)


@settings(max_examples=200, deadline=None)
@given(JUNK)
def test_junk_is_refused_in_one_line(document):
    with pytest.raises(ValueError) as caught:
        Game.from_json(document)
    assert "\n" not in str(caught.value)
