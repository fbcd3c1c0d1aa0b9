"""``MaskablePPO`` that learns from every seat it plays, first from a teacher, and keeps an average of its weights."""

from __future__ import annotations

import copy
from typing import Any, cast

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv
from torch.nn.functional import mse_loss

from agents.network import Actor, masked
from jolly_env.agent import Agent
from train.policy import JollyPolicy
from train.rollout import OPEN, Samples, SeatRolloutBuffer
from train.vec_env import SelfPlayVecEnv


class SelfPlayPPO(MaskablePPO):
    """sb3-contrib's learner on a :class:`SelfPlayVecEnv`.

    A rollout is linked by seat instead of by game; the critic may see hidden cards; while there is a ``teacher``, it
    plays and the learner imitates it; from then on the learner is held near to what it was, as far as ``hold`` says.
    """

    def __init__(self, policy: Any, env: SelfPlayVecEnv, **options: Any) -> None:
        """Make a learner; ``options`` are those of ``MaskablePPO``."""
        options.setdefault("rollout_buffer_class", SeatRolloutBuffer)
        kwargs = {"players": env.players, "hidden": env.hidden.shape[1], "seed": options.get("seed")}
        options.setdefault("rollout_buffer_kwargs", kwargs)
        super().__init__(policy, env, **options)
        self.average = copy.deepcopy(self.actor)
        """The average of the weights of the network that is trained to play; it plays better than the newest ones."""
        self.teacher: Agent | None = None
        """Who is imitated."""
        self.held = copy.deepcopy(self.actor)
        """What was learned from the teacher: what the learner is held near to."""
        self.hold = 0.0
        """Weight of the divergence from ``held``."""
        self.clip = float(options["clip_range"])
        self.value_clip = 0.0
        """How far a value may move from the one of the rollout; 0: anywhere."""

    @property
    def actor(self) -> Actor:
        """The network that is trained to play."""
        return cast(Actor, self.policy.actor)

    def move_average(self, share: float) -> None:
        """Move the average of the weights towards the newest by a share of the way."""
        with torch.no_grad():
            for average, newest in zip(self.average.parameters(), self.actor.parameters(), strict=True):
                average.lerp_(newest, share)

    def hold_here(self) -> None:
        """From now on hold the learner near to what it is now."""
        self.held.load_state_dict(self.actor.state_dict())

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play ``n_rollout_steps`` decisions in each game; False if the callback stops it."""
        assert isinstance(env, SelfPlayVecEnv) and isinstance(self.policy, JollyPolicy)
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            obs, masks = self._last_obs, env.action_masks()
            taught = None if self.teacher is None else torch.as_tensor(env.ask(self.teacher), device=self.device)
            with torch.no_grad():
                seen, hidden, legal = (torch.as_tensor(array, device=self.device) for array in (obs, env.hidden, masks))
                chosen, values, logs = self.policy.choose(seen, hidden, legal, taught)
            actions = chosen.cpu().numpy()
            rollout_buffer.note(obs, env.hidden, masks, env.seats, actions, values.cpu().numpy(), logs.cpu().numpy())
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

    def train(self) -> None:
        """Learn from the decisions of the rollout (Schulman et al. 2017), or imitate them if a teacher made them."""
        assert isinstance(self.policy, JollyPolicy) and isinstance(self.rollout_buffer, SeatRolloutBuffer)
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        noted: dict[str, list[float]] = {}
        for _ in range(self.n_epochs):
            for samples in self.rollout_buffer.get(self.batch_size):
                loss = self._loss(samples, noted)
                self.policy.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
            self._n_updates += 1
        for name, values in noted.items():
            self.logger.record(f"train/{name}", float(np.mean(values)))
        buffer = self.rollout_buffer
        known = buffer.next[: buffer.count] != OPEN  # of the others the return is not known yet
        explained = explained_variance(buffer.values[: buffer.count][known], buffer.returns[: buffer.count][known])
        self.logger.record("train/explained_variance", float(explained))
        self.logger.record("train/n_updates", self._n_updates)

    def _loss(self, samples: Samples, noted: dict[str, list[float]]) -> torch.Tensor:
        """Return the loss of a batch, and note its parts."""
        policy = cast(JollyPolicy, self.policy)
        values, logs, entropy = policy.evaluate(samples.obs, samples.hidden, samples.masks)
        chosen = logs.gather(1, samples.actions.unsqueeze(1)).flatten()
        value_loss = mse_loss(samples.returns, values)
        if self.value_clip > 0:
            near = samples.values + (values - samples.values).clamp(-self.value_clip, self.value_clip)
            value_loss = torch.max((samples.returns - values).square(), (samples.returns - near).square()).mean()
        parts = {"value_loss": value_loss, "entropy_loss": -entropy.mean()}
        if self.teacher is not None:
            loss = parts["imitation_loss"] = -chosen.mean()
        else:
            gains = samples.advantages
            gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            ratio = torch.exp(chosen - samples.logs)
            clip = self.clip
            clipped = torch.clamp(ratio, 1 - clip, 1 + clip)
            parts["policy_gradient_loss"] = -torch.min(gains * ratio, gains * clipped).mean()
            with torch.no_grad():
                parts["approx_kl"] = (ratio - 1 - (chosen - samples.logs)).mean()
                parts["clip_fraction"] = ((ratio - 1).abs() > clip).float().mean()
            loss = parts["policy_gradient_loss"] + self.ent_coef * parts["entropy_loss"]
            if self.hold > 0:
                with torch.no_grad():
                    held, held_logs = masked(self.held(samples.obs), samples.masks)
                parts["held_kl"] = (held * (held_logs - logs)).sum(dim=-1).mean()
                loss = loss + self.hold * parts["held_kl"]
        loss = loss + self.vf_coef * value_loss
        for name, part in (parts | {"loss": loss}).items():
            noted.setdefault(name, []).append(float(part.detach()))
        return loss
