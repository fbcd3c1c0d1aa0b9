"""The racer: the planner, which throws what keeps most cards that bring its hand nearer to closing."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from agents.covers import DistanceRoom, new_distance_room
from agents.distance import count_outs, distance_of
from agents.planner import LOWEST, THROWN, Room, new_room, planner_action, planner_weights, weights_for
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.arrays import check_chosen, check_decisions, check_observations
from jolly_env.cards import JOKER


class RacerAgent:
    """Plays as the planner does; but while its hand is closed it throws the card that leaves most outs.

    Outs are unseen cards that bring the hand nearer to closing (:mod:`agents.distance`); among equals it follows the
    planner.
    """

    def __init__(self, **weights: float) -> None:
        """Take the planner's weights, or ``weights`` in place of some; ``ValueError`` for a name that is not there."""
        self._parts = (planner_weights(weights), new_room(), new_distance_room())
        _warm_up()

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return legal actions: int64[B]; ``ValueError`` where there is none, or for other arrays."""
        masks, keys = check_decisions(masks, keys)
        records = check_observations(observations, len(masks))
        actions = np.empty(len(masks), dtype=np.int64)
        racer_actions(records, masks, keys, *self._parts, actions)
        return check_chosen(actions)


@functools.cache
def _warm_up() -> None:
    """Compile the kernels, unless the cache on disk has them."""
    warm_up("agents.racer", Path(__file__).parent, _compile)


def _compile() -> None:
    """Choose a first action."""
    from jolly_env.batch import Batch

    batch = Batch(1, seed=0)
    RacerAgent().act(batch.observations, batch.masks, batch.keys)


@entry
def racer_actions(
    observations: np.ndarray,
    masks: np.ndarray,
    keys: np.ndarray,
    weights: np.ndarray,
    room: Room,
    far: DistanceRoom,
    out: np.ndarray,
) -> None:
    """Choose for ``B`` decisions: OBSERVATION[B], int8[B, 839], uint64[B] -> int64[B]."""
    for i in range(masks.shape[0]):
        w = weights_for(observations[i], weights)
        out[i] = racer_action(observations[i], masks[i], keys[i], w, room, far)


@kernel
def racer_action(obs: Any, mask: np.ndarray, key: np.uint64, w: np.ndarray, room: Room, far: DistanceRoom) -> int:
    """Choose a legal action; -1 if there is none."""
    action = planner_action(obs, mask, key, w, room)
    if action >= act.DISCARD and obs["opened"][0] == 0:
        return throw_for_outs(obs, action, room.values[THROWN], far)
    return action


@kernel
def throw_for_outs(obs: Any, action: int, thrown: np.ndarray, far: DistanceRoom) -> int:
    """Return the discard that leaves most outs, the one worth most to the planner among equals; else ``action``."""
    outs = far.outs
    distance_of(obs, obs["hand"], far, outs)
    most, best = 0, LOWEST
    for card in range(JOKER):
        count = count_outs(obs, outs[card])
        if count > most or (count == most and count > 0 and thrown[card] > best):
            most, best, action = count, thrown[card], act.DISCARD + card
    return action
