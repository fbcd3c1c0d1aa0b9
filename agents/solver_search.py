"""The search of the lay-down solver: card by card, which item takes it, or none; bounded by the ends found so far.

The lowest card that an item is listed under goes into one of those items or is left in hand. What is left to decide can
bring at most the points of the cards that lie in items without a joker, and for each joker the most that an item gains
by it; so also for the number and the cost of the cards. If an end that is found is as good in all four numbers, for
each number of jokers that may be kept, the rest is not looked at.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.hand import COUNT, HAND_WORDS, JOKERS, ONES, TWOS
from agents.solver_items import (
    ACE,
    ACES,
    ACTION,
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
    FIRST_STEP,
    FRAMES_AT,
    FREE,
    GAIN_CARDS,
    GAIN_COST,
    GAIN_OPEN,
    GAIN_POINTS,
    GAINS_AT,
    GAVE_UP,
    HEAD_WORDS,
    HEADS,
    HEADS_AT,
    HELD,
    HELD_TWICE,
    LIST,
    LONE_ACTION,
    LONE_END,
    LONE_SIDE,
    LONE_SIDES,
    LONE_VALUE,
    LONES_AT,
    MEMORY_AT,
    MEMORY_BITS,
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
    PLAN_COUNT,
    POINTS_MASK,
    REACH,
    SEEN_ONE,
    SEEN_SIDES,
    SEEN_STAMP,
    SEEN_TALLY,
    SEEN_TWO,
    SHAPE,
    SIDE_REACH,
    SIDES,
    SIDES_LEFT,
    STAMP,
    STEPS,
    SUM,
    SWAP_SIDES,
    TAKEN,
    TALLY,
    TOTAL,
    TWO,
    USABLE,
    cost_of,
)
from agents.solver_opening import opening_step
from jolly_env._jit import kernel
from jolly_env.bits import bit_count, lowest_bit
from jolly_env.cards import RANKS, SUITS

PLANS: Final = 64
"""Room for ends."""
POINTS, CARDS, COST, KEPT, FIRST, LEFT = range(6)
"""Columns of an end: points laid, cards left, cost of the naturals left, jokers left, a first action, the hand left."""
PLAN_WORDS: Final = LEFT + HAND_WORDS

NEVER = np.int64(1 << 60)
LOWEST_CARDS = (np.int64(1) << RANKS) - 1


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
    all_heads = room[HEADS]
    one, two, sides = room[HELD], room[HELD_TWICE], np.int64(-1)
    balance, tally = room[ALL_JOKERS], np.int64(0)
    total, jokers = room[TOTAL], room[ALL_JOKERS]
    swap_sides = room[SWAP_SIDES]
    frame, steps, item = np.int64(FRAMES_AT), room[STEPS], np.int64(0)
    last_bit = np.int64(-1)
    # Where jokers can be swapped out, what opens is no matter of the tally alone.
    late = NEVER if room[OPENED] == 0 and swap_sides else steps + room[FEW_STEPS]
    room[STAMP] += 1
    while True:
        heads = one & all_heads
        if heads == 0:
            if balance >= 0 and to_open == 0:
                add_ends(room, plans, frame, sides, balance, tally)
            bit = np.int64(-1)
        else:
            bit = lowest_bit(heads)
            steps += 1
            head = HEADS_AT + HEAD_WORDS * bit
            if room[OPENED] == 0 and not may_still_open(room, head, one & room[head + REACH], two, tally):
                bit = np.int64(-1)
            elif to_open == 0 and hopeless(room, plans, head, one, two, sides, balance, tally):
                bit = np.int64(-1)
            elif steps > late and bit != last_bit and was_better(room, head, one, two, sides, balance, tally, to_open):
                bit = np.int64(-1)
        if bit >= 0:
            # The second copy goes no earlier in the list than the first: other orders say nothing new.
            if bit != last_bit:
                item = room[HEADS_AT + HEAD_WORDS * bit + LIST]
        else:
            if frame == FRAMES_AT:
                room[STEPS] = steps
                return False
            if steps > room[MOST_STEPS]:
                room[STEPS], room[GAVE_UP] = steps, 1
                return True
            frame -= 8
            one, two, sides = room[frame + ONE], room[frame + TWO], room[frame + SIDES_LEFT]
            balance, tally, item = room[frame + BALANCE], room[frame + SUM], room[frame + TAKEN]
            bit = lowest_bit(one & all_heads)
            item = room[item + NEXT]
        most = total - 1 - (tally >> CARDS_AT & NUMBER_MASK) + balance - jokers
        while item > 0:
            steps += 1
            after = balance + room[item + CHANGE]
            if (
                room[item + BITS] & ~one == 0
                and room[item + SIDES] & ~sides == 0
                and room[item + BOTH] & ~two == 0
                and after + bit_count(sides & ~room[item + SIDES] & swap_sides) >= 0
                and (room[item + TALLY] >> CARDS_AT & NUMBER_MASK) - room[item + CHANGE] <= most
            ):
                break
            item = room[item + NEXT]
        if item == 0:
            one &= ~(np.int64(1) << bit)
            two &= one
            last_bit = np.int64(-1)
            continue
        room[frame + ONE], room[frame + TWO], room[frame + SIDES_LEFT] = one, two, sides
        room[frame + BALANCE], room[frame + SUM], room[frame + TAKEN] = balance, tally, item
        frame += 8
        bits, both = room[item + BITS], room[item + BOTH]
        one &= ~(bits & ~two) & ~both
        two &= ~bits
        sides &= ~room[item + SIDES]
        balance += room[item + CHANGE]
        tally += room[item + TALLY]
        last_bit = bit
        if to_open and tally >> OPEN_AT & POINTS_MASK >= room[NEED]:
            room[STEPS] = steps
            return True


@kernel
def was_better(
    room: np.ndarray, head: int, one: int, two: int, sides: int, balance: int, tally: int, to_open: int
) -> bool:
    """Tell whether the same was left to decide before, with no less laid; if not, remember what is laid now."""
    one &= room[head + REACH]
    two = two & one | balance << RANKS * SUITS
    sides &= room[head + SIDE_REACH] | room[LONE_SIDES] | room[SWAP_SIDES]
    at = place_in_memory(one, two, sides)
    if (
        room[at + SEEN_STAMP] == room[STAMP]
        and room[at + SEEN_ONE] == one
        and room[at + SEEN_TWO] == two
        and room[at + SEEN_SIDES] == sides
    ):
        seen = room[at + SEEN_TALLY]
        cards = seen >> CARDS_AT & NUMBER_MASK
        playable = bit_count(one & NATURALS) + bit_count(two & NATURALS)
        # What left fewer cards must not be short of one to keep (R11).
        if cards == (tally >> CARDS_AT & NUMBER_MASK) or room[TOTAL] - room[ALL_JOKERS] - cards - playable > 0:
            if seen >> OPEN_AT & POINTS_MASK >= tally >> OPEN_AT & POINTS_MASK and (
                to_open
                or (
                    seen & POINTS_MASK >= tally & POINTS_MASK
                    and seen >> COST_AT & POINTS_MASK >= tally >> COST_AT & POINTS_MASK
                    and cards >= tally >> CARDS_AT & NUMBER_MASK
                )
            ):
                return True
    room[at + SEEN_STAMP], room[at + SEEN_TALLY] = room[STAMP], tally
    room[at + SEEN_ONE], room[at + SEEN_TWO], room[at + SEEN_SIDES] = one, two, sides
    return False


@kernel
def place_in_memory(one: int, two: int, sides: int) -> int:
    """Return where a state is remembered: a sum of products that stay below 2**63."""
    low = (1 << 26) - 1
    mixed = (one & low) * 0x5BD1E995 + (one >> 26 & low) * 0x6C8E9CF5 + (one >> 52 & 0xFFF) * 0x4F6CDD1D
    mixed += (two & low) * 0x7FEB352D + (two >> 26 & low) * 0x46A11A97 + (two >> 52 & 0xFFF) * 0x3C6EF372
    mixed += (sides & low) * 0x2545F491 + (sides >> 26 & low) * 0x1B873593 + (sides >> 52 & 0xFFF) * 0x52DCE729
    return MEMORY_AT + ((mixed >> 17 ^ mixed >> 34) & (1 << MEMORY_BITS) - 1) * 8


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
    for used in range(jokers + 1 if gain_points > 0 else 1):
        kept = jokers - used
        left = max(cards - used * gain_cards, 0)
        least = max(cost - used * gain_cost, 0)
        most = points + used * gain_points
        if left + kept == 0:  # one card stays (R11); with jokers, the points may be those of a way that leaves more
            left = 1
            least = max(least, 2)
            most -= 1 if used == 0 else 0
        if not is_dominated(room, plans, most, left + kept, least, kept):
            return False
    return True


@kernel
def is_dominated(room: np.ndarray, plans: np.ndarray, points: int, cards: int, cost: int, kept: int) -> bool:
    """Tell whether an end that is found is as good in all four numbers."""
    for i in range(room[PLAN_COUNT]):
        if (
            plans[i, POINTS] >= points
            and plans[i, CARDS] <= cards
            and plans[i, COST] <= cost
            and plans[i, KEPT] >= kept
        ):
            return True
    return False


@kernel
def add_ends(room: np.ndarray, plans: np.ndarray, frame: int, sides: int, balance: int, tally: int) -> None:
    """Add the ends of a path: the jokers that are left stay in hand, or go one after another where they bring most."""
    laid = frame > FRAMES_AT
    if room[OPENED] == 0:
        if not laid:
            return
        room[FIRST_STEP] = opening_step(room, frame, tally)
        if room[FIRST_STEP] < 0:
            return
    points, cost = tally & POINTS_MASK, room[ALL_COST] - (tally >> COST_AT & POINTS_MASK)
    naturals = room[TOTAL] - room[ALL_JOKERS] - (tally >> CARDS_AT & NUMBER_MASK)
    lone, lone_action = LONES_AT, np.int64(-1)
    while True:
        if naturals + balance >= 1 and (laid or lone_action >= 0):
            if not is_dominated(room, plans, points, naturals + balance, cost, balance):
                add_end(room, plans, frame, points, naturals + balance, cost, balance, lone_action)
        while lone < room[LONE_END] and room[lone + LONE_SIDE] & ~sides:
            lone += 8
        if lone >= room[LONE_END] or balance == 0:
            return
        if lone_action < 0:
            lone_action = room[lone + LONE_ACTION]
        points += room[lone + LONE_VALUE]
        balance -= 1
        lone += 8


@kernel
def add_end(
    room: np.ndarray, plans: np.ndarray, frame: int, points: int, cards: int, cost: int, kept: int, lone_action: int
) -> None:
    """Add an end, and take out those that it dominates; an end of laying nothing stays."""
    count = 0
    for i in range(room[PLAN_COUNT]):
        worse = points >= plans[i, POINTS] and cards <= plans[i, CARDS] and cost <= plans[i, COST]
        if worse and kept >= plans[i, KEPT] and plans[i, FIRST] >= 0:
            continue
        if count < i:
            for column in range(PLAN_WORDS):
                plans[count, column] = plans[i, column]
        count += 1
    if count == PLANS:
        room[GAVE_UP] = 1
        room[PLAN_COUNT] = count
        return
    plans[count, POINTS], plans[count, CARDS], plans[count, COST], plans[count, KEPT] = points, cards, cost, kept
    plans[count, FIRST] = room[FIRST_STEP] if room[OPENED] == 0 else first_step(room, frame, lone_action)
    write_left(room, frame, kept, cards, plans[count, LEFT:])
    room[PLAN_COUNT] = count + 1


@kernel
def first_step(room: np.ndarray, frame: int, lone_action: int) -> int:
    """Return an action of a path that can be played first once opened: a swap if there is one, as jokers may be short."""
    action = lone_action
    for at in range(FRAMES_AT, frame, 8):
        item = room[at + TAKEN]
        if room[item + SHAPE] >> GAINS_AT & 3:
            return room[item + ACTION]
        if action == lone_action:
            action = room[item + ACTION]
    return action


@kernel
def write_left(room: np.ndarray, frame: int, kept: int, cards: int, left: np.ndarray) -> None:
    """Write the hand that a path leaves, in the layout of :mod:`agents.hand`."""
    one, two = room[HELD] & NATURALS, room[HELD_TWICE]
    for at in range(FRAMES_AT, frame, 8):
        bits, both = room[room[at + TAKEN] + BITS], room[room[at + TAKEN] + BOTH]
        one &= ~(bits & ~two) & ~both
        two &= ~bits
    for suit in range(SUITS):
        ones, twos = one >> RANKS * suit & LOWEST_CARDS, two >> RANKS * suit & LOWEST_CARDS
        left[ONES + suit] = (ones << 1 | ones >> RANKS - 1) & LOWEST_CARDS
        left[TWOS + suit] = (twos << 1 | twos >> RANKS - 1) & LOWEST_CARDS
    left[JOKERS], left[COUNT] = kept, cards
