"""``determinize``, the float features and the description of actions: the observation's knowledge in other forms."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from test_engine_vs_referee import choose
from test_invariants import EAGER, PLAYERS, SEEDS, advance, check_fields, odd_game
from tools import all_cards, hand, legal, position

from jolly_env import Rules
from jolly_env.actions import DISCARD, LAY_SET, MELD, base_cards, meld_action_card, parse_action
from jolly_env.cards import HAND_VALUE, JOKER
from jolly_env.determinize import determinize
from jolly_env.features import (
    ACTION_FEATURE_FIELDS,
    ACTION_FEATURES,
    FEATURE_SLICES,
    FEATURES,
    action_features,
    features,
)
from jolly_env.game import Game
from jolly_env.observation import as_flat
from jolly_env.state import Phase


def world(game: Game, observer: int, key: int) -> Game:
    """Return a game in a state that the observer thinks possible."""
    other = game.clone()
    determinize(game.observe(observer)[0], key, out=other.states)
    return other


@settings(max_examples=60)
@given(SEEDS, PLAYERS, EAGER)
@example(seed=242560757, players=4, eager=0.0)  # both fours of diamonds unseen, one of them recycled
def test_a_determinized_state_agrees_with_the_observation(seed: int, players: int, eager: float) -> None:
    game, rng = odd_game(seed, players)
    pack = all_cards(game)
    while game.phase < Phase.ROUND_OVER:
        advance(game, rng, eager, rng.choice([1, 5, 20]))
        for observer in range(players):
            other = world(game, observer, rng.getrandbits(64))
            assert other.observe(observer).tobytes() == game.observe(observer).tobytes()
            assert all_cards(other) == pack
            check_fields(other.state)
            if observer == game.seat:
                assert (other.mask() == game.mask()).all()
            if game.state["recycles"]:
                check_inference(game.observe(observer)[0], other)


def check_inference(seen: Any, other: Game) -> None:
    """Only recycled cards may lie in the stock, and nobody may hold more of them than they drew since (R12).

    A recycled copy of a card that is not to be seen anywhere is in the stock or was drawn from it.
    """
    assert all(count <= seen["recycled"][card] for card, count in Counter(other.stock()).items())
    copies = np.append(seen["pack"], other.rules.jokers)
    surely_recycled = np.maximum(seen["recycled"] - (copies - seen["unseen"]), 0)
    others = seen["unseen"] - surely_recycled
    for i in range(1, other.players):
        seat = (int(seen["seat"]) + i) % other.players
        unknown = other.state["hands"][seat] - other.state["known"][seat]
        assert np.maximum(unknown - others, 0).sum() <= seen["draws"][i]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_recycling_is_made_use_of(players: int) -> None:
    """Small stocks that are recycled again and again, and melds rarely laid."""
    rng = random.Random(players)
    game = Game(Rules(players=players, hand_size=5, jokers=2, pack=[1] * 52, opening_points=60), seed=players)
    checked = 0
    while game.phase < Phase.ROUND_OVER:
        game.step(choose(rng, game.legal_actions().tolist(), 0.0))
        if game.state["recycles"]:
            for observer in range(players):
                other = world(game, observer, rng.getrandbits(64))
                assert other.observe(observer).tobytes() == game.observe(observer).tobytes()
                check_inference(game.observe(observer)[0], other)
                checked += 1
    assert checked > 50


@settings(max_examples=15)
@given(SEEDS, PLAYERS)
def test_a_determinized_round_can_be_played_on(seed: int, players: int) -> None:
    game, rng = odd_game(seed, players)
    advance(game, rng, 0.7, 40)
    if game.phase >= Phase.ROUND_OVER:
        return
    other = world(game, game.seat, seed)
    pack = all_cards(other)
    while other.phase < Phase.ROUND_OVER:
        advance(other, rng, 0.7, 1)
        assert all_cards(other) == pack
    check_fields(other.state)


def test_keys_give_different_worlds_and_the_same_key_the_same() -> None:
    game = Game(seed=4)
    advance(game, random.Random(4), 0.5, 30)
    seen = game.observe(game.seat)[0]
    worlds = [determinize(seen, key).tobytes() for key in range(8)]
    assert len(set(worlds)) == 8
    assert determinize(seen, 3).tobytes() == worlds[3] == determinize(as_flat(seen), 3).tobytes()
    hands = {determinize(seen, key)["hands"][0, 1 - game.seat].tobytes() for key in range(8)}
    assert len(hands) == 8


def test_known_cards_are_where_they_are_known() -> None:
    game = position("2c 6h 9s", "3c 4d", row="Kd 2c", melds=[("5h * 7h", 1)], drawn=False)
    for text in ("take 2", "swap 6h m0 #1", "discard 9s"):
        game.step(parse_action(text))
    for key in range(20):
        held = hand(world(game, 1, key), 0)
        assert all(held[card] >= count for card, count in {1: 1, 25: 1, JOKER: 1}.items())
        assert held.total() == 4


@pytest.mark.parametrize("seed", range(3))
def test_after_a_recycling_the_other_of_two_hands_is_known(seed: int) -> None:
    """What is neither seen nor in the new stock is in the only other hand; certain until that seat draws."""
    rng = random.Random(seed)
    game = Game(Rules(hand_size=5, jokers=2, pack=[1, 2] * 26), seed=seed)
    checked = 0
    while game.phase < Phase.ROUND_OVER and checked < 30:
        game.step(choose(rng, game.legal_actions().tolist(), 0.0))
        if not game.state["recycles"]:
            continue
        for observer in (0, 1):
            if game.state["draws"][1 - observer] == 0:
                checked += 1
                for key in range(3):
                    assert hand(world(game, observer, key), 1 - observer) == hand(game, 1 - observer)
    assert checked > 0


def test_determinize_takes_one_observation() -> None:
    seen = Game(seed=1).observe(0)
    assert determinize(seen, 0).tobytes() == determinize(seen[0], 0).tobytes()
    with pytest.raises(ValueError, match="OBSERVATION"):
        determinize(np.concatenate((seen, seen)), 0)
    with pytest.raises(ValueError, match="observation"):
        determinize(np.zeros(7), 0)


# --- features ------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(SEEDS, PLAYERS, EAGER)
def test_features_are_finite_small_and_of_the_observation_alone(seed: int, players: int, eager: float) -> None:
    game, rng = odd_game(seed, players)
    while game.phase < Phase.ROUND_OVER:
        advance(game, rng, eager, rng.choice([1, 5, 20]))
        seen = np.concatenate([game.observe(seat) for seat in range(players)])
        vectors = features(seen)
        assert vectors.shape == (players, FEATURES) and np.isfinite(vectors).all()
        assert np.abs(vectors).max() <= 20
        for seat in range(players):
            assert (features(seen[seat]) == vectors[seat]).all()
            other = world(game, seat, 7).observe(seat)[0]
            assert (features(other) == vectors[seat]).all()
            assert (features(as_flat(seen[seat])) == vectors[seat]).all()


def test_features_of_the_widest_numbers_are_small() -> None:
    most = 1_000_000
    rules = Rules(
        max_turns=most, target=most, max_rounds=most, opening_points=most, closing_bonus=most, recycle_keep=most
    )
    game = Game(rules, seed=0)
    game.state["turn"], game.state["totals"][:2] = 999_999, [10**8, -(10**8)]
    assert np.abs(features(game.observe(0)[0])).max() <= 20


def test_features_say_what_fits() -> None:
    game = position("4h 8h 6h Ks 2c 2c Ac Kc Qc", "3c", melds=[("5h * 7h", 1), ("Kc Kd Kh", 1)], row="9d 9s")
    vector = features(game.observe(0)[0])

    def named(field: str) -> set[int]:
        return set(np.flatnonzero(vector[FEATURE_SLICES[field]]).tolist())

    assert named("hand_twice") == {1} and named("fits") == {29, 33, 51}
    assert named("swaps") == {31} and named("in_run") == {0, 11, 12}
    assert vector[FEATURE_SLICES["row"]][[21, 47]].tolist() == [0.5, 1.0]


@settings(max_examples=60)
@given(SEEDS, PLAYERS, EAGER)
def test_an_action_is_described_by_the_cards_that_it_plays(seed: int, players: int, eager: float) -> None:
    """The points laid and the cost of the hand are what playing the action changes."""
    starts = dict(
        zip([n for n, _ in ACTION_FEATURE_FIELDS], np.cumsum([0] + [k for _, k in ACTION_FEATURE_FIELDS]), strict=False)
    )
    game, rng = odd_game(seed, players)
    while game.phase < Phase.ROUND_OVER:
        advance(game, rng, eager, rng.choice([1, 3]))
        if game.phase >= Phase.ROUND_OVER:
            return
        seat = game.seat
        numbers, rows = action_features(game.observe(seat), game.mask())
        legal_now = game.legal_actions()[:64]
        assert (
            numbers[0, : len(legal_now)].tolist() == legal_now.tolist() and (numbers[0, len(legal_now) :] == -1).all()
        )
        assert not rows[0, len(legal_now) :].any() and rows.shape[2] == ACTION_FEATURES and np.isfinite(rows).all()
        for action, row in zip(legal_now, rows[0], strict=False):
            assert row[:6].sum() == 1
            if action < LAY_SET:
                continue
            if action < MELD:
                played = base_cards(int(action))
            elif action < DISCARD:
                played = [meld_action_card(int(action), game.state)]
            else:
                played = [int(action) - DISCARD]
            assert row[starts["cards_played"]] * 4 == len(played)
            assert row[starts["hand_cost"]] * 40 == pytest.approx(sum(HAND_VALUE[c] for c in played), abs=1e-3)
            assert row[starts["jokers"]] * 2 == played.count(JOKER)
            naturals = [c for c in played if c != JOKER]
            ranks = row[starts["ranks"] : starts["ranks"] + 13] * 2
            assert ranks.tolist() == [sum(c % 13 == r for c in naturals) for r in range(13)]
            other = game.clone()
            other.step(int(action))
            if action < DISCARD:
                gained = int(other.state["laid"][seat]) - int(game.state["laid"][seat])
                swap = row[starts["swap"]] == 1
                own = swap and gained == 0  # a joker of one's own was swapped
                assert own or row[starts["points_laid"]] * 40 == pytest.approx(gained, abs=1e-3)


def test_more_legal_actions_than_room_are_cut() -> None:
    game = position("2c 3c 4c 2d 3d 4d 2h 3h 4h 2s 3s 4s 5c 6c * * *", "9c")
    assert len(legal(game)) > 64
    numbers, rows = action_features(game.observe(0), game.mask(), most=10)
    assert numbers.shape == (1, 10) and rows.shape == (1, 10, ACTION_FEATURES)
    assert numbers[0].tolist() == game.legal_actions()[:10].tolist()
