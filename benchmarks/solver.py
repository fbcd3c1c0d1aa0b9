"""How long the lay-down solver takes: one call's time, hand by hand, on hands as they are met and on the worst.

A clock is too coarse for one call, so each hand is solved many times in one call from Python. That spares it surprises:
the processor has just seen the hand. ``mixed`` is the mean over all hands, one after another, which has them.
"""

from __future__ import annotations

import time
from typing import Any, TypeAlias

import numpy as np

from agents.greedy import GreedyAgent
from agents.solver import hand_row, new_plans, new_room, solve_rows
from agents.solver_items import GAVE_UP
from benchmarks.hands import LONG_ENOUGH_NS, MOST_CALLS, VERY_SLOW_NS, summary
from benchmarks.machine import significant
from jolly_env.batch import Batch
from jolly_env.cards import JOKER
from jolly_env.rules import Rules
from jolly_env.state import DRAW, PLAY

Cases: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Observations and hands: OBSERVATION[n], int64[n, HAND_WORDS]."""

MOST_CARDS = 20


def met(count: int, players: int = 2, games: int = 256) -> np.ndarray:
    """Return observations of the seats to move in greedy play: OBSERVATION[count]."""
    batch, agent = Batch(games, Rules(players=players), seed=5), GreedyAgent()
    found: list[np.ndarray] = []
    for step in range(1, 1_000_000):
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
        if step % 7 == 0:  # neighbours in time are much alike
            found.append(batch.observations.copy())
            if len(found) * games >= count:
                break
    return np.concatenate(found)[:count]


def cases(observations: np.ndarray, counts: np.ndarray) -> Cases:
    """Return observations with hands that are given as counts, int[n, 53]."""
    return observations, np.array([hand_row(row.tolist()) for row in counts])


def met_cases(observations: np.ndarray, *, opened: bool, jokers: tuple[int, int]) -> Cases:
    """Return those after the draw whose seat has opened or not and holds some jokers, from least to most."""
    hand = observations["hand"]
    rows = (observations["phase"] == PLAY) & (observations["opened"][:, 0] == opened)
    rows &= (hand[:, JOKER] >= jokers[0]) & (hand[:, JOKER] <= jokers[1])
    return cases(observations[rows], hand[rows])


def long_takes(observations: np.ndarray) -> Cases:
    """Return those before the draw of an opened seat, with the hand after the longest take, of 20 cards if it can."""
    rows = (observations["phase"] == DRAW) & (observations["opened"][:, 0] == 1) & (observations["row_size"] > 5)
    chosen = observations[rows]
    counts = chosen["hand"].copy()
    for i, obs in enumerate(chosen):
        size = int(obs["row_size"])
        most = MOST_CARDS - int(obs["hand_size"][0])
        np.add.at(counts[i], obs["row_cards"][max(size - most, 0) : size], 1)
    return cases(chosen, counts)


def worst_cases(observations: np.ndarray, count: int) -> Cases:
    """Return the fullest tables that were met, each with 20 cards: all jokers off the table, and random naturals.

    Half of the hands are random, the others of two suits.
    """
    rng = np.random.default_rng(6)
    rows = observations[observations["opened"][:, 0] == 1]
    fullest = rows[np.argsort(-rows["meld_count"], kind="stable")[:count]]
    counts = np.zeros((len(fullest), JOKER + 1), dtype=np.int64)
    for i, obs in enumerate(fullest):
        table = np.bincount(obs["meld_cards"][obs["meld_cards"] >= 0], minlength=JOKER + 1)
        left = np.repeat(np.arange(JOKER), 2 - table[:JOKER])
        if i % 2:
            left = left[np.isin(left // 13, rng.permutation(4)[:2])]
        jokers = 6 - int(table[JOKER])
        own = rng.permutation(left)[: MOST_CARDS - jokers]
        counts[i] = np.bincount(own, minlength=JOKER + 1)
        counts[i, JOKER] = jokers
    return cases(fullest, counts)


def call_times(given: Cases, repeats: int = 3) -> np.ndarray:
    """Return the time of one call for each case, in ns: float64[n]; the least of some rows of calls counts."""
    times = np.empty(len(given[1]))
    for row in range(len(times)):
        calls = 1
        elapsed = _elapsed(given, np.full(calls, row), 1)
        if elapsed < VERY_SLOW_NS:
            elapsed = min(elapsed, _elapsed(given, np.full(calls, row), repeats))
        while calls < MOST_CALLS and elapsed < LONG_ENOUGH_NS:
            calls *= 8
            elapsed = _elapsed(given, np.full(calls, row), repeats)
        times[row] = elapsed / calls
    return times


_PLANS, _ROOM = new_plans(), new_room()


def _elapsed(given: Cases, rows: np.ndarray, repeats: int) -> int:
    """Return the least time of ``repeats`` times solving some rows, in ns, less what the call costs."""
    counts = np.empty(len(rows), dtype=np.int64)
    least = np.iinfo(np.int64).max
    for _ in range(repeats):
        start = time.process_time_ns()
        solve_rows(given[0], rows[:0], given[1], _PLANS, _ROOM, counts)
        between = time.process_time_ns()
        solve_rows(given[0], rows, given[1], _PLANS, _ROOM, counts)
        end = time.process_time_ns()
        least = min(least, max(end - between - (between - start), 0))
    return int(least)


def measure(given: Cases) -> dict[str, Any]:
    """Return the figures of some cases: times, ends, and how many were cut off."""
    counts = np.empty(1, dtype=np.int64)
    ends, cut = [], 0
    for row in range(len(given[1])):
        solve_rows(given[0], np.array([row]), given[1], _PLANS, _ROOM, counts)
        ends.append(int(counts[0]))
        cut += int(_ROOM[GAVE_UP])
    mixed = _elapsed(given, np.arange(len(given[1])), 5) / len(given[1])
    return {
        **summary(call_times(given)),
        "mixed_ns": significant(mixed, 3),
        "median_ends": float(np.median(ends)),
        "max_ends": max(ends),
        "cut_off": cut,
    }


def figures(count: int = 40_000, most: int = 1_000) -> dict[str, Any]:
    """Return the figures of all kinds of cases, of at most ``most`` of each."""
    two, four = met(count), met(count, players=4)
    kinds = {
        "not opened, no joker": met_cases(two, opened=False, jokers=(0, 0)),
        "not opened, one joker": met_cases(two, opened=False, jokers=(1, 1)),
        "not opened, more jokers": met_cases(two, opened=False, jokers=(2, 6)),
        "opened, no joker": met_cases(two, opened=True, jokers=(0, 0)),
        "opened, one joker": met_cases(two, opened=True, jokers=(1, 1)),
        "opened, more jokers": met_cases(two, opened=True, jokers=(2, 6)),
        "after a long take": long_takes(two),
        "six jokers, 20 cards, full table": worst_cases(four, most // 5),
    }
    return {name: measure((given[0][:most], given[1][:most])) for name, given in kinds.items()}


if __name__ == "__main__":
    for name, numbers in figures().items():
        print(f"{name}: {numbers}")
