"""How long the legal actions of a hand that has not opened take (R8): one call's time, hand by hand.

A clock is too coarse for one call, so the engine works each hand out many times in one call from Python. That spares
it surprises: the processor has just seen the hand. ``mixed`` is the mean over all hands, one after another, which
has them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.machine import significant
from jolly_env import actions as act
from jolly_env import engine
from jolly_env.agent import RandomAgent
from jolly_env.batch import Batch
from jolly_env.cards import JOKER, RANKS
from jolly_env.packing import new_scratch
from jolly_env.rules import Rules
from jolly_env.state import PLAY

WORST_RULES: tuple[tuple[str, int, int], ...] = (
    # name, cards in hand, opening points
    ("14 cards, 40 points", 14, 40),
    ("20 cards, 40 points", 20, 40),
    ("20 cards, 150 points", 20, 150),
)
JOKERS = 6
MOST_CALLS, LONG_ENOUGH_NS, VERY_SLOW_NS = 512, 150_000, 20_000_000
"""How many calls are made in a row at most, how long they should take, and what is measured once only."""


def met_hands(count: int, n: int = 256) -> np.ndarray:
    """Return states after the draw of a seat that has not opened and laid nothing, met in random play: STATE[count]."""
    batch, agent = Batch(n, seed=2), RandomAgent()
    found: list[np.ndarray] = []
    total = steps = 0
    while total < count:
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
        steps += 1
        if steps % 7:  # neighbours in time are much alike
            continue
        states = batch.states
        opened = states["opened_turn"][np.arange(n), states["seat"]] >= 0
        rows = np.flatnonzero((states["phase"] == PLAY) & ~opened & (states["opening_laid"] == 0))
        found.append(states[rows].copy())
        total += len(rows)
    return np.concatenate(found)[:count]


def worst_hands(size: int, points: int, count: int) -> np.ndarray:
    """Return states whose seat to move holds six jokers and ``size`` - 6 naturals after its draw: STATE[count].

    Half of the hands are random; the naturals of the others are of one or two suits, which makes the most runs.
    """
    rules = Rules(hand_size=size - 1, hand_limit=max(size, 20), opening_points=points)
    batch = Batch(count, rules, seed=3)
    rng = np.random.default_rng(4)
    pack = np.repeat(np.arange(JOKER), 2)
    for row in range(count):
        suits = rng.permutation(4)[: 4 if row % 2 else 1 + row // 2 % 2]
        own = rng.permutation(pack[np.isin(pack // RANKS, suits)])[: size - JOKERS]
        rest = np.repeat(np.arange(JOKER), 2 - np.bincount(own, minlength=JOKER))
        rng.shuffle(rest)
        hand = np.concatenate([np.full(JOKERS, JOKER), own])
        # The last card of the hand is the one that is drawn, after the other player's hand.
        deck = np.concatenate([hand[:-1], rest[: size - 1], hand[-1:], rest[size - 1 :]])
        batch.states["stock"][row, : len(deck)] = deck
        batch.states["stock_size"][row] = len(deck)
        batch.states["stock_top"][row] = 0
    rows = np.arange(count)
    engine.run(batch.states, rows, engine.DEAL, rows, new_scratch())
    batch.refresh()
    batch.step(np.full(count, act.DRAW_STOCK))
    return batch.states.copy()


def call_times(states: np.ndarray, overhead: int, repeats: int = 3) -> np.ndarray:
    """Return the time of one call for each state, in ns: float64[len(states)].

    Calls in a row are made more until they take long enough for the clock; the least of ``repeats`` such rows counts,
    as whatever else the machine does can only add to it.
    """
    scratch = new_scratch()
    times = np.empty(len(states))
    for row in range(len(states)):
        calls = 1
        elapsed = _elapsed(states, row, calls, 1, scratch)
        if elapsed < VERY_SLOW_NS:
            elapsed = min(elapsed, _elapsed(states, row, calls, repeats, scratch))
        while calls < MOST_CALLS and elapsed < LONG_ENOUGH_NS:
            calls *= 8
            elapsed = _elapsed(states, row, calls, repeats, scratch)
        times[row] = max(elapsed - overhead, 0) / calls
    return times


def _elapsed(states: np.ndarray, row: int, calls: int, repeats: int, scratch: np.ndarray) -> int:
    """Return the least time of ``repeats`` times ``calls`` calls for one state, in ns."""
    rows = np.full(calls, row)
    least = np.iinfo(np.int64).max
    for _ in range(repeats):
        start = time.process_time_ns()
        engine.run(states, rows, engine.REFRESH, rows, scratch)
        least = min(least, time.process_time_ns() - start)
    return least


def mixed_time(states: np.ndarray, overhead: int, repeats: int = 5) -> float:
    """Return the mean time of a call over all states, one after another, in ns: the median of ``repeats``."""
    scratch, rows = new_scratch(), np.arange(len(states))
    times = []
    for _ in range(repeats):
        start = time.process_time_ns()
        engine.run(states, rows, engine.REFRESH, rows, scratch)
        times.append((time.process_time_ns() - start - overhead) / len(rows))
    return float(np.median(times))


def call_overhead() -> int:
    """Return what calling the engine from Python costs, in ns: a call with no rows."""
    states, none, scratch = Batch(1, seed=1).states, np.arange(0), new_scratch()
    times = []
    for _ in range(2000):
        start = time.process_time_ns()
        engine.run(states, none, engine.REFRESH, none, scratch)
        times.append(time.process_time_ns() - start)
    return int(np.median(times))


def summary(times: np.ndarray) -> dict[str, Any]:
    """Return the median, the 99th percentile, the largest and the mean of some times."""
    if len(times) == 0:
        return {"hands": 0, "median_ns": None, "p99_ns": None, "max_ns": None, "mean_ns": None}
    median, p99, most = np.percentile(times, [50, 99, 100])
    return {
        "hands": len(times),
        "median_ns": significant(median, 3),
        "p99_ns": significant(p99, 3),
        "max_ns": significant(most, 3),
        "mean_ns": significant(times.mean(), 3),
    }


def can_open(states: np.ndarray) -> np.ndarray:
    """Tell of each state whether a lay is legal: bool[len(states)]."""
    bits = np.unpackbits(states["legal"].astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return np.asarray(bits[:, act.LAY_SET : act.DISCARD].any(axis=1))


def measure_hands(count: int = 4000, worst: int = 24) -> dict[str, Any]:
    """Return the times of hands met in random play, apart by whether they can open, and of the worst hands."""
    overhead = call_overhead()
    states = met_hands(count)
    times, able = call_times(states, overhead), can_open(states)
    result: dict[str, Any] = {
        "all": summary(times) | {"mixed_ns": significant(mixed_time(states, overhead), 3)},
        "cannot_open": summary(times[~able]),
        "can_open": summary(times[able]),
    }
    for name, size, points in WORST_RULES:
        states = worst_hands(size, points, worst)
        result[f"six jokers, {name}"] = summary(call_times(states, overhead)) | {
            "can_open": int(can_open(states).sum())
        }
    return result
