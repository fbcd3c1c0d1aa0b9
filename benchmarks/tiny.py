"""``python -m benchmarks.tiny``: how far players of the tiny game are from an equilibrium, exactly.

Bots, OpenSpiel's CFR over :mod:`jolly_env.openspiel`, and our own self-play, of which each snapshot is measured as it
plays by its probabilities. What the result file holds already is not measured again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import machine
from eval.cli import main_guard
from eval.exploit import Tree
from eval.files import write_json, writing
from eval.origin import origin

PROG = "python -m benchmarks.tiny"
DESCRIPTION = """Measure exploitability on the tiny game (jolly_env.rules.TINY), in points a round and seat.

Some 40 minutes. Stopped, the same command goes on with what the file lacks.

Example: python -m benchmarks.tiny --json benchmarks/results/tiny.json --picture docs/pictures/tiny.png"""

BOTS: Final = ("random", "greedy", "careful", "planner", "racer")
BOTH_WAYS: Final = ("random", "planner")
ITERATIONS: Final = (1, 2, 4, 8, 16, 32, 64)
"""Iterations of CFR after which its average policy is measured."""
TRAINING: Final = (
    "--rules tiny --imitate 0 --decisions 600000 --games 128 --steps 32 --evaluate-every 100000 --evaluate-deals 50 "
    "--anchors greedy --snapshot-every 6 --threads 1"
)
"""How the learner is trained: an update has 4,096 decisions, a snapshot is taken after six."""


@dataclass
class Options(machine.Options):
    """The options of the command."""

    picture: Path | None = None
    """Draw the curves into this file, too."""
    runs: Path = Path("runs")
    """Where the runs of the learner go."""
    seeds: int = 3
    """Runs of the learner."""
    iterations: int = ITERATIONS[-1]
    """Most iterations of CFR."""


def measure(tree: Tree, name: str) -> float:
    """Return the exploitability of a bot, or of a folder's network by its probabilities."""
    from agents import make
    from agents.policy import load

    agent = load(name, sample=True) if Path(name).is_dir() else make(name)
    return tree.exploitability(tree.of_agent(agent))


def both_ways(tree: Tree) -> dict[str, list[float]]:
    """Return the exploitability of some bots by our tree, and by OpenSpiel over its own game."""
    from open_spiel.python.algorithms.exploitability import exploitability

    from agents import make
    from jolly_env.openspiel import AgentPolicy, load

    game = load(tree.rules)
    return {
        name: [measure(tree, name), 100 * exploitability(game, AgentPolicy(game, make(name)))] for name in BOTH_WAYS
    }


def cfr_curve(tree: Tree, iterations: int) -> list[dict[str, float]]:
    """Return the exploitability of OpenSpiel's CFR, by OpenSpiel, after some iterations."""
    import pyspiel

    from jolly_env.openspiel import load

    game = load(tree.rules)
    solver, curve = pyspiel.CFRSolver(game), []
    for iteration in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration in ITERATIONS:
            curve.append(
                {"iterations": iteration, "points": 100 * pyspiel.exploitability(game, solver.average_policy())}
            )
            machine.say(f"CFR, {iteration} iterations: {curve[-1]['points']:.3f} points")
    return curve


def ppo_curve(tree: Tree, seed: int, runs: Path) -> dict[str, Any]:
    """Train by self-play; return the command and the exploitability of each snapshot."""
    folder = runs / f"tiny-{seed}"
    go_on = (folder / "run.json").exists()
    begin = f"run {TRAINING} --seed {seed} --out {folder}"
    command = ["-m", "train", *(("resume", str(folder)) if go_on else begin.split())]
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    curve = []
    for snapshot in sorted((folder / "snapshots").iterdir()):
        about = json.loads((snapshot / "agent.json").read_text(encoding="utf-8"))
        curve.append({"decisions": about["decisions"], "points": measure(tree, str(snapshot))})
    return {"command": f"python -m train {begin}", "curve": curve}


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the curves."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    left.plot([p["iterations"] for p in result["cfr"]], [p["points"] for p in result["cfr"]], marker="o")
    left.set(xlabel="iterations", title="OpenSpiel's CFR, average policy", xscale="log", yscale="log")
    left.set_ylabel("exploitability (points a round)")
    for name in sorted(key for key in result if key.startswith("ppo-")):
        curve = result[name]["curve"]
        right.plot([p["decisions"] for p in curve], [p["points"] for p in curve], label=f"seed {name[4:]}")
    right.set(xlabel="decisions", title="Self-play PPO, each snapshot")
    for name, points in result["bots"].items():
        if name in ("random", "greedy", "planner"):
            right.axhline(points, color="grey", linewidth=0.8, linestyle="--")
            right.annotate(name, (0, points), fontsize=8, va="bottom")
    right.legend()
    with writing(path) as beside:
        figure.savefig(beside, dpi=130)
    plt.close(figure)


def show(result: dict[str, Any]) -> None:
    """Print the figures."""
    for name, points in result["bots"].items():
        print(f"{name:10} {points:8.3f} points a round")
    for name, (ours, theirs) in result["both"].items():
        print(f"{name:10} {ours:.9f} by our tree, {theirs:.9f} by OpenSpiel")
    for point in result["cfr"]:
        print(f"CFR, {point['iterations']:4} iterations {point['points']:8.3f}")
    for name in sorted(key for key in result if key.startswith("ppo-")):
        last = result[name]["curve"][-1]
        print(f"{name}, {last['decisions']:,} decisions {last['points']:8.3f}")


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = machine.parse_options(Options, PROG, DESCRIPTION, given)
    options.at_least_one("seeds", "iterations")
    from jolly_env.rules import TINY

    tree, keep = Tree(TINY), Path(options.json) if options.json not in (None, "-") else None
    result: dict[str, Any] = {"decisions": tree.decisions, "information_sets": tree.information_sets}
    if keep is not None and keep.exists():
        result = json.loads(keep.read_text(encoding="utf-8"))
    result |= origin(PROG, given)
    parts: dict[str, Callable[[], Any]] = {
        "bots": lambda: {name: measure(tree, name) for name in BOTS},
        **{f"ppo-{n}": lambda n=n: ppo_curve(tree, n, options.runs) for n in range(1, options.seeds + 1)},  # type: ignore[misc]
        "both": lambda: both_ways(tree),
        "cfr": lambda: cfr_curve(tree, options.iterations),
    }
    for name, part in parts.items():
        if name not in result:
            machine.say(f"measuring {name}")
            result[name] = part()
            if keep is not None:
                write_json(keep, result)
    if options.picture is not None:
        draw(result, options.picture)
    machine.deliver(result, options.json, show)


if __name__ == "__main__":
    sys.exit(main())
