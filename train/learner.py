"""``MaskablePPO`` that learns from every seat it plays, and keeps an average of its policy's weights."""

from __future__ import annotations

import copy
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from agents.network import PolicyNetwork
from train.rollout import SeatRolloutBuffer
from train.vec_env import SelfPlayVecEnv


class SelfPlayPPO(MaskablePPO):
    """sb3-contrib's learner on a :class:`SelfPlayVecEnv`; a rollout is linked by seat instead of by game."""

    def __init__(self, policy: Any, env: SelfPlayVecEnv, **options: Any) -> None:
        """Make a learner; ``options`` are those of ``MaskablePPO``."""
        options.setdefault("rollout_buffer_class", SeatRolloutBuffer)
        options.setdefault("rollout_buffer_kwargs", {"players": env.players, "seed": options.get("seed")})
        super().__init__(policy, env, **options)
        self.average = copy.deepcopy(self.actor)
        """The average of the weights of the network that is trained to play; it plays better than the newest ones."""

    @property
    def actor(self) -> PolicyNetwork:
        """The network that is trained to play."""
        actor = self.policy.actor
        assert isinstance(actor, PolicyNetwork)
        return actor

    def move_average(self, share: float) -> None:
        """Move the average of the weights towards the newest by a share of the way."""
        with torch.no_grad():
            for average, newest in zip(self.average.parameters(), self.actor.parameters(), strict=True):
                average.lerp_(newest, share)

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play ``n_rollout_steps`` decisions in each game; False if the callback stops it."""
        assert isinstance(env, SelfPlayVecEnv)
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            obs, masks = self._last_obs, env.action_masks()
            with torch.no_grad():
                chosen, values, logs = self.policy(torch.as_tensor(obs), action_masks=masks)
            actions = chosen.numpy()
            rollout_buffer.note(obs, masks, env.seats, actions, values.numpy().reshape(-1), logs.numpy())
            self._last_obs, _, dones, _ = env.step(actions)  # type: ignore[assignment] # a VecEnv's could be a tuple
            rollout_buffer.earn(env.seat_rewards, dones)
            self._last_episode_starts = dones
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        rollout_buffer.compute()
        callback.on_rollout_end()
        return True
