"""Which card greedy sheds: the dearest one that serves no meld, by what is in hand and what is still unseen."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import lowest_bit
from jolly_env.cards import HAND_VALUE, JOKER, PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.hand import JOKERS, ONES, TWOS, places_held
from jolly_env.state import SET

# What a card is weighed with, in hundredths of a point; tuned in play against variants on duplicate deals.
COMPLETE: Final = 100
"""Each point of a meld that is complete in hand."""
OUT: Final = 8
"""Each point of a meld that lacks one card, for each copy of that card that is still unseen."""
JOKERED: Final = 60
"""Each point of a meld that lacks one card, if there is a joker for it."""
FIT: Final = 300
"""Each point of a card that fits a table meld, while the observer has not opened."""
IDLE: Final = 20
"""Each point that a card to be shed would cost at the end."""
SECOND_COPY: Final = 4
"""The second copy of a card serves this many times less."""
LOWEST: Final = -(1 << 60)


@kernel
def choose_discard(obs: Any, mask: np.ndarray, key: np.uint64, hand: np.ndarray, keep: np.ndarray) -> int:
    """Shed the dearest card that serves no meld; a joker only if there is nothing else. Ties go by the key."""
    keep[:JOKER] = 0
    value_runs(obs, hand, keep)
    value_sets(obs, hand, keep)
    if obs["opened"][0] == 0:
        value_fits(obs, keep)
    best_action, best = -1, LOWEST
    for suit in range(SUITS):
        ranks = hand[ONES + suit]
        while ranks:
            rank = lowest_bit(ranks)
            ranks &= ranks - 1
            card = RANKS * suit + rank
            if not mask[act.DISCARD + card]:
                continue
            kept = keep[card]
            if hand[TWOS + suit] >> rank & 1:
                kept //= SECOND_COPY
            value = IDLE * HAND_VALUE[card] - kept
            tie = np.int64(key * np.uint64(2 * card + 1) >> np.uint64(57))
            if 128 * value + tie > best:
                best_action, best = act.DISCARD + card, 128 * value + tie
    if best_action < 0 and mask[act.DISCARD + JOKER]:
        return act.DISCARD + JOKER
    return best_action


@kernel
def value_runs(obs: Any, hand: np.ndarray, keep: np.ndarray) -> None:
    """Add to each card what it is worth for runs."""
    jokered = JOKERED if hand[JOKERS] > 0 else 0
    for suit in range(SUITS):
        held = places_held(hand, suit)
        a, b, c = held, held >> 1, held >> 2
        lows = ((a & b) | (a & c) | (b & c)) & ((1 << act.RUN_STARTS) - 1)
        while lows:
            low = lowest_bit(lows)
            lows &= lows - 1
            part = held >> low & 7
            points = PLACE_VALUE[low] + PLACE_VALUE[low + 1] + PLACE_VALUE[low + 2]
            value = COMPLETE * points
            if part != 7:
                missing = RANKS * suit + (low + lowest_bit(~part & 7)) % RANKS
                value = (OUT * np.int64(obs["unseen"][missing]) + jokered) * points
            for i in range(3):
                if part >> i & 1:
                    keep[RANKS * suit + (low + i) % RANKS] += value


@kernel
def value_sets(obs: Any, hand: np.ndarray, keep: np.ndarray) -> None:
    """Add to each card what it is worth for sets."""
    jokered = JOKERED if hand[JOKERS] > 0 else 0
    c, d, h, s = hand[ONES], hand[ONES + 1], hand[ONES + 2], hand[ONES + 3]
    ranks = (c & d) | (h & s) | ((c | d) & (h | s))
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        size, outs = 0, 0
        for suit in range(SUITS):
            if hand[ONES + suit] >> rank & 1:
                size += 1
            else:
                unseen: Any = np.int64(obs["unseen"][RANKS * suit + rank])
                outs += unseen
        points = 3 * SET_VALUE[rank]
        value = COMPLETE * points if size > 2 else (OUT * outs + jokered) * points
        for suit in range(SUITS):
            if hand[ONES + suit] >> rank & 1:
                keep[RANKS * suit + rank] += value


@kernel
def value_fits(obs: Any, keep: np.ndarray) -> None:
    """Add to each card what it is worth because it fits a table meld, for an observer who has not opened yet."""
    for meld in range(obs["meld_count"]):
        base: Any = np.int64(obs["meld_base"][meld])
        size: Any = np.int64(obs["meld_size"][meld])
        if obs["meld_kind"][meld] == SET:
            for suit in range(SUITS):
                if obs["meld_cards"][meld, suit] < 0:
                    keep[RANKS * suit + base] += FIT * SET_VALUE[base]
            continue
        low: Any = np.int64(obs["meld_low"][meld])
        if low > 0:
            keep[RANKS * base + low - 1] += FIT * PLACE_VALUE[low - 1]
        if low + size < PLACES:
            keep[RANKS * base + (low + size) % RANKS] += FIT * PLACE_VALUE[low + size]
