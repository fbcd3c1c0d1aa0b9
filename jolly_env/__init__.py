"""Jolly: a rummy for two to four players, as an environment for reinforcement learning."""

from __future__ import annotations

from jolly_env.actions import IllegalAction
from jolly_env.rules import Rules

__all__ = ["IllegalAction", "Rules"]
