"""A hand on bits, and what it plays: a working copy of a player's own cards.

A *hand* is a row of ``HAND_WORDS`` integers: at ``ONES`` + suit the ranks held, at ``TWOS`` + suit those held twice, at
``JOKERS`` their count, at ``COUNT`` that of all cards. All kernels work in place and trust that the cards are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import lowest_bit
from jolly_env.cards import HAND_VALUE, JOKER, PLACE_VALUE, RANKS, SET_VALUE, SUITS
from jolly_env.state import SET

ONES, TWOS, JOKERS, COUNT, HAND_WORDS = 0, SUITS, 2 * SUITS, 2 * SUITS + 1, 2 * SUITS + 2
SET_SUITS = act.SET_SUITS
RUN_JOKERS = act.RUN_JOKERS


@kernel
def read_hand(obs: Any, hand: np.ndarray) -> None:
    """Write the observer's cards."""
    for suit in range(SUITS):
        ones, twos = 0, 0
        for rank in range(RANKS):
            count: Any = np.int64(obs["hand"][RANKS * suit + rank])
            ones |= (count + 1 >> 1) << rank
            twos |= (count >> 1) << rank
        hand[ONES + suit] = ones
        hand[TWOS + suit] = twos
    hand[JOKERS] = obs["hand"][JOKER]
    hand[COUNT] = obs["hand_size"][0]


@kernel
def copy_hand(source: np.ndarray, target: np.ndarray) -> None:
    """Make a hand equal to another."""
    for i in range(HAND_WORDS):
        target[i] = source[i]


@kernel
def add_card(hand: np.ndarray, card: int) -> None:
    """Add a card."""
    hand[COUNT] += 1
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
    hand[COUNT] -= 1


@kernel
def drop_joker(hand: np.ndarray) -> None:
    """Remove a joker that is there."""
    hand[JOKERS] -= 1
    hand[COUNT] -= 1


@kernel
def swap_in(hand: np.ndarray, suit: int, rank: int) -> None:
    """Exchange a natural that is there for a joker."""
    drop_card(hand, suit, rank)
    hand[JOKERS] += 1
    hand[COUNT] += 1


@kernel
def places_held(hand: np.ndarray, suit: int) -> int:
    """Return the places of a run that the naturals of a suit fill, as bits (R4)."""
    held = hand[ONES + suit]
    return held | (held & 1) << RANKS


@kernel
def hand_cost(hand: np.ndarray) -> int:
    """Return the points that the naturals of a hand cost (R15)."""
    cost = 0
    for i in range(2 * SUITS):
        ranks = hand[i]
        while ranks:
            cost += HAND_VALUE[lowest_bit(ranks)]
            ranks &= ranks - 1
    return cost


@kernel
def play_from(obs: Any, action: int, hand: np.ndarray) -> int:
    """Take the cards of a lay, attach or swap out of a hand, and put a swapped joker in; return the points."""
    if action < act.LAY_RUN:
        rank, form = (action - act.LAY_SET) // act.SET_FORMS, (action - act.LAY_SET) % act.SET_FORMS
        for suit in range(SUITS):
            if SET_SUITS[form] >> suit & 1:
                drop_card(hand, suit, rank)
        if form >= SUITS:
            drop_joker(hand)
        return 3 * SET_VALUE[rank]
    if action < act.MELD:
        base, form = (action - act.LAY_RUN) // act.RUN_FORMS, (action - act.LAY_RUN) % act.RUN_FORMS
        suit, low = base // act.RUN_STARTS, base % act.RUN_STARTS
        points = 0
        for i in range(3):
            points += PLACE_VALUE[low + i]
            if RUN_JOKERS[form] >> i & 1:
                drop_joker(hand)
            else:
                drop_card(hand, suit, (low + i) % RANKS)
        return points
    return play_at_meld(obs, (action - act.MELD) // act.MELD_FORMS, (action - act.MELD) % act.MELD_FORMS, hand)


@kernel
def play_at_meld(obs: Any, meld: int, form: int, hand: np.ndarray) -> int:
    """Do for an action at a table meld what :func:`play_from` does."""
    base: Any = np.int64(obs["meld_base"][meld])
    jokers: Any = np.int64(obs["meld_jokers"][meld])
    if obs["meld_kind"][meld] == SET:
        if form == act.ATTACH_SET_JOKER:
            drop_joker(hand)
            return SET_VALUE[base]
        suit = form
        if form == act.SWAP_SET_JOKER:
            suit = 0
            while obs["meld_cards"][meld, suit] >= 0:
                suit += 1
            swap_in(hand, suit, base)
        else:
            drop_card(hand, suit, base)
        return SET_VALUE[base]
    low: Any = np.int64(obs["meld_low"][meld])
    if form >= act.SWAP_RUN:
        for _ in range(form - act.SWAP_RUN):
            jokers &= jokers - 1
        place = lowest_bit(jokers)
        swap_in(hand, base, place % RANKS)
        return PLACE_VALUE[place]
    place = low - 1 if form <= act.JOKER_BELOW else low + np.int64(obs["meld_size"][meld])
    if form == act.JOKER_BELOW or form == act.JOKER_ABOVE:
        drop_joker(hand)
        return PLACE_VALUE[place]
    drop_card(hand, base, place % RANKS)
    return PLACE_VALUE[place]
