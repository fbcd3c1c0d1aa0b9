"""What a critic may see while training and no player ever: the other hands, what they could lay, the next cards.

Letters: ``B`` games, ``H`` = 257 numbers.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.covers import DistanceRoom, new_distance_room
from agents.distance import distance_of
from agents.options import DISTANCE_AT, ENDS, write_ends
from agents.planner import HAND, Room, new_room
from agents.solver import solve
from jolly_env._jit import entry, warm_up
from jolly_env.cards import CARD_KINDS
from jolly_env.features import FEATURES
from jolly_env.hand import read_hand
from jolly_env.observation import OBSERVATION, observe
from jolly_env.rules import MAX_PLAYERS, PLAYERS
from jolly_env.state import STATE

NEXT: Final = 12
"""Cards of the stock that are shown, the next ones more strongly."""
OTHER: Final = CARD_KINDS + ENDS
HIDDEN: Final = (MAX_PLAYERS - 1) * OTHER + CARD_KINDS
"""Length of a privileged view."""


class Privileged:
    """Room to write privileged views."""

    def __init__(self) -> None:
        """Make it."""
        _warm_up()
        self._parts = _room()

    def write(self, states: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Fill and return float32[B, H] from STATE[B], each as the seat to move would see it."""
        write_hidden(states, out, *self._parts)
        return out


def _room() -> tuple[np.ndarray, np.ndarray, Room, DistanceRoom]:
    """Return room for the kernel."""
    seen, ends = np.zeros(1, dtype=OBSERVATION), np.zeros(FEATURES + ENDS, dtype=np.float32)
    return seen, ends, new_room(), new_distance_room()


@functools.cache
def _warm_up() -> None:
    """Compile the kernel, unless the cache on disk has it."""
    warm_up("train.privileged", Path(__file__).parent, _compile)


def _compile() -> None:
    """Write no view at all."""
    write_hidden(np.zeros(0, dtype=STATE), np.zeros((0, HIDDEN), dtype=np.float32), *_room())


@entry
def write_hidden(
    states: np.ndarray,
    out: np.ndarray,
    seen: np.ndarray,
    ends: np.ndarray,
    room: Room,
    far: DistanceRoom,
) -> None:
    """Write the privileged views of ``B`` states: STATE[B] -> float32[B, H]."""
    for b in range(states.shape[0]):
        state: Any = states[b]
        out[b, :] = 0
        players = np.int64(state["rules"][PLAYERS])
        for i in range(1, players):
            seat, at = (state["seat"] + i) % players, (i - 1) * OTHER
            for card in range(CARD_KINDS):
                out[b, at + card] = np.float32(0.5) * state["hands"][seat, card]
            observe(state, seat, seen[0])
            read_hand(seen[0], room.hands[HAND])
            ends[FEATURES:] = 0
            write_ends(room.plans, solve(seen[0], room.hands[HAND], room.plans, room.solver), ends)
            ends[DISTANCE_AT + distance_of(seen[0], seen[0]["hand"], far, far.outs[:0])] = 1
            for j in range(ENDS):
                out[b, at + CARD_KINDS + j] = ends[FEATURES + j]
        size: Any = state["stock_size"]
        for i in range(min(NEXT, size)):
            card = state["stock"][state["stock_top"] + i]
            out[b, (MAX_PLAYERS - 1) * OTHER + card] += np.float32(1) / np.float32(1 + i)
