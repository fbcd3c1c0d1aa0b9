"""Why an action is not legal: the reason is the true one, and each clause has its words."""

from __future__ import annotations

import random
import re

import pytest

from jolly_env import IllegalAction, Rules
from jolly_env.actions import ACTIONS, MELD, MELD_FORMS, Kind, base_cards, decode, meld_action_card, parse_action
from jolly_env.cards import CARD_KINDS, JOKER
from jolly_env.explain import why_not
from jolly_env.game import Game
from jolly_env.rules import HAND_LIMIT, OPENING_POINTS
from jolly_env.state import Phase


def position(hand: str, **fields) -> dict:
    """Seat 0 is to play with this hand; nothing else has happened unless given."""
    return {"hands": [hand, "2s 2s"], "phase": "play", "seat": 0, **fields}


OLD = {"cards": "5h *6h 7h 8h", "seats": 1}
OWN = {"cards": "Ts Js Qs Ks", "seats": 0}

REASONS = [
    # the draw
    (position("Ac 3c", phase="draw"), "discard Ac", "a turn begins with a draw (R6)"),
    (position("Ac 3c", phase="draw"), "lay Kc Kd Kh", "a turn begins with a draw (R6)"),
    (position("Ac 3c", phase="draw", row="4c 5c"), "take 1", "only a player who had opened before this turn"),
    (position("Ac 3c", phase="draw", row="4c 5c", melds=[OWN]), "take 3", "the row has 2 cards (R6)"),
    (position("Ac 3c"), "draw", "one draw a turn, and it is made (R6)"),
    (position("Ac 3c"), "take 1", "one draw a turn, and it is made (R6)"),
    (
        position("Ac 3c 4c", phase="draw", row="4c 5c", melds=[OWN], rules={"hand_limit": 4, "hand_size": 3}),
        "take 2",
        "3 cards in hand and 2 more exceed the hand limit of 4 (R7)",
    ),
    # the discard
    (position("Ac 3c"), "discard 9d", "9d is not in the hand (R11)"),
    (
        position("Kc Kd Kh Ac", melds=[{"cards": "9s Ts Js", "seats": 0, "turn": 0}]),
        "discard Ac",
        "29 of the 40 points to open lie, and no discard before they do (R8)",
    ),
    # lays
    (position("Kc Kd 3c 4c 5c"), "lay Kc Kd Kh", "Kh is not in the hand (R3)"),
    (position("3c 4c * 9c"), "lay * 4c *", "it takes 2 jokers, and the hand has 1 (R5)"),
    (position("3c 4c Th 9c"), "lay 3c 4c *", "* is not in the hand (R4)"),
    (position("3c 4c 5c", melds=[OWN]), "lay 3c 4c 5c", "with 3 cards in hand it would leave none to discard (R11)"),
    (position("3c 4c 5c Th"), "lay 3c 4c 5c", "after it the 40 points to open could not be reached"),
    (
        position("Kc Kd Kh 3c 4c 5c", melds=[{"cards": "3d 4d 5d", "seats": 0, "turn": 0}]),
        "lay 3c 4c 5c",
        "after it the 40 points to open, of which 12 lie, could not be reached",
    ),
    # at melds: no such place
    (position("Ac 3c", melds=[OWN]), "attach 9s m1 low", "there is no meld m1: 1 meld on the table (R9)"),
    (position("Ac 3c"), "attach 9s m0 low", "there is no meld m0: no melds on the table (R9)"),
    (position("9d 3c", melds=[{"cards": "9c 9d 9h", "seats": 0}]), "attach 9d m0", "this suit lies in m0 already (R3)"),
    (position("9d 3c", melds=[{"cards": "9c 9d 9h", "seats": 0}]), "swap 9s m0", "m0 has no joker (R10)"),
    (
        position("9d 3c", melds=[{"cards": "9c 9d 9h", "seats": 0}]),
        "swap 9s m0 #3",
        "a set, as m0 is, has no such place",
    ),
    (
        position("9d *", melds=[{"cards": "9c 9d *", "seats": 0}]),
        "attach * m0",
        "has a joker, and a set takes one (R3)",
    ),
    (position("9s 3c", melds=[{"cards": "9c 9d *", "seats": 0}]), "swap 9s m0", "must lie in m0, and only cd do (R10)"),
    (position("9s 3c", melds=[{"cards": "9c 9d 9h *", "seats": 0}]), "attach 9s m0", "swapped in, not attached (R5)"),
    (position("* 3c", melds=[{"cards": "9c 9d 9h 9s", "seats": 0}]), "attach * m0", "is a complete set of four (R3)"),
    (
        position("* 3c", melds=[{"cards": "Qc Kc Ac", "seats": 0}]),
        "attach * m0 high",
        "nothing goes above the ace of m0",
    ),
    (
        position("Kc 3c", melds=[{"cards": "Ac 2c 3c", "seats": 0}]),
        "attach Kc m0 low",
        "nothing goes below the ace of m0",
    ),
    (
        position("* 3c", melds=[{"cards": "3c 4c *", "seats": 0}]),
        "attach * m0 high",
        "no two are neighbours in a run (R5)",
    ),
    (position("9c 3c", melds=[{"cards": "3c 4c *", "seats": 0}]), "swap 5c m0 #2", "m0 has 1 joker (R10)"),
    (position("9c 3c", melds=[OWN]), "swap 5c m0 #1", "m0 has no jokers (R10)"),
    # at melds: not for this player
    (position("6h 3c", melds=[OLD]), "swap 6h m0 #1", "only a player who has opened swaps a joker (R8, R10)"),
    (position("9h 3c", melds=[OLD]), "attach 9h m0 high", "attaches to melds of this turn only, and m0 is older (R8)"),
    (position("3d 3c", melds=[OLD, OWN]), "attach 9h m0 high", "9h is not in the hand (R9)"),
    (position("3d 3c", melds=[OLD, OWN]), "swap 6h m0 #1", "6h is not in the hand (R10)"),
    (position("9h", melds=[OLD, OWN]), "attach 9h m0 high", "with 1 card in hand it would leave none to discard (R11)"),
    (
        position("Kc Kd Kh 9c", melds=[{"cards": "9d 9h 9s", "seats": 0, "turn": 0}], rules={"opening_points": 50}),
        "attach 9c m0",
        "after it the 50 points to open, of which 27 lie, could not be reached in this turn with a card left (R8)",
    ),
]


@pytest.mark.parametrize(("document", "action", "reason"), REASONS, ids=[text for _, text, _ in REASONS])
def test_each_obstacle_has_its_words(document, action, reason):
    game = Game.from_json(document)
    number = parse_action(action)
    assert not game.is_legal(number)
    before = game.to_bytes()
    with pytest.raises(IllegalAction, match=re.escape(reason)):
        game.step(number)
    assert game.to_bytes() == before


def test_an_empty_stock():
    game = Game.from_json(
        {
            "rules": {"pack": [1] * 6 + [0] * 46, "jokers": 0, "hand_size": 2, "hand_limit": 4},
            "hands": ["Ac", "6c"],
            "melds": [{"cards": "2c 3c 4c", "seats": 0}],
            "row": "5c",
            "stock": "",
        }
    )
    assert game.legal_actions().tolist() == [1]
    assert why_not(game.state, 0) == "draw: the stock is empty (R12)"


@pytest.mark.parametrize("number", [-1, 839])
def test_numbers_out_of_range(number):
    assert why_not(Game(seed=1).state, number) == f"action {number}: an action is a number from 0 to 838"


@pytest.mark.parametrize("given", [None, 0.5, "draw", [0]])
def test_what_is_no_number(given):
    assert why_not(Game(seed=1).state, given) == f"action {given!r}: an action is a number from 0 to 838"


def test_a_finished_round_and_a_finished_game():
    for target, words in ((None, "the game is over (R18)"), (10**6, "the round is over (R13)")):
        game = Game(Rules(max_turns=1, target=target), seed=1)
        game.step(0)
        game.step(int(game.legal_actions()[-1]))
        assert {why_not(game.state, a).split(": ")[1] for a in range(ACTIONS)} == {words}


def relaxed(game: Game, action: int, reason: str) -> Game:
    """Take away the one obstacle that ``reason`` names, leaving all others."""
    other = game.clone()
    state, seat = other.state, game.seat
    kind = decode(action).kind
    if "a turn begins" in reason:
        state["phase"] = Phase.PLAY
    elif "one draw a turn" in reason:
        state["phase"] = Phase.DRAW
    elif "had opened before" in reason or "only a player who has opened" in reason or "is older" in reason:
        state["opened_turn"][seat], state["opening_laid"] = 0, 0
    elif "not in the hand" in reason or "jokers, and the hand" in reason:
        give(state, seat, action)
    elif "could not be reached" in reason:
        state["rules"][OPENING_POINTS] = state["opening_laid"] + 1 if state["opening_laid"] else 0
    elif "no discard before" in reason:
        state["opened_turn"][seat], state["opening_laid"] = 0, 0
    elif "exceed the hand limit" in reason:
        state["rules"][HAND_LIMIT] = 60
    elif "leave none" in reason:
        for card in (0, 0, 1):
            give_card(state, seat, card)
    else:
        raise AssertionError((kind, reason))
    other.refresh()
    return other


def give(state, seat: int, action: int) -> None:
    """Put the cards that an action plays into a hand."""
    move = decode(action)
    if move.kind is Kind.DISCARD:
        wanted = [move.target]
    elif move.kind is Kind.MELD:
        wanted = [meld_action_card(action, state)]
    else:
        wanted = base_cards(action)
    for card in wanted:
        if state["hands"][seat, card] < wanted.count(card):
            give_card(state, seat, card)


def give_card(state, seat: int, card: int) -> None:
    """Put a card into a hand out of nowhere."""
    state["hands"][seat, card] += 1
    state["hand_size"][seat] += 1
    if card != JOKER:
        mask = "ones" if state["hands"][seat, card] == 1 else "twos"
        state[mask][seat, card // 13] |= 1 << card % 13


STRUCTURAL = re.compile(
    r"there is no meld|no such place|no jokers? |has \d jokers? |lies in|must lie|complete|not attached|takes one|"
    r"the ace of|neighbours|the row has|stock is empty"
)


@pytest.mark.parametrize("seed", range(8))
def test_without_the_obstacle_that_is_named_the_action_is_legal_or_another_one_is_named(seed):
    chance = random.Random(seed)
    game = Game(Rules(players=2 + seed % 3, opening_points=[40, 60, 0, 25][seed % 4]), seed=seed)
    while not game.over:
        legal = game.legal_actions().tolist()
        lays = [a for a in legal if 20 <= a < 786]
        if chance.random() < 0.3:
            for action in chance.sample(sorted(set(range(ACTIONS)) - set(legal)), 60):
                seen = []
                trial = game
                while not trial.is_legal(action):
                    text = why_not(trial.state, action)
                    assert text.endswith(")") and "\n" not in text
                    reason = text.split(": ", 1)[1]
                    assert reason not in seen, "it is named again though it is gone"
                    seen.append(reason)
                    if STRUCTURAL.search(reason):
                        break
                    trial = relaxed(trial, action, reason)
        game.step(chance.choice(lays if lays and chance.random() < 0.8 else legal))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_said_of_a_place_is_true(seed):
    """Where the place itself is at fault, no hand makes the action legal: try one that holds everything."""
    chance = random.Random(seed)
    game = Game(seed=seed)
    while not game.over:
        legal = game.legal_actions().tolist()
        lays = [a for a in legal if 20 <= a < 786]
        if game.phase is Phase.PLAY and chance.random() < 0.3:
            at_fault = [
                action
                for action in range(MELD, MELD + MELD_FORMS * int(game.state["meld_count"]))
                if not game.is_legal(action) and STRUCTURAL.search(why_not(game.state, action))
            ]
            rich = game.clone()
            for card in range(CARD_KINDS):
                give_card(rich.state, game.seat, card)
            rich.state["opened_turn"][game.seat], rich.state["opening_laid"] = 0, 0
            rich.refresh()
            assert not [action for action in at_fault if rich.is_legal(action)]
        game.step(chance.choice(lays if lays and chance.random() < 0.8 else legal))
