"""``Game``: chance in the caller's hands, copies that are independent, bytes that come back, several rounds."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jolly_env import Batch, IllegalAction, Rules, jolly_v0
from jolly_env.actions import decode, parse_action
from jolly_env.cards import parse_card, parse_cards
from jolly_env.game import MAGIC, Game
from jolly_env.notation import parse_meld
from jolly_env.state import Ending, Phase

GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "data" / "rounds.jsonl").read_text().splitlines()]
PACK = [card for card in range(52) for _ in range(2)] + [52] * 6


def play(game: Game, steps: int, seed: int = 0) -> list[int]:
    """Play legal actions at random, melds where there are any; return them."""
    chance = random.Random(seed)
    done: list[int] = []
    while len(done) < steps and not game.over:
        if game.phase is Phase.ROUND_OVER:
            game.next_round()
        legal = [int(action) for action in game.legal_actions()]
        lays = [action for action in legal if 20 <= action < 786]
        done.append(chance.choice(lays if lays and chance.random() < 0.7 else legal))
        game.step(done[-1])
    return done


def same(a: Game, b: Game) -> bool:
    """Whether two games are alike in every byte and in their logs."""
    return a.to_bytes() == b.to_bytes()


def golden_game(golden: dict) -> Game:
    rules = Rules(players=golden["players"], **golden["rules"])
    return Game(rules, seed=1, deck=golden["deck"], reshuffles=golden["reshuffles"])


@pytest.mark.parametrize("golden", GOLDEN, ids=[f"{g['kind']}-{i}" for i, g in enumerate(GOLDEN)])
def test_golden_rounds_agree_in_seat_legal_actions_and_outcome(golden):
    game = golden_game(golden)
    for seat, action, legal in zip(golden["seats"], golden["actions"], golden["legal"], strict=True):
        assert game.seat == seat
        assert game.legal_actions().tolist() == legal
        game.step(action)
    assert game.phase is not Phase.PLAY
    assert game.scores == golden["scores"]
    assert game.closer == golden["closer"]
    assert game.hand_jolly == golden["hand_jolly"]


def test_a_deck_is_dealt_from_its_front():
    deck = random.Random(3).sample(PACK, len(PACK))
    game = Game(Rules(players=3), deck=deck)
    for seat in range(3):
        hand = np.bincount(deck[13 * seat : 13 * seat + 13], minlength=53)
        assert game.state["hands"][seat].tolist() == hand.tolist()
    assert game.stock() == deck[39:]
    assert game.deck == deck
    game.step(0)
    assert game.stock() == deck[40:]


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (PACK[:-1], r"deck: 109 cards, but the pack has 110: \* is missing"),
        ([*PACK, 0], r"deck\[110\]: Ac number 3"),
        ([53, *PACK[1:]], r"deck\[0\]=53"),
        ([-1, *PACK[1:]], r"deck\[0\]=-1"),
        ([None, *PACK[1:]], r"deck\[0\]=None"),
        ([0.5, *PACK[1:]], r"deck\[0\]=0.5"),
        ([float("nan"), *PACK[1:]], r"deck\[0\]=nan"),
        (7, "deck: expected a list"),
    ],
)
def test_a_deck_of_other_cards_says_which(deck, message):
    with pytest.raises(ValueError, match=message):
        Game(deck=deck)


def test_a_reshuffle_of_cards_that_the_pack_has_not_is_refused_at_once():
    with pytest.raises(ValueError, match=r"reshuffles\[1\]\[2\]: Ac number 3"):
        Game(reshuffles=[[], [0, 0, 0]])


def recycling() -> dict:
    return next(golden for golden in GOLDEN if golden["reshuffles"])


def test_a_given_reshuffle_is_the_next_stock_and_a_wrong_one_leaves_the_game_as_it_was():
    golden = recycling()
    game = golden_game(golden)
    wrong = golden_game({**golden, "reshuffles": [[0, 1]]})
    for action in golden["actions"]:
        before = wrong.states.copy()
        game.step(action)
        if game.reshuffles:
            assert game.stock() == golden["reshuffles"][0]
            with pytest.raises(ValueError, match=r"reshuffles\[0\]: not the cards"):
                wrong.step(action)
            assert wrong.states.tobytes() == before.tobytes()
            return
        wrong.step(action)
    raise AssertionError("the round recycles")


def test_without_a_given_reshuffle_the_seed_decides():
    golden = recycling()
    stocks = set()
    for seed in (1, 1, 2):
        game = Game(Rules(players=golden["players"], **golden["rules"]), seed=seed, deck=golden["deck"])
        for action in golden["actions"]:
            if game.reshuffles:
                break
            game.step(action)
        assert Counter(game.stock()) == Counter(golden["reshuffles"][0])
        stocks.add(tuple(game.stock()))
    assert len(stocks) == 2


def test_seeds_agree_and_differ():
    assert same(Game(seed=5), Game(seed=5))
    assert Game(seed=5).deck != Game(seed=6).deck
    assert Game().deck != Game().deck
    assert Game(seed=5).decision_key(0) != Game(seed=6).decision_key(0)
    one, other = Game(Rules(target=2000), seed=5), Game(Rules(target=2000), seed=5)
    play(one, 900)
    play(other, 900)
    assert one.finished and same(one, other)
    with pytest.raises(ValueError, match="seed=-1"):
        Game(seed=-1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 300), st.integers(2, 4))
def test_copies_in_the_middle_of_a_turn_are_alike_and_independent(seed, steps, players):
    game = Game(Rules(players=players, target=150), seed=seed)
    play(game, steps, seed)
    bytes_before = game.to_bytes()
    copies = [
        game.clone(),
        copy.copy(game),
        copy.deepcopy(game),
        pickle.loads(pickle.dumps(game)),
        Game.from_bytes(bytes_before),
    ]
    assert all(same(game, other) for other in copies)
    for other in copies:
        play(other, 40, seed + 1)
    assert game.to_bytes() == bytes_before
    assert all(same(copies[0], other) for other in copies[1:])


def test_damaged_bytes_are_refused_whatever_is_damaged():
    game = Game(seed=1)
    play(game, 30)
    data = game.to_bytes()
    assert same(Game.from_bytes(data), game)
    for i in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[i] ^= 1 << i % 8
        with pytest.raises(ValueError, match="saved game"):
            Game.from_bytes(bytes(damaged))
    for size in (0, 1, len(MAGIC), len(MAGIC) + 3, len(MAGIC) + 4, len(MAGIC) + 6, 400, len(data) - 1):
        with pytest.raises(ValueError, match="saved game"):
            Game.from_bytes(data[:size])
    with pytest.raises(ValueError, match="saved game"):
        Game.from_bytes(data + b"\0")


def test_the_next_card_of_the_stock_is_put_on_top():
    game = Game(seed=4)
    card = game.stock()[-1]
    twin = game.clone()
    rest = Counter(game.stock())
    game.put_on_top(card)
    assert game.stock()[0] == card and Counter(game.stock()) == rest
    assert Counter(game.deck) == Counter(PACK) and game.deck != twin.deck
    held = int(game.state["hands"][0, card])
    game.step(0)
    assert game.state["hands"][0, card] == held + 1
    with pytest.raises(ValueError, match="Ac is not in the stock"):
        Game(deck=PACK).put_on_top(0)


@pytest.mark.parametrize("action", [-1, 839, 10**30, 0.5, float("nan"), float("inf"), None, "draw", [0], 786])
def test_an_action_that_is_not_legal_leaves_the_game_as_it_was(action):
    game = Game(seed=1)
    before = game.to_bytes()
    with pytest.raises(IllegalAction):
        game.step(action)
    assert game.to_bytes() == before


def test_several_rounds_add_up_and_each_is_begun_by_the_next_seat():
    game = Game(Rules(players=3, target=1000), seed=2)
    totals = [0, 0, 0]
    rounds = 0
    while not game.over:
        assert game.seat == rounds % 3
        assert (game.played, game.reshuffles) == ([], [])
        with pytest.raises(ValueError, match="the round is not over"):
            game.next_round()
        while game.phase in (Phase.DRAW, Phase.PLAY):
            play(game, 1, len(game.played))
        totals = [a + b for a, b in zip(totals, game.scores, strict=True)]
        assert game.totals == totals
        rounds += 1
        if game.phase is Phase.ROUND_OVER:
            with pytest.raises(IllegalAction, match="the round is over"):
                game.step(0)
            game.next_round()
    assert rounds > 1 and len(game.finished) == rounds - 1
    assert max(totals) >= 1000 or game.truncated
    with pytest.raises(ValueError, match="the game is over"):
        game.next_round()
    with pytest.raises(IllegalAction, match="the game is over"):
        game.step(0)


def test_a_later_round_takes_a_deck_too():
    game = Game(Rules(target=1000, max_turns=2), seed=2)
    for action in (0, -1, 0, -1):
        game.step(int(game.legal_actions()[action]))
    assert game.ending is Ending.CUT_OFF
    before = game.to_bytes()
    with pytest.raises(ValueError, match="deck"):
        game.next_round(PACK[1:])
    assert game.to_bytes() == before
    game.next_round(PACK)
    assert game.deck == PACK and game.stock() == PACK[26:] and game.seat == 1
    assert int(game.state["round"]) == 1


def test_a_game_goes_on_from_a_state():
    game = Game(seed=8)
    play(game, 20)
    other = Game.from_state(game.states)
    assert other.states.tobytes() == game.states.tobytes()
    other.step(int(other.legal_actions()[0]))
    assert other.states.tobytes() != game.states.tobytes()


@pytest.mark.parametrize("seat", [-1, 2, 4])
def test_there_is_no_other_seat(seat):
    game = Game(seed=1)
    with pytest.raises(ValueError, match=f"seat {seat}"):
        game.observe(seat)
    with pytest.raises(ValueError, match=f"seat {seat}"):
        game.decision_key(seat)


WRONG_TYPES = {
    "rules as a mapping": (lambda: Game({"players": 3}), "expected a jolly_env.Rules"),
    "rules as a number": (lambda: Batch(2, 5), "expected a jolly_env.Rules"),
    "n as a truth value": (lambda: Batch(True), "n=True"),
    "masks as a list": (lambda: Batch(2, masks=[1]), "masks: expected int8"),
    "seeds for one game": (lambda: Game(seed=[1]), r"seed=\[1\]"),
    "NaN as a seed": (lambda: jolly_v0.raw_env().reset(seed=float("nan")), "seed=nan"),
    "reshuffles": (lambda: Game(reshuffles=5), "reshuffles: expected a list of lists of cards, got 5"),
    "options": (lambda: jolly_v0.raw_env().reset(options=5), "options=5: expected a mapping"),
    "legal text": (lambda: Game(seed=1).is_legal("x"), "action 'x'"),
    "half an action": (lambda: Game(seed=1).is_legal(0.5), "action 0.5"),
    "half a seat": (lambda: Game(seed=1).observe(0.5), "seat 0.5"),
    "no seat": (lambda: Game(seed=1).decision_key(None), "seat None"),
    "no card": (lambda: Game(seed=1).put_on_top(None), "card None"),
    "a card's name": (lambda: Game(seed=1).put_on_top("x"), "card 'x'"),
    "no action": (lambda: Game(seed=1).format(None), "action None"),
    "half to decode": (lambda: decode(0.5), "action 0.5"),
    "saved text": (lambda: Game.from_bytes("x"), "expected bytes, got str"),
    "nothing saved": (lambda: Game.from_bytes(None), "expected bytes, got NoneType"),
    "another record": (lambda: Game.from_state(np.zeros(1)), r"state: expected STATE\[1\], got float64\[1\]"),
    "no state": (lambda: Game.from_state(None), r"state: expected STATE\[1\], got NoneType"),
    "a ragged list": (lambda: Game.from_state([[1], [2, 3]]), r"state: expected STATE\[1\], got list"),
    "no position": (lambda: Game.from_json(None), "position: expected an object, got None"),
    "a position as text": (lambda: Game.from_json("{}"), "position: expected an object, got '{}'"),
    "no fields of rules": (lambda: Rules.from_json(None), "rules: expected a mapping of field names, not NoneType"),
    "rules as text": (lambda: Rules.from_json("{}"), "rules: expected a mapping of field names, not str"),
    "no action's text": (lambda: parse_action(None), "action None: expected a text"),
    "no meld's text": (lambda: parse_meld(None), "meld None: expected a text"),
    "no card's text": (lambda: parse_card(None), "card None"),
    "no cards' text": (lambda: parse_cards(None), "cards None: expected a text"),
    "an action's number": (lambda: parse_action(5), "action 5: expected a text"),
    "bytes for a meld": (lambda: parse_meld(b"Ac"), "meld b'Ac': expected a text"),
    "a card's number": (lambda: parse_card(5), "card 5: expected a rank"),
    "a list of cards": (lambda: parse_cards(["Ac"]), r"cards \['Ac'\]: expected a text"),
}


@pytest.mark.parametrize("name", WRONG_TYPES)
def test_a_wrong_type_is_one_clear_error(name):
    call, message = WRONG_TYPES[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_saved_bytes_may_be_a_view_and_reshuffles_none():
    game = Game(seed=3, reshuffles=None)
    assert same(Game.from_bytes(memoryview(game.to_bytes())), game)
