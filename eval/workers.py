"""Units played in several processes, which share nothing but numbers of units and their rows."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Generator, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

import numpy as np

from eval.arena import Floor, Played, against_each, plan, unit_deals
from jolly_env.agent import Agent
from jolly_env.rules import Rules

ALONE: Final = 2.0
"""Seconds for which a run plays in its own process before it starts others."""
TELL: Final = 0.2
"""Seconds from one message of a worker about its progress to the next."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What a process needs to know to play any unit."""

    agents: tuple[str, ...]
    """Names, as :func:`agents.make` knows them."""
    deals: int
    seed: int
    rules: Rules
    each: bool = False
    """Whether the first agent meets each other alone, in place of all meeting all."""

    def seatings(self) -> np.ndarray:
        """Return the seatings of each deal: int64[G, P]."""
        count, players = len(self.agents), self.rules.players
        return against_each(count, players) if self.each else plan(count, players)

    def floor(self, agents: dict[str, Agent], log: dict[tuple[int, int], list[int]] | None = None) -> Floor:
        """Return a floor on which agents of these names play."""
        return Floor(agents, self.deals, self.seed, self.rules, seatings=self.seatings(), log=log)


def named_agents(names: tuple[str, ...]) -> dict[str, Agent]:
    """Make the agents; one that is named again is ``NAME#2``, and the same object. ``ValueError`` for unknown names."""
    from agents import make

    made: dict[str, Agent] = {}
    agents: dict[str, Agent] = {}
    for i, name in enumerate(names):
        if name not in made:
            made[name] = make(name)
        count = names[:i].count(name) + 1
        agents[name if count == 1 else f"{name}#{count}"] = made[name]
    return agents


def play_units(
    task: Task,
    agents: dict[str, Agent],
    units: Iterator[int],
    workers: int,
    *,
    stop: Any = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Generator[Played]:
    """Play units, and yield each as it ends, until ``stop`` turns true; one worker is this process itself.

    ``agents`` are those of the task, made here. The first seconds are played here in any case: a short run is over
    before other processes have begun, and what agents compile is in the cache before several processes want it.
    ``ChildProcessError`` if a process ends before its work does.
    """
    floor = task.floor(agents)
    if workers == 1:
        yield from floor.play(units, stop=stop, on_progress=on_progress)
        return
    end = Deadline(ALONE)
    for unit in units:
        over = list(floor.play([unit], stop=Either(stop, end)))
        yield from over
        if on_progress is not None:
            for played in over:
                on_progress(len(unit_deals(unit, task.deals)) * len(floor.seatings), len(played.rows))
        if stop:
            return
        if not over or end:
            units = itertools.chain([] if over else [unit], units)
            break
    else:
        return
    del floor
    with _started(task, workers) as processes:
        yield from _serve(processes, units, stop, on_progress)


class Deadline:
    """True from so many seconds on."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def __bool__(self) -> bool:
        """Tell whether the time is over."""
        return time.monotonic() >= self._end


class Either:
    """True as soon as one of two things is."""

    def __init__(self, one: Any, other: Any) -> None:
        self._both = one, other

    def __bool__(self) -> bool:
        """Tell whether one of them is true."""
        return any(self._both)


@contextlib.contextmanager
def _started(task: Task, workers: int) -> Iterator[dict[Connection, BaseProcess]]:
    """Start processes; yields each with the line to it, and ends them in the end."""
    context = multiprocessing.get_context("spawn")
    processes: dict[Connection, BaseProcess] = {}
    try:
        with deaf(), without_main():
            for _ in range(workers):
                ours, theirs = context.Pipe()
                process: BaseProcess = context.Process(target=_work, args=(task, theirs), daemon=True)
                process.start()
                theirs.close()
                processes[ours] = process
        yield processes
    finally:
        for line, process in processes.items():
            process.kill()
            process.join()
            line.close()


@contextlib.contextmanager
def deaf() -> Iterator[None]:
    """Let processes that are started here leave Ctrl-C to this one, and torch keep to one thread."""
    threads = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    os.environ.update(dict.fromkeys(threads, "1"))
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
        for name, value in threads.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Let processes that are started here leave the main script alone: they would import it, and so run it again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(
    processes: dict[Connection, BaseProcess],
    units: Iterator[int],
    stop: Any,
    on_progress: Callable[[int, int], None] | None,
) -> Iterator[Played]:
    """Give each process units as it asks for them, and yield what comes back, until all are done."""
    busy = set(processes)
    while busy and not stop:
        for line in wait(busy, timeout=TELL):
            assert isinstance(line, Connection)
            try:
                kind, value = line.recv()
                if kind == "next":
                    line.send(next(units, None))
            except (EOFError, OSError):
                processes[line].join()
                code = processes[line].exitcode
                raise ChildProcessError(
                    f"a worker process ended with code {code}; the same command goes on with what is saved"
                ) from None
            if kind == "played":
                yield value
            elif kind == "progress" and on_progress is not None:
                on_progress(*value)
            elif kind == "error":
                raise ValueError(value)
            elif kind == "done":
                busy.discard(line)


def _work(task: Task, line: Connection) -> None:
    """Play units, in a process of its own, until there are no more or nobody listens."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    games = rounds = 0
    told = time.monotonic()

    def units() -> Iterator[int]:
        while True:
            line.send(("next", None))
            unit = line.recv()
            if unit is None:
                return
            yield unit

    def tell(more_games: int, more_rounds: int) -> None:
        nonlocal games, rounds, told
        games, rounds = games + more_games, rounds + more_rounds
        if time.monotonic() - told > TELL:
            line.send(("progress", (games, rounds)))
            games, rounds, told = 0, 0, time.monotonic()

    try:
        agents = named_agents(task.agents)
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(1)
        for played in task.floor(agents).play(units(), on_progress=tell):
            line.send(("played", played))
        line.send(("progress", (games, rounds)))
        line.send(("done", None))
    except ValueError as error:
        line.send(("error", str(error)))
    except (EOFError, BrokenPipeError):
        return


def end_with_parent() -> None:
    """End this process when the one that started it has ended, however that came."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
