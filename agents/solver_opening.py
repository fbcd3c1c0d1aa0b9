"""Whether what the lay-down solver lays opens (R8): with which jokers, and by which first step."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.solver_items import (
    ACTION,
    ALL_JOKERS,
    BELOW,
    BITS,
    CHOICES,
    FORM_AT,
    FRAMES_AT,
    KIND_AT,
    LOW_AT,
    NEED,
    NEW_RUN,
    NEW_SET,
    NUMBER_MASK,
    OPEN_AT,
    OPEN_JOKERS_AT,
    POINTS_MASK,
    SHAPE,
    SIZE_AT,
    TAKEN,
    TALLY,
    run_action,
)
from jolly_env import actions as act
from jolly_env._jit import kernel
from jolly_env.bits import bit_count
from jolly_env.cards import PLACE_VALUE, RANKS, SET_VALUE, SUITS
from jolly_env.hand import COUNT, JOKERS, ONES, TWOS, places_held
from jolly_env.opening import RUN_GAIN
from jolly_env.packing import POINTS
from jolly_env.rules import OPENING_POINTS


@kernel
def opening_need(obs: Any) -> int:
    """Return the points that the observer still needs to open, at least 1; 0 or less if it has opened (R8)."""
    if obs["opened"][0] == 1:
        return np.int64(0)
    laid: Any = np.int64(obs["opening_laid"])
    points = np.int64(obs["rules"][OPENING_POINTS]) + np.int64(32768) * np.int64(obs["rules_high"][OPENING_POINTS])
    return max(points - laid, 1)


@kernel
def may_open(obs: Any, hand: np.ndarray) -> bool:
    """Tell whether a hand may lay something: always once something is laid in this turn; else by a quick bound.

    False is certain. The bound is the points of the cards that lie in a natural set or run, and for each joker the most
    that the other cards give it something to do with.
    """
    need = opening_need(obs)
    if need <= 0 or obs["opening_laid"] > 0:
        return True
    if hand[COUNT] < 4:
        return False
    c, d, h, s = hand[ONES], hand[ONES + 1], hand[ONES + 2], hand[ONES + 3]
    triples, jokers = (c & d & (h | s)) | (h & s & (c | d)), hand[JOKERS]
    total, gain = 0, 0
    for suit in range(SUITS):
        held, places = hand[ONES + suit], places_held(hand, suit)
        middle = places & places >> 1 & places >> 2
        rows = middle | middle << 1 | middle << 2
        in_rows = (rows | rows >> RANKS) & held
        free = in_rows | triples & held
        twice = free & hand[TWOS + suit]
        total += POINTS[free] + POINTS[twice]
        if triples & 1:
            total += 15 * ((free & 1) + (twice & 1))
        if jokers > 0:
            # Not without the cards that only a set makes free: others that lie behind them are reached over them.
            gain = max(gain, RUN_GAIN[held & ~in_rows])
    if jokers > 0:
        pairs = (c & d) | (h & s) | ((c | d) & (h | s))
        if pairs & 1:
            gain = max(gain, 75)
            if triples & 1 == 0:
                total += 60  # a free ace of a run may lie in a set with a joker instead
        rank = RANKS - 1
        while rank > 0 and pairs >> rank & 1 == 0:
            rank -= 1
        if rank > 0:
            gain = max(gain, 3 * SET_VALUE[rank])
    return total + jokers * gain >= need


@kernel
def opening_step(room: np.ndarray, frame: int, tally: int) -> int:
    """Return a first action of a path that opens, of which the whole path can follow; -1 if it can't open.

    Before the opening no joker is swapped out, so what opens is a portion that takes jokers of the hand only.
    """
    if tally >> OPEN_AT & POINTS_MASK < room[NEED]:
        return np.int64(-1)
    own = room[ALL_JOKERS]
    if tally >> OPEN_JOKERS_AT & NUMBER_MASK <= own:
        for at in range(FRAMES_AT, frame, 8):
            item = room[at + TAKEN]
            if room[item + TALLY] >> OPEN_AT & POINTS_MASK:
                return room[item + ACTION]
    # The most points by the number of jokers stand in the frame that is not in use; choices in those of the path.
    for jokers in range(own + 1):
        room[frame + jokers] = 0
    for at in range(FRAMES_AT, frame, 8):
        choices = np.int64(0)
        for jokers in range(own, -1, -1):
            best, choice = np.int64(-1), np.int64(0)
            for some in range(jokers + 1):
                points = portion(room, room[at + TAKEN], some)[0] + room[frame + jokers - some]
                if points > best:
                    best, choice = points, some
            room[frame + jokers] = best
            choices |= choice << 4 * jokers
        room[at + CHOICES] = choices
    if room[frame + own] < room[NEED]:
        return np.int64(-1)
    action, at = np.int64(-1), frame
    while at > FRAMES_AT:
        at -= 8
        some = room[at + CHOICES] >> 4 * own & 15
        points, first = portion(room, room[at + TAKEN], some)
        if points > 0:
            action = first
        own -= some
    return action


@kernel
def portion(room: np.ndarray, item: int, jokers: int) -> tuple[int, int]:
    """Return the points of the dearest part of an item that takes no more than some jokers, and its first action."""
    shape, points, action = room[item + SHAPE], room[item + TALLY] >> OPEN_AT & POINTS_MASK, room[item + ACTION]
    kind = shape >> KIND_AT & 7
    if points == 0 or shape & 15 <= jokers:
        return points, action
    if kind == NEW_SET:
        return (points * 3 // 4 if bit_count(room[item + BITS]) == 3 else 0), action
    low, size, form = shape >> LOW_AT & 15, shape >> SIZE_AT & 15, shape >> FORM_AT
    if kind != NEW_RUN:
        return end_portion(low, size, form, kind == BELOW, jokers), action
    suit = (action - act.LAY_RUN) // act.RUN_FORMS // act.RUN_STARTS
    best, best_low = 0, low
    for start in range(low, low + size - 2):
        points, used = 0, 0
        for place in range(start, low + size):
            points += PLACE_VALUE[place]
            used += form >> place & 1
            if used > jokers:
                break
            if place >= start + 2 and points > best:
                best, best_low = points, start
    return best, run_action(suit, best_low, form)


@kernel
def end_portion(low: int, size: int, form: int, below: bool, jokers: int) -> int:
    """Return the points of the longest part of an extension that begins at the run and takes some jokers at most."""
    points, used = 0, 0
    for i in range(size):
        place = low + size - 1 - i if below else low + i
        used += form >> place & 1
        if used > jokers:
            break
        points += PLACE_VALUE[place]
    return points
