"""The rollout buffer: each decision is linked to the same seat's next decision in the same game.

What a seat earns reaches its own last decision before. A decision whose successor is not known yet when a rollout
ends is carried into the next one. Letters: ``N`` games, ``P`` players, ``F`` features, ``K`` room for decisions.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from jolly_env._jit import entry, warm_up
from jolly_env.actions import ACTIONS
from jolly_env.features import FEATURES

OPEN, LAST = -2, -1
"""In place of a successor: not known yet; the game ended."""

FIELDS = ("obs", "hidden", "masks", "actions", "values", "logs", "rewards", "next")
"""Arrays with one row for each decision."""


class Samples(NamedTuple):
    """``K`` decisions to learn from."""

    obs: torch.Tensor
    """float32[K, V]"""
    hidden: torch.Tensor
    """float32[K, H]: what only the critic may see."""
    masks: torch.Tensor
    """bool[K, 839]"""
    actions: torch.Tensor
    """int64[K]"""
    values: torch.Tensor
    """float32[K]: what they were reckoned to bring then."""
    logs: torch.Tensor
    """float32[K]: log probabilities of the actions when they were played."""
    advantages: torch.Tensor
    """float32[K]"""
    returns: torch.Tensor
    """float32[K]"""


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """Decisions of all learner seats of ``n_envs`` games, ``buffer_size`` for each game in a rollout.

    ``get`` gives those decisions whose seat's next decision, or game's end, is known.
    """

    def __init__(self, *args: Any, players: int, hidden: int = 0, seed: int | None = None, **options: Any) -> None:
        """Make room for a rollout and for what the one before may leave open, with ``hidden`` privileged numbers."""
        self.players = players
        self.hidden_size = hidden
        self.count: int
        self.open: np.ndarray
        self.random = np.random.default_rng(seed)
        """Draws the order of the decisions."""
        self.shaping = 0.0
        """Weight of the potential; needs the options' view."""
        super().__init__(*args, **options)
        warm_up("train", Path(__file__).parent, self._compile)

    def reset(self) -> None:
        """Start a rollout; decisions that are open stay, at the front."""
        if not hasattr(self, "open"):
            self._allocate()
            return
        carried = np.flatnonzero(self.next[: self.count] == OPEN)
        place = np.full(self.count + 1, OPEN, dtype=np.int64)
        place[carried] = np.arange(len(carried))
        for name in FIELDS:
            array = getattr(self, name)
            array[: len(carried)] = array[carried]
        self.open = np.where(self.open >= 0, place[np.maximum(self.open, 0)], OPEN)
        self.count = len(carried)
        self.pos, self.full = 0, False

    def _allocate(self) -> None:
        """Make the arrays."""
        room = (self.buffer_size + self.players) * self.n_envs
        self.obs = np.zeros((room, *self.obs_shape), dtype=np.float32)
        self.hidden = np.zeros((room, self.hidden_size), dtype=np.float32)
        self.masks = np.zeros((room, ACTIONS), dtype=np.bool_)
        self.actions = np.zeros(room, dtype=np.int64)
        self.values = np.zeros(room, dtype=np.float32)
        self.logs = np.zeros(room, dtype=np.float32)
        self.rewards = np.zeros(room, dtype=np.float32)
        self.next = np.full(room, OPEN, dtype=np.int64)
        self.advantages = np.zeros(room, dtype=np.float32)
        self.returns = np.zeros(room, dtype=np.float32)
        self.open = np.full((self.n_envs, self.players), OPEN, dtype=np.int64)
        """Each seat's last decision in its game, int64[N, P]; OPEN: none."""
        self.count = 0
        self.pos, self.full = 0, False

    def note(
        self,
        obs: np.ndarray,
        hidden: np.ndarray,
        masks: np.ndarray,
        seats: np.ndarray,
        actions: np.ndarray,
        values: np.ndarray,
        logs: np.ndarray,
    ) -> None:
        """Append one decision of each game, before it is played; it follows the same seat's last one."""
        new = slice(self.count, self.count + self.n_envs)
        self.obs[new], self.hidden[new], self.masks[new], self.actions[new] = obs, hidden, masks, actions
        self.values[new], self.logs[new], self.rewards[new], self.next[new] = values, logs, 0, OPEN
        numbers, rows = np.arange(new.start, new.stop), np.arange(self.n_envs)
        before = self.open[rows, seats]
        self.next[before[before >= 0]] = numbers[before >= 0]
        self.open[rows, seats] = numbers
        self.count += self.n_envs
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def earn(self, seat_rewards: np.ndarray, dones: np.ndarray) -> None:
        """Give each seat's last decision what the seat earned since, float32[N, P]; close the games that ended."""
        held = self.open >= 0
        self.rewards[self.open[held]] += seat_rewards[held]
        ended = held & dones[:, None]
        self.next[self.open[ended]] = LAST
        self.open[dones] = OPEN

    def compute(self) -> None:
        """Work out advantages and returns of all decisions but the open ones (Schulman et al. 2016, GAE).

        Each decision earns, beside its reward, ``shaping`` times the gain of a potential from it to the seat's next
        one (Ng et al. 1999): the fewest cards that the turn could leave in hand, less is better; 0 at draws.
        """
        rewards = self.rewards
        if self.shaping != 0:
            potential = -self.obs[: self.count, FEATURES + 1]
            after = self.next[: self.count]
            gains = np.where(after >= 0, self.gamma * potential[np.maximum(after, 0)], 0) - potential
            rewards = rewards.copy()
            rewards[: self.count] += self.shaping * gains
        advantages(self.values, rewards, self.next, self.count, self.gamma, self.gae_lambda, self.advantages)
        self.returns[: self.count] = self.values[: self.count] + self.advantages[: self.count]

    def get(self, batch_size: int | None = None) -> Generator[Samples, None, None]:  # type: ignore[override]
        """Give the decisions in random order, in batches of the same size; what is left over waits for no one."""
        ready = self.random.permutation(np.flatnonzero(self.next[: self.count] != OPEN))
        size = batch_size or len(ready)
        for start in range(0, max(len(ready) - size, 0) + 1, size):
            yield self._samples(ready[start : start + size])

    def _samples(self, rows: np.ndarray) -> Samples:
        """Return the decisions ``rows`` as tensors."""
        return Samples(
            *(
                torch.as_tensor(array[rows], device=self.device)
                for array in (
                    self.obs,
                    self.hidden,
                    self.masks,
                    self.actions,
                    self.values,
                    self.logs,
                    self.advantages,
                    self.returns,
                )
            )
        )

    @staticmethod
    def _compile() -> None:
        """Compile the kernel."""
        empty = np.zeros(1, dtype=np.float32)
        advantages(empty, empty, np.full(1, LAST), 1, 1.0, 0.95, empty.copy())


@entry
def advantages(
    values: np.ndarray,
    rewards: np.ndarray,
    next_: np.ndarray,
    count: int,
    gamma: float,
    decay: float,
    out: np.ndarray,
) -> None:
    """Write the generalised advantage estimates of ``count`` decisions in the order of time: float32[K].

    A successor comes later in the arrays. Beyond an open one nothing is known but its value.
    """
    for i in range(count - 1, -1, -1):
        after = next_[i]
        if after == OPEN:
            out[i] = 0
        elif after == LAST:
            out[i] = rewards[i] - values[i]
        else:
            out[i] = rewards[i] + gamma * values[after] - values[i] + gamma * decay * out[after]
