"""What cards in hand may still become: the melds that lack a card, by the copies of it that can still come.

A *keep* is float64[53]: what each card in hand is worth because of the melds that it may lie in. *Reach* is
float64[53]: how many copies of a card can still come to the observer.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import lowest_bit
from jolly_env.cards import CARD_KINDS, PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.hand import ONES, places_held
from jolly_env.state import SET

STARTS: Final = (1 << act.RUN_STARTS) - 1


@kernel
def read_reach(obs: Any, reach: np.ndarray) -> None:
    """Write the copies of each card that may come: those that are unseen."""
    for card in range(CARD_KINDS):
        reach[card] = obs["unseen"][card]


@kernel
def value_runs(
    hand: np.ndarray, reach: np.ndarray, complete: float, out: float, jokered: float, keep: np.ndarray
) -> float:
    """Add to each card what it is worth for runs, and return the sum over the runs that lack a card.

    A run counts ``complete`` for each of its points if it is in hand; if it lacks one card, ``out`` for each copy of
    that card within reach, and ``jokered``.
    """
    total = 0.0
    for suit in range(SUITS):
        held = places_held(hand, suit)
        a, b, c = held, held >> 1, held >> 2
        lows = ((a & b) | (a & c) | (b & c)) & STARTS
        while lows:
            low = lowest_bit(lows)
            lows &= lows - 1
            part = held >> low & 7
            points = PLACE_VALUE[low] + PLACE_VALUE[low + 1] + PLACE_VALUE[low + 2]
            value = complete * points
            if part != 7:
                missing = RANKS * suit + (low + lowest_bit(~part & 7)) % RANKS
                value = (out * reach[missing] + jokered) * points
                total += value
            for i in range(3):
                if part >> i & 1:
                    keep[RANKS * suit + (low + i) % RANKS] += value
    return total


@kernel
def value_sets(
    hand: np.ndarray, reach: np.ndarray, complete: float, out: float, jokered: float, keep: np.ndarray
) -> float:
    """Do for sets what :func:`value_runs` does for runs."""
    total = 0.0
    c, d, h, s = hand[ONES], hand[ONES + 1], hand[ONES + 2], hand[ONES + 3]
    ranks = (c & d) | (h & s) | ((c | d) & (h | s))
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        size, outs = 0, 0.0
        for suit in range(SUITS):
            if hand[ONES + suit] >> rank & 1:
                size += 1
            else:
                outs += reach[RANKS * suit + rank]
        points = 3 * SET_VALUE[rank]
        value = complete * points
        if size < 3:
            value = (out * outs + jokered) * points
            total += value
        for suit in range(SUITS):
            if hand[ONES + suit] >> rank & 1:
                keep[RANKS * suit + rank] += value
    return total


@kernel
def table_points(obs: Any, points: np.ndarray) -> None:
    """Write what each natural would count if it were attached to a meld on the table or swapped in; 0 if it fits none.

    ``points`` is float64[53].
    """
    points[:] = 0
    for meld in range(obs["meld_count"]):
        base: Any = np.int64(obs["meld_base"][meld])
        size: Any = np.int64(obs["meld_size"][meld])
        jokers: Any = np.int64(obs["meld_jokers"][meld])
        if obs["meld_kind"][meld] == SET:
            for suit in range(SUITS):
                if obs["meld_cards"][meld, suit] < 0 and (size < 4 or jokers):
                    points[RANKS * suit + base] = max(points[RANKS * suit + base], SET_VALUE[base])
            continue
        low: Any = np.int64(obs["meld_low"][meld])
        if low > 0:
            note_place(points, base, low - 1)
        if low + size < PLACES:
            note_place(points, base, low + size)
        while jokers:
            note_place(points, base, lowest_bit(jokers))
            jokers &= jokers - 1


@kernel
def note_place(points: np.ndarray, suit: int, place: int) -> None:
    """Note what a natural counts at a place of a run."""
    card = RANKS * suit + place % RANKS
    points[card] = max(points[card], PLACE_VALUE[place])
