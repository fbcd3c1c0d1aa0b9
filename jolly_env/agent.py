"""The protocol of an agent (contract, "Agents"), and the agent that plays any legal action at random."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from jolly_env._jit import entry, kernel
from jolly_env.actions import ACTIONS, IllegalAction
from jolly_env.arrays import check_chosen, check_decisions

BLOCK = 64


class Agent(Protocol):
    """Whatever chooses actions. It sees observations and masks and nothing else."""

    def act(self, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return the actions of ``B`` independent decisions: int64[B].

        ``observations`` are OBSERVATION[B], ``masks`` int8[B, 839] with at least one legal action a row, and ``keys``
        uint64[B] the only source of randomness, so that a choice does not depend on batch, order or process.
        """
        ...


class RandomAgent:
    """Plays every legal action with equal probability. Knows nothing."""

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return random legal actions: int64[B]; ``ValueError`` where there is none, or for other arrays."""
        masks, keys = check_decisions(masks, keys)
        actions = np.empty(len(masks), dtype=np.int64)
        random_actions(masks, keys, actions)
        return check_chosen(actions)

    def probabilities(self, observations: Any, masks: np.ndarray) -> np.ndarray:
        """Return how often each action is played: int8[B, 839] -> float64[B, 839]."""
        return masks / masks.sum(axis=1, keepdims=True)


def probabilities(agent: Agent, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return how often an agent plays each action: OBSERVATION[B], int8[B, 839] -> float64[B, 839].

    An agent that draws has a method of this name that tells; any other is asked once, with key 0.
    """
    if hasattr(agent, "probabilities"):
        return np.asarray(agent.probabilities(observations, masks), dtype=np.float64)
    played = np.zeros(masks.shape)
    played[np.arange(len(masks)), ask(agent, observations, masks, np.zeros(len(masks), dtype=np.uint64))] = 1
    return played


def ask(agent: Agent, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return what an agent chooses: int64[B]; :class:`IllegalAction` if that is not ``B`` whole numbers."""
    actions = np.asarray(agent.act(observations, masks, keys))
    if actions.shape != (len(masks),) or not np.issubdtype(actions.dtype, np.integer):
        raise IllegalAction(
            f"act returned {actions.dtype}{list(actions.shape)}, expected whole numbers[{len(masks)}], one a decision"
        )
    return actions.astype(np.int64, copy=False)


@entry
def random_actions(masks: np.ndarray, keys: np.ndarray, out: np.ndarray) -> None:
    """Choose a legal action of each mask by its key: int8[B, 839], uint64[B] -> int64[B]."""
    for i in range(masks.shape[0]):
        out[i] = random_action(masks[i], keys[i])


@kernel
def random_action(mask: np.ndarray, key: np.uint64) -> int:
    """Choose a legal action by the upper 32 bits of a key; -1 if there is none."""
    count = np.int32(0)
    for action in range(ACTIONS):
        count += np.int32(mask[action])
    pick = np.int64((key >> np.uint64(32)) * np.uint64(count) >> np.uint64(32))
    # Whole blocks are skipped by their sums, which the processor adds up many at a time.
    start = 0
    while start + BLOCK < ACTIONS:
        block = np.int32(0)
        for i in range(BLOCK):
            block += np.int32(mask[start + i])
        if pick < block:
            break
        pick -= block
        start += BLOCK
    for action in range(start, min(start + BLOCK, ACTIONS)):
        pick -= mask[action]
        if pick < 0:
            return action
    return -1
