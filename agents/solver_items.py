"""The items of the lay-down solver: what can be laid as one, each with the cards, jokers and places that it takes.

An *item* is a new meld, or what is done at one place of a table meld: at a set, at one end of a run, or at one joker.
Everything lies in one array of words, the *room*: items, heads and frames are addresses in it, their fields offsets.

Naturals are bits of a word, ``RANKS * suit + rank - 1`` with the ace as the highest of its suit: so a run from the ace
up stands under its 2 and one up to the ace under its lowest card. Each item hangs in the list of its lowest bit, its
*head*. Bits from 52 on stand for places of melds of this turn that may take a lone joker before the opening is done.

What an item brings is packed into one word, its *tally*, so that tallies can be added: points, cost of the naturals in
hand (R15), their number, and the points and jokers that count for the opening (R8).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import bit_count, lowest_bit
from jolly_env.cards import PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.hand import COUNT, JOKERS, ONES, TWOS

# Single words of the room. The first four are for callers.
STEPS, MOST_STEPS, GAVE_UP, FEW_STEPS = range(4)
OPENED, NEED, HELD, HELD_TWICE, TOTAL, ALL_COST, ALL_JOKERS, USABLE = range(4, 12)
"""1 once nothing is asked of the opening; points still needed; the hand as bits; its cards, cost and jokers; the most
jokers that may be laid."""
ITEM_END, HEADS, FREE, OPEN_FREE, ACE, SIDE_END, SWAP_SIDES, OPENS = range(12, 20)
"""Ends of lists; bits of heads, and of cards in items without a joker; the most that an ace brings; places of swaps;
1 while what is listed would count for the opening."""
LONE_END, LONE_BIT, LONE_SIDES, BEST_LONE, PLAN_COUNT, FIRST_STEP, STAMP, MEMORY_FROM = range(20, 28)
SWAP_CARDS: Final = 28
"""Cards that can be swapped in alone, as bits."""
"""Of lone jokers; ends found; a first step of the path that opens; what tells this search's memory from older
ones, and after which step it begins."""
SUIT_PLACES: Final = 29
"""Four words: the places of a run that the naturals of a suit fill, as bits."""

# Rows of words. A head: its list, what its items and those of later heads take, what a joker may gain, the head before.
HEADS_AT: Final = 40
LIST, LAST, REACH, SIDE_REACH, GAIN_POINTS, GAIN_CARDS, GAIN_COST, GAIN_OPEN, BEFORE = range(9)
HEAD_WORDS: Final = 16
LONES_AT: Final = HEADS_AT + HEAD_WORDS * 64
"""Places for a lone joker, the dearest first."""
LONE_SIDE, LONE_VALUE, LONE_ACTION = 0, 1, 2
MOST_LONES: Final = 96
FRAMES_AT: Final = LONES_AT + 8 * MOST_LONES
ONE, TWO, SIDES_LEFT, BALANCE, SUM, TAKEN, CHOICES = range(7)
ITEMS_AT: Final = FRAMES_AT + 8 * 64
BITS, BOTH, SIDES, CHANGE, TALLY, ACTION, NEXT, SHAPE = range(8)
MOST_ITEMS: Final = 8192
MEMORY_AT: Final = ITEMS_AT + 8 * MOST_ITEMS
"""States of the search that were met, by a hash: cards, copies and jokers, places, stamp, tally."""
SEEN_ONE, SEEN_TWO, SEEN_SIDES, SEEN_STAMP, SEEN_TALLY = range(5)
MEMORY_BITS: Final = 12
ROOM_WORDS: Final = MEMORY_AT + (8 << MEMORY_BITS)

POINTS_MASK: Final = (1 << 12) - 1
NUMBER_MASK: Final = (1 << 8) - 1
COST_AT, CARDS_AT, OPEN_AT, OPEN_JOKERS_AT = 12, 24, 32, 44
"""Where the numbers of a tally begin; the points at bit 0."""

# A shape: jokers laid, jokers swapped out, kind, lowest place, size, places of the jokers.
GAINS_AT, KIND_AT, LOW_AT, SIZE_AT, FORM_AT = 4, 6, 9, 13, 17
NEW_SET, NEW_RUN, BELOW, ABOVE, AT_SET, SWAP = range(6)

NATURALS = (np.int64(1) << RANKS * SUITS) - 1
SIDES_MOST: Final = 63
NATURAL_FIRST, JOKER_FIRST = 1, 2


def _weight_masks() -> np.ndarray:
    """Return for each binary digit of a card's cost in hand the cards that have it."""
    masks = np.zeros(5, dtype=np.int64)
    for suit in range(SUITS):
        for rank in range(RANKS):
            for digit in range(5):
                if SET_VALUE[rank] >> digit & 1:
                    masks[digit] |= np.int64(1) << (RANKS * suit + (rank + RANKS - 1) % RANKS)
    return masks


WEIGHTS = _weight_masks()
WEIGHT_1, WEIGHT_2, WEIGHT_4, WEIGHT_8, WEIGHT_16 = (np.int64(mask) for mask in WEIGHTS)
VALUE_BELOW = np.concatenate([[0], np.cumsum(PLACE_VALUE)]).astype(np.int64)
"""Points of a run's places below a place."""
SUIT_BITS = np.int64(1 | 1 << RANKS | 1 << 2 * RANKS | 1 << 3 * RANKS)
ACES = SUIT_BITS << (RANKS - 1)


@kernel
def cost_of(bits: int) -> int:
    """Return what naturals, given as bits, cost in hand (R15)."""
    return (
        bit_count(bits & WEIGHT_1)
        + 2 * bit_count(bits & WEIGHT_2)
        + 4 * bit_count(bits & WEIGHT_4)
        + 8 * bit_count(bits & WEIGHT_8)
        + 16 * bit_count(bits & WEIGHT_16)
    )


@kernel
def turned(ranks: int) -> int:
    """Return ranks of one suit as bits with the ace highest."""
    return ranks >> 1 | (ranks & 1) << (RANKS - 1)


@kernel
def start_items(hand: np.ndarray, room: np.ndarray) -> None:
    """Forget all items, and read the hand."""
    one, two = np.int64(0), np.int64(0)
    for suit in range(SUITS):
        ones = hand[ONES + suit]
        one |= turned(ones) << RANKS * suit
        two |= turned(hand[TWOS + suit]) << RANKS * suit
        room[SUIT_PLACES + suit] = ones | (ones & 1) << RANKS
    room[HELD], room[HELD_TWICE] = one, two
    room[TOTAL], room[ALL_COST] = hand[COUNT], hand_cost_of(one, two)
    room[ALL_JOKERS] = room[USABLE] = hand[JOKERS]
    room[ITEM_END], room[HEADS], room[SIDE_END], room[SWAP_SIDES] = ITEMS_AT, 0, 0, 0
    room[FREE], room[OPEN_FREE], room[ACE] = 0, 0, 10
    room[LONE_END], room[LONE_BIT], room[BEST_LONE], room[LONE_SIDES] = LONES_AT, RANKS * SUITS, 0, 0
    room[SWAP_CARDS] = 0


@kernel
def hand_cost_of(one: int, two: int) -> int:
    """Return what naturals cost in hand, those of ``two`` twice."""
    return cost_of(one) + cost_of(two)


@kernel
def new_side(room: np.ndarray) -> int:
    """Return the bit of one more place at a table meld; 0, and a note that something is left out, if none is left."""
    side = room[SIDE_END]
    if side == SIDES_MOST:
        room[GAVE_UP] = 1
        return 0
    room[SIDE_END] = side + 1
    return np.int64(1) << side


@kernel
def add_item(
    room: np.ndarray,
    bits: int,
    both: int,
    sides: int,
    uses: int,
    gains: int,
    value: int,
    opens: int,
    action: int,
    shape: int,
) -> int:
    """Add an item of some bits, of ``both`` of them both copies; return its address, 0 if there is no room.

    ``uses`` jokers are laid with it and ``gains`` swapped out; ``opens``: its points count for the opening.
    """
    item = room[ITEM_END]
    if item == MEMORY_AT:
        room[GAVE_UP] = 1
        return 0
    room[ITEM_END] = item + 8
    naturals = bits & NATURALS
    cards = bit_count(naturals) + bit_count(both)
    tally = value | (cost_of(naturals) + cost_of(both)) << COST_AT | cards << CARDS_AT
    if opens:
        tally |= value << OPEN_AT | uses << OPEN_JOKERS_AT
    room[item + BITS], room[item + BOTH], room[item + SIDES] = bits, both, sides
    room[item + CHANGE], room[item + TALLY], room[item + ACTION] = gains - uses, tally, action
    room[item + SHAPE] = shape | uses | gains << GAINS_AT
    bit = lowest_bit(bits)
    head = HEADS_AT + HEAD_WORDS * bit
    if room[HEADS] >> bit & 1 == 0:
        room[HEADS] |= np.int64(1) << bit
        room[head + LIST] = room[head + LAST] = item
        room[item + NEXT] = 0
        room[head + REACH], room[head + SIDE_REACH] = bits, sides
    else:
        room[head + REACH] |= bits
        room[head + SIDE_REACH] |= sides
        if uses:  # at the end of the list: what takes no joker is tried first
            room[room[head + LAST] + NEXT] = item
            room[head + LAST] = item
            room[item + NEXT] = 0
        else:
            room[item + NEXT] = room[head + LIST]
            room[head + LIST] = item
    if uses == 0:
        room[FREE] |= naturals
        if opens:
            room[OPEN_FREE] |= naturals
    return item


@kernel
def add_lone(room: np.ndarray, side: int, value: int, action: int) -> None:
    """Add a place where a joker can be attached alone; one that may count for the opening becomes an item."""
    if room[OPENS]:
        if room[LONE_BIT] < 64:
            bit = np.int64(1) << room[LONE_BIT]
            room[LONE_BIT] += 1
            room[HELD] |= bit
            add_item(room, bit, 0, side, 1, 0, value, 1, action, AT_SET << KIND_AT)
        else:
            room[GAVE_UP] = 1
        return
    at = room[LONE_END]
    if at == FRAMES_AT:
        room[GAVE_UP] = 1
        return
    room[LONE_END] = at + 8
    while at > LONES_AT and room[at - 8 + LONE_VALUE] < value:
        for i in range(3):
            room[at + i] = room[at - 8 + i]
        at -= 8
    room[at + LONE_SIDE], room[at + LONE_VALUE], room[at + LONE_ACTION] = side, value, action
    room[BEST_LONE] = max(room[BEST_LONE], value)
    room[LONE_SIDES] |= side


@kernel
def list_new_sets(room: np.ndarray) -> None:
    """Add all sets that the hand can make (R3)."""
    one, opens = room[HELD] & NATURALS, room[OPENS]
    joker = room[USABLE] > 0
    lowest = (np.int64(1) << RANKS) - 1
    c, d, h, s = one & lowest, one >> RANKS & lowest, one >> 2 * RANKS & lowest, one >> 3 * RANKS & lowest
    ranks = (c & d) | (h & s) | ((c | d) & (h | s)) if joker else (c & d & (h | s)) | (h & s & (c | d))
    while ranks:
        bit = lowest_bit(ranks)
        ranks &= ranks - 1
        held = (c >> bit & 1) | (d >> bit & 1) << 1 | (h >> bit & 1) << 2 | (s >> bit & 1) << 3
        rank = (bit + 1) % RANKS
        value = SET_VALUE[rank]
        if rank == 0:
            room[ACE] = 25
        suits = held & -held
        while True:  # the smaller sets first
            count = bit_count(suits)
            if count >= 2:
                bits = spread(suits) << bit
                action = act.LAY_SET + act.SET_FORMS * rank + set_form(suits)
                if count >= 3:
                    add_item(room, bits, 0, 0, 0, 0, value * count, opens, action, NEW_SET << KIND_AT)
                if joker and count <= 3:
                    add_item(room, bits, 0, 0, 1, 0, value * (count + 1), opens, action, NEW_SET << KIND_AT)
            if suits == held:
                break
            suits = (suits - held) & held


@kernel
def spread(suits: int) -> int:
    """Return the lowest cards of suits that are given as bits."""
    return np.int64(suits & 1 | (suits & 2) << RANKS - 1 | (suits & 4) << 2 * RANKS - 2 | (suits & 8) << 3 * RANKS - 3)


@kernel
def set_form(suits: int) -> int:
    """Return the form of a base set of three of these suits, or of these two and a joker."""
    for form in range(act.SET_FORMS):
        if act.SET_SUITS[form] & ~suits == 0:
            return form
    return 0


@kernel
def list_new_runs(room: np.ndarray) -> None:
    """Add all runs that the hand can make (R4, R5)."""
    usable = room[USABLE]
    for suit in range(SUITS):
        first = room[SUIT_PLACES + suit]
        second, third = first >> 1, first >> 2
        starts = first & second & third
        if usable > 0:
            starts |= (first & second) | (first & third) | (second & third)
        if usable > 1:
            starts |= second
        starts &= (1 << PLACES - 2) - 1
        while starts:
            low = lowest_bit(starts)
            starts &= starts - 1
            list_rows(room, suit, low, 1, NEW_RUN, 0, 0, 0, NATURAL_FIRST | JOKER_FIRST)


@kernel
def list_rows(
    room: np.ndarray, suit: int, start: int, step: int, kind: int, side: int, action: int, swap: int, firsts: int
) -> None:
    """Add all rows of naturals and jokers from place ``start`` in direction ``step``, no two jokers adjacent.

    A new run needs three cards, an extension one; a lone joker is left to :func:`add_lone`. ``action`` is that of a
    natural at the end, the next number that of a joker; ``swap`` an item that each row includes, or 0; ``firsts`` tells
    whether the row may begin with a natural or a joker.
    """
    held, usable = room[SUIT_PLACES + suit], room[USABLE]
    # The frames of the search are not in use yet: they hold the rows that are still to be lengthened.
    top = FRAMES_AT
    if usable > 0 and firsts & JOKER_FIRST:
        room[top], room[top + 1], room[top + 2] = np.int64(1) << start, start, 1
        top += 8
    if held >> start & 1 and firsts & NATURAL_FIRST:
        room[top], room[top + 1], room[top + 2] = 0, start, 0
        top += 8
    while top > FRAMES_AT:
        top -= 8
        form, last, jokers = room[top], room[top + 1], room[top + 2]
        low, high = (start, last) if step > 0 else (last, start)
        if kind != NEW_RUN or high - low >= 2:
            add_row(room, suit, low, high, form, kind, side, action, swap)
        place = last + step
        if place < 0 or place >= PLACES:
            continue
        if form >> last & 1 == 0 and jokers < usable:
            room[top], room[top + 1], room[top + 2] = form | np.int64(1) << place, place, jokers + 1
            top += 8
        if held >> place & 1:
            room[top], room[top + 1], room[top + 2] = form, place, jokers
            top += 8


@kernel
def add_row(
    room: np.ndarray, suit: int, low: int, high: int, form: int, kind: int, side: int, action: int, swap: int
) -> None:
    """Add the row from place ``low`` to ``high`` with jokers at the places ``form``, for :func:`list_rows`."""
    naturals = (np.int64(2) << high) - (np.int64(1) << low) & ~form
    uses = bit_count(form)
    both = np.int64(0)
    if naturals >> RANKS & naturals & 1:
        both = np.int64(1) << (RANKS * suit + RANKS - 1)
        if room[HELD_TWICE] & both == 0:
            return
    bits = (naturals >> 1 & (1 << RANKS) - 1 | (naturals & 1) << (RANKS - 1)) << RANKS * suit
    value = VALUE_BELOW[high + 1] - VALUE_BELOW[low]
    shape = kind << KIND_AT | low << LOW_AT | (high - low + 1) << SIZE_AT | form << FORM_AT
    if kind == NEW_RUN:
        add_item(room, bits, both, 0, uses, 0, value, room[OPENS], run_action(suit, low, form), shape)
        return
    if swap > 0:
        bits |= room[swap + BITS]
        value += room[swap + TALLY] & POINTS_MASK
        add_item(room, bits, both, side | room[swap + SIDES], uses, 1, value, 0, room[swap + ACTION], shape)
    elif bits == 0:
        add_lone(room, side, value, action + 1)
    else:
        first = high if kind == BELOW else low
        add_item(room, bits, both, side, uses, 0, value, room[OPENS], action + (form >> first & 1), shape)


@kernel
def run_action(suit: int, low: int, form: int) -> int:
    """Return the lay of the three cards from place ``low`` on, with jokers at the places ``form``."""
    jokers = form >> low & 7  # 000, 001, 010, 100, 101 are the forms 0 to 4
    return act.LAY_RUN + act.RUN_FORMS * (act.RUN_STARTS * suit + low) + (jokers if jokers < 3 else jokers - 1)
