"""The actor and critic in the form that sb3-contrib's learner wants, with a masked distribution that is quick."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from agents.network import INPUTS, NETWORKS, ValueNetwork, masked
from jolly_env.actions import MAX_TAKE, TAKE
from jolly_env.features import FEATURE_SLICES

PLAY = FEATURE_SLICES["moment"].start
"""The feature that is 1 in the play phase and 0 where a draw is chosen."""
TAKE_BIAS = -3.0
"""Where the scores of takes begin: all of them together then are as likely as the draw from the stock."""


class JollyPolicy(MaskableActorCriticPolicy):
    """``PolicyNetwork`` and ``ValueNetwork`` behind the interface of ``MaskablePPO``.

    sb3-contrib's own distribution normalises 839 logits twice and checks them; this one does it once.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        network: str = "suits",
        hidden: int = 0,
        widths: tuple[int, ...] = (96, 192),
        value_widths: tuple[int, ...] = (64, 128),
        entropy_draw: float = 1.0,
        **options: Any,
    ) -> None:
        """Make a ``network`` to play and one that values, with these widths; the latter sees ``hidden`` numbers more.

        The entropy of the choice of a draw counts ``entropy_draw`` times.
        """
        self.entropy_draw = entropy_draw
        self._network, self._hidden = network, hidden
        self._widths = (tuple(widths), tuple(value_widths))
        super().__init__(observation_space, action_space, lr_schedule, **options)

    def _build(self, lr_schedule: Schedule) -> None:
        """Make the networks and the optimiser."""
        self.actor = NETWORKS[self._network](self._widths[0])
        self.critic = ValueNetwork(self._widths[1], INPUTS[self._network], self._hidden)
        for network, gain in ((self.actor, 0.01), (self.critic, 1.0)):
            for module in network.modules():
                if isinstance(module, nn.Linear):
                    nn.init.orthogonal_(module.weight, np.sqrt(2))
                    if module.bias is not None:
                        nn.init.zeros_(module.bias)
            for head in network.heads:
                nn.init.orthogonal_(head.weight, gain)
        if self._network == "suits":
            with torch.no_grad():
                self.actor.head.bias[TAKE + 1 : TAKE + MAX_TAKE + 1] = TAKE_BIAS
        options: dict[str, Any] = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **options)

    def choose(
        self, obs: torch.Tensor, hidden: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return actions (those given, or drawn), values and log probabilities of ``B`` positions."""
        probabilities, logs = masked(self.actor(obs), masks.bool())
        if actions is None:
            actions = draw(probabilities)
        return actions, self.critic(obs, hidden), logs.gather(1, actions.unsqueeze(1)).flatten()

    def evaluate(
        self, obs: torch.Tensor, hidden: torch.Tensor, masks: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return values, log probabilities of all actions float32[B, 839], and entropies of ``B`` positions."""
        probabilities, logs = masked(self.actor(obs), masks)
        entropy = -(probabilities * logs).sum(dim=-1)
        entropy = torch.where(obs[:, PLAY] > 0, entropy, self.entropy_draw * entropy)
        return self.critic(obs, hidden), logs, entropy

    def _predict(self, observation: Any, deterministic: bool = False, action_masks: Any = None) -> torch.Tensor:
        """Return the actions of ``B`` positions."""
        probabilities, _ = masked(self.actor(observation), self._masks(action_masks, observation))
        return probabilities.argmax(dim=-1) if deterministic else draw(probabilities)

    def _masks(self, masks: Any, obs: torch.Tensor) -> torch.Tensor:
        """Return masks as bool[B, 839]; none at all means that every action is allowed."""
        if masks is None:
            return torch.ones((len(obs), int(self.action_space.n)), dtype=torch.bool, device=obs.device)  # type: ignore[attr-defined]
        return torch.as_tensor(masks, device=obs.device).bool().reshape(len(obs), -1)


def draw(probabilities: torch.Tensor) -> torch.Tensor:
    """Draw an action by each row of probabilities: float32[B, A] -> int64[B]; one random number a row."""
    sums = probabilities.cumsum(dim=-1)
    most = sums[:, -1:]
    # Just below the whole sum at most, so that the last action with any probability is the last to be drawn.
    drawn = torch.minimum(torch.rand_like(most) * most, torch.nextafter(most, torch.zeros_like(most)))
    return (sums <= drawn).sum(dim=-1)
