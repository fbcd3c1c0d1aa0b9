"""The ends that the lay-down solver has found: rows of numbers, none of which another beats in all of them."""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.solver_items import (
    ACTION,
    ALL_COST,
    ALL_JOKERS,
    BITS,
    BOTH,
    CARDS_AT,
    COST_AT,
    FIRST_STEP,
    FRAMES_AT,
    GAINS_AT,
    GAVE_UP,
    HELD,
    HELD_TWICE,
    LONE_ACTION,
    LONE_END,
    LONE_SIDE,
    LONE_VALUE,
    LONES_AT,
    NATURALS,
    NUMBER_MASK,
    OPENED,
    PLAN_COUNT,
    POINTS_MASK,
    SHAPE,
    TAKEN,
    TOTAL,
)
from agents.solver_opening import opening_step
from jolly_env._jit import kernel
from jolly_env.cards import RANKS, SUITS
from jolly_env.hand import COUNT, HAND_WORDS, JOKERS, ONES, TWOS

PLANS: Final = 64
"""Room for ends."""
POINTS, CARDS, COST, KEPT, FIRST, LEFT = range(6)
"""Columns of an end: points laid, cards left, cost of the naturals left, jokers left, a first action, the hand left."""
PLAN_WORDS: Final = LEFT + HAND_WORDS
LOWEST_CARDS = (np.int64(1) << RANKS) - 1


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
        cards = naturals + balance
        legal = cards >= 1 and (laid or lone_action >= 0)
        if legal and not is_dominated(room, plans, points, cards, cost, balance):
            add_end(room, plans, frame, points, cards, cost, balance, lone_action)
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
    """Return an action that can be played first once opened: a swap if there is one, as jokers may be short."""
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
    """Write the hand that a path leaves, in the layout of :mod:`jolly_env.hand`."""
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
