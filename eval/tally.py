"""What is counted while rounds are played: one tally a game, filled before each action, read at a round's end."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from eval.luck import draw_luck
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.cards import CARD_KINDS, HAND_VALUE, SUITS
from jolly_env.engine import hand_points
from jolly_env.moves import State
from jolly_env.rules import MAX_PLAYERS, PLAYERS

TALLY = np.dtype(
    [
        ("round", "<i4"),  # number of the round in its game
        ("turns", "<i4"),  # turns of all seats
        ("laid", "<i4", (MAX_PLAYERS,)),  # points on the table (R14)
        ("hand", "<i4", (MAX_PLAYERS,)),  # points in hand (R15)
        ("opened", "<i4", (MAX_PLAYERS,)),  # own turn in which it opened, from 1; 0: not yet
        ("takes", "<i4", (MAX_PLAYERS,)),  # takes from the row
        ("taken", "<i4", (MAX_PLAYERS,)),  # cards so taken
        ("swaps", "<i4", (MAX_PLAYERS,)),  # jokers swapped out
        ("draws", "<i4", (MAX_PLAYERS,)),  # draws from the stock
        ("decisions", "<i4", (MAX_PLAYERS,)),
        ("fault", "<i4", (MAX_PLAYERS,)),  # 1: the seat has lost its say in this round
        ("luck", "<f8", (MAX_PLAYERS,)),  # of its draws, in points
        ("seconds", "<f8", (MAX_PLAYERS,)),  # time that its agent took
    ],
    align=True,
)
"""Counts of one round so far, by seat."""


@functools.cache
def warm_up_tally() -> None:
    """Compile the kernels of this folder, unless the cache on disk has them."""
    warm_up("eval", Path(__file__).parent, _compile)


def _compile() -> None:
    """Count a first action."""
    from jolly_env.batch import Batch

    batch = Batch(1, seed=0, view="none")
    count_actions(batch.states, np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, TALLY), *new_room())


def new_room() -> tuple[np.ndarray, np.ndarray]:
    """Return room for the luck of one draw at a time: int64[4], float64[53]."""
    return np.zeros(SUITS, dtype=np.int64), np.zeros(CARD_KINDS, dtype=np.float64)


@entry
def count_actions(
    states: np.ndarray,
    rows: np.ndarray,
    actions: np.ndarray,
    tallies: np.ndarray,
    fits: np.ndarray,
    worths: np.ndarray,
) -> None:
    """Count the actions that are about to be played in ``rows``: STATE[N], int64[B], int64[B] into TALLY[N]."""
    for i in range(rows.shape[0]):
        count_action(states[rows[i]], actions[i], tallies[rows[i]], fits, worths)


@kernel
def count_action(state: State, action: int, tally: Any, fits: np.ndarray, worths: np.ndarray) -> None:
    """Count one action; before a discard, which may end the round, also what lies on the table and in the hands."""
    seat = np.int64(state["seat"])
    tally["decisions"][seat] += 1
    if action == act.DRAW_STOCK:
        tally["draws"][seat] += 1
        tally["luck"][seat] += draw_luck(state, seat, fits, worths)
    elif action < act.LAY_SET:
        tally["takes"][seat] += 1
        tally["taken"][seat] += action - act.TAKE
    elif action >= act.DISCARD:
        count_turn(state, action - act.DISCARD, tally)
    elif action >= act.MELD and (action - act.MELD) % act.MELD_FORMS >= act.SWAP_RUN:
        tally["swaps"][seat] += 1  # a set's only swap has the number of a run's first


@kernel
def count_turn(state: State, card: int, tally: Any) -> None:
    """Count a turn that ends with the discard of ``card``."""
    players = np.int64(state["rules"][PLAYERS])
    tally["round"] = state["round"]
    tally["turns"] = state["turn"] + 1
    for seat in range(players):
        tally["laid"][seat] = state["laid"][seat]
        tally["hand"][seat] = hand_points(state, seat)
        opened = np.int64(state["opened_turn"][seat])
        tally["opened"][seat] = opened // players + 1 if opened >= 0 else 0
    tally["hand"][state["seat"]] -= HAND_VALUE[card]
