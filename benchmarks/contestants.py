"""What the benchmark of the engine lets play: each contestant goes on with its games for a given time.

All choose as cheaply as can be: one random number and an index into what is legal. A *step* is a decision of a
player; what chance decides (OpenSpiel's deals and draws) is part of the step before it. Time is the process's own,
on one core the same as the clock's unless other processes want that core, too.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jolly_env.agent import Agent
from jolly_env.batch import Batch
from jolly_env.observation import OBSERVATION

WARM_STEPS = 300
"""Steps of each game before the first measurement: games of a batch are then at all stages of a round."""

Times = dict[str, float]
"""Of one measurement: ``steps``, ``seconds``, and parts of the time in seconds."""
Play = Callable[[float], Times]
"""Plays on for about so many seconds."""


def batch_player(n: int, view: str, agent: Agent | None = None) -> Play:
    """Return a :class:`Batch` of ``n`` games in which ``agent`` chooses for all seats, or chance without one.

    The choosing is timed apart: ``choose`` seconds of all.
    """
    batch = Batch(n, seed=1, view=view)

    def choose() -> np.ndarray:
        if agent is None:
            return batch.random_actions()
        return agent.act(batch.observations, batch.masks, batch.keys)

    for _ in range(WARM_STEPS):
        batch.step(choose())

    def play(seconds: float) -> Times:
        clock = time.process_time
        steps, choosing = 0, 0.0
        start = now = clock()
        while now - start < seconds:
            actions = choose()
            chosen = clock()
            batch.step(actions)
            choosing += chosen - now
            steps += n
            now = clock()
        return {"steps": steps, "seconds": now - start, "choose": choosing}

    return play


def copy_player(n: int) -> Play:
    """Return what a step of a batch cannot be faster than: a copy of all the bytes that it must write."""
    batch = Batch(n, seed=1)
    step = batch.reset(1)
    targets = [np.atleast_1d(np.asarray(array)) for array in (*step, batch.keys, batch.round_over)]
    targets = [array.view(np.uint8) for array in targets]
    sources = [array.copy() for array in targets]

    def play(seconds: float) -> Times:
        clock = time.process_time
        steps = 0
        start = now = clock()
        while now - start < seconds:
            for target, source in zip(targets, sources, strict=True):
                np.copyto(target, source)
            steps += n
            now = clock()
        return {"steps": steps, "seconds": now - start}

    return play


def bytes_of_a_step() -> int:
    """Return how many bytes a step of a batch writes for one game of two."""
    batch = Batch(1, seed=1)
    flags = (batch.terminated, batch.truncated, batch.round_over)
    arrays = (batch.masks, batch.seats, batch.keys, batch.rewards, *flags)
    return OBSERVATION.itemsize + sum(array.nbytes for array in arrays)


def chooser() -> Callable[[Sequence[int]], int]:
    """Return a function that picks one of a sequence at random."""
    uniform = random.Random(1).random

    def choose(actions: Sequence[int]) -> int:
        return actions[int(uniform() * len(actions))]

    return choose


def timed(decisions: Iterator[None]) -> Play:
    """Return a contestant of an endless iterator that makes one decision at a time."""

    def play(seconds: float) -> Times:
        clock = time.process_time
        steps = 0
        start = now = clock()
        while now - start < seconds:
            for _ in itertools.islice(decisions, 50):
                pass
            steps += 50
            now = clock()
        return {"steps": steps, "seconds": now - start}

    play(0.1)
    return play


def open_spiel_player() -> Play:
    """Return OpenSpiel's gin rummy, from Python: observation tensor and mask of the player to move."""
    import pyspiel

    game = pyspiel.load_game("gin_rummy")
    choose = chooser()

    def decisions() -> Iterator[None]:
        while True:
            state = game.new_initial_state()
            while not state.is_terminal():
                actions = state.legal_actions()
                if not state.is_chance_node():  # all outcomes of a chance node are equally likely in this game
                    state.observation_tensor()
                    state.legal_actions_mask()
                    yield
                state.apply_action(choose(actions))

    return timed(decisions())


def rlcard_player() -> Play:
    """Return RLCard's gin rummy: its state holds the observation and the legal actions."""
    import rlcard.agents  # noqa: F401 (once imported, it does not run pip while the clock runs)
    from rlcard import make

    env: Any = make("gin-rummy", config={"seed": 1})
    choose = chooser()

    def decisions() -> Iterator[None]:
        while True:
            state, _ = env.reset()
            while not env.is_over():
                yield
                state, _ = env.step(choose(list(state["legal_actions"])))

    return timed(decisions())


def aec_player(name: str) -> Play:
    """Return ``jolly_v0.raw_env`` or ``jolly_v0.env`` in PettingZoo's usual loop."""
    from jolly_env import jolly_v0  # type: ignore[attr-defined, unused-ignore]

    env: Any = getattr(jolly_v0, name)()
    choose = chooser()

    def decisions() -> Iterator[None]:
        for seed in itertools.count():
            env.reset(seed=seed)
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                yield
                env.step(int(choose(observation["action_mask"].nonzero()[0])))

    return timed(decisions())


def greedy_player(n: int) -> Play:
    """Return a batch in which greedy plays all seats."""
    import agents

    return batch_player(n, "record", agents.make("greedy"))


def contestants(n: int) -> dict[str, Callable[[], Play]]:
    """Return what makes each contestant, by name; a package that is missing raises ``ImportError`` only then."""
    return {
        "batch": lambda: batch_player(n, "record"),
        "batch_features": lambda: batch_player(n, "features"),
        "batch_none": lambda: batch_player(n, "none"),
        "batch_greedy": lambda: greedy_player(n),
        "copy": lambda: copy_player(n),
        "raw_env": lambda: aec_player("raw_env"),
        "env": lambda: aec_player("env"),
        "open_spiel": open_spiel_player,
        "rlcard": rlcard_player,
    }
