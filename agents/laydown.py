"""What a hand can lay in one go, estimated on bits: the yardstick by which greedy compares its choices.

A *hand* here is a row of ``HAND_WORDS`` integers: at ``ONES`` + suit the ranks held, at ``TWOS`` + suit those held
twice, at ``JOKERS`` a count. All kernels work in place on such a row; none looks beyond the observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import lowest_bit
from jolly_env.cards import HAND_VALUE, JOKER, PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.state import SET

ONES, TWOS, JOKERS, HAND_WORDS = 0, SUITS, 2 * SUITS, 2 * SUITS + 1
SET_SUITS = act.SET_SUITS
RUN_JOKERS = act.RUN_JOKERS
PAIR_SUITS = np.array([0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100], dtype=np.int64)
PLACES_MASK = (1 << PLACES) - 1


@kernel
def read_hand(obs: Any, hand: np.ndarray) -> None:
    """Write the observer's cards."""
    for suit in range(SUITS):
        ones, twos = 0, 0
        for rank in range(RANKS):
            count = np.int64(obs["hand"][RANKS * suit + rank])
            ones |= (count + 1 >> 1) << rank
            twos |= (count >> 1) << rank
        hand[ONES + suit] = ones
        hand[TWOS + suit] = twos
    hand[JOKERS] = obs["hand"][JOKER]


@kernel
def add_card(hand: np.ndarray, card: int) -> None:
    """Add a card."""
    if card == JOKER:
        hand[JOKERS] += 1
        return
    suit, bit = card // RANKS, 1 << (card % RANKS)
    hand[TWOS + suit] |= hand[ONES + suit] & bit
    hand[ONES + suit] |= bit


@kernel
def drop_card(hand: np.ndarray, suit: int, rank: int) -> None:
    """Remove a natural that is there."""
    bit = 1 << rank
    hand[ONES + suit] &= ~(bit & ~hand[TWOS + suit])
    hand[TWOS + suit] &= ~bit


@kernel
def places_held(hand: np.ndarray, suit: int) -> int:
    """Return the places of a run that the naturals of a suit fill, as bits (R4)."""
    held = hand[ONES + suit]
    return held | (held & 1) << RANKS


@kernel
def lay_best_set(hand: np.ndarray, least: int) -> int:
    """Return the points of the dearest natural set; it leaves the hand if it is worth more than ``least``."""
    c, d, h, s = hand[ONES], hand[ONES + 1], hand[ONES + 2], hand[ONES + 3]
    ranks = (c & d & (h | s)) | (h & s & (c | d))
    best, best_rank = 0, -1
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        size = (c >> rank & 1) + (d >> rank & 1) + (h >> rank & 1) + (s >> rank & 1)
        if size * SET_VALUE[rank] > best:
            best, best_rank = size * SET_VALUE[rank], rank
    if best > least:
        for suit in range(SUITS):
            if hand[ONES + suit] >> best_rank & 1:
                drop_card(hand, suit, best_rank)
    return best


@kernel
def find_run(hand: np.ndarray) -> tuple[int, int, int, int]:
    """Return points, suit, lowest place and length of the dearest natural run; zeros if there is none."""
    best, best_suit, best_low, best_size = 0, 0, 0, 0
    for suit in range(SUITS):
        held = places_held(hand, suit)
        starts = held & held >> 1 & held >> 2
        starts &= ~(starts << 1)
        while starts:
            low = lowest_bit(starts)
            starts &= starts - 1
            points, size = 0, 0
            # One ace alone does not end a run at both ends.
            while low + size < PLACES and held >> (low + size) & 1 and size < RANKS:
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
def lay_with_joker(hand: np.ndarray) -> int:
    """Lay the dearest meld of two naturals and a joker; return the points, 0 if there is none."""
    best, best_suit, best_low, best_miss = 0, -1, 0, 0
    best_suits = 0
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
    if best == 0:
        return 0
    if best_suit < 0:
        drop_card(hand, lowest_bit(best_suits), best_low)
        drop_card(hand, lowest_bit(best_suits & (best_suits - 1)), best_low)
    else:
        for i in range(3):
            if i != best_miss:
                drop_card(hand, best_suit, (best_low + i) % RANKS)
    hand[JOKERS] -= 1
    return best


@kernel
def attach_naturals(obs: Any, hand: np.ndarray) -> int:
    """Attach and swap in whatever fits the melds that the observer may touch; return the points."""
    total = 0
    opened = obs["opened"][0] == 1
    for meld in range(obs["meld_count"]):
        if not opened and obs["meld_this_turn"][meld] == 0:
            continue
        base = np.int64(obs["meld_base"][meld])
        size = np.int64(obs["meld_size"][meld])
        jokers = np.int64(obs["meld_jokers"][meld])
        if obs["meld_kind"][meld] == SET:
            for suit in range(SUITS):
                if obs["meld_cards"][meld, suit] < 0 and hand[ONES + suit] >> base & 1 and (size < 4 or jokers):
                    drop_card(hand, suit, base)
                    total += SET_VALUE[base]
                    size += 1
                    if size > 4:
                        hand[JOKERS] += 1
                        break
            continue
        low = np.int64(obs["meld_low"][meld])
        if places_held(hand, base) == 0:
            continue
        high = low + size
        while jokers:
            place = lowest_bit(jokers)
            jokers &= jokers - 1
            if places_held(hand, base) >> place & 1:
                drop_card(hand, base, place % RANKS)
                hand[JOKERS] += 1
                total += PLACE_VALUE[place]
        while high < PLACES and places_held(hand, base) >> high & 1:
            drop_card(hand, base, high % RANKS)
            total += PLACE_VALUE[high]
            high += 1
        while low > 0 and places_held(hand, base) >> (low - 1) & 1:
            low -= 1
            drop_card(hand, base, low)
            total += PLACE_VALUE[low]
    return total


@kernel
def lay_out(obs: Any, hand: np.ndarray) -> int:
    """Lay, attach and swap in all that goes from a hand, one joker a meld; return the points."""
    points = lay_naturals(hand) + attach_naturals(obs, hand)
    while hand[JOKERS] > 0:
        gain = lay_with_joker(hand)
        if gain == 0:
            break
        points += gain
    return points


@kernel
def hand_cost(hand: np.ndarray) -> tuple[int, int]:
    """Return how many naturals a hand holds and the points that they cost (R15)."""
    count, cost = 0, 0
    for i in range(2 * SUITS):
        ranks = hand[i]
        while ranks:
            cost += HAND_VALUE[lowest_bit(ranks)]
            count += 1
            ranks &= ranks - 1
    return count, cost


@kernel
def play_from(obs: Any, action: int, hand: np.ndarray) -> tuple[int, int]:
    """Take the cards of a lay, attach or swap out of a hand; return the points and the jokers that it lays.

    A swap lays -1 jokers: it brings one to the hand.
    """
    if action < act.LAY_RUN:
        rank, form = (action - act.LAY_SET) // act.SET_FORMS, (action - act.LAY_SET) % act.SET_FORMS
        for suit in range(SUITS):
            if SET_SUITS[form] >> suit & 1:
                drop_card(hand, suit, rank)
        jokers = 1 if form >= SUITS else 0
        hand[JOKERS] -= jokers
        return 3 * SET_VALUE[rank], jokers
    if action < act.MELD:
        base, form = (action - act.LAY_RUN) // act.RUN_FORMS, (action - act.LAY_RUN) % act.RUN_FORMS
        suit, low = base // act.RUN_STARTS, base % act.RUN_STARTS
        points, jokers = 0, 0
        for i in range(3):
            points += PLACE_VALUE[low + i]
            if RUN_JOKERS[form] >> i & 1:
                jokers += 1
            else:
                drop_card(hand, suit, (low + i) % RANKS)
        hand[JOKERS] -= jokers
        return points, jokers
    return play_at_meld(obs, (action - act.MELD) // act.MELD_FORMS, (action - act.MELD) % act.MELD_FORMS, hand)


@kernel
def play_at_meld(obs: Any, meld: int, form: int, hand: np.ndarray) -> tuple[int, int]:
    """Do for an action at a table meld what :func:`play_from` does."""
    base, jokers = np.int64(obs["meld_base"][meld]), np.int64(obs["meld_jokers"][meld])
    if obs["meld_kind"][meld] == SET:
        if form == act.ATTACH_SET_JOKER:
            hand[JOKERS] -= 1
            return SET_VALUE[base], 1
        suit = form
        if form == act.SWAP_SET_JOKER:
            suit = 0
            while obs["meld_cards"][meld, suit] >= 0:
                suit += 1
            hand[JOKERS] += 1
        drop_card(hand, suit, base)
        return SET_VALUE[base], -1 if form == act.SWAP_SET_JOKER else 0
    low = np.int64(obs["meld_low"][meld])
    if form >= act.SWAP_RUN:
        for _ in range(form - act.SWAP_RUN):
            jokers &= jokers - 1
        place = lowest_bit(jokers)
        hand[JOKERS] += 1
        drop_card(hand, base, place % RANKS)
        return PLACE_VALUE[place], -1
    place = low - 1 if form <= act.JOKER_BELOW else low + np.int64(obs["meld_size"][meld])
    if form == act.JOKER_BELOW or form == act.JOKER_ABOVE:
        hand[JOKERS] -= 1
        return PLACE_VALUE[place], 1
    drop_card(hand, base, place % RANKS)
    return PLACE_VALUE[place], 0
