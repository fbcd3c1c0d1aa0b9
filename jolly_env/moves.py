"""Card moves on one state: verbs that keep hands, row, table and public knowledge in step. All work in place.

Kernels trust their caller: the move must be legal. Letters as in :mod:`jolly_env.state`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.cards import JOKER, PLACE_VALUE, RANKS, SET_VALUE, SUITS
from jolly_env.state import HISTORY, JOKER_SLOT, RUN, SET

State = Any
"""A record of :data:`jolly_env.state.STATE`."""

SET_SUITS = act.SET_SUITS
RUN_JOKERS = act.RUN_JOKERS


@kernel
def hold(state: State, seat: int, card: int) -> None:
    """Put a card into a hand."""
    state["hands"][seat, card] += 1
    state["hand_size"][seat] += 1
    if card < JOKER:
        suit, bit = card // RANKS, 1 << (card % RANKS)
        if state["hands"][seat, card] == 1:
            state["ones"][seat, suit] |= bit
        else:
            state["twos"][seat, suit] |= bit


@kernel
def release(state: State, seat: int, card: int) -> None:
    """Take a card out of a hand; one that was publicly known to be there is known no longer."""
    state["hands"][seat, card] -= 1
    state["hand_size"][seat] -= 1
    if card < JOKER:
        suit, bit = card // RANKS, 1 << (card % RANKS)
        if state["hands"][seat, card] == 0:
            state["ones"][seat, suit] &= ~bit
        else:
            state["twos"][seat, suit] &= ~bit
    if state["known"][seat, card] > 0:
        state["known"][seat, card] -= 1


@kernel
def places_of(state: State, seat: int, suit: int) -> int:
    """Return the places of a run that the hand can fill with naturals of a suit, as bits; an ace fills two (R4)."""
    held = np.int64(state["ones"][seat, suit])
    return held | (held & 1) << RANKS


@kernel
def pairs_of(state: State, seat: int) -> int:
    """Return the ranks that the hand holds in at least two suits, as bits."""
    ones = state["ones"]
    c, d, h, s = ones[seat, 0], ones[seat, 1], ones[seat, 2], ones[seat, 3]
    return (c & d) | (h & s) | ((c | d) & (h | s))


@kernel
def triples_of(state: State, seat: int) -> int:
    """Return the ranks that the hand holds in at least three suits, as bits."""
    ones = state["ones"]
    c, d, h, s = ones[seat, 0], ones[seat, 1], ones[seat, 2], ones[seat, 3]
    return (c & d & (h | s)) | (h & s & (c | d))


@kernel
def stock_to_hand(state: State, seat: int) -> None:
    """Draw the top card of the stock (R6)."""
    card = np.int64(state["stock"][state["stock_top"]])
    state["stock_top"] += 1
    state["stock_size"] -= 1
    state["draws"][seat] += 1
    if state["recycled_size"] > 0:
        state["recycled"][seat, card] -= 1
    hold(state, seat, card)


@kernel
def row_to_hand(state: State, seat: int, count: int) -> None:
    """Take the newest ``count`` cards of the row (R6); all know that they are held now."""
    size = np.int64(state["row_size"])
    for i in range(size - count, size):
        card = np.int64(state["row_cards"][i])
        hold(state, seat, card)
        state["known"][seat, card] += 1
        state["hidden"][card] += 1
        state["row_cards"][i] = -1
        state["row_seats"][i] = -1
    state["row_size"] = size - count


@kernel
def hand_to_row(state: State, seat: int, card: int) -> None:
    """Discard a card (R11)."""
    release(state, seat, card)
    state["hidden"][card] -= 1
    state["discarded"][seat, card] += 1
    state["row_cards"][state["row_size"]] = card
    state["row_seats"][state["row_size"]] = seat
    state["row_size"] += 1


@kernel
def hand_to_meld(state: State, seat: int, card: int, meld: int, slot: int, value: int) -> None:
    """Lay a card of ``value`` points into an empty slot of a table meld (R14)."""
    release(state, seat, card)
    state["hidden"][card] -= 1
    state["meld_cards"][meld, slot] = card
    state["meld_seats"][meld, slot] = seat
    state["meld_size"][meld] += 1
    if card == JOKER:
        state["meld_jokers"][meld] |= 1 << slot
    state["laid"][seat] += value
    if state["opened_turn"][seat] < 0:
        state["opening_laid"] += value


@kernel
def new_meld(state: State, kind: int, base: int, low: int) -> int:
    """Begin an empty table meld and return its number."""
    meld = np.int64(state["meld_count"])
    state["meld_count"] = meld + 1
    state["meld_kind"][meld] = kind
    state["meld_base"][meld] = base
    state["meld_low"][meld] = low
    state["meld_turn"][meld] = state["turn"]
    return meld


@kernel
def lay_set(state: State, seat: int, action: int) -> None:
    """Lay the base set of an action (R3)."""
    rank, form = (action - act.LAY_SET) // act.SET_FORMS, (action - act.LAY_SET) % act.SET_FORMS
    meld = new_meld(state, np.int64(SET), rank, np.int64(0))
    for suit in range(SUITS):
        if SET_SUITS[form] >> suit & 1:
            hand_to_meld(state, seat, RANKS * suit + rank, meld, suit, np.int64(SET_VALUE[rank]))
    if state["meld_size"][meld] == 2:
        hand_to_meld(state, seat, np.int64(JOKER), meld, np.int64(JOKER_SLOT), np.int64(SET_VALUE[rank]))


@kernel
def lay_run(state: State, seat: int, action: int) -> None:
    """Lay the base run of an action (R4, R5)."""
    base, form = (action - act.LAY_RUN) // act.RUN_FORMS, (action - act.LAY_RUN) % act.RUN_FORMS
    suit, low = base // act.RUN_STARTS, base % act.RUN_STARTS
    meld = new_meld(state, np.int64(RUN), suit, low)
    for i in range(3):
        card = JOKER if RUN_JOKERS[form] >> i & 1 else RANKS * suit + (low + i) % RANKS
        hand_to_meld(state, seat, card, meld, low + i, np.int64(PLACE_VALUE[low + i]))


@kernel
def joker_place(state: State, meld: int, index: int) -> int:
    """Return the place of a run's joker ``index``, counted from the low end from 0; -1 if there is none."""
    jokers = np.int64(state["meld_jokers"][meld])
    low = np.int64(state["meld_low"][meld])
    for place in range(low, low + np.int64(state["meld_size"][meld])):
        if jokers >> place & 1:
            if index == 0:
                return place
            index -= 1
    return -1


@kernel
def swap(state: State, seat: int, meld: int, slot: int, natural: int, natural_slot: int, value: int) -> None:
    """Take the joker at ``slot`` and put ``natural`` at ``natural_slot`` for it (R10).

    The value of the place goes over from whoever had laid the joker (R14); all know who holds the joker now.
    """
    state["laid"][state["meld_seats"][meld, slot]] -= value
    state["meld_cards"][meld, slot] = -1
    state["meld_seats"][meld, slot] = -1
    state["meld_jokers"][meld] &= ~(1 << slot)
    state["meld_size"][meld] -= 1
    state["hidden"][JOKER] += 1
    hand_to_meld(state, seat, natural, meld, natural_slot, value)
    hold(state, seat, np.int64(JOKER))
    state["known"][seat, JOKER] += 1


@kernel
def play_at_set(state: State, seat: int, meld: int, form: int) -> None:
    """Attach to a set or swap its joker (R9, R10)."""
    rank = np.int64(state["meld_base"][meld])
    value = np.int64(SET_VALUE[rank])
    if form < SUITS:
        hand_to_meld(state, seat, RANKS * form + rank, meld, form, value)
    elif form == act.ATTACH_SET_JOKER:
        hand_to_meld(state, seat, np.int64(JOKER), meld, np.int64(JOKER_SLOT), value)
    else:
        suit = 0
        while state["meld_cards"][meld, suit] >= 0:
            suit += 1
        swap(state, seat, meld, np.int64(JOKER_SLOT), RANKS * suit + rank, suit, value)


@kernel
def play_at_run(state: State, seat: int, meld: int, form: int) -> None:
    """Attach to a run or swap one of its jokers (R9, R10)."""
    suit = np.int64(state["meld_base"][meld])
    if form >= act.SWAP_RUN:
        place = joker_place(state, meld, form - act.SWAP_RUN)
        swap(state, seat, meld, place, RANKS * suit + place % RANKS, place, np.int64(PLACE_VALUE[place]))
        return
    below = form <= act.JOKER_BELOW
    low = np.int64(state["meld_low"][meld])
    place = low - 1 if below else low + np.int64(state["meld_size"][meld])
    joker = form == act.JOKER_BELOW or form == act.JOKER_ABOVE
    card = JOKER if joker else RANKS * suit + place % RANKS
    hand_to_meld(state, seat, card, meld, place, np.int64(PLACE_VALUE[place]))
    if below:
        state["meld_low"][meld] = place


@kernel
def remember(state: State, seat: int, action: int) -> None:
    """Append an action to the public history; the last ``HISTORY`` stay in one piece."""
    end = state["history_end"]
    if end == 2 * HISTORY:
        for i in range(HISTORY):
            state["history_actions"][i] = state["history_actions"][HISTORY + i]
            state["history_seats"][i] = state["history_seats"][HISTORY + i]
        end = HISTORY
    state["history_actions"][end] = action
    state["history_seats"][end] = seat
    state["history_end"] = end + 1
