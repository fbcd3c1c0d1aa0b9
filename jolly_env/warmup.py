"""Compile the engine's kernels ahead of their first use, once a machine."""

from __future__ import annotations

from pathlib import Path

from jolly_env._jit import warm_up

_done = False


def warm_up_kernels() -> None:
    """Compile what a batch, a game and an observation need, unless the cache on disk has it."""
    global _done
    if _done:
        return
    _done = True
    warm_up("jolly_env", Path(__file__).parent, _compile)


def _compile() -> None:
    """Play a few actions in every view, and look at what they show in every way."""
    from jolly_env.agent import RandomAgent
    from jolly_env.batch import Batch
    from jolly_env.determinize import determinize
    from jolly_env.features import action_features, features
    from jolly_env.game import Game

    agent = RandomAgent()
    for view in ("record", "features"):
        batch = Batch(1, seed=0, view=view)
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
        batch.refresh()
    records = Batch(1, seed=0)
    features(records.observations)
    action_features(records.observations, records.masks)
    determinize(records.observations[0], 0)
    game = Game(seed=0)
    game.step(int(game.legal_actions()[0]))
    game.observe(0)
    game.decision_key(0)
    game.refresh()
    rules = game.rules
    Game(rules, deck=game.deck)
