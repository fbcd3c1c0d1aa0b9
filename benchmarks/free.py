"""An environment that costs nothing: it shows real positions from a tape, whatever is played."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from agents.planner import PlannerAgent
from train.config import Config
from train.vec_env import SelfPlayVecEnv

LENGTH = 64
"""Steps on the tape."""


class Tape(NamedTuple):
    """What ``N`` games showed over ``T`` steps of the planner's play."""

    observations: np.ndarray
    """float32[T, N, V]."""
    hidden: np.ndarray
    """float32[T, N, H]."""
    masks: np.ndarray
    """int8[T, N, 839]."""
    seats: np.ndarray
    """int64[T, N]."""
    rewards: np.ndarray
    """float32[T, N, P]."""
    dones: np.ndarray
    """bool[T, N]."""


def recorded(games: int) -> Tape:
    """Return a tape of the planner's play."""
    env, agent = default_env(games, 1), PlannerAgent()
    seen: Any = env.reset()
    rows = []
    for _ in range(LENGTH):
        shown = seen.copy(), env.hidden.copy(), env.action_masks().copy(), env.seats.copy()
        seen, _, dones, _ = env.step(env.ask(agent))
        rows.append((*shown, env.seat_rewards.copy(), dones.copy()))
    return Tape(*(np.stack(column) for column in zip(*rows, strict=True)))


def default_env(games: int, seed: int) -> SelfPlayVecEnv:
    """Return the env of a training run with the settings that a run has by default."""
    return SelfPlayVecEnv(
        games, seed=seed, network=Config.network, privileged=Config.privileged, threads=Config.threads
    )


class FreeEnv(SelfPlayVecEnv):
    """Plays the tape round and round; a step hands out views and does nothing else."""

    def __init__(self, tape: Tape) -> None:
        """Show this tape."""
        super().__init__(tape.masks.shape[1], seed=0, network=Config.network, privileged=Config.privileged)
        self.tape, self.at = tape, 0

    @property
    def seats(self) -> np.ndarray:
        """The seat to decide: int64[N]."""
        return self.tape.seats[self.at]

    def action_masks(self) -> np.ndarray:
        """Return the legal actions: int8[N, 839]."""
        return self.tape.masks[self.at]

    def reset(self) -> np.ndarray:
        """Go to the start of the tape."""
        self.at = 0
        return self.look()

    def look(self) -> np.ndarray:
        """Show what is on the tape."""
        self.hidden = self.tape.hidden[self.at]
        return self.tape.observations[self.at]

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, object]]]:
        """Go one step on."""
        self.seat_rewards, dones = self.tape.rewards[self.at], self.tape.dones[self.at]
        self.at = (self.at + 1) % LENGTH
        return self.look(), self.seat_rewards[:, 0], dones, self._infos
