"""R8: which lays and attaches can still bring the turn to ``opening_points`` with a card left to discard.

Every meld that could lie at the turn's end is a *candidate*: a new set, a new run, or an extension of a meld of
this turn. A candidate is a 64-bit set (bit c: card c; bits from 52 on: an end of a run or the free slot of a set of
this turn), the jokers it takes, its points and its number of cards. The seat can open exactly if some candidates
that fit the hand together are worth enough and leave a card. A first step is legal exactly if such a packing holds
a candidate that begins with it: each base meld of three within a candidate is such a step, as the order is free.

How a packing is sought is the matter of ``packing``. Its value is at most the points of the cards that lie in some
candidate without a joker, and for each joker the most that a candidate gains by it; two tables give a quicker, weaker
bound of the same kind, which settles most hands before any candidate is listed.
"""

from __future__ import annotations

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import bit_count, has_bit, set_bit
from jolly_env.cards import JOKER, PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.moves import State, pairs_of, places_of, triples_of
from jolly_env.packing import (
    BASE,
    BITS,
    BOTH,
    COUNT,
    FORM,
    FROM_HERE,
    GROUPS,
    JOKERS,
    LOW,
    NEED,
    NEXT,
    NONE,
    ONE,
    POINTS,
    SHAPE,
    SPARE_CARDS,
    SPARE_FREE,
    SPARE_JOKERS,
    STEPS,
    TWO,
    VALUE,
    WHOLE_HAND,
    bound_candidates,
    find_packing,
    group_candidates,
    most_points,
    search_deeply,
)
from jolly_env.rules import OPENING_POINTS
from jolly_env.state import MAX_CARDS, SET

SET_SUITS = act.SET_SUITS

# Shapes of a candidate, with the meaning of BASE, LOW and FORM.
# Typed, like all constants that are handed to kernels here: a plain int would be compiled as a type of its own.
NEW_SET = np.int64(0)  # rank, 0, suits of the naturals as bits
NEW_RUN = np.int64(1)  # suit, lowest place, places of the jokers as bits
EXTENSION = np.int64(2)  # first action, 0, 0
UP, DOWN, MARK = np.int64(1), np.int64(-1), np.int64(1)

FIRST_SIDE = 52
"""First bit of a candidate's set that stands for a place at a meld of this turn."""


def _run_gain_table() -> np.ndarray:
    """Return the most that a joker gains by the cards of one suit, by 13-bit mask of ranks.

    The gain is the joker's own place and up to two cards on either side of it: a longer row of cards needs no joker.
    """
    masks = np.arange(1 << RANKS)
    places = masks | (masks & 1) << RANKS
    gain = np.zeros(1 << RANKS, dtype=np.int16)
    for place in range(PLACES):
        here = np.full(1 << RANKS, PLACE_VALUE[place])
        for step in (-1, 1):
            reached = np.ones(1 << RANKS, dtype=bool)
            for other in (place + step, place + 2 * step):
                if 0 <= other < PLACES:
                    reached &= (places >> other & 1).astype(bool)
                    here += np.where(reached, PLACE_VALUE[other], 0)
        gain = np.maximum(gain, here).astype(np.int16)
    return gain


RUN_GAIN = _run_gain_table()


@kernel
def quick_bound(state: State, seat: int) -> int:
    """Return an upper bound of the points that a hand can lay on a table without melds of this turn."""
    ones = state["ones"]
    jokers = np.int64(state["hands"][seat, JOKER])
    pairs, triples = pairs_of(state, seat), triples_of(state, seat)
    total = 0
    gain = 0
    for suit in range(SUITS):
        held = ones[seat, suit]
        places = places_of(state, seat, suit)
        middle = places & places >> 1 & places >> 2
        rows = middle | middle << 1 | middle << 2
        in_rows = (rows | rows >> RANKS) & held
        free = in_rows | triples & held
        total += POINTS[free] + POINTS[free & state["twos"][seat, suit]]
        if triples & 1 and free & 1:
            total += 15 + 15 * (state["twos"][seat, suit] & 1)
        if jokers > 0:
            # Not without the cards that only a set makes free: others that lie behind them are reached over them.
            gain = max(gain, RUN_GAIN[held & ~in_rows])
    if jokers > 0:
        if pairs & 1:
            gain = max(gain, 75)
            if triples & 1 == 0:
                total += 60  # a free ace of a run may lie in a set with a joker instead
        for rank in range(RANKS - 1, 0, -1):
            if pairs >> rank & 1:
                gain = max(gain, 3 * SET_VALUE[rank])
                break
    return total + jokers * gain


@kernel
def add_candidate(
    scratch: np.ndarray,
    n: int,
    bits: int,
    jokers: int,
    value: int,
    count: int,
    shape: int,
    base: int,
    low: int,
    form: int,
) -> int:
    """Append a candidate to the list of ``n`` and return its new length."""
    scratch[BITS, n] = bits
    scratch[BOTH, n] = 0
    scratch[JOKERS, n] = jokers
    scratch[VALUE, n] = value
    scratch[COUNT, n] = count
    scratch[SHAPE, n] = shape
    scratch[BASE, n] = base
    scratch[LOW, n] = low
    scratch[FORM, n] = form
    return n + 1


@kernel
def list_sets(state: State, seat: int, scratch: np.ndarray, n: int) -> int:
    """Append all sets that the hand can make, the dearest first (R3)."""
    ones = state["ones"]
    joker = 1 if state["hands"][seat, JOKER] > 0 else 0
    ranks = triples_of(state, seat)
    if joker:
        ranks = pairs_of(state, seat)
    for i in range(RANKS):
        rank = (RANKS - i) % RANKS  # ace, K, Q, ..., 2
        if ranks >> rank & 1 == 0:
            continue
        held = 0
        for suit in range(SUITS):
            held |= (ones[seat, suit] >> rank & 1) << suit
        value = np.int64(SET_VALUE[rank])
        suits = held
        while suits:
            count = bit_count(suits)
            if count >= 3 or (count == 2 and joker):
                bits = np.int64(0)
                for suit in range(SUITS):
                    bits |= np.int64(suits >> suit & 1) << (RANKS * suit + rank)
                if count >= 3:
                    n = add_candidate(scratch, n, bits, NONE, value * count, count, NEW_SET, rank, NONE, suits)
                if joker and count <= 3:
                    n = add_candidate(scratch, n, bits, UP, value * (count + 1), count + 1, NEW_SET, rank, NONE, suits)
            suits = (suits - 1) & held
    return n


@kernel
def list_runs(state: State, seat: int, scratch: np.ndarray, n: int) -> int:
    """Append all runs that the hand can make (R4, R5)."""
    jokers = state["hands"][seat, JOKER]
    for suit in range(SUITS):
        first = places_of(state, seat, suit)
        second, third = first >> 1, first >> 2
        starts = first & second & third
        if jokers > 0:
            starts |= first & second | first & third | second & third
        if jokers > 1:
            starts |= second
        for low in range(PLACES - 3, -1, -1):
            if starts >> low & 1:
                n = list_rows(state, seat, scratch, n, suit, low, UP, NONE, NEW_RUN, NONE, NONE)
    return n


@kernel
def list_extensions(state: State, seat: int, scratch: np.ndarray, n: int) -> int:
    """Append all ways to lengthen the melds of this turn (R8)."""
    side = np.int64(1) << FIRST_SIDE
    for meld in range(state["meld_count"]):
        if state["meld_turn"][meld] != state["turn"]:
            continue
        base, action = np.int64(state["meld_base"][meld]), act.MELD + act.MELD_FORMS * meld
        if state["meld_kind"][meld] == SET:
            n = list_set_extensions(state, seat, scratch, n, meld, side)
        else:
            low, jokers = np.int64(state["meld_low"][meld]), np.int64(state["meld_jokers"][meld])
            high = low + np.int64(state["meld_size"][meld]) - 1
            after = jokers >> low & 1
            below, above = action + act.NATURAL_BELOW, action + act.NATURAL_ABOVE
            n = list_rows(state, seat, scratch, n, base, low - 1, DOWN, after, EXTENSION, below, side)
            side <<= 1
            after = jokers >> high & 1
            n = list_rows(state, seat, scratch, n, base, high + 1, UP, after, EXTENSION, above, side)
        side <<= 1
    return n


@kernel
def list_set_extensions(state: State, seat: int, scratch: np.ndarray, n: int, meld: int, side: int) -> int:
    """Append the cards that make a set of this turn one of four (R3, R5)."""
    if state["meld_size"][meld] == 4:
        return n
    rank, action = np.int64(state["meld_base"][meld]), act.MELD + act.MELD_FORMS * meld
    for suit in range(SUITS):
        if state["meld_cards"][meld, suit] < 0 and state["ones"][seat, suit] >> rank & 1:
            bits = side | np.int64(1) << (RANKS * suit + rank)
            n = add_candidate(scratch, n, bits, NONE, SET_VALUE[rank], UP, EXTENSION, action + suit, NONE, NONE)
    if state["meld_jokers"][meld] == 0 and state["hands"][seat, JOKER] > 0:
        n = add_candidate(
            scratch, n, side, UP, SET_VALUE[rank], UP, EXTENSION, action + act.ATTACH_SET_JOKER, NONE, NONE
        )
    return n


@kernel
def list_rows(
    state: State,
    seat: int,
    scratch: np.ndarray,
    n: int,
    suit: int,
    start: int,
    step: int,
    after_joker: int,
    shape: int,
    action: int,
    side: int,
) -> int:
    """Append all rows of naturals and jokers from place ``start`` in direction ``step``, no two jokers adjacent.

    A new run needs three cards; an extension one, and its first card tells the first action: ``action`` for a
    natural, the next number for a joker. ``side`` is the bit of the run's end.
    """
    if start < 0 or start >= PLACES:
        return n
    held = places_of(state, seat, suit)
    jokers = np.int64(state["hands"][seat, JOKER])
    # The path of the search is not in use yet: its columns hold the rows that are still to be lengthened.
    top = 0
    if jokers > 0 and after_joker == 0:
        scratch[ONE, top], scratch[TWO, top] = np.int64(1) << start, 1  # places of the jokers, cards
        top += 1
    if held >> start & 1:
        scratch[ONE, top], scratch[TWO, top] = 0, 1
        top += 1
    while top > 0:
        top -= 1
        form, count = scratch[ONE, top], scratch[TWO, top]
        last = start + step * (count - 1)
        if count >= 3 or shape == EXTENSION:
            base = action + (form >> start & 1) if shape == EXTENSION else suit
            n = add_row(scratch, n, suit, min(start, last), count, form, shape, base, side)
            if count == PLACES and form & 1 == 0 and form >> RANKS & 1 == 0:
                if state["twos"][seat, suit] & 1:
                    scratch[BOTH, n - 1] = np.int64(1) << (RANKS * suit)
                else:
                    n -= 1  # both its aces are naturals, and only one is there
        place = last + step
        if place < 0 or place >= PLACES:
            continue
        if form >> last & 1 == 0 and bit_count(form) < jokers:
            scratch[ONE, top], scratch[TWO, top] = form | np.int64(1) << place, count + 1
            top += 1
        if held >> place & 1:
            scratch[ONE, top], scratch[TWO, top] = form, count + 1
            top += 1
    return n


@kernel
def add_row(
    scratch: np.ndarray, n: int, suit: int, low: int, count: int, form: int, shape: int, base: int, side: int
) -> int:
    """Append the candidate of a row of ``count`` cards from place ``low`` on, with jokers at the places ``form``."""
    bits = np.int64(side)
    value = 0
    for place in range(low, low + count):
        value += PLACE_VALUE[place]
        if form >> place & 1 == 0:
            bits |= np.int64(1) << (RANKS * suit + place % RANKS)
    return add_candidate(scratch, n, bits, bit_count(form), value, count, shape, base, low, form)


@kernel
def first_steps(legal: np.ndarray, scratch: np.ndarray, i: int, mark: int) -> bool:
    """Tell whether candidate ``i`` begins with an action that is not in ``legal`` yet; add its actions if ``mark``."""
    new = False
    shape, base, low, form = scratch[SHAPE, i], scratch[BASE, i], scratch[LOW, i], scratch[FORM, i]
    if shape == EXTENSION:
        return add_step(legal, base, mark)
    if shape == NEW_SET:
        for j in range(act.SET_FORMS):
            suits = SET_SUITS[j]
            if suits & form == suits and (j < SUITS or scratch[JOKERS, i] == 1):
                new |= add_step(legal, act.LAY_SET + act.SET_FORMS * base + j, mark)
        return new
    for start in range(low, low + scratch[COUNT, i] - 2):
        first = act.LAY_RUN + act.RUN_FORMS * (act.RUN_STARTS * base + start)
        jokers = form >> start & 7  # 000, 001, 010, 100, 101 are the forms 0 to 4
        new |= add_step(legal, first + (jokers if jokers < 3 else jokers - 1), mark)
    return new


@kernel
def add_step(legal: np.ndarray, action: int, mark: int) -> bool:
    """Tell whether an action is not in ``legal`` yet; add it if ``mark``."""
    if has_bit(legal, action):
        return False
    if mark:
        set_bit(legal, action)
    return True


@kernel
def legal_opening(state: State, scratch: np.ndarray) -> None:
    """Add to ``legal`` the lays and attaches that can still lead to the opening (R8), in place."""
    seat = np.int64(state["seat"])
    need = np.int64(state["rules"][OPENING_POINTS]) - state["opening_laid"]
    hand = np.int64(state["hand_size"][seat])
    if state["opening_laid"] == 0 and (hand < 4 or quick_bound(state, seat) < need):
        return
    one = np.int64(-1) << FIRST_SIDE
    two = np.int64(0)
    for suit in range(SUITS):
        one |= np.int64(state["ones"][seat, suit]) << (RANKS * suit)
        two |= np.int64(state["twos"][seat, suit]) << (RANKS * suit)
    n = list_sets(state, seat, scratch, NONE)
    n = list_runs(state, seat, scratch, n)
    if state["opening_laid"] > 0:
        n = list_extensions(state, seat, scratch, n)
    jokers = np.int64(state["hands"][seat, JOKER])
    ace_sets = most_ace_sets(state, seat)
    ace = np.int64(25) if ace_sets > 0 else np.int64(10)
    free, gain = bound_candidates(scratch, n, two, ace)
    if n == 0 or need > free + jokers * gain or need > most_points(scratch[FROM_HERE, 0], two, jokers, ace, ace_sets):
        return
    scratch[ONE, 0], scratch[TWO, 0], scratch[SPARE_JOKERS, 0] = one, two, jokers
    scratch[NEED, 0], scratch[SPARE_CARDS, 0], scratch[SPARE_FREE, 0] = need, hand - 1, free
    scratch[GROUPS, STEPS] = 0
    deep = False
    for i in range(n):
        if not first_steps(state["legal"], scratch, i, NONE):
            continue
        found = NONE
        if not deep:
            found = find_packing(scratch, n, i, gain, ace, ace_sets)
            if found < 0:
                deep = True
                group_candidates(scratch, n)
                if search_deeply(scratch, WHOLE_HAND, gain, ace, ace_sets) == 0:
                    return
        if deep:
            found = search_deeply(scratch, i, gain, ace, ace_sets)
        if found == 0:
            scratch[COUNT, i] = MAX_CARDS  # it is in no packing: it fits nowhere from now on
        for step in range(found):
            first_steps(state["legal"], scratch, scratch[NEXT, step], MARK)


@kernel
def most_ace_sets(state: State, seat: int) -> int:
    """Return a bound of the sets of aces that a joker can lie in: two aces each, or a set of this turn."""
    aces = 0
    sets = 0
    for suit in range(SUITS):
        aces += (state["ones"][seat, suit] & 1) + (state["twos"][seat, suit] & 1)
    for meld in range(state["meld_count"]):
        if state["meld_turn"][meld] == state["turn"] and state["meld_kind"][meld] == SET:
            sets += 1 if state["meld_base"][meld] == 0 else 0
    return np.int64(aces // 2 + sets)
