"""What a seat sees: all that the contract lists, and nothing that is hidden."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_engine_vs_referee import choose
from test_invariants import EAGER, PLAYERS, SEEDS, advance, odd_game
from tools import cards, dealt, play, position

from jolly_env import Rules
from jolly_env.actions import parse_action
from jolly_env.cards import CARD_KINDS, JOKER, parse_card, parse_cards
from jolly_env.game import Game
from jolly_env.observation import (
    MOST_TOTAL,
    OBSERVATION,
    OBSERVATION_SIZE,
    SLICES,
    as_flat,
    as_record,
    rules_of,
    wide,
)
from jolly_env.rules import RULE_FIELDS
from jolly_env.state import HISTORY, Phase


def see(game: Game, seat: int) -> Any:
    return game.observe(seat)[0]


def counted(row: np.ndarray) -> Counter[int]:
    return Counter({card: int(n) for card, n in enumerate(row) if n})


# --- contents ------------------------------------------------------------------------------------


def test_the_own_hand_and_the_moment() -> None:
    game = position("2c 2c * Kd", "3c", "4d 5d", seat=2, opened=[3, 20, -1], turn=20)
    own, other = see(game, 0), see(game, 2)
    assert counted(own["hand"]) == cards("2c 2c * Kd") and counted(other["hand"]) == cards("4d 5d")
    assert (own["seat"], own["to_move"], own["phase"], own["turn"]) == (0, 2, Phase.PLAY, 20)
    assert (other["seat"], other["to_move"]) == (2, 0)
    assert (own["opened_before_turn"], see(game, 1)["opened_before_turn"], other["opened_before_turn"]) == (1, 0, 0)
    assert own["stock_size"] == 110 - 7 and other["hand_size"].tolist() == [2, 4, 1, 0]


def test_other_players_are_counted_from_the_observers_left() -> None:
    game = position("2c", "3c 3d", "4c 4d 4h", "5c 5d 5h 5s", melds=[("8h 9h *", "012")], row="6c 6d 6h 6s Kc")
    game.state["totals"][:] = [10, 20, 30, 40]
    for seat in range(4):
        seen = see(game, seat)
        turned = [(seat + i) % 4 for i in range(4)]
        assert seen["hand_size"].tolist() == [other + 1 for other in turned]
        assert seen["total"].tolist() == [10 * (other + 1) for other in turned]
        assert seen["laid"].tolist() == [[8, 9, 10, 0][other] for other in turned]
        assert [turned[i] for i in seen["meld_seats"][0, 7:10]] == [0, 1, 2]
        assert [turned[i] for i in seen["row_seats"][:5]] == [0, 1, 2, 3, 0]
        assert turned[seen["starter"]] == 0 and turned[seen["to_move"]] == 0
        for i, other in enumerate(turned):
            assert (seen["discarded"][i] == game.state["discarded"][other]).all()


def test_the_row_and_the_table() -> None:
    game = position("2c Td", "3c", melds=[("8h 9h *", 1), ("Kc Kd *", 0)], row="6c 6d *", this_turn=[1])
    seen = see(game, 0)
    assert seen["row_cards"][:4].tolist() == [*parse_cards("6c 6d *"), -1] and seen["row_size"] == 3
    assert seen["row_seats"][:4].tolist() == [0, 1, 0, -1]
    assert seen["meld_kind"][:3].tolist() == [2, 1, 0] and seen["meld_base"][:2].tolist() == [2, 12]
    assert (seen["meld_low"][0], seen["meld_size"][0], seen["meld_jokers"][0]) == (7, 3, 1 << 9)
    assert seen["meld_cards"][0].tolist() == [-1] * 7 + [*parse_cards("8h 9h *"), *[-1] * 4]
    assert seen["meld_cards"][1].tolist() == [*parse_cards("Kc Kd"), -1, -1, JOKER] + [-1] * 9
    assert seen["meld_this_turn"][:3].tolist() == [0, 1, 0] and seen["meld_count"] == 2
    assert (seen["meld_cards"][2:] == -1).all() and (seen["meld_seats"][2:] == -1).all()


def test_points_laid_in_an_opening() -> None:
    game = position("Kc Kd Kh Ks 2c", "3s", opened=[-1, 0])
    play(game, "lay Kc Kd Kh")
    assert see(game, 0)["opening_laid"] == see(game, 1)["opening_laid"] == 30
    play(game, "attach Ks m0")
    seen = see(game, 1)
    assert (seen["opening_laid"], seen["opened"].tolist(), seen["opened_turn"].tolist()) == (
        0,
        [1, 1, 0, 0],
        [0, 20, -1, -1],
    )


def test_cards_publicly_known_to_be_held() -> None:
    """Taken from the row or swapped out, less one whenever such a card is played; the second 2c was in hand before."""
    game = position("2c 6h 9s", "3c", row="Kd 2c", melds=[("5h * 7h", 1)], drawn=False)
    play(game, "take 2; swap 6h m0 #1")
    assert counted(see(game, 1)["known"][1]) == cards("Kd 2c *") == counted(see(game, 0)["known"][0])
    assert counted(see(game, 1)["unseen"])[parse_card("2c")] == 1, "the other copy, not the known one"
    play(game, "discard 2c")
    assert counted(see(game, 1)["known"][1]) == cards("Kd *")
    assert counted(see(game, 1)["discarded"][1])[parse_card("2c")] == 1


def test_a_stock_draw_shows_in_the_history_without_its_card() -> None:
    game = dealt("2c 3c", "4c 5c", stock="Kd 9d")
    play(game, "draw; discard Kd; draw")
    for seat in (0, 1):
        seen = see(game, seat)
        names = ["draw", "discard Kd", "draw"]
        assert seen["history_actions"][-3:].tolist() == [parse_action(name) for name in names]
        assert [(seat + int(s)) % 2 for s in seen["history_seats"][-3:]] == [0, 0, 1]
        assert (seen["history_actions"][:-3] == -1).all() and (seen["history_seats"][:-3] == -1).all()


def test_the_last_actions_are_shown_however_long_the_round() -> None:
    game = Game(seed=1)
    past: list[tuple[int, int]] = []
    rng = random.Random(1)
    while game.phase < Phase.ROUND_OVER:
        action = rng.choice(game.legal_actions().tolist())
        past.append((action, game.seat))
        game.step(action)
        seen = see(game, 1)
        last = past[-HISTORY:]
        assert seen["history_actions"][HISTORY - len(last) :].tolist() == [a for a, _ in last]
        assert seen["history_seats"][HISTORY - len(last) :].tolist() == [(s - 1) % 2 for _, s in last]
    assert len(past) > 2 * HISTORY


def test_what_the_last_recycling_put_into_the_stock() -> None:
    """Less those that the observer drew since; the other's draws are not told apart."""
    game = position("2c 3d 4h", "9c 9d Ks", row="5h 6h 7h 8h", stock="", recycle_keep=1)
    play(game, "discard 2c")
    stock = cards("5h 6h 7h 8h")
    assert counted(see(game, 0)["recycled"]) == counted(see(game, 1)["recycled"]) == stock
    play(game, "draw")
    drawn = game.state["hands"][1] - cards_array("9c 9d Ks")
    assert counted(see(game, 1)["recycled"]) == stock - counted(drawn)
    assert counted(see(game, 0)["recycled"]) == stock
    assert see(game, 0)["recycled_size"] == 4 and see(game, 0)["draws"].tolist() == [0, 1, 0, 0]


def cards_array(text: str) -> np.ndarray:
    return np.bincount(parse_cards(text), minlength=CARD_KINDS)


def test_the_rules_and_the_pack() -> None:
    rules = Rules(players=3, pack=[1, 2] * 26, jokers=4, target=250)
    seen = see(Game(rules, seed=0), 2)
    assert rules_of(seen) == rules
    assert dict(zip(RULE_FIELDS, seen["rules"].tolist(), strict=True))["target"] == 250
    assert seen["pack"].tolist() == [1, 2] * 26


def test_numbers_wider_than_int16() -> None:
    most = 1_000_000
    rules = Rules(max_turns=most, target=most, max_rounds=most, opening_points=most, closing_bonus=most)
    game = Game(rules, seed=0)
    game.state["turn"], game.state["round"] = 999_999, 654_321
    game.state["totals"][:2] = [10**8, -(10**8)]
    game.state["opened_turn"][1] = 70_000
    seen = see(game, 0)
    assert rules_of(seen) == rules and (wide(seen, "turn"), wide(seen, "round")) == (999_999, 654_321)
    assert wide(seen, "total").tolist() == [10**8, -(10**8), 0, 0]
    assert wide(seen, "opened_turn").tolist() == [-1, 70_000, -1, -1]
    for value in (0, 1, -1, 32767, 32768, -32767, -32768, -32769, 65535, MOST_TOTAL, -MOST_TOTAL):
        game.state["totals"][0] = value
        seen = see(game, 0)
        assert wide(seen, "total")[0] == value
        assert (seen["total_high"][0] == 0) == (abs(value) < 32768)
    game.state["totals"][:2] = [10**12, -(10**12)]
    assert wide(see(game, 0), "total").tolist() == [MOST_TOTAL, -MOST_TOTAL, 0, 0], "clipped, not wrapped"


# --- one memory, two views -----------------------------------------------------------------------


def test_the_record_and_the_flat_vector_share_memory() -> None:
    records = np.concatenate([Game(seed=1).observe(0), Game(seed=2).observe(1)])
    flat = as_flat(records)
    assert flat.shape == (2, OBSERVATION_SIZE) and flat.dtype == np.int16 and np.shares_memory(flat, records)
    assert np.shares_memory(as_record(flat), records) and (as_record(flat) == records).all()
    assert as_flat(records[0]).shape == (OBSERVATION_SIZE,) and as_record(flat[1]) == records[1]
    assert as_record(records) is records
    assert OBSERVATION.itemsize == 2 * OBSERVATION_SIZE, "int16 without padding"
    for name, where in SLICES.items():
        assert (flat[0, where] == np.ravel(records[0][name])).all(), name
    assert sum(where.stop - where.start for where in SLICES.values()) == OBSERVATION_SIZE


@pytest.mark.parametrize("bad", [np.zeros(5, np.int16), np.zeros(OBSERVATION_SIZE), np.zeros((2, 3)), None])
def test_arrays_of_another_shape_are_no_observations(bad: Any) -> None:
    with pytest.raises(ValueError, match="observation"):
        as_record(bad)


# --- nothing that is hidden ----------------------------------------------------------------------


def with_other_hidden_cards(game: Game, observer: int, rng: random.Random) -> Game:
    """Return a game in which all that the observer can't place is dealt anew: unknown hand cards and the stock."""
    other = game.clone()
    state = other.state
    pool = other.stock()
    room = {}
    for seat in set(range(game.players)) - {observer}:
        unknown = counted(state["hands"][seat] - state["known"][seat])
        room[seat] = unknown.total()
        pool += list(unknown.elements())
    rng.shuffle(pool)
    for seat, size in room.items():
        state["hands"][seat] = state["known"][seat]
        for _ in range(size):
            state["hands"][seat, pool.pop()] += 1
        naturals = state["hands"][seat, :JOKER].reshape(4, 13)
        state["ones"][seat] = ((naturals >= 1) << np.arange(13)).sum(axis=1)
        state["twos"][seat] = ((naturals >= 2) << np.arange(13)).sum(axis=1)
    top = int(state["stock_top"])
    state["stock"][top : top + len(pool)] = pool
    state["rng"] = rng.getrandbits(64)
    other.refresh()
    return other


@settings(max_examples=60)
@given(SEEDS, PLAYERS, EAGER)
def test_hidden_cards_change_nothing_that_is_seen(seed: int, players: int, eager: float) -> None:
    game, rng = odd_game(seed, players)
    while game.phase < Phase.ROUND_OVER:
        advance(game, rng, eager, rng.choice([1, 5, 20]))
        for observer in range(players):
            other = with_other_hidden_cards(game, observer, rng)
            assert other.observe(observer).tobytes() == game.observe(observer).tobytes()
            assert other.decision_key(observer) == game.decision_key(observer)
            if observer == game.seat:
                assert (other.mask() == game.mask()).all()


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([2, 3, 4]))
def test_hidden_cards_change_nothing_after_a_recycling(seed: int, players: int) -> None:
    rng = random.Random(seed)
    game = Game(Rules(players=players, hand_size=5, jokers=2, pack=[1] * 52), seed=seed)
    while game.phase < Phase.ROUND_OVER:
        game.step(choose(rng, game.legal_actions().tolist(), 0.0))
        if game.state["recycles"]:
            for observer in range(players):
                other = with_other_hidden_cards(game, observer, rng)
                assert other.observe(observer).tobytes() == game.observe(observer).tobytes()
