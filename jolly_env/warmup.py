"""Compile kernels ahead of their first use, once a machine; each stage only where it is wanted."""

from __future__ import annotations

import functools
from pathlib import Path

from jolly_env._jit import warm_up

FOLDER = Path(__file__).parent


@functools.cache
def warm_up_kernels() -> None:
    """Compile what a game or a batch needs, unless the cache on disk has it."""
    warm_up("jolly_env", FOLDER, _compile_engine)


@functools.cache
def warm_up_features() -> None:
    """Compile the float views of an observation."""
    warm_up("jolly_env.features", FOLDER, _compile_features)


@functools.cache
def warm_up_determinize() -> None:
    """Compile the dealing of hidden cards."""
    warm_up("jolly_env.determinize", FOLDER, _compile_determinize)


def _compile_engine() -> None:
    """Play a first action in a batch and in a game."""
    from jolly_env.agent import RandomAgent
    from jolly_env.batch import Batch
    from jolly_env.game import Game

    batch = Batch(1, seed=0)
    batch.step(RandomAgent().act(batch.observations, batch.masks, batch.keys))
    game = Game(seed=0)
    game.step(int(game.legal_actions()[0]))
    game.observe(0)
    game.decision_key(0)


def _compile_features() -> None:
    """Look at a first position in both float views."""
    from jolly_env.batch import Batch
    from jolly_env.features import action_features

    Batch(1, seed=0, view="features")
    records = Batch(1, seed=0)
    action_features(records.observations, records.masks)


def _compile_determinize() -> None:
    """Deal the hidden cards of a first position."""
    from jolly_env.batch import Batch
    from jolly_env.determinize import determinize

    determinize(Batch(1, seed=0).observations[0], 0)
