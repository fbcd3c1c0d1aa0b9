"""``python -m benchmarks.ray``: what a tournament costs more on Ray than in processes here, and where it saturates.

Units of one tournament are played by one local process, and by Ray with 1, 2, 4 workers. What a unit costs the process
that hands them out and keeps what comes back bounds how many workers it can keep busy: that is measured by units
that take no time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import machine
from eval.arena import UNIT, Played
from eval.cli import main_guard
from eval.origin import origin

PROG: Final = "python -m benchmarks.ray"
DESCRIPTION: Final = """Measure tournaments on Ray beside local processes.

Example: python -m benchmarks.ray --json benchmarks/results/ray.json"""
AGENTS: Final = ("planner", "greedy")
WORKERS: Final = (1, 2, 4)
CORES: Final = (10, 100, 1000)


@dataclass
class Options(machine.Options):
    """The options of the command."""

    deals: int = 10_000
    """Deals of each measurement, in both seatings."""
    repeats: int = 3
    """Measurements, of which the median is taken."""


def units_of(options: Options) -> list[int]:
    """Return the units of a measurement."""
    return list(range(-(-options.deals // UNIT)))


def local(options: Options, workers: int) -> float:
    """Return the seconds that local processes take, start included as little as can be."""
    from eval.workers import Task, named_agents, play_units
    from jolly_env import Rules

    task = Task(AGENTS, options.deals, 1, Rules())
    agents = named_agents(AGENTS)
    begin = time.perf_counter()
    count = sum(1 for _ in play_units(task, agents, iter(units_of(options)), workers))
    assert count == len(units_of(options))
    return time.perf_counter() - begin


def remotely(ray: Any, options: Options) -> float:
    """Return the seconds that the cluster takes, from the first unit that is back to the last, for all units."""
    from eval import remote
    from eval.workers import Task
    from jolly_env import Rules

    task = Task(AGENTS, options.deals, 1, Rules())
    warm = Task(AGENTS, options.deals, 2, Rules())
    for _ in remote.play_units(ray, warm, iter(units_of(options)[: len(units_of(options)) // 3]), stop=False):
        pass  # processes are started, and kernels loaded
    begin = time.perf_counter()
    count = sum(1 for _ in remote.play_units(ray, task, iter(units_of(options)), stop=False))
    assert count == len(units_of(options))
    return time.perf_counter() - begin


def handing_out(ray: Any, options: Options) -> float:
    """Return the processor seconds that a unit costs the process that hands out and keeps."""
    from eval.remote import play_some
    from eval.store import Store, source_hash
    from eval.workers import Task, named_agents
    from jolly_env import Rules

    task = Task(AGENTS, options.deals, 1, Rules())
    named_agents(AGENTS)
    _, (played,) = play_some((task, source_hash()), [0])
    give = ray.remote(num_cpus=0.01)(given)
    kept = ray.put(played)
    count = 200
    with tempfile.TemporaryDirectory() as folder:
        run = {"deals": count * UNIT, "players": 2, "seed": 1, "agents": list(AGENTS), "rules": {}}
        store = Store(Path(folder), run)
        ray.get(give.remote(kept, 0))
        begin = time.process_time()
        for unit in range(count):
            store.add(ray.get(give.remote(kept, unit)))
        return (time.process_time() - begin) / count


def given(played: Played, unit: int) -> Played:
    """Return a unit as if it had just been played."""
    rows = played.rows.copy()
    rows["deal"] += unit * UNIT
    return played._replace(unit=unit, rows=rows)


def measure(options: Options) -> dict[str, Any]:
    """Measure all."""
    import numpy as np

    from eval.remote import HERE, connected

    def median(values: list[float]) -> float:
        return float(np.median(values))

    units = len(units_of(options))
    machine.say("playing in one process")
    alone = median([local(options, 1) for _ in range(options.repeats)])
    result: dict[str, Any] = {"rounds": 2 * options.deals, "local_seconds": {"1": alone}, "ray_seconds": {}}
    machine.say("playing in two processes")
    result["local_seconds"]["2"] = median([local(options, 2) for _ in range(options.repeats)])
    for workers in WORKERS:
        machine.say(f"playing on Ray with {workers}")
        with connected(HERE, workers) as ray:
            result["ray_seconds"][str(workers)] = median([remotely(ray, options) for _ in range(options.repeats)])
            if workers == WORKERS[-1]:
                hand = handing_out(ray, options)
    unit = alone / units
    result["unit_seconds"], result["handing_out_seconds"] = unit, hand
    result["ratio"] = alone / result["ray_seconds"]["1"]
    # Each worker makes 1 / unit units a second; the process that hands out keeps up with 1 / hand of them.
    result["model"] = {
        str(cores): {
            "units_a_second": min(cores * result["ratio"] / unit, 1 / hand),
            "efficiency": min(1.0, unit / (result["ratio"] * hand * cores)),
        }
        for cores in CORES
    }
    result["saturates_at_cores"] = unit / (result["ratio"] * hand)
    return result


def show(result: dict[str, Any]) -> None:
    """Print the figures."""
    for name in ("local_seconds", "ray_seconds"):
        for workers, seconds in result[name].items():
            print(f"{name.split('_')[0]:6} {workers} workers: {1e6 * seconds / result['rounds']:8.0f} µs a round")
    print(
        f"handing out: {1000 * result['handing_out_seconds']:.2f} ms a unit, which takes {result['unit_seconds']:.2f} s"
    )
    print(f"saturates at {result['saturates_at_cores']:.0f} cores")


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    given_ = list(sys.argv[1:] if argv is None else argv)
    options = machine.parse_options(Options, PROG, DESCRIPTION, given_)
    options.at_least_one("deals", "repeats")
    result = {**measure(options), **origin(PROG, given_), "machine": machine.describe_machine()}
    machine.deliver(result, options.json, show)


if __name__ == "__main__":
    sys.exit(main())
