"""Which candidates of R8 fit together: a quick search that settles almost every hand, and a deep one for the rest.

Both look for candidates that fit the hand together with a given one and are worth enough, by branch and bound. The
quick search takes the candidates in the order of the list. On a hand that is rich in jokers and poor in suits it may
come to the same cards by many ways, near the most that the hand is worth by millions: so it gives up after some steps.

The deep search decides card by card: each candidate stands under its lowest card, and the lowest card at hand goes
into a candidate that stands under it or is never used. Therefore what is left to decide depends on nothing but what
is left, and a table in the scratch remembers what that is worth at most. It is direct-mapped and lossy: a newer state
overwrites an older one, and a stamp tells the states of this call from those of earlier ones.
"""

from __future__ import annotations

import numpy as np

from jolly_env._jit import kernel
from jolly_env.bits import bit_count, lowest_bit
from jolly_env.cards import PLACE_VALUE, RANKS, SUITS
from jolly_env.state import MAX_CARDS

# Rows of the scratch: first the candidates, then the path of the search, then what only the deep search needs.
BITS, BOTH, JOKERS, VALUE, COUNT, FREE, SHAPE, BASE, LOW, FORM = range(10)
FROM_HERE, ONE, TWO, SPARE_JOKERS, NEED, SPARE_CARDS, SPARE_FREE, NEXT = range(10, 18)
GROUPS, MEMORY = 18, 19
ORDER, SKIP, MOST = FROM_HERE, FREE, SPARE_FREE
"""Rows that the deep search uses in its own way: candidates by lowest card, where to go on, and the most seen."""
MEMORY_ROWS = 4
"""Rows of each of the three columns of the table: what is left in two words, then the stamp and the most points."""
SCRATCH_ROWS = MEMORY + 3 * MEMORY_ROWS
SCRATCH_COLUMNS = 8192
"""Room for the candidates of any hand; the most that a hand of 20 can have is shown in the tests."""
FIRST_WORD, SECOND_WORD, KNOWN = MEMORY, MEMORY + MEMORY_ROWS, MEMORY + 2 * MEMORY_ROWS

# Columns of the row GROUPS: three numbers for each bit that can be the lowest of a candidate, then single numbers.
START, END, REACH = 0, 64, 128
HEADS, FREE_CARDS, STAMP, STEPS, MOST_STEPS = range(192, 197)

QUICK_STEPS = 20_000
"""How often the quick search may look at a candidate before a hand is left to the deep one: some 50 µs."""
NONE = np.int64(0)
GIVEN_UP, UNSETTLED, WHOLE_HAND = np.int64(-1), np.int64(-1), np.int64(-1)

CARDS = (np.int64(1) << 52) - 1
"""The bits of the naturals."""
ACES = np.int64(1 | 1 << RANKS | 1 << 2 * RANKS | 1 << 3 * RANKS)


def new_scratch() -> np.ndarray:
    """Return room for the search: int64[31, 8192], 2 MB. One caller at a time may use it."""
    scratch = np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS), dtype=np.int64)
    scratch[GROUPS, MOST_STEPS] = QUICK_STEPS
    return scratch


def _points_table() -> np.ndarray:
    """Return the points in hand order (ace 10) by 13-bit mask of ranks."""
    masks = np.arange(1 << RANKS)
    points = np.zeros(1 << RANKS, dtype=np.int16)
    for rank in range(RANKS):
        points += np.where(masks >> rank & 1, PLACE_VALUE[rank if rank else RANKS], 0).astype(np.int16)
    return points


POINTS = _points_table()


@kernel
def bound_candidates(scratch: np.ndarray, n: int, two: int, ace: int) -> tuple[int, int]:
    """Fill the rows FREE and FROM_HERE; return the points of all free cards and the gain of a joker.

    A card is free if it lies in a candidate without a joker; the gain is the most that a candidate is worth beyond its
    free cards, for each of its jokers. A packing is worth at most the points of its free cards and the gain for each
    joker. FROM_HERE are the cards of a candidate and of all after it.
    """
    free, from_here = np.int64(0), np.int64(0)
    for i in range(n - 1, -1, -1):
        from_here |= scratch[BITS, i] & CARDS
        scratch[FROM_HERE, i] = from_here
        if scratch[JOKERS, i] == 0:
            free |= scratch[BITS, i] & CARDS
    gain = np.int64(0)
    for i in range(n):
        points = card_points(scratch[BITS, i] & free, ace)
        scratch[FREE, i] = points
        jokers = scratch[JOKERS, i]
        if jokers > 0:
            gain = max(gain, (scratch[VALUE, i] - points + jokers - 1) // jokers)
    return card_points(free, ace) + card_points(free & two, ace), gain


@kernel
def most_points(one: int, two: int, jokers: int, ace: int, ace_sets: int) -> int:
    """Return a bound of what cards at hand are worth on the table, however they lie.

    A joker stands for 10 points at most, but in a set of aces, of which there are at most ``ace_sets``, for 25.
    """
    return card_points(one, ace) + card_points(one & two, ace) + 10 * jokers + 15 * min(jokers, ace_sets)


@kernel
def card_points(bits: int, ace: int) -> int:
    """Return the most that a set of naturals can be worth, where an ace is worth at most ``ace``."""
    points = 0
    for suit in range(SUITS):
        ranks = bits >> (RANKS * suit) & ((1 << RANKS) - 1)
        points += POINTS[ranks] + (ranks & 1) * (ace - 10)
    return points


@kernel
def find_packing(scratch: np.ndarray, n: int, root: int, gain: int, ace: int, ace_sets: int) -> int:
    """Look for candidates that fit together with ``root`` and are worth enough, in the order of the list.

    Column 0 of the path holds what is at hand. Returns the number of candidates of a packing, which then stand in the
    row NEXT from column 0 on, or 0 if there is none; ``GIVEN_UP`` once a hand has taken more than its steps.
    """
    depth = 0
    steps = scratch[GROUPS, STEPS]
    scratch[NEXT, 0] = root
    while True:
        i = scratch[NEXT, depth]
        if i >= n or (depth == 0 and i > root):
            if depth == 0:
                scratch[GROUPS, STEPS] = steps
                return NONE
            depth -= 1
            scratch[NEXT, depth] += 1
            continue
        steps += 1
        one, two, bits = scratch[ONE, depth], scratch[TWO, depth], scratch[BITS, i]
        jokers = scratch[SPARE_JOKERS, depth] - scratch[JOKERS, i]
        cards = scratch[SPARE_CARDS, depth] - scratch[COUNT, i]
        if bits & ~one or scratch[BOTH, i] & ~two or jokers < 0 or cards < 0:
            scratch[NEXT, depth] += 1
            continue
        need = scratch[NEED, depth] - scratch[VALUE, i]
        if need <= 0:
            scratch[GROUPS, STEPS] = steps
            return depth + 1
        if steps > scratch[GROUPS, MOST_STEPS]:
            return GIVEN_UP
        # A candidate may be taken twice where both copies of its cards are held; other orders say nothing new.
        start = i if depth > 0 else 0
        free = scratch[SPARE_FREE, depth] - scratch[FREE, i]
        one &= ~(bits & ~two) & ~scratch[BOTH, i]
        two &= ~bits
        rest = one & scratch[FROM_HERE, start]
        if cards == 0 or need > free + jokers * gain or need > most_points(rest, two, jokers, ace, ace_sets):
            scratch[NEXT, depth] += 1
            continue
        depth += 1
        scratch[NEXT, depth] = start
        scratch[ONE, depth] = one
        scratch[TWO, depth] = two
        scratch[SPARE_JOKERS, depth] = jokers
        scratch[SPARE_CARDS, depth] = cards
        scratch[NEED, depth] = need
        scratch[SPARE_FREE, depth] = free


@kernel
def lowest_card(bits: int) -> int:
    """Return the lowest bit that is no ace, or else the lowest ace: with aces low, runs up to an ace would crowd there.

    So the runs under a card begin with it, the ace or joker before it, or both, and stand as the list has them: each
    before those that lengthen it.
    """
    rest = bits & ~ACES
    return lowest_bit(rest if rest else bits)


@kernel
def group_candidates(scratch: np.ndarray, n: int) -> None:
    """Make ready for the deep search: put the candidates that are not out of the question under their lowest bits.

    A candidate does not fit where one that it contains does not: SKIP leads past all such that follow on it.
    """
    groups, order, skip = scratch[GROUPS], scratch[ORDER], scratch[SKIP]
    groups[:HEADS] = 0
    groups[FREE_CARDS] = 0
    groups[STAMP] += 1
    for i in range(n):
        if scratch[COUNT, i] < MAX_CARDS:
            groups[END + lowest_card(scratch[BITS, i])] += 1
        if scratch[JOKERS, i] == 0:  # whatever has become of it: the gain of a joker goes with these cards
            groups[FREE_CARDS] |= scratch[BITS, i] & CARDS
    heads, reach, total = np.int64(0), np.int64(0), np.int64(0)
    for bit in range(64):
        groups[START + bit] = total
        total += groups[END + bit]
        groups[END + bit] = groups[START + bit]
    for i in range(n):
        if scratch[COUNT, i] < MAX_CARDS:
            bit = lowest_card(scratch[BITS, i])
            order[groups[END + bit]] = i
            groups[END + bit] += 1
            groups[REACH + bit] |= scratch[BITS, i]
    for turn in range(128):  # from the last bit to the first, in the order of lowest_card
        bit = 63 - turn % 64
        if ACES >> bit & 1 != (turn < 64):
            continue
        reach |= groups[REACH + bit]
        groups[REACH + bit] = reach
        end = groups[END + bit]
        if end > groups[START + bit]:
            heads |= np.int64(1) << bit
        for at in range(end - 1, groups[START + bit] - 1, -1):
            following = at + 1
            while following < end and contains(scratch, order[following], order[at]):
                following = skip[following]
            skip[at] = following
    groups[HEADS] = heads


@kernel
def contains(scratch: np.ndarray, i: int, part: int) -> bool:
    """Tell whether candidate ``i`` needs at least what ``part`` needs."""
    return (
        scratch[BITS, part] & ~scratch[BITS, i] == 0
        and scratch[BOTH, part] & ~scratch[BOTH, i] == 0
        and scratch[JOKERS, part] <= scratch[JOKERS, i]
        and scratch[COUNT, part] <= scratch[COUNT, i]
    )


@kernel
def search_deeply(scratch: np.ndarray, root: int, gain: int, ace: int, ace_sets: int) -> int:
    """Look for candidates that fit together with ``root``, or at all with ``WHOLE_HAND``, and are worth enough.

    Column 0 of the path holds what is at hand, the others what is left after each decision. Returns the number of
    candidates of a packing, which then stand in the row NEXT from column 0 on, or 0 if there is none.
    """
    groups = scratch[GROUPS]
    scratch[NEXT, 0] = root
    depth = NONE
    if root >= 0:
        if not fits(scratch, depth, root):
            return 0
        if take(scratch, depth, root) <= 0:
            return 1
        depth += 1
    first = depth
    most = look_up(scratch, depth, gain, ace, ace_sets)
    while True:
        if most >= 0:  # what is left at this depth is not worth enough: go on from the decision before
            if depth == first:
                return 0
            depth -= 1
            settle_choice(scratch, depth, most)
        bit = lowest_card(scratch[ONE, depth])
        at, end = scratch[NEXT, depth], groups[END + bit]
        while at < end and not fits(scratch, depth, scratch[ORDER, at]):
            at = scratch[SKIP, at] if scratch[COUNT, scratch[ORDER, at]] < MAX_CARDS else at + 1
        scratch[NEXT, depth] = at
        if at > end:
            most = scratch[MOST, depth]
            remember(scratch, depth, most)
            continue
        if at < end:
            if take(scratch, depth, scratch[ORDER, at]) <= 0:
                return collect(scratch, first, depth)
        else:
            leave(scratch, depth, bit)
        depth += 1
        most = look_up(scratch, depth, gain, ace, ace_sets)


@kernel
def fits(scratch: np.ndarray, depth: int, i: int) -> bool:
    """Tell whether what is left at ``depth`` holds candidate ``i``."""
    return (
        scratch[BITS, i] & ~scratch[ONE, depth] == 0
        and scratch[BOTH, i] & ~scratch[TWO, depth] == 0
        and scratch[JOKERS, i] <= scratch[SPARE_JOKERS, depth]
        and scratch[COUNT, i] <= scratch[SPARE_CARDS, depth]
    )


@kernel
def take(scratch: np.ndarray, depth: int, i: int) -> int:
    """Fill the next column of the path with what candidate ``i`` leaves; return the points that are still needed."""
    bits, two = scratch[BITS, i], scratch[TWO, depth]
    need = scratch[NEED, depth] - scratch[VALUE, i]
    scratch[ONE, depth + 1] = scratch[ONE, depth] & ~(bits & ~two) & ~scratch[BOTH, i]
    scratch[TWO, depth + 1] = two & ~bits
    scratch[SPARE_JOKERS, depth + 1] = scratch[SPARE_JOKERS, depth] - scratch[JOKERS, i]
    scratch[SPARE_CARDS, depth + 1] = scratch[SPARE_CARDS, depth] - scratch[COUNT, i]
    scratch[NEED, depth + 1] = need
    return need


@kernel
def leave(scratch: np.ndarray, depth: int, bit: int) -> None:
    """Fill the next column of the path with what is left when a card is never used, nor its copy."""
    scratch[ONE, depth + 1] = scratch[ONE, depth] & ~(np.int64(1) << bit)
    for row in (TWO, SPARE_JOKERS, SPARE_CARDS, NEED):
        scratch[row, depth + 1] = scratch[row, depth]


@kernel
def look_up(scratch: np.ndarray, depth: int, gain: int, ace: int, ace_sets: int) -> int:
    """Return the most that what is left at ``depth`` may be worth, if not enough; else start on it: ``UNSETTLED``.

    Cards that are in no candidate any more are taken out, so that more states are the same.
    """
    groups = scratch[GROUPS]
    heads = scratch[ONE, depth] & groups[HEADS]
    jokers = scratch[SPARE_JOKERS, depth]
    if heads == 0:
        return np.int64(0)
    bit = lowest_card(heads)
    one = scratch[ONE, depth] & groups[REACH + bit]
    two = scratch[TWO, depth] & one
    free = one & groups[FREE_CARDS]
    most = card_points(free, ace) + card_points(free & two, ace) + jokers * gain
    most = min(most, most_points(one & CARDS, two, jokers, ace, ace_sets))
    if most < scratch[NEED, depth]:
        return most
    scratch[ONE, depth], scratch[TWO, depth] = one, two
    second = second_word(scratch, depth)
    row, column = place_in_memory(one, second)
    if scratch[FIRST_WORD + row, column] == one and scratch[SECOND_WORD + row, column] == second:
        known = scratch[KNOWN + row, column]
        if known >> 16 == groups[STAMP] and known & 0xFFFF < scratch[NEED, depth]:
            return known & 0xFFFF
    scratch[NEXT, depth] = groups[START + bit]
    scratch[MOST, depth] = 0
    return UNSETTLED


@kernel
def settle_choice(scratch: np.ndarray, depth: int, most: int) -> None:
    """Note what the choice at ``depth`` could have been worth at most, and go on to the next one."""
    at = scratch[NEXT, depth]
    if at < scratch[GROUPS, END + lowest_card(scratch[ONE, depth])]:
        most += scratch[VALUE, scratch[ORDER, at]]
    scratch[MOST, depth] = max(scratch[MOST, depth], most)
    scratch[NEXT, depth] = at + 1


@kernel
def remember(scratch: np.ndarray, depth: int, most: int) -> None:
    """Remember what the state at ``depth`` is worth at most."""
    one, second = scratch[ONE, depth], second_word(scratch, depth)
    row, column = place_in_memory(one, second)
    scratch[FIRST_WORD + row, column] = one
    scratch[SECOND_WORD + row, column] = second
    scratch[KNOWN + row, column] = scratch[GROUPS, STAMP] << 16 | most


@kernel
def second_word(scratch: np.ndarray, depth: int) -> int:
    """Return the second copies, the jokers, and whether one of the cards must stay in hand, as one word."""
    two, jokers = scratch[TWO, depth], scratch[SPARE_JOKERS, depth]
    left = bit_count(scratch[ONE, depth] & CARDS) + bit_count(two) + jokers
    return two | jokers << 52 | np.int64(scratch[SPARE_CARDS, depth] < left) << 56


@kernel
def place_in_memory(one: int, second: int) -> tuple[int, int]:
    """Return where in the table a state belongs: a sum of products that stay below 2**63."""
    low = (1 << 26) - 1
    mixed = (one & low) * 0x5BD1E995 + (one >> 26 & low) * 0x6C8E9CF5 + (one >> 52 & 0xFFF) * 0x4F6CDD1D
    mixed += (second & low) * 0x7FEB352D + (second >> 26) * 0x46A11A97
    place = (mixed >> 17 ^ mixed >> 34) & (MEMORY_ROWS * SCRATCH_COLUMNS - 1)
    return place // SCRATCH_COLUMNS, place % SCRATCH_COLUMNS


@kernel
def collect(scratch: np.ndarray, first: int, depth: int) -> int:
    """Move the candidates that were taken to the front of the row NEXT; return their number."""
    found = first
    for step in range(first, depth + 1):
        at = scratch[NEXT, step]
        if at < scratch[GROUPS, END + lowest_card(scratch[ONE, step])]:
            scratch[NEXT, found] = scratch[ORDER, at]
            found += 1
    return found
