"""The network that chooses actions: features in, one number an action out."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from jolly_env.actions import ACTIONS
from jolly_env.features import FEATURES


def layers(inputs: int, widths: Sequence[int]) -> tuple[nn.Sequential, int]:
    """Return fully connected layers with ReLU between and after them, and the width of the last."""
    modules: list[nn.Module] = []
    for width in widths:
        modules += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*modules), inputs


class PolicyNetwork(nn.Module):
    """Scores the 839 actions of ``B`` positions: float32[B, FEATURES] -> float32[B, 839]."""

    def __init__(self, widths: Sequence[int]) -> None:
        """Make a network of hidden layers of these ``widths``."""
        super().__init__()
        self.widths = tuple(widths)
        self.body, width = layers(FEATURES, widths)
        self.head = nn.Linear(width, ACTIONS)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the scores of all actions, legal or not."""
        scores: torch.Tensor = self.head(self.body(features))
        return scores


class ValueNetwork(nn.Module):
    """Estimates what the seat to move will still earn: float32[B, FEATURES] -> float32[B]."""

    def __init__(self, widths: Sequence[int]) -> None:
        """Make a network of hidden layers of these ``widths``."""
        super().__init__()
        self.body, width = layers(FEATURES, widths)
        self.head = nn.Linear(width, 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return the estimates."""
        values: torch.Tensor = self.head(self.body(features)).flatten()
        return values


def masked(scores: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """Return log probabilities over the legal actions, about -1e8 elsewhere: float32[B, 839]."""
    return torch.log_softmax(scores.masked_fill(~masks, -1e8), dim=-1)
