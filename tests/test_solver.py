"""The lay-down solver against the trying of every action, on tricky hands, and when it is cut off."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from brute_ends import Vector, all_ends, best, made_positions, positions, stock_up, vector
from tools import dealt, play, position

from agents import solver
from agents.greedy import GreedyAgent
from agents.solver import STEPS_BEFORE_MEMORY, End, Ends, ends, hand_row, new_plans, new_room, solve_rows
from agents.solver_ends import FIRST
from agents.solver_items import FEW_STEPS, GAVE_UP, ITEM_END, MEMORY_AT, MOST_STEPS, STEPS
from benchmarks.solver import met, met_cases, worst_cases
from jolly_env import Rules
from jolly_env.actions import DISCARD, LAY_SET
from jolly_env.agent import RandomAgent
from jolly_env.cards import JOKER, format_cards, parse_cards
from jolly_env.game import Game

TABLES = (
    Rules(),
    Rules(opening_points=0, hand_size=7),
    Rules(opening_points=15, hand_size=8),
    Rules(players=3, opening_points=30, hand_size=9),
    Rules(opening_points=25, hand_size=8, pack=(2,) * 26 + (0,) * 26),
    Rules(opening_points=12, hand_size=8, pack=((2,) * 5 + (0,) * 6 + (2,) * 2) * 4),
    Rules(players=4, opening_points=1, hand_size=6),
    Rules(opening_points=20, hand_size=10, pack=(1,) * 13 + (2,) * 13 + (0,) * 26),
)


def solved(game: Game, hand: str | None = None) -> Ends:
    return ends(game.observe(game.seat), None if hand is None else parse_cards(hand))


def numbers(end: End) -> Vector:
    return end.points, end.cards, end.cost, end.jokers


def found(game: Game, hand: str | None = None) -> list[tuple[int, str]]:
    """Return points and cards left of all ends."""
    result = solved(game, hand)
    assert result.exact
    return [(end.points, format_cards(end.left)) for end in result.found]


def nothing(game: Game) -> Vector | None:
    """Return the end of laying nothing, if it is legal."""
    state, seat = game.state, game.seat
    legal = state["opened_turn"][seat] >= 0 or state["opening_laid"] == 0
    return vector(state, seat, int(state["laid"][seat])) if legal else None


def compare(game: Game, most: int) -> str:
    """Compare with the trying of everything and return what kind of position it was."""
    truth = all_ends(game, most)
    if truth is None:
        return "too big"
    result = solved(game)
    assert result.exact
    have = [numbers(end) for end in result.found]
    assert set(have) == best(truth, nothing(game)) and len(set(have)) == len(have), game.to_json()
    for end in result.found:
        assert end.cards == len(end.left) and end.jokers == end.left.count(JOKER)
        assert end.first is None or game.is_legal(end.first)
    if game.state["opened_turn"][game.seat] >= 0:
        return "opened"
    if game.state["opening_laid"] > 0:
        return "begun"
    return "able" if len(truth) > 1 else "unable"


@pytest.mark.parametrize("table", range(len(TABLES)))
def test_ends_are_those_that_trying_everything_finds(table: int) -> None:
    seen: Counter[str] = Counter()
    for agent in (RandomAgent(), GreedyAgent()):
        for game in positions(TABLES[table], agent, seed=table, count=30):
            seen[compare(game, most=1500)] += 1
    assert seen["too big"] < 20 and seen["opened"] + seen["begun"] + seen["able"] > 10, seen


def walk_and_compare(seed: int, count: int, most: int) -> Counter[str]:
    """Compare in positions that are made up, and after some random steps of laying from them."""
    rng, seen = random.Random(seed), Counter[str]()
    for game in made_positions(seed, count):
        for _ in range(4):
            seen[compare(game, most)] += 1
            lays = [int(action) for action in game.legal_actions() if LAY_SET <= action < DISCARD]
            if not lays:
                break
            game.step(rng.choice(lays))
    return seen


@pytest.mark.parametrize("memory_from", [0, STEPS_BEFORE_MEMORY])
def test_ends_at_tables_with_many_jokers(memory_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "STEPS_BEFORE_MEMORY", memory_from)
    seen = walk_and_compare(seed=1, count=250, most=4000)
    assert seen["too big"] < 10 and min(seen["opened"], seen["able"]) > 50 and seen["begun"] > 5, seen


@pytest.mark.slow
def test_ends_at_many_tables_with_many_jokers() -> None:
    seen = walk_and_compare(seed=2, count=3000, most=8000)
    assert seen["too big"] < 50 and min(seen["opened"], seen["able"], seen["begun"]) > 100, seen


@pytest.mark.slow
def test_memory_changes_no_end_of_large_hands() -> None:
    """What brute force can't try: hands of 14 to 20 cards, solved with and without memory."""
    observations = met(6000, players=4)
    plans, room, count, long = new_plans(), new_room(), np.zeros(1, dtype=np.int64), 0
    room[MOST_STEPS] = 400_000
    for given in (worst_cases(observations, 60), met_cases(observations, opened=False, jokers=(1, 6))):
        for row in range(min(len(given[1]), 100)):
            found = []
            for memory_from in (0, 1 << 40):
                room[FEW_STEPS] = memory_from
                solve_rows(given[0], np.array([row]), given[1], plans, room, count)
                found.append({tuple(plan[:FIRST]) for plan in plans[: count[0]].tolist()})
            if room[GAVE_UP] == 0:
                assert found[0] == found[1]
                long += room[STEPS] > 1000
    assert long > 20


@pytest.mark.slow
@pytest.mark.parametrize("table", range(len(TABLES)))
def test_ends_of_many_positions(table: int) -> None:
    seen: Counter[str] = Counter()
    for agent in (RandomAgent(), GreedyAgent()):
        for game in positions(TABLES[table], agent, seed=100 + table, count=150):
            seen[compare(game, most=8000)] += 1
    assert seen["too big"] < 100 and min(seen["opened"], seen["able"] + seen["begun"]) > 10, seen


@pytest.mark.parametrize("table", [0, 2, 4, 6])
def test_first_actions_lead_to_their_ends(table: int) -> None:
    """Who solves anew after each action, without memory, comes to the end that was promised."""
    steps = 0
    for game in positions(TABLES[table], RandomAgent(), seed=7, count=25):
        for end in solved(game).found:
            walk, wanted = game.clone(), numbers(end)
            seat = walk.seat
            while end.first is not None:
                laid = int(walk.state["laid"][seat])
                walk.step(end.first)
                gained = int(walk.state["laid"][seat]) - laid
                wanted = (wanted[0] - gained, *wanted[1:])
                (end,) = [other for other in solved(walk).found if numbers(other) == wanted] or [None]
                assert end is not None, (wanted, game.to_json(), walk.to_json())
                steps += 1
            assert vector(walk.state, seat, int(walk.state["laid"][seat])) == wanted
    assert steps > 30


def test_a_swapped_joker_is_used_elsewhere() -> None:
    game = position("6h 9c 9d 2s", "3c", melds=[("5h * 7h", 1)])
    assert found(game) == [(33, "2s"), (6, "9c 9d 2s *"), (0, "9c 9d 6h 2s")]


def test_attach_then_swap_at_a_set() -> None:
    game = position("Kh Ks 2c 3d", "3c", melds=[("Kc Kd *", 1)])
    assert found(game) == [(20, "2c 3d *"), (0, "2c 3d Kh Ks")]


def test_a_swap_at_an_end_lets_a_joker_follow() -> None:
    """R5: no two jokers are neighbours, so the joker that is swapped out goes beyond the card that took its place."""
    game = position("6h 2c", "3c", melds=[("* 7h 8h", 1)])
    assert found(game)[0] == (6 + 9, "2c")  # above the 8 it brings more than below the 6
    game = position("Qh 2c", "3c", melds=[("Th Jh *", 1)])
    assert found(game) == [(10 + 10, "2c"), (10, "2c *"), (0, "2c Qh")]
    game = position("Kh 2c", "3c", melds=[("2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh *", 1)])
    assert found(game)[0] == (10 + 10, "2c")


def test_an_ace_goes_where_it_counts_most() -> None:
    game = position("Ah 5c", "3c", melds=[("2h 3h 4h", 1), ("Jh Qh Kh", 1)])
    assert found(game) == [(10, "5c"), (0, "5c Ah")]


def test_two_equal_cards_go_to_two_melds() -> None:
    game = position("5h 5h 9c 2s", "3c", melds=[("2h 3h 4h", 1), ("6h 7h 8h", 1)])
    assert found(game) == [(10, "9c 2s"), (0, "9c 5h 5h 2s")]


def test_a_run_of_fourteen_takes_both_aces() -> None:
    game = position("Ac Ac 2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc 2d", "3c")
    assert found(game)[0] == (1 + 54 + 40, "2d") and len(found(game)) == 2


def test_one_card_stays_in_hand() -> None:
    """R11."""
    assert found(position("5c 6c 7c", "3c")) == [(0, "5c 6c 7c")]
    assert found(position("5c 6c 7c 8c", "3c")) == [(21, "5c"), (0, "5c 6c 7c 8c")]
    assert found(position("*", "3c", melds=[("5h 6h 7h", 1)])) == [(0, "*")]


def test_the_most_points_may_leave_more_cards_than_the_fewest() -> None:
    """Two melds around one card each bring 45 points; laying all but one card brings 44."""
    game = position("7c 8c 2c 2d 4d * * * *", "3c", opened=[-1, 0], opening_points=25)
    assert found(game)[:2] == [(45, "2c 2d 4d"), (44, "2c")]


def test_a_swap_needs_no_other_card() -> None:
    """R10: it leaves the hand as large as it was."""
    assert found(position("6h", "3c", melds=[("5h * 7h", 1)])) == [(6, "*"), (0, "6h")]


def test_a_joker_of_ones_own_brings_no_points_when_it_is_swapped_out() -> None:
    """R14: its place counted for the player already."""
    game = position("6h 2c", "3c", melds=[("5h * 7h", 0)])
    assert (0, "2c *") in found(game)


def test_what_opens_may_be_a_part_that_needs_no_swapped_joker() -> None:
    """R8: T J Q K open, then the 6 is swapped in, and its joker goes below the T."""
    game = position("Th Jh Qh Kh 6c 2s", "3c", opened=[-1, 0], melds=[("5c * 7c", 1)])
    assert found(game)[0] == (40 + 6 + 10, "2s")  # above the K it counts 10, below the T 9
    assert found(position("Th Jh Qh 6c 2s", "3c", opened=[-1, 0], melds=[("5c * 7c", 1)])) == [(0, "6c Th Jh Qh 2s")]


def test_a_half_finished_opening_must_go_on() -> None:
    game = play(dealt("Tc Jc Qc Kd Kh Ks 2c", "3c", opening_points=40), "draw; lay Tc Jc Qc")
    assert all(end.first is not None for end in solved(game).found)
    assert solved(game).found[0].points == 30


def test_another_hand_at_the_same_table() -> None:
    """The ends of a hand that is not the observer's are those of the game in which it is."""
    rng = random.Random(3)
    able = 0
    for game in positions(TABLES[2], RandomAgent(), seed=11, count=40):
        if game.state["opening_laid"] > 0:
            continue
        before = game.observe(game.seat).copy()
        stock_up(game.state, rng, 5, 2)
        game.refresh()
        held = [card for card in range(53) for _ in range(int(game.state["hands"][game.seat, card]))]
        assert ends(before, held) == solved(game)
        able += len(solved(game).found) > 1
    assert able > 5


def test_there_is_room_for_the_items_of_the_largest_hands() -> None:
    """Six jokers and all of one suit make the most runs; the room is not what cuts them off."""
    hearts = [13 * 2 + rank for rank in range(13)]
    plans, room, count = new_plans(), new_room(), np.zeros(1, dtype=np.int64)
    game = position("2c 4d", "3c 5d", melds=[("3h 4h 5h", 1), ("8h 9h Th", 0)])
    hand = hand_row(np.bincount([*hearts, hearts[0], *[JOKER] * 6], minlength=53).tolist())
    room[MOST_STEPS] = 1
    solve_rows(game.observe(0).reshape(1), np.zeros(1, dtype=np.int64), hand[np.newaxis], plans, room, count)
    assert MEMORY_AT - 8 * 1500 < room[ITEM_END] < MEMORY_AT


def test_a_search_that_is_cut_off_says_so_and_its_ends_can_be_reached() -> None:
    cut = 0
    for game in positions(TABLES[4], RandomAgent(), seed=13, count=40):
        truth = all_ends(game, 1500)
        result = ends(game.observe(game.seat), steps=5)
        if truth is None:
            continue
        assert {numbers(end) for end in result.found} <= truth
        assert all(end.first is None or game.is_legal(end.first) for end in result.found)
        cut += not result.exact
        if result.exact:
            assert result == solved(game)
    assert cut > 5


@pytest.mark.parametrize(
    ("cards", "words"),
    [([53], "a number from 0"), ([], "1 to 20 cards"), ([3, 3, 3], "two of each"), ([52] * 7, "6 jokers")],
)
def test_impossible_hands_are_refused(cards: list[int], words: str) -> None:
    game = position("2c", "3c")
    with pytest.raises(ValueError, match=words):
        ends(game.observe(0), cards)


def test_an_observation_of_another_moment_needs_a_hand() -> None:
    game = position("2c 4d", "3c 5d", drawn=False)
    for seat in (0, 1):
        with pytest.raises(ValueError, match="nothing to lay now"):
            ends(game.observe(seat))
    assert ends(game.observe(0), parse_cards("5c 6c 7c 2d")).found[0].points == 18


def test_the_hand_is_left_as_it_was() -> None:
    game = position("6h 9c 9d 2s", "3c", melds=[("5h * 7h", 1)])
    before: Any = game.observe(0).copy()
    after = game.observe(0)
    ends(after)
    assert np.array_equal(before, after)
