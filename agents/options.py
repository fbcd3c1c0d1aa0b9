"""The options of a decision, for networks: its legal actions, what each touches, and what the planner reckons of it.

A *view* is float32[VIEW]: the features, some numbers of the best ends of the turn, then for up to ``OPTIONS`` legal
actions their numbers, and a row of ``OPTION`` numbers for each. It says nothing that the observation does not say.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.covers import DistanceRoom, new_distance_room
from agents.distance import FAR, count_outs, distance_of
from agents.planner import (
    DRAWN,
    HAND,
    LOWEST,
    THROWN,
    Room,
    choose_draw,
    end_value,
    new_room,
    planner_weights,
    prepare,
    weights_for,
)
from agents.solver import solve
from agents.solver_ends import CARDS, COST, FIRST, KEPT, POINTS
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.cards import CARD_KINDS
from jolly_env.features import ACTION_FEATURES, FEATURES, describe_action, new_hands, write_features
from jolly_env.hand import COUNT, read_hand
from jolly_env.observation import OBSERVATION
from jolly_env.state import DRAW

OPTIONS: Final = 32
"""Legal actions that are listed: the planner's first steps, then discards and draws, then others."""
ADVICE: Final = 10
"""Numbers of what is reckoned: two of the planner's worth, five of :func:`note_plan`, three of :func:`note_outs`."""
OPTION: Final = ACTION_FEATURES + ADVICE
"""Numbers of an option: the description of the action, then the advice."""
ENDS: Final = 8 + FAR + 3
"""Numbers of the best ends of the turn, and of the distance from closing: see :func:`write_ends`."""
NUMBERS_AT: Final = FEATURES + ENDS
ROWS_AT: Final = NUMBERS_AT + OPTIONS
VIEW: Final = ROWS_AT + OPTIONS * OPTION
"""Length of a view."""
WORTH, RECKONED, FROM_PLAN, NEARER = ACTION_FEATURES, ACTION_FEATURES + 1, ACTION_FEATURES + 2, ACTION_FEATURES + 7
"""Where the worth of an option stands, in tens of points below the best; whether it is known; what a plan is; outs."""
DISTANCE_AT: Final = FEATURES + 8
NONE: Final = -1.0
"""In place of a number where there is no further option."""


class Views:
    """Room to write views, and the planner's weights."""

    def __init__(self) -> None:
        """Make it."""
        _warm_up()
        self._parts = _room()

    def write(self, records: np.ndarray, masks: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Fill and return float32[B, VIEW] from OBSERVATION[B] and int8[B, 839]."""
        write_views(records, masks, out, *self._parts)
        return out


def _room() -> tuple[np.ndarray, np.ndarray, np.ndarray, Room, DistanceRoom]:
    """Return the planner's weights and room for the kernel."""
    return planner_weights({}), new_hands(), np.zeros(act.ACTIONS), new_room(), new_distance_room()


@functools.cache
def _warm_up() -> None:
    """Compile the kernels, unless the cache on disk has them."""
    warm_up("agents.options", Path(__file__).parent, _compile)


def _compile() -> None:
    """Write a first view."""
    masks = np.zeros((1, act.ACTIONS), dtype=np.int8)
    write_views(np.zeros(0, dtype=OBSERVATION), masks, np.zeros((0, VIEW), dtype=np.float32), *_room())


@entry
def write_views(
    observations: np.ndarray,
    masks: np.ndarray,
    out: np.ndarray,
    weights: np.ndarray,
    words: np.ndarray,
    worths: np.ndarray,
    room: Room,
    far: DistanceRoom,
) -> None:
    """Write the views of ``B`` decisions: OBSERVATION[B], int8[B, 839] -> float32[B, VIEW]."""
    for i in range(observations.shape[0]):
        w = weights_for(observations[i], weights)
        write_view(observations[i], masks[i], out[i], w, words, worths, room)
        if observations[i]["phase"] != DRAW:
            distance = distance_of(observations[i], observations[i]["hand"], far, far.outs)
            note_outs(observations[i], distance, far.outs, out[i])


@kernel
def write_view(
    obs: Any,
    mask: np.ndarray,
    out: np.ndarray,
    w: np.ndarray,
    words: np.ndarray,
    worths: np.ndarray,
    room: Room,
) -> None:
    """Write one view; ``worths`` float64[839] is room, as is the rest."""
    write_features(obs, out[:FEATURES], words)
    out[FEATURES:] = 0
    for i in range(OPTIONS):
        out[NUMBERS_AT + i] = NONE
    read_hand(obs, room.hands[HAND])
    prepare(obs, w, room.values)
    worths[:] = LOWEST
    count = 0
    if obs["phase"] == DRAW and not mask[act.TAKE + 1]:
        worths[act.DRAW_STOCK] = 0  # there is nothing to choose
    elif obs["phase"] == DRAW:
        choose_draw(obs, mask, w, room)
        for draw in range(act.MAX_TAKE + 1):
            worths[draw] = room.values[DRAWN][draw]
    else:
        count = reckon(obs, w, worths, room)
        write_ends(room.plans, count, out)
    listed = list_options(mask, worths, out)
    best = LOWEST
    for i in range(listed):
        best = max(best, worths[np.int64(out[NUMBERS_AT + i])])
    for i in range(listed):
        action: Any = np.int64(out[NUMBERS_AT + i])
        row = out[ROWS_AT + OPTION * i : ROWS_AT + OPTION * (i + 1)]
        describe_action(obs, action, row[:ACTION_FEATURES])
        if worths[action] > LOWEST:
            row[WORTH] = max(np.float32(0.1) * np.float32(worths[action] - best), np.float32(-5))
            row[RECKONED] = 1
        else:
            row[WORTH] = -5
        for j in range(count):
            if room.plans[j, FIRST] == action:
                note_plan(room.plans, j, row)


@kernel
def reckon(
    obs: Any,
    w: np.ndarray,
    worths: np.ndarray,
    room: Room,
) -> int:
    """Write what each first step of an end and each discard is worth to the planner; return the number of ends."""
    hand, thrown, plans = room.hands[HAND], room.values[THROWN], room.plans
    count = solve(obs, hand, plans, room.solver)
    most, fewest = 0, hand[COUNT]
    for i in range(count):
        most = max(most, plans[i, POINTS])
        fewest = min(fewest, plans[i, CARDS])
    for i in range(count):
        value = end_value(obs, plans[i], most, fewest, w, room.values)
        action = plans[i, FIRST]
        if action >= 0:
            worths[action] = max(worths[action], value)
        elif plans[i, CARDS] <= 1:
            for card in range(CARD_KINDS):
                if obs["hand"][card] > 0:
                    worths[act.DISCARD + card] = value
        else:
            top = thrown.max()
            for card in range(CARD_KINDS):
                if thrown[card] > LOWEST:
                    worths[act.DISCARD + card] = value - top + thrown[card]
    return count


@kernel
def write_ends(plans: np.ndarray, count: int, out: np.ndarray) -> None:
    """Write what the ends come to: most points, fewest cards, whether it closes, least cost, jokers, how many."""
    most, fewest, cost, kept = np.int64(0), np.int64(20), np.int64(200), np.int64(0)
    for i in range(count):
        most = max(most, plans[i, POINTS])
        fewest = min(fewest, plans[i, CARDS])
        cost = min(cost, plans[i, COST])
        kept = max(kept, plans[i, KEPT])
    out[FEATURES] = np.float32(0.02) * most
    out[FEATURES + 1] = np.float32(0.1) * fewest
    out[FEATURES + 2] = 1 if fewest <= 1 else 0
    out[FEATURES + 3] = np.float32(0.02) * cost
    out[FEATURES + 4] = np.float32(0.5) * kept
    out[FEATURES + 5] = np.float32(0.1) * min(count, 20)
    out[FEATURES + 6] = 1 if fewest <= 2 else 0
    out[FEATURES + 7] = 1 if fewest <= 3 else 0


@kernel
def list_options(mask: np.ndarray, worths: np.ndarray, out: np.ndarray) -> int:
    """List the legal actions: those that are reckoned, then all others, while there is room; return how many."""
    listed = 0
    for known in (True, False):
        for action in range(act.ACTIONS):
            if mask[action] and (worths[action] > LOWEST) == known and listed < OPTIONS:
                out[NUMBERS_AT + listed] = action
                listed += 1
    return listed


@kernel
def note_plan(plans: np.ndarray, end: int, row: np.ndarray) -> None:
    """Note an end behind its first step: that there is one, fewest cards left, most points and jokers kept, closing."""
    cards, points = np.float32(0.1) * plans[end, CARDS], np.float32(0.02) * plans[end, POINTS]
    if row[FROM_PLAN] == 0 or cards < row[FROM_PLAN + 1]:
        row[FROM_PLAN + 1] = cards
    row[FROM_PLAN + 2] = max(row[FROM_PLAN + 2], points)
    row[FROM_PLAN + 3] = max(row[FROM_PLAN + 3], np.float32(0.5) * plans[end, KEPT])
    row[FROM_PLAN] = 1
    row[FROM_PLAN + 4] = 1 if row[FROM_PLAN + 1] <= np.float32(0.1) else 0


@kernel
def note_outs(obs: Any, distance: int, outs: np.ndarray, out: np.ndarray) -> None:
    """Note the distance from closing, the most outs that a discard leaves, and for each discard what it leaves.

    A discard's numbers: whether it keeps the distance, its outs, and how many fewer than the best they are.
    """
    out[DISTANCE_AT + distance] = 1
    most = np.int64(0)
    for kind in range(CARD_KINDS):
        outs[kind] = count_outs(obs, outs[kind])
        most = max(most, outs[kind])
    out[DISTANCE_AT + FAR + 2] = np.float32(0.04) * most
    if most == 0:
        return
    for i in range(OPTIONS):
        card: Any = np.int64(out[NUMBERS_AT + i]) - act.DISCARD
        if card < 0:
            continue
        row = out[ROWS_AT + OPTION * i : ROWS_AT + OPTION * (i + 1)]
        row[NEARER] = 1 if outs[card] > 0 else 0
        row[NEARER + 1] = np.float32(0.05) * outs[card]
        row[NEARER + 2] = np.float32(0.1) * (outs[card] - most)
