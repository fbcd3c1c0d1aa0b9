"""The set of legal actions of a state, kept in its ``legal`` bits, and its forms for others."""

from __future__ import annotations

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import bit_count, lowest_bit, set_bit
from jolly_env.cards import JOKER, PLACES, RANKS, SUITS
from jolly_env.moves import State, pairs_of, places_of, triples_of
from jolly_env.opening import legal_opening
from jolly_env.rules import HAND_LIMIT
from jolly_env.state import DRAW, LEGAL_WORDS, PLAY, SET

SET_SUITS = act.SET_SUITS


@kernel
def legal_draws(state: State) -> None:
    """Add the draws (R6, R7)."""
    seat = np.int64(state["seat"])
    if state["stock_size"] > 0:
        set_bit(state["legal"], act.DRAW_STOCK)
    if state["opened_turn"][seat] >= 0:
        room = np.int64(state["rules"][HAND_LIMIT]) - state["hand_size"][seat]
        most = min(room, state["row_size"], act.MAX_TAKE)
        if most > 0:
            state["legal"][0] |= np.uint64((1 << (most + 1)) - 2)


@kernel
def legal_discards(state: State) -> None:
    """Add the discards of all cards in hand (R11)."""
    seat = np.int64(state["seat"])
    cards = np.uint64(state["hands"][seat, JOKER] > 0) << np.uint64(JOKER)
    for suit in range(SUITS):
        cards |= np.uint64(state["ones"][seat, suit]) << np.uint64(RANKS * suit)
    word, shift = act.DISCARD // 64, act.DISCARD % 64
    state["legal"][word] |= cards << np.uint64(shift)
    state["legal"][word + 1] |= cards >> np.uint64(64 - shift)


@kernel
def legal_sets(state: State) -> None:
    """Add the base sets that the hand holds (R3)."""
    seat = np.int64(state["seat"])
    ones = state["ones"]
    joker = state["hands"][seat, JOKER] > 0
    ranks = pairs_of(state, seat) if joker else triples_of(state, seat)
    for rank in range(RANKS):
        if ranks >> rank & 1 == 0:
            continue
        held = 0
        for suit in range(SUITS):
            held |= (ones[seat, suit] >> rank & 1) << suit
        for form in range(act.SET_FORMS if joker else SUITS):
            if SET_SUITS[form] & ~held == 0:
                set_bit(state["legal"], act.LAY_SET + act.SET_FORMS * rank + form)


@kernel
def legal_runs(state: State) -> None:
    """Add the base runs that the hand holds (R4, R5)."""
    seat = np.int64(state["seat"])
    jokers = state["hands"][seat, JOKER]
    for suit in range(SUITS):
        low = places_of(state, seat, suit)
        middle, high = low >> 1, low >> 2
        first = act.LAY_RUN + act.RUN_FORMS * act.RUN_STARTS * suit
        add_run_starts(state, low & middle & high, first)
        if jokers > 0:
            add_run_starts(state, middle & high, first + 1)
            add_run_starts(state, low & high, first + 2)
            add_run_starts(state, low & middle, first + 3)
        if jokers > 1:
            add_run_starts(state, middle, first + 4)


@kernel
def add_run_starts(state: State, starts: int, first: int) -> None:
    """Add one form of base run for all starts that are set as bits."""
    starts &= (1 << act.RUN_STARTS) - 1
    while starts:
        set_bit(state["legal"], first + act.RUN_FORMS * lowest_bit(starts))
        starts &= starts - 1


@kernel
def legal_at_set(state: State, meld: int, attach: bool) -> None:
    """Add the attaches to a set and the swap of its joker (R5, R9, R10)."""
    seat = np.int64(state["seat"])
    rank, size = np.int64(state["meld_base"][meld]), np.int64(state["meld_size"][meld])
    first = act.MELD + act.MELD_FORMS * meld
    joker = state["meld_jokers"][meld] != 0
    if size == 4 and not joker:
        return
    for suit in range(SUITS):
        if state["meld_cards"][meld, suit] < 0 and state["ones"][seat, suit] >> rank & 1:
            if size == 4:
                set_bit(state["legal"], first + act.SWAP_SET_JOKER)
            elif attach:
                set_bit(state["legal"], first + suit)
    if attach and not joker and state["hands"][seat, JOKER] > 0:
        set_bit(state["legal"], first + act.ATTACH_SET_JOKER)


@kernel
def legal_at_run(state: State, meld: int, attach: bool) -> None:
    """Add the attaches to a run and the swaps of its jokers (R5, R9, R10)."""
    seat = np.int64(state["seat"])
    held = places_of(state, seat, np.int64(state["meld_base"][meld]))
    first = act.MELD + act.MELD_FORMS * meld
    low, jokers = np.int64(state["meld_low"][meld]), np.int64(state["meld_jokers"][meld])
    high = low + np.int64(state["meld_size"][meld]) - 1
    if attach:
        joker = state["hands"][seat, JOKER] > 0
        if low > 0:
            if held >> (low - 1) & 1:
                set_bit(state["legal"], first + act.NATURAL_BELOW)
            if joker and jokers >> low & 1 == 0:
                set_bit(state["legal"], first + act.JOKER_BELOW)
        if high < PLACES - 1:
            if held >> (high + 1) & 1:
                set_bit(state["legal"], first + act.NATURAL_ABOVE)
            if joker and jokers >> high & 1 == 0:
                set_bit(state["legal"], first + act.JOKER_ABOVE)
    index = 0
    while jokers:
        if held >> lowest_bit(jokers) & 1:
            set_bit(state["legal"], first + act.SWAP_RUN + index)
        jokers &= jokers - 1
        index += 1


@kernel
def refresh_legal(state: State, scratch: np.ndarray) -> None:
    """Work out the legal actions anew, in place; ``scratch`` is room for the search of R8."""
    for word in range(LEGAL_WORDS):
        state["legal"][word] = 0
    if state["phase"] == DRAW:
        legal_draws(state)
    elif state["phase"] == PLAY:
        seat = np.int64(state["seat"])
        hand = np.int64(state["hand_size"][seat])
        if state["opened_turn"][seat] >= 0:
            if hand > 3:
                legal_sets(state)
                legal_runs(state)
            for meld in range(state["meld_count"]):
                if state["meld_kind"][meld] == SET:
                    legal_at_set(state, meld, hand > 1)
                else:
                    legal_at_run(state, meld, hand > 1)
            legal_discards(state)
        else:
            legal_opening(state, scratch)
            if state["opening_laid"] == 0:
                legal_discards(state)


@kernel
def write_mask(state: State, mask: np.ndarray) -> None:
    """Write the legal actions as ones into ``mask``: int8[839]."""
    mask[:] = 0
    for word in range(LEGAL_WORDS):
        bits = state["legal"][word]
        while bits:
            mask[64 * word + lowest_bit(bits)] = 1
            bits &= bits - np.uint64(1)


@kernel
def random_legal(state: State, key: np.uint64) -> int:
    """Return the legal action that ``random_action`` of the mask chooses by the key, from the bits; -1 if none is."""
    count = np.int64(0)
    for word in range(LEGAL_WORDS):
        count += bit_count(state["legal"][word])
    pick = np.int64((key >> np.uint64(32)) * np.uint64(count) >> np.uint64(32))
    for word in range(LEGAL_WORDS):
        bits = state["legal"][word]
        inside = bit_count(bits)
        if pick < inside:
            for _ in range(pick):
                bits &= bits - np.uint64(1)
            return 64 * word + lowest_bit(bits)
        pick -= inside
    return -1
