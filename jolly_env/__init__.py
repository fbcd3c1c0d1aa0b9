"""Jolly: a rummy for two to four players, as an environment for reinforcement learning.

``jolly_v0`` (PettingZoo), ``Game`` and ``Batch`` are imported when first asked for, since kernels take a moment to
load. ``gymnasium.make("jolly_env/Jolly-v0")`` works once this package is imported.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

import gymnasium

from jolly_env.actions import IllegalAction
from jolly_env.rules import Rules

if TYPE_CHECKING:
    from jolly_env import jolly_v0
    from jolly_env.batch import Batch
    from jolly_env.game import Game

__all__ = ["Batch", "Game", "IllegalAction", "Rules", "jolly_v0"]

try:
    __version__ = importlib.metadata.version("jolly-env")
except importlib.metadata.PackageNotFoundError:  # the sources without an installation
    __version__ = "0+unknown"

if "jolly_env/Jolly-v0" not in gymnasium.registry:
    gymnasium.register(
        "jolly_env/Jolly-v0",
        entry_point="jolly_env.gym_env:JollyEnv",
        vector_entry_point="jolly_env.gym_vector:JollyVectorEnv",
    )


def __getattr__(name: str) -> Any:
    """Import what is asked for by name for the first time."""
    if name == "jolly_v0":
        return importlib.import_module("jolly_env.jolly_v0")
    if name in ("Batch", "Game"):
        return getattr(importlib.import_module(f"jolly_env.{name.lower()}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names of the package, those not yet imported too."""
    return sorted({*globals(), *__all__})
