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
    FIRST_STEP,
    FRAMES_AT,
    FREE,
    GAIN_CARDS,
    GAIN_COST,
    GAIN_OPEN,
    GAIN_POINTS,
    GAINS_AT,
    GAVE_UP,
    HEADS,
    HEADS_AT,
    HELD,
    HELD_TWICE,
    LIST,
    LONE_ACTION,
    LONE_END,
    LONE_SIDE,
    LONE_VALUE,
    LONES_AT,
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
    SHAPE,
    SIDES,
    SIDES_LEFT,
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

LOWEST_CARDS = (np.int64(1) << RANKS) - 1


@kernel
def close_heads(room: np.ndarray) -> None:
    """Work out for each head what it and the later ones reach, and what a joker gains there."""
    heads, before = room[HEADS], 0
    while heads:
        head = HEADS_AT + 8 * lowest_bit(heads)
        heads &= heads - 1
        room[head + BEFORE] = before
        before = head
    reach, points, cards, cost, opening = np.int64(0), room[BEST_LONE], np.int64(0), np.int64(0), np.int64(0)
    free, usable = room[FREE], room[USABLE]
    head = before
    while head > 0:
        reach |= room[head + REACH]
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
        room[head + REACH] = reach
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
    while True:
        heads = one & all_heads
        if heads == 0:
            if balance >= 0 and to_open == 0:
                add_ends(room, plans, frame, sides, balance, tally)
            bit = np.int64(-1)
        else:
            bit = lowest_bit(heads)
            steps += 1
            head = HEADS_AT + 8 * bit
            if room[OPENED] == 0 and not may_still_open(room, head, one & room[head + REACH], two, tally):
                bit = np.int64(-1)
            elif to_open == 0 and hopeless(room, plans, head, one, two, sides, balance, tally):
                bit = np.int64(-1)
        if bit >= 0:
            # The second copy goes no earlier in the list than the first: other orders say nothing new.
            if bit != last_bit:
                item = room[HEADS_AT + 8 * bit + LIST]
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
