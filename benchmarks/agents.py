"""``python -m benchmarks.agents``: how many decisions a second each rung of the ladder makes on one core."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.engine import ratio
from eval.cli import main_guard
from eval.origin import origin

PROG = "python -m benchmarks.agents"
DESCRIPTION = """Measure decisions per second and core of each rung, the lay-down solver, and 10,000 deals of the arena.

The positions are those of the planner's play against the careful agent, each rung sees the same ones.

Example: python -m benchmarks.agents --repeats 3 --no-arena"""

RUNGS = ("random", "greedy", "careful", "planner", "racer")
GAMES = 512
BATCHES = 24
"""Moments of play at which all games are looked at."""
SEARCHED = 120
"""Decisions of the search that are timed, one at a time."""


@dataclass
class Options(machine.Options):
    """The options of the command."""

    repeats: int = 7
    """How often each rung decides all positions; the rungs take turns."""
    worlds: int = 64
    """Worlds of the search."""
    arena: bool = True
    """Also time 10,000 duplicate deals of planner and careful, on all cores."""
    solver: bool = True
    """Also time the lay-down solver."""

    def check(self) -> None:
        """Raise ``ValueError`` for a number that makes no sense."""
        self.at_least_one("repeats", "worlds")


def moments() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return observations, masks and keys of all games at some moments of play."""
    from agents import make
    from jolly_env.batch import Batch

    batch, players = Batch(GAMES, seed=4), (make("planner"), make("careful"))
    found = []
    for step in range(1, 7 * BATCHES + 1):
        actions = np.empty(GAMES, dtype=np.int64)
        for seat, agent in enumerate(players):
            rows = np.flatnonzero(batch.seats == seat)
            if rows.size:
                seen = batch.observations.take(rows), batch.masks.take(rows, axis=0), batch.keys[rows]
                actions[rows] = agent.act(*seen)
        if step % 7 == 0:
            found.append((batch.observations.copy(), batch.masks.copy(), batch.keys.copy()))
        batch.step(actions)
    return found


def time_rungs(seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]], repeats: int) -> dict[str, list[float]]:
    """Return the decisions a second of each rung, by turns."""
    from agents import make

    agents = {name: make(name) for name in RUNGS}
    rates: dict[str, list[float]] = {name: [] for name in RUNGS}
    for repeat in range(repeats + 1):
        for name, agent in agents.items():
            begin = time.perf_counter()
            for arrays in seen:
                agent.act(*arrays)
            if repeat:  # the first one loads kernels
                rates[name].append(GAMES * len(seen) / (time.perf_counter() - begin))
    return rates


def time_search(seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]], worlds: int) -> dict[str, Any]:
    """Return milliseconds of single decisions of the search."""
    from agents import make

    agent = make(f"search:worlds={worlds}")
    rng = np.random.default_rng(0)
    times = []
    for _ in range(SEARCHED + 1):
        arrays = seen[rng.integers(len(seen))]
        row = rng.integers(GAMES)
        begin = time.perf_counter()
        agent.act(*(array[row : row + 1] for array in arrays))
        times.append(1000 * (time.perf_counter() - begin))
    low, median, high, most = np.percentile(times[1:], [25, 50, 99, 100])
    return {
        "worlds": worlds,
        "decisions": SEARCHED,
        "mean_ms": machine.significant(float(np.mean(times[1:]))),
        "quartile_ms": machine.significant(low),
        "median_ms": machine.significant(median),
        "p99_ms": machine.significant(high),
        "max_ms": machine.significant(most),
    }


def time_arena() -> dict[str, Any]:
    """Return how long 10,000 duplicate deals take, start and report included, on all cores."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "eval", "run", "planner", "careful", "--deals", "10000", "--seed", "1"]
        begin = time.perf_counter()
        subprocess.run([sys.executable, *command, "--out", str(Path(folder) / "run")], check=True, capture_output=True)
        return {"deals": 10_000, "seconds": round(time.perf_counter() - begin, 1)}


def measure(options: Options, argv: Sequence[str]) -> dict[str, Any]:
    """Return the whole result."""
    arena = solver = None
    if options.arena:
        machine.say("playing 10,000 deals on all cores ...")
        arena = time_arena()
    machine.use_one_core()
    machine.say("timing the rungs ...")
    seen = moments()
    rates = time_rungs(seen, options.repeats)
    ratios = ratio(rates, "planner", "greedy")
    assert ratios is not None
    machine.say("timing the search ...")
    search = time_search(seen, options.worlds)
    if options.solver:
        from benchmarks.solver import figures

        machine.say("timing the lay-down solver ...")
        solver = figures()
    return {
        "ratio": ratios["median"],
        "ratios": {"planner / greedy": ratios},
        "decisions_per_second": {name: machine.spread(values) for name, values in rates.items()},
        "search": search,
        "arena": arena,
        "solver": solver,
        "options": {"repeats": options.repeats, "worlds": options.worlds},
        "machine": machine.describe_machine(),
        **origin(PROG, argv),
    }


def show(result: dict[str, Any]) -> None:
    """Print a result for people."""
    for name, rate in result["decisions_per_second"].items():
        print(f"{name:8} {rate['median']:12,.0f} decisions a second ({rate['low']:,.0f} to {rate['high']:,.0f})")
    search = result["search"]
    print(
        f"search   {search['mean_ms']:.1f} ms a decision on average with {search['worlds']} worlds, "
        f"99th percentile {search['p99_ms']:.0f}"
    )
    if result["arena"]:
        print(f"arena    10,000 duplicate deals planner-careful in {result['arena']['seconds']} s")


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = machine.parse_options(Options, PROG, DESCRIPTION, given)
    options.check()
    machine.deliver(measure(options, given), options.json, show)


if __name__ == "__main__":
    sys.exit(main())
