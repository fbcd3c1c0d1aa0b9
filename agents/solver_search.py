"""The search of the lay-down solver: card by card, which item takes it, or none; bounded by the ends found so far.

The lowest card that an item is listed under goes into one of those items or is left in hand. What is left to decide can
bring at most the points of the cards that lie in items without a joker, and for each joker the most that an item gains
by it; so also for the number and the cost of the cards. If an end that is found is as good in all four numbers, for
each number of jokers that may be kept, the rest is not looked at.
"""

from __future__ import annotations

import numpy as np

from agents.solver_ends import add_ends, is_dominated
from agents.solver_items import (
    ACE,
    ACES,
    ALL_COST,
    ALL_JOKERS,
    BALANCE,
    BEFORE,
    BEST_LONE,
    BITS,
    BOTH,
    CARDS_AT,
    CHANGE,
    COST_AT,
    FEW_STEPS,
    FRAMES_AT,
    FREE,
    GAIN_CARDS,
    GAIN_COST,
    GAIN_OPEN,
    GAIN_POINTS,
    GAVE_UP,
    HEAD_WORDS,
    HEADS,
    HEADS_AT,
    HELD,
    HELD_TWICE,
    ITEM_END,
    ITEMS_AT,
    LIST,
    MEMORY_FROM,
    MOST_STEPS,
    NATURALS,
    NEED,
    NEXT,
    NUMBER_MASK,
    ONE,
    OPEN_AT,
    OPEN_FREE,
    OPEN_JOKERS_AT,
    OPENED,
    POINTS_MASK,
    REACH,
    SHAPE,
    SIDE_REACH,
    SIDES,
    SIDES_LEFT,
    STAMP,
    STEPS,
    SUM,
    SWAP_CARDS,
    SWAP_SIDES,
    TAKEN,
    TALLY,
    TOTAL,
    TWO,
    USABLE,
    cost_of,
)
from agents.solver_memory import was_better
from jolly_env._jit import kernel
from jolly_env.bits import bit_count, lowest_bit

NEVER = np.int64(1 << 60)


@kernel
def close_heads(room: np.ndarray) -> None:
    """Work out for each head what it and the later ones reach, and what a joker gains there."""
    heads, before = room[HEADS], 0
    while heads:
        head = HEADS_AT + HEAD_WORDS * lowest_bit(heads)
        heads &= heads - 1
        room[head + BEFORE] = before
        before = head
    sides = np.int64(0)
    reach, points, cards, cost, opening = np.int64(0), room[BEST_LONE], np.int64(0), np.int64(0), np.int64(0)
    free, usable = room[FREE], room[USABLE]
    head = before
    while head > 0:
        reach |= room[head + REACH]
        sides |= room[head + SIDE_REACH]
        if usable > 0:
            item = room[head + LIST]
            while item > 0:
                uses = room[item + SHAPE] & 15
                if uses > 0:
                    bits, tally = room[item + BITS] & NATURALS, room[item + TALLY]
                    # Rounded up, as a bound must be.
                    value = (tally & POINTS_MASK) - points_of(bits & free, room[ACE])
                    points = max(points, (value + uses - 1) // uses)
                    cards = max(cards, (bit_count(bits & ~free) + uses - 1) // uses)
                    cost = max(cost, (cost_of(bits & ~free) + uses - 1) // uses)
                    value = (tally >> OPEN_AT & POINTS_MASK) - points_of(bits & room[OPEN_FREE], room[ACE])
                    opening = max(opening, (value + uses - 1) // uses)
                item = room[item + NEXT]
        room[head + REACH], room[head + SIDE_REACH] = reach, sides
        room[head + GAIN_POINTS], room[head + GAIN_CARDS] = points, cards
        room[head + GAIN_COST], room[head + GAIN_OPEN] = cost, opening
        head = room[head + BEFORE]


@kernel
def points_of(bits: int, ace: int) -> int:
    """Return the most points that naturals can bring on the table, where an ace brings at most ``ace``."""
    return cost_of(bits) - (25 - ace) * bit_count(bits & ACES)


@kernel
def search(room: np.ndarray, plans: np.ndarray, to_open: int) -> bool:
    """Add all ends to ``plans`` that are not dominated, or those found within the steps.

    With ``to_open`` only tell whether the items that are listed can open, or may do so if the steps did not suffice.
    """
    heads, item, last_bit = room[HEADS], np.int64(0), np.int64(-1)
    one, two, sides = room[HELD], room[HELD_TWICE], np.int64(-1)
    balance, tally, frame = room[ALL_JOKERS], np.int64(0), np.int64(FRAMES_AT)
    room[STAMP] += 1
    # Where jokers can be swapped out, what opens is not told by a tally alone, so nothing is remembered.
    room[MEMORY_FROM] = NEVER if room[OPENED] == 0 and room[SWAP_SIDES] else room[STEPS] + room[FEW_STEPS]
    dead = False
    while True:
        bit = lowest_bit(one & heads) if one & heads and not dead else np.int64(-1)
        if bit < 0:
            if balance >= 0 and to_open == 0 and not dead:
                add_ends(room, plans, frame, sides, balance, tally)
        elif is_settled(room, plans, bit, bit == last_bit, one, two, sides, balance, tally, to_open):
            bit = np.int64(-1)
        if bit < 0:
            if frame == FRAMES_AT:
                return False
            if room[STEPS] > room[MOST_STEPS]:
                room[GAVE_UP] = 1
                return True
            frame -= 8
            one, two, sides = room[frame + ONE], room[frame + TWO], room[frame + SIDES_LEFT]
            balance, tally, item = room[frame + BALANCE], room[frame + SUM], room[frame + TAKEN]
            dead = False
            bit = lowest_bit(one & heads)
            item = room[item + NEXT]
        elif bit != last_bit:
            item = room[HEADS_AT + HEAD_WORDS * bit + LIST]
        # Else it is the second copy, which goes no earlier in the list than the first: other orders say nothing new.
        item = next_fit(room, item, one, two, sides, balance, tally)
        if item == 0:  # the card is left, and its copy
            dead = room[SWAP_CARDS] >> bit & 1 != 0 and can_swap(room, bit, sides)
            one &= ~(np.int64(1) << bit)
            two &= one
            last_bit = np.int64(-1)
            continue
        room[frame + ONE], room[frame + TWO], room[frame + SIDES_LEFT] = one, two, sides
        room[frame + BALANCE], room[frame + SUM], room[frame + TAKEN] = balance, tally, item
        frame += 8
        bits = room[item + BITS]
        one &= ~(bits & ~two) & ~room[item + BOTH]
        two &= ~bits
        sides &= ~room[item + SIDES]
        balance += room[item + CHANGE]
        tally += room[item + TALLY]
        last_bit = bit
        if to_open and tally >> OPEN_AT & POINTS_MASK >= room[NEED]:
            return True


@kernel
def can_swap(room: np.ndarray, bit: int, sides: int) -> bool:
    """Tell whether a card could be swapped in alone where no other card goes: it is never better to leave it."""
    item = room[HEADS_AT + HEAD_WORDS * bit + LIST]
    while item > 0:
        alone = room[item + CHANGE] > 0 and room[item + BITS] == np.int64(1) << bit
        if alone and room[item + SIDES] & ~sides == 0:
            return True
        item = room[item + NEXT]
    return False


@kernel
def next_fit(room: np.ndarray, item: int, one: int, two: int, sides: int, balance: int, tally: int) -> int:
    """Return the first item of a list, from ``item`` on, that fits what is left; 0 if there is none."""
    steps = 0
    while item > 0:
        steps += 1
        if fits(room, item, one, two, sides, balance, tally):
            break
        item = room[item + NEXT]
    room[STEPS] += steps
    return item


@kernel
def fits(room: np.ndarray, item: int, one: int, two: int, sides: int, balance: int, tally: int) -> bool:
    """Tell whether what is left has the cards and places of an item, may come to its jokers, and keeps a card (R11)."""
    change, item_sides = room[item + CHANGE], room[item + SIDES]
    most = room[TOTAL] - room[ALL_JOKERS] - 1 - (tally >> CARDS_AT & NUMBER_MASK) + balance
    return (
        room[item + BITS] & ~one == 0
        and item_sides & ~sides == 0
        and room[item + BOTH] & ~two == 0
        and balance + change + bit_count(sides & ~item_sides & room[SWAP_SIDES]) >= 0
        and (room[item + TALLY] >> CARDS_AT & NUMBER_MASK) - change <= most
    )


@kernel
def dive(room: np.ndarray, plans: np.ndarray) -> None:
    """Add the ends of laying the dearest item again and again.

    New melds without a joker come first, then what goes to the table without one, then what takes one joker.
    """
    one, two, sides = room[HELD], room[HELD_TWICE], np.int64(-1)
    balance, tally, frame = room[ALL_JOKERS], np.int64(0), np.int64(FRAMES_AT)
    while True:
        dearest, most = 0, np.int64(-1)
        for item in range(ITEMS_AT, room[ITEM_END], 8):
            uses, score = room[item + SHAPE] & 15, room[item + TALLY] & POINTS_MASK
            if uses == 0:
                score += 4096 if room[item + SIDES] else 8192
            if uses < 2 and score > most and fits(room, item, one, two, sides, balance, tally):
                dearest, most = item, score
        if balance >= 0:
            add_ends(room, plans, frame, sides, balance, tally)
        if dearest == 0:
            return
        room[frame + TAKEN] = dearest
        frame += 8
        bits = room[dearest + BITS]
        one &= ~(bits & ~two) & ~room[dearest + BOTH]
        two &= ~bits
        sides &= ~room[dearest + SIDES]
        balance += room[dearest + CHANGE]
        tally += room[dearest + TALLY]


@kernel
def is_settled(
    room: np.ndarray,
    plans: np.ndarray,
    bit: int,
    again: bool,
    one: int,
    two: int,
    sides: int,
    balance: int,
    tally: int,
    to_open: int,
) -> bool:
    """Tell whether what can still come from here on need not be looked at; ``again``: the card's copy is decided."""
    room[STEPS] += 1
    head = HEADS_AT + HEAD_WORDS * bit
    if room[OPENED] == 0 and not may_still_open(room, head, one & room[head + REACH], two, tally):
        return True
    if to_open == 0 and hopeless(room, plans, head, one, two, sides, balance, tally):
        return True
    late = room[STEPS] > room[MEMORY_FROM] and not again
    return late and was_better(room, head, one, two, sides, balance, tally, to_open)


@kernel
def may_still_open(room: np.ndarray, head: int, reach: int, two: int, tally: int) -> bool:
    """Tell whether what is laid and the cards of ``reach`` may open (R8)."""
    free, own = reach & room[OPEN_FREE], room[ALL_JOKERS]
    if room[SWAP_SIDES] == 0:
        own -= tally >> OPEN_JOKERS_AT & NUMBER_MASK
    points = points_of(free, room[ACE]) + points_of(free & two, room[ACE]) + own * room[head + GAIN_OPEN]
    return points + (tally >> OPEN_AT & POINTS_MASK) >= room[NEED]


@kernel
def hopeless(
    room: np.ndarray, plans: np.ndarray, head: int, one: int, two: int, sides: int, balance: int, tally: int
) -> bool:
    """Tell whether nothing from here on can be better than the ends found."""
    ace, jokers = room[ACE], balance + bit_count(sides & room[SWAP_SIDES])
    live = one & room[head + REACH] & room[FREE]
    pairs = live & two
    points = (tally & POINTS_MASK) + points_of(live, ace) + points_of(pairs, ace)
    cost = room[ALL_COST] - (tally >> COST_AT & POINTS_MASK) - cost_of(live) - cost_of(pairs)
    cards = room[TOTAL] - room[ALL_JOKERS] - (tally >> CARDS_AT & NUMBER_MASK) - bit_count(live) - bit_count(pairs)
    gain_points, gain_cards, gain_cost = room[head + GAIN_POINTS], room[head + GAIN_CARDS], room[head + GAIN_COST]
    # What jokers bring is no more than their own places and the cards that go with jokers only, either.
    rest = one & room[head + REACH] & ~room[FREE] & NATURALS if jokers > 1 else np.int64(0)
    rest_pairs = rest & two
    rest_points = points_of(rest, ace) + points_of(rest_pairs, ace)
    own_points = 25 if ace == 25 else 10
    for used in range(jokers + 1 if gain_points > 0 else 1):
        kept = jokers - used
        left = max(cards - used * gain_cards, 0)
        least = max(cost - used * gain_cost, 0)
        gained = used * gain_points
        if used > 1:
            gained = min(gained, rest_points + used * own_points)
        most = points + gained
        if left + kept == 0:  # one card stays (R11); with jokers, the points may be those of a way that leaves more
            left = 1
            least = max(least, 2)
            most -= 1 if used == 0 else 0
        if not is_dominated(room, plans, most, left + kept, least, kept):
            return False
    return True
