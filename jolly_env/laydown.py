"""What a hand can lay in one go, estimated on bits: the yardstick by which greedy compares its choices.

Hands are those of :mod:`jolly_env.hand`, used up in place. One card always stays for the discard (R11).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env._jit import kernel
from jolly_env.bits import lowest_bit
from jolly_env.cards import JOKER, PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.hand import COUNT, JOKERS, ONES, drop_card, drop_joker, places_held, swap_in
from jolly_env.state import SET

PAIR_SUITS = np.array([0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100], dtype=np.int64)
"""The pairs of suits, as bits."""
PLACES_MASK = (1 << PLACES) - 1
RANKS_MASK = (1 << RANKS) - 1


@kernel
def read_fits(obs: Any, fits: np.ndarray) -> None:
    """Write by suit which ranks could be attached to the melds or swapped in, as bits."""
    fits[:SUITS] = 0
    for meld in range(obs["meld_count"]):
        base: Any = np.int64(obs["meld_base"][meld])
        if obs["meld_kind"][meld] == SET:
            for suit in range(SUITS):
                fits[suit] |= (1 if obs["meld_cards"][meld, suit] < 0 else 0) << base
            continue
        low: Any = np.int64(obs["meld_low"][meld])
        places: Any = np.int64(obs["meld_jokers"][meld]) | (1 << low | 2 << low + np.int64(obs["meld_size"][meld])) >> 1
        fits[base] |= (places & RANKS_MASK) | places >> RANKS & 1


@kernel
def may_help(card: int, hand: np.ndarray, fits: np.ndarray) -> bool:
    """Tell whether a card has anything to do with a hand and the table; if not, it hardly helps to lay more."""
    if card == JOKER:
        return True
    suit, rank = card // RANKS, card % RANKS
    if fits[suit] >> rank & 1:
        return True
    joker = hand[JOKERS] > 0
    mates = 0
    for other in range(SUITS):
        mates += hand[ONES + other] >> rank & 1
    # Bit 2 is the card's own place once the places are shifted down by its rank.
    held = places_held(hand, suit) << 2
    around = held >> rank | (held >> RANKS if rank == 0 else 0)
    return around & (0b11011 if joker else 0b01010) != 0 or mates > (0 if joker else 1)


@kernel
def lay_best_set(hand: np.ndarray, least: int) -> int:
    """Return the points of the dearest natural set; it leaves the hand if it is worth more than ``least``."""
    c, d, h, s = hand[ONES], hand[ONES + 1], hand[ONES + 2], hand[ONES + 3]
    ranks = (c & d & (h | s)) | (h & s & (c | d))
    best, best_rank, most = 0, -1, hand[COUNT] - 1
    if most < 3:
        return 0
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        size = min((c >> rank & 1) + (d >> rank & 1) + (h >> rank & 1) + (s >> rank & 1), most)
        if size * SET_VALUE[rank] > best:
            best, best_rank = size * SET_VALUE[rank], rank
    if best > least:
        for suit in range(SUITS):
            if hand[ONES + suit] >> best_rank & 1 and hand[COUNT] > 1:
                drop_card(hand, suit, best_rank)
    return best


@kernel
def find_run(hand: np.ndarray) -> tuple[int, int, int, int]:
    """Return points, suit, lowest place and length of the dearest natural run; zeros if there is none."""
    best, best_suit, best_low, best_size = 0, 0, 0, 0
    most = min(hand[COUNT] - 1, RANKS)  # one ace does not end a run at both ends
    if most < 3:
        return best, best_suit, best_low, best_size
    for suit in range(SUITS):
        held = places_held(hand, suit)
        starts = held & held >> 1 & held >> 2
        starts &= ~(starts << 1)
        while starts:
            low = lowest_bit(starts)
            starts &= starts - 1
            points, size = 0, 0
            while low + size < PLACES and held >> (low + size) & 1 and size < most:
                points += PLACE_VALUE[low + size]
                size += 1
            if points > best:
                best, best_suit, best_low, best_size = points, suit, low, size
    return best, best_suit, best_low, best_size


@kernel
def lay_naturals(hand: np.ndarray) -> int:
    """Lay the dearest natural meld again and again; return the points."""
    total = 0
    while True:
        points, suit, low, size = find_run(hand)
        set_points = lay_best_set(hand, points)
        if set_points > points:
            total += set_points
            continue
        if points == 0:
            return total
        for place in range(low, low + size):
            drop_card(hand, suit, place % RANKS)
        total += points


@kernel
def lay_with_joker(hand: np.ndarray, price: float) -> int:
    """Lay the dearest meld of two naturals and a joker; return its points, 0 if none makes more than ``price``."""
    best, best_suit, best_low, best_miss = 0, -1, 0, 0
    best_suits = 0
    if hand[COUNT] <= 3:
        return 0
    for i in range(6):
        suits = PAIR_SUITS[i]
        first, second = lowest_bit(suits), lowest_bit(suits & (suits - 1))
        ranks = hand[ONES + first] & hand[ONES + second]
        while ranks:
            rank = lowest_bit(ranks)
            ranks &= ranks - 1
            if 3 * SET_VALUE[rank] > best:
                best, best_suits, best_low = 3 * SET_VALUE[rank], suits, rank
    for suit in range(SUITS):
        held = places_held(hand, suit)
        starts = ((held & held >> 1) | (held & held >> 2) | (held >> 1 & held >> 2)) & (PLACES_MASK >> 2)
        while starts:
            low = lowest_bit(starts)
            starts &= starts - 1
            points = PLACE_VALUE[low] + PLACE_VALUE[low + 1] + PLACE_VALUE[low + 2]
            if points > best:
                best, best_suit, best_low = points, suit, low
                best_miss = lowest_bit(~(held >> low) & 7)
    if best <= price:
        return 0
    if best_suit < 0:
        drop_card(hand, lowest_bit(best_suits), best_low)
        drop_card(hand, lowest_bit(best_suits & (best_suits - 1)), best_low)
    else:
        for i in range(3):
            if i != best_miss:
                drop_card(hand, best_suit, (best_low + i) % RANKS)
    drop_joker(hand)
    return best


@kernel
def attach_naturals(obs: Any, hand: np.ndarray, opened: bool) -> int:
    """Attach and swap in whatever fits; unless ``opened``, to melds of this turn only. Returns the points."""
    total = 0
    for meld in range(obs["meld_count"]):
        if not opened and obs["meld_this_turn"][meld] == 0:
            continue
        base: Any = np.int64(obs["meld_base"][meld])
        size: Any = np.int64(obs["meld_size"][meld])
        jokers: Any = np.int64(obs["meld_jokers"][meld])
        if obs["meld_kind"][meld] == SET:
            for suit in range(SUITS):
                if obs["meld_cards"][meld, suit] >= 0 or hand[ONES + suit] >> base & 1 == 0:
                    continue
                if size < 4 and hand[COUNT] > 1:
                    drop_card(hand, suit, base)
                    total += SET_VALUE[base]
                    size += 1
                elif size == 4 and jokers:
                    swap_in(hand, suit, base)
                    total += SET_VALUE[base]
                    break
            continue
        low: Any = np.int64(obs["meld_low"][meld])
        if places_held(hand, base) == 0:
            continue
        high = low + size
        while jokers:
            place = lowest_bit(jokers)
            jokers &= jokers - 1
            if places_held(hand, base) >> place & 1:
                swap_in(hand, base, place % RANKS)
                total += PLACE_VALUE[place]
        while high < PLACES and hand[COUNT] > 1 and places_held(hand, base) >> high & 1:
            drop_card(hand, base, high % RANKS)
            total += PLACE_VALUE[high]
            high += 1
        while low > 0 and hand[COUNT] > 1 and places_held(hand, base) >> (low - 1) & 1:
            low -= 1
            drop_card(hand, base, low)
            total += PLACE_VALUE[low]
    return total


@kernel
def lay_out(obs: Any, hand: np.ndarray, price: float) -> int:
    """Lay, attach and swap in all that goes, a joker where it makes more than ``price``; return the points."""
    points = lay_naturals(hand) + attach_naturals(obs, hand, obs["opened"][0] == 1)
    while hand[JOKERS] > 0:
        gain = lay_with_joker(hand, price)
        if gain == 0:
            break
        points += gain
    return points
