"""Covers: how the cards of a suit lie in runs, with which blanks, and what is left of them.

A *cover* puts cards of a suit into runs; *blanks* are their places that no natural of the hand fills. Letters: ``b``
blanks. The search of :mod:`agents.distance` puts sets and the covers of four suits together.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from jolly_env._jit import entry, kernel, warm_up
from jolly_env.actions import RUN_STARTS
from jolly_env.bits import lowest_bit
from jolly_env.cards import CARD_KINDS, PLACES, RANKS, SUITS

BLANKS: Final = 8
"""Most blanks that are looked at."""
WIDEST: Final = 7
"""Places of the longest run that is looked at for outs."""
SUITS_ROW, TWICE_ROW, RANKS_ROW, PICKED_ROW, USED_ROW, GAPS_ROW, SEEN_ROW = range(7)
MOST_ROW: Final = 7
"""Rows from here on: the most cards of each suit in runs, by blanks."""
PAIR_ROW: Final = MOST_ROW + SUITS
"""The same for two suits together: 0 1, 0 2, 0 3, 1 2, 1 3, 2 3."""
LACKED_ROW: Final = PAIR_ROW + 6
"""The ranks that best covers of a suit lack, by blanks; -1: not known."""
PATH_ROW: Final = LACKED_ROW + SUITS
PATHS: Final = 7
COVER_ROW: Final = PATH_ROW + PATHS
"""Covers: the ranks that they leave, and those that they lack."""
COVERS: Final = 64
MOST_RUNS: Final = 4096
"""Runs after which a listing of covers is cut off."""
ROOM_ROWS: Final = COVER_ROW + COVERS
ROOM_WIDTH: Final = 16
REMEMBERED: Final = 6
"""Covers of a suit without second copies are remembered for fewer blanks than this."""
ALL: Final = RANKS
"""Column of what all covers lack, behind the columns of the ranks."""
MAY_LEAVE: Final = 1 << RANKS
"""Bit of a rank that some cover leaves; the bits below tell what such covers lack."""
UNKNOWN: Final = -1


class DistanceRoom(NamedTuple):
    """Room to reckon distances; kernels allocate nothing."""

    table: np.ndarray
    """The most cards in runs: see :func:`run_table`."""
    memory: np.ndarray
    """What the best covers of a suit leave and lack, once worked out: int16[2**13, b, 14]."""
    rows: np.ndarray
    """Scratch, by the rows above."""
    fits: np.ndarray
    """What each card is worth on the table: float64[53]."""
    outs: np.ndarray
    """Room for the outs of a hand: int64[53]."""


def new_distance_room() -> DistanceRoom:
    """Return room to reckon distances."""
    return DistanceRoom(
        run_table(),
        np.full((1 << RANKS, REMEMBERED, RANKS + 1), UNKNOWN, dtype=np.int16),
        np.zeros((ROOM_ROWS, ROOM_WIDTH), dtype=np.int64),
        np.zeros(CARD_KINDS),
        np.zeros(CARD_KINDS, dtype=np.int64),
    )


@functools.cache
def run_table() -> np.ndarray:
    """Return the most cards of a suit that lie in runs, by the places held (bits) and the blanks: int8[2**14, 9]."""
    warm_up("agents.covers", Path(__file__).parent, _compile)
    table = np.zeros((1 << PLACES, BLANKS + 1), dtype=np.int8)
    fill_run_table(table)
    table.flags.writeable = False
    return table


def _compile() -> None:
    """Compile the kernel."""
    fill_run_table(np.zeros((0, BLANKS + 1), dtype=np.int8))


@entry
def fill_run_table(table: np.ndarray) -> None:
    """Fill the table of :func:`run_table`, fewer places first: the lowest place is left, or lies in a run."""
    for held in range(1, table.shape[0]):
        low = lowest_bit(held)
        for b in range(BLANKS + 1):
            table[held, b] = table[held & (held - 1), b]
        for start in range(max(0, low - 2), low + 1):
            used, blanks, rest = 0, 0, held
            for place in range(start, PLACES):
                if held >> place & 1:
                    used += 1
                    rest &= ~(1 << place)
                else:
                    blanks += 1
                if place - start < 2 or used < 2:
                    continue
                for b in range(blanks, BLANKS + 1):
                    table[held, b] = max(table[held, b], used + table[rest, b - blanks])


@kernel
def most_in_runs(held: int, twice: int, table: np.ndarray, most: np.ndarray) -> None:
    """Write how many cards of a suit lie in runs at most, by blanks.

    Of cards that are there twice, one copy may lie in a first run of up to five places.
    """
    most[: BLANKS + 1] = 0
    if held & (held - 1) == 0:
        return
    raise_most(held, twice, table, most, 0, 0)
    if twice & ~1 == 0:
        return
    for start in range(RUN_STARTS):
        used, blanks, left, copies, doubled = 0, 0, held, twice, False
        for place in range(start, min(start + 5, PLACES)):
            bit = 1 << place % RANKS
            if not left & bit:
                blanks += 1
            elif copies & bit:
                used += 1
                copies &= ~bit
                doubled = True
            else:
                used += 1
                left &= ~bit
            if blanks > 2:
                break
            if place - start >= 2 and used >= 2 and doubled:
                raise_most(left, copies, table, most, used, blanks)


@kernel
def raise_most(held: int, twice: int, table: np.ndarray, most: np.ndarray, used: int, blanks: int) -> None:
    """Raise what lies in runs at most to what the table knows of a suit, with an ace at either end."""
    low = held
    high = held
    if held & 1:
        high |= 1 << RANKS
        if twice & 1:
            low = high
        else:
            high &= ~1
    for b in range(blanks, BLANKS + 1):
        most[b] = max(most[b], used + max(table[low, b - blanks], table[high, b - blanks]))


@kernel
def list_covers(suit: int, blanks: int, least: int, room: DistanceRoom) -> int:
    """List the covers of a suit that use ``least`` cards or more with at most so many blanks; return how many."""
    covers, path = room.rows[COVER_ROW:], room.rows[PATH_ROW:COVER_ROW]
    count, depth, tried = 0, 0, 0
    # A path: cards left, their second copies, cards used, blanks, ranks lacked, the next run's first and last place.
    path[0, 0], path[0, 1] = room.rows[SUITS_ROW, suit], room.rows[TWICE_ROW, suit]
    path[0, 2], path[0, 3], path[0, 4], path[0, 5], path[0, 6] = 0, 0, 0, 0, 2
    fresh = True
    while depth >= 0 and tried < MOST_RUNS:
        here = path[depth]
        if fresh and here[2] >= least and count < COVERS:
            covers[count, 0], covers[count, 1] = here[0], here[4]
            count += 1
        fresh = False
        start, end = here[5], here[6]
        if start >= RUN_STARTS or depth == PATHS - 1:
            depth -= 1
            continue
        if end >= min(start + WIDEST, PLACES):
            here[5], here[6] = start + 1, start + 3
            continue
        here[6] = end + 1
        tried += 1
        left, copies, used, lack, lacking = here[0], here[1], 0, here[4], here[3]
        for place in range(start, end + 1):
            bit = 1 << place % RANKS
            if not left & bit:
                lacking += 1
                lack |= bit
            elif copies & bit:
                used += 1
                copies &= ~bit
            else:
                used += 1
                left &= ~bit
        if lacking > blanks:
            here[5], here[6] = start + 1, start + 3
        elif used >= 2:
            depth += 1
            path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3] = left, copies, here[2] + used, lacking
            path[depth, 4], path[depth, 5], path[depth, 6] = lack, start, start + 2
            fresh = True
    return count


@kernel
def remember(held: int, suit: int, blanks: int, least: int, room: DistanceRoom) -> np.ndarray:
    """Return what is lacked by the best covers of a suit that leave each rank, and by all; worked out but once."""
    known, covers = room.memory[held, blanks], room.rows[COVER_ROW:]
    if known[ALL] != UNKNOWN:
        return known
    known[:] = 0
    for i in range(list_covers(suit, blanks, least, room)):
        left = covers[i, 0]
        known[ALL] |= covers[i, 1]
        while left:
            known[lowest_bit(left)] |= covers[i, 1] | MAY_LEAVE
            left &= left - 1
    return known
