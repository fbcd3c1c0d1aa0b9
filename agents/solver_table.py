"""What a hand can do at the melds on the table, as items of the lay-down solver (R9, R10).

The places of a meld are independent but for one thing: a joker at the end of a run can have a joker beyond it only once
it is swapped. Such a row is an item that includes the swap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.solver_items import (
    ABOVE,
    ACE,
    AT_SET,
    BELOW,
    JOKER_FIRST,
    KIND_AT,
    NATURAL_FIRST,
    OPENED,
    OPENS,
    SUIT_PLACES,
    SWAP,
    SWAP_CARDS,
    SWAP_SIDES,
    USABLE,
    add_item,
    add_lone,
    list_rows,
    new_side,
)
from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import lowest_bit
from jolly_env.cards import PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.state import JOKER_SLOT, SET


@kernel
def count_swaps(obs: Any, room: np.ndarray) -> None:
    """Add to the usable jokers those that the hand could swap out."""
    for meld in range(obs["meld_count"]):
        jokers: Any = np.int64(obs["meld_jokers"][meld])
        if jokers == 0:
            continue
        base: Any = np.int64(obs["meld_base"][meld])
        if obs["meld_kind"][meld] == SET:
            missing, held = 0, 0
            for suit in range(SUITS):
                if obs["meld_cards"][meld, suit] < 0:
                    missing += 1
                    held += room[SUIT_PLACES + suit] >> base & 1
            room[USABLE] += 1 if held == missing else 0
            continue
        jokers &= room[SUIT_PLACES + base]
        while jokers:
            room[USABLE] += 1
            jokers &= jokers - 1


@kernel
def list_table(obs: Any, room: np.ndarray) -> None:
    """Add what can be done at the melds on the table."""
    for meld in range(obs["meld_count"]):
        room[OPENS] = 1 if room[OPENED] == 0 and obs["meld_this_turn"][meld] == 1 else 0
        if obs["meld_kind"][meld] == SET:
            list_at_set(obs, meld, room)
        else:
            list_at_run(obs, meld, room)


@kernel
def rank_bit(suit: int, rank: int) -> int:
    """Return a natural as a bit."""
    return np.int64(1) << (RANKS * suit + (rank + RANKS - 1) % RANKS)


@kernel
def list_at_set(obs: Any, meld: int, room: np.ndarray) -> None:
    """Add what can be done at a set: attach a missing suit or a joker, swap the joker, or attach and swap."""
    rank: Any = np.int64(obs["meld_base"][meld])
    joker = obs["meld_jokers"][meld] != 0
    full = obs["meld_size"][meld] == 4
    if full and not joker:
        return
    value = SET_VALUE[rank]
    action = act.MELD + act.MELD_FORMS * meld
    all_bits, held, missing, first = np.int64(0), 0, 0, 0
    for suit in range(SUITS):
        if obs["meld_cards"][meld, suit] < 0:
            missing += 1
            if room[SUIT_PLACES + suit] >> rank & 1:
                all_bits |= rank_bit(suit, rank)
                held += 1
                first = suit
    if held == 0:
        if not joker and room[USABLE] > 0:
            add_lone(room, 0, value, action + act.ATTACH_SET_JOKER)
        return
    side = new_side(room)
    if side == 0:
        return
    if rank == 0:
        room[ACE] = 25
    shape = AT_SET << KIND_AT
    if not full:
        bits = all_bits
        while bits:
            suit = lowest_bit(bits) // RANKS
            add_item(room, bits & -bits, 0, side, 0, 0, value, room[OPENS], action + suit, shape)
            bits &= bits - 1
    if joker and held == missing:
        room[SWAP_SIDES] |= side
        gain = value if obs["meld_seats"][meld, JOKER_SLOT] != 0 else 0
        if full:
            room[SWAP_CARDS] |= all_bits
            add_item(room, all_bits, 0, side, 0, 1, gain, 0, action + act.SWAP_SET_JOKER, SWAP << KIND_AT)
        else:
            add_item(room, all_bits, 0, side, 0, 1, value + gain, room[OPENS], action + first, SWAP << KIND_AT)
    if not joker and room[USABLE] > 0:
        add_lone(room, side, value, action + act.ATTACH_SET_JOKER)


@kernel
def list_at_run(obs: Any, meld: int, room: np.ndarray) -> None:
    """Add what can be done at a run: swap its jokers, lengthen it at either end."""
    suit: Any = np.int64(obs["meld_base"][meld])
    low: Any = np.int64(obs["meld_low"][meld])
    jokers: Any = np.int64(obs["meld_jokers"][meld])
    high = low + np.int64(obs["meld_size"][meld]) - 1
    held, usable = room[SUIT_PLACES + suit], room[USABLE]
    action = act.MELD + act.MELD_FORMS * meld
    swap_low, swap_high, index, left = 0, 0, 0, jokers
    while left:
        place = lowest_bit(left)
        left &= left - 1
        if held >> place & 1:
            swap = list_swap(obs, meld, suit, place, action + act.SWAP_RUN + index, room)
            swap_low = swap if place == low else swap_low
            swap_high = swap if place == high else swap_high
        index += 1
    if low > 0 and (usable > 0 or held >> low - 1 & 1):
        list_end(room, suit, low - 1, -1, jokers >> low & 1, action + act.NATURAL_BELOW, swap_low)
    if high < PLACES - 1 and (usable > 0 or held >> high + 1 & 1):
        list_end(room, suit, high + 1, 1, jokers >> high & 1, action + act.NATURAL_ABOVE, swap_high)


@kernel
def list_swap(obs: Any, meld: int, suit: int, place: int, action: int, room: np.ndarray) -> int:
    """Add the swap of a run's joker; return its item, or 0."""
    side = new_side(room)
    if side == 0:
        return 0
    room[SWAP_SIDES] |= side
    value = PLACE_VALUE[place] if obs["meld_seats"][meld, place] != 0 else 0
    bit = rank_bit(suit, place % RANKS)
    room[SWAP_CARDS] |= bit
    return add_item(room, bit, 0, side, 0, 1, value, 0, action, SWAP << KIND_AT)


@kernel
def list_end(room: np.ndarray, suit: int, start: int, step: int, after_joker: int, action: int, swap: int) -> None:
    """Add the ways to lengthen a run from place ``start`` on; ``swap``: the swap of the joker at its end, or 0."""
    next_held = room[SUIT_PLACES + suit] >> start & 1
    beyond = start + step
    if beyond >= 0:
        next_held |= room[SUIT_PLACES + suit] >> beyond & 1
    if next_held == 0 and swap == 0:
        if after_joker == 0:  # and a joker is usable: nothing but a lone joker goes here
            add_lone(room, 0, PLACE_VALUE[start], action + 1)
        return
    side = new_side(room)
    if side == 0:
        return
    kind = BELOW if step < 0 else ABOVE
    firsts = NATURAL_FIRST if after_joker else NATURAL_FIRST | JOKER_FIRST
    list_rows(room, suit, start, step, kind, side, action, 0, firsts)
    if swap > 0:
        list_rows(room, suit, start, step, kind, side, action, swap, JOKER_FIRST)
