"""Units played on a Ray cluster: ``python -m eval run … --ray [ADDRESS]``.

A unit comes to the same rows wherever it is played, so nodes, workers and their ends can't show in a result: whoever
dies is replaced by Ray, and what it was playing is played again. A few units more than there are processors are asked
for at a time; what has come back goes to the store at once, so a long run needs no more memory than a short one.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Final

from eval.arena import Played, unit_deals
from eval.store import source_hash
from eval.workers import TELL, Task, named_agents
from jolly_env.agent import Agent

if TYPE_CHECKING:
    import ray

HERE: Final = "local"
"""The address that starts Ray on this machine alone."""
AHEAD: Final = 2
"""Tasks asked for at a time, for each processor."""
LONG: Final = 2.0
"""Seconds that a task should take: cheap agents play several units in one."""
MOST_UNITS: Final = 32
"""Units of one task."""
PATIENCE: Final = 5
"""Times that a task is asked for again, after Ray has given it up."""


def import_ray() -> Any:
    """Return Ray; ``ModuleNotFoundError`` of one line says how to get it."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError:
        raise ValueError("--ray: Ray is missing here; python -m pip install -e '.[ray]' brings it") from None
    return ray


@contextlib.contextmanager
def connected(address: str, processors: int | None = None) -> Iterator[Any]:
    """Connect to the cluster at an address ("auto": the one of this machine), or start one here; yields Ray.

    ``ValueError`` if there is none. A Ray that this process is connected to already is used and left as it is.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    quiet = {"log_to_driver": False, "logging_level": "error", "include_dashboard": False}
    try:
        if address == HERE:
            ray.init(num_cpus=processors, **quiet)
        else:
            ray.init(address=address, **{**quiet, "include_dashboard": None})
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ValueError(f"--ray {address}: no cluster there: {' '.join(str(error).split())[:200]}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def play_units(
    ray: Any, task: Task, units: Iterator[int], *, stop: Any, on_progress: Callable[[int, int], None] | None = None
) -> Generator[Played]:
    """Play units on a cluster, and yield each as it ends, until ``stop`` turns true.

    ``ChildProcessError`` if a task is given up again and again; ``ValueError`` if an agent can't be made there.
    """
    play = ray.remote(num_cpus=1, max_retries=-1)(play_some)
    told = ray.put((task, source_hash()))
    running: dict[ray.ObjectRef[Any], tuple[list[int], int]] = {}
    size = 1

    def ask(some: list[int], tries: int = 0) -> None:
        running[play.remote(told, some)] = some, tries

    try:
        while not stop:
            processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
            while len(running) < AHEAD * processors:
                some = [unit for _, unit in zip(range(size), units, strict=False)]
                if not some:
                    break
                ask(some)
            if not running:
                return
            done, _ = ray.wait(list(running), timeout=TELL)
            for reference in done:
                some, tries = running.pop(reference)
                try:
                    seconds, played = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    raise _cause(error) from None
                except ray.exceptions.RayError as error:
                    if tries >= PATIENCE:
                        raise ChildProcessError(
                            f"units {some} were given up {tries + 1} times: {type(error).__name__}; "
                            "the same command goes on with what is saved"
                        ) from None
                    ask(some, tries + 1)
                    continue
                size = max(1, min(MOST_UNITS, int(LONG * len(some) / max(seconds, 1e-3))))
                for unit in played:
                    yield unit
                    if on_progress is not None:
                        games = len(unit_deals(unit.unit, task.deals)) * len(task.seatings())
                        on_progress(games, len(unit.rows))
    finally:
        for reference in running:
            with contextlib.suppress(Exception):
                ray.cancel(reference, force=True)


def play_some(told: tuple[Task, str], units: list[int]) -> tuple[float, list[Played]]:
    """Play some units in a process of the cluster; returns the seconds that it took, and what was played."""
    task, sources = told
    if source_hash() != sources:
        raise ValueError("a node of the cluster has other sources than this machine; install the same version there")
    agents = _agents(task.agents)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    begin = time.perf_counter()
    played = list(task.floor(agents).play(iter(units)))
    return time.perf_counter() - begin, played


@functools.lru_cache(maxsize=4)
def _agents(names: tuple[str, ...]) -> dict[str, Agent]:
    """Return the agents of these names, made once a process."""
    return named_agents(names)


def _cause(error: Any) -> Exception:
    """Return what went wrong in a task: an agent's ``ValueError`` as it is."""
    cause = error.cause
    return cause if isinstance(cause, ValueError) else ChildProcessError(" ".join(str(cause).split())[:300])
