"""Agents that think in processes of their own, so that the server never waits for one.

The functions at the end run in such a process. A process gets observations, never a game with hidden cards, where an
agent chooses for its seat; positions come whole only from whoever may see them whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final, TypeVar

import numpy as np

Answer = TypeVar("Answer")
PATIENCE: Final = 60.0
"""Seconds that an agent may think about one decision."""
TRIES: Final = 3
"""Times that a question is asked, where its process dies: perhaps of what somebody else had asked."""
WORLDS: Final = 200
"""Worlds that a belief is the mean of."""
PLAYOUTS: Final = 48
"""Worlds that are played out for a value."""
LONGEST: Final = 12.0
"""Seconds after which a value is given up, as of an agent that searches."""
SHOWN: Final = 12
"""Actions of which a thought tells."""


class Thinkers:
    """Processes that ask agents."""

    def __init__(self, processes: int, most: float = float("inf")) -> None:
        """Make ready; processes start with the first question. At most so many questions wait."""
        self._processes, self._most = processes, most
        self._waiting = 0
        self._pool: ProcessPoolExecutor | None = None

    async def ask(self, question: Callable[..., Answer], *arguments: Any) -> Answer:
        """Return what a function says in a process; ``RuntimeError`` if it does not, or if too many questions wait.

        A process that has died or does not come back is replaced, with all that was asked.
        """
        if self._waiting >= self._most:
            raise RuntimeError("too many questions at once; ask again in a while")
        self._waiting += 1
        try:
            for _ in range(TRIES - 1):
                with contextlib.suppress(BrokenProcessPool):
                    return await self._asked(question, *arguments)
            return await self._asked(question, *arguments)
        except (TimeoutError, BrokenProcessPool) as error:
            raise RuntimeError(f"no answer: {type(error).__name__}") from None
        finally:
            self._waiting -= 1

    async def _asked(self, question: Callable[..., Answer], *arguments: Any) -> Answer:
        """Ask once; processes that have died, or of which one does not come back, are given up."""
        pool = self._pool or self._start()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(pool.submit(question, *arguments)), PATIENCE)
        except (TimeoutError, BrokenProcessPool):
            if pool is self._pool:
                self.close()
            raise

    def close(self) -> None:
        """End the processes, whatever they do."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for worker in list((pool._processes or {}).values()):
                with contextlib.suppress(OSError):
                    worker.kill()
            pool.shutdown(wait=True, cancel_futures=True)  # which is quick, as nobody is left to wait for

    def _start(self) -> ProcessPoolExecutor:
        """Start the processes."""
        self._pool = ProcessPoolExecutor(
            self._processes, mp_context=multiprocessing.get_context("spawn"), initializer=_begin
        )
        return self._pool


def _begin() -> None:
    """Leave Ctrl-C to the server, a core to the others, and end when the server has ended, however that came."""
    import os
    import signal
    import threading

    from eval.workers import end_with_parent

    threading.Thread(target=end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@functools.lru_cache(maxsize=16)
def _agent(name: str) -> Any:
    """Return an agent, made once a process."""
    from agents import make

    return make(name)


def choose(name: str, observation: bytes, mask: bytes, key: int) -> int:
    """Return what an agent plays at one decision: an observation's bytes, int8[839], its key."""
    from jolly_env.agent import ask
    from jolly_env.observation import OBSERVATION

    seen = np.frombuffer(observation, dtype=OBSERVATION).copy()
    legal = np.frombuffer(mask, dtype=np.int8)[None].copy()
    try:
        return int(ask(_agent(name), seen, legal, np.array([key], dtype=np.uint64))[0])
    except SystemExit as stop:
        raise RuntimeError(f"it ended the program: {stop}") from None


def think(name: str, observation: bytes, mask: bytes, key: int, texts: dict[int, str]) -> dict[str, Any]:
    """Return a THOUGHT (docs/table-protocol.md) of an agent about a decision, from what its seat sees.

    Its value is the mean margin, in points, of playing on to the end of the round in worlds that agree with the
    observation, with this agent at every seat.
    """
    try:
        return _thought(_agent(name), name, observation, mask, key, texts)
    except SystemExit as stop:
        raise RuntimeError(f"it ended the program: {stop}") from None


def _thought(agent: Any, name: str, observation: bytes, mask: bytes, key: int, texts: dict[int, str]) -> dict[str, Any]:
    """Return what :func:`think` returns."""
    from agents.beliefs import sample_worlds
    from jolly_env.agent import probabilities
    from jolly_env.observation import OBSERVATION, rules_of

    seen = np.frombuffer(observation, dtype=OBSERVATION).copy()
    legal = np.frombuffer(mask, dtype=np.int8)[None].copy()
    if hasattr(agent, "scores"):  # a network: how it likes the actions, though it plays the best
        scores = agent.scores(seen, legal)[0]
        liked = np.exp(scores - scores.max())
        liked /= liked.sum()
    else:
        liked = probabilities(agent, seen, legal)[0]
    best = np.argsort(-liked, kind="stable")[:SHOWN]
    seat, players = int(seen["seat"][0]), rules_of(seen[0]).players
    worlds = sample_worlds(seen[0], key, WORLDS)
    expected = worlds["hands"].mean(axis=0)
    return {
        "agent": name,
        "action": int(best[0]),
        "text": texts.get(int(best[0]), ""),
        "value": _value(agent, worlds[:PLAYOUTS].copy(), seat),
        "probabilities": [[int(a), texts.get(int(a), ""), float(liked[a])] for a in best if liked[a] > 0],
        "belief": {
            "worlds": WORLDS,
            "players": [
                {
                    "seat": other,
                    "cards": [[int(c), round(float(n), 3)] for c, n in enumerate(expected[other]) if n > 0],
                }
                for other in range(players)
                if other != seat
            ],
        },
    }


def _value(agent: Any, worlds: np.ndarray, seat: int) -> float | None:
    """Return the mean margin of a seat over worlds played out to the end of the round; None if that takes too long."""
    from jolly_env.agent import ask
    from jolly_env.batch import Batch

    batch = Batch.from_states(worlds, auto_reset=False)
    live = np.arange(len(worlds))
    total, end = np.zeros(len(worlds)), time.monotonic() + LONGEST
    while live.size:
        actions = ask(agent, batch.observations[live].copy(), batch.masks[live].copy(), batch.keys[live].copy())
        batch.step(actions, live)
        over = batch.round_over[live]
        ended = live[over]
        scores = batch.scores[ended].astype(np.float64)
        others = (scores.sum(axis=1) - scores[:, seat]) / (scores.shape[1] - 1)
        total[ended] = scores[:, seat] - others
        live = live[~over]
        if time.monotonic() > end:
            return None
    return round(float(total.mean()), 1)
