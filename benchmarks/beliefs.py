"""``python -m benchmarks.beliefs``: how well sampled worlds tell who holds what: predicted against true frequencies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from eval.cli import main_guard
from eval.files import writing
from eval.origin import origin

PROG = "python -m benchmarks.beliefs"
DESCRIPTION = """Ask in positions of play, for each unseen card, how likely the next player holds it, and look.

Worlds are drawn blindly (determinize) and weighed by what was done (agents.beliefs). The loss is the mean negative
log likelihood of whether the card is held: lower is better.

Example: python -m benchmarks.beliefs --positions 100 --players 4"""

BINS = 10


@dataclass
class Options(machine.Options):
    """The options of the command."""

    picture: Path | None = None
    """Draw predicted against true frequencies into this PNG."""
    agent: str = "planner"
    """Who plays all seats."""
    players: int = 2
    """Seats at the table, 2 to 4."""
    positions: int = 1000
    """Positions that are asked about."""
    worlds: int = 200
    """Worlds of each."""
    seed: int = 1
    """Seed of the games."""


def ask(options: Options) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what was predicted blindly and by weighed worlds, and whether it was so: float64[K] each."""
    from agents import make
    from agents.beliefs import sample_worlds
    from jolly_env.batch import Batch
    from jolly_env.determinize import determinize
    from jolly_env.rules import Rules

    rng = np.random.default_rng(options.seed)
    batch, agent = Batch(64, Rules(players=options.players), seed=options.seed), make(options.agent)
    blind: list[np.ndarray] = []
    weighed: list[np.ndarray] = []
    held: list[np.ndarray] = []
    for step in range(-(-options.positions // 4) + 20):
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
        for row in rng.integers(64, size=4)[: options.positions - 4 * (step - 20)] if step >= 20 else ():
            seen = batch.observations[row]
            other = (int(seen["seat"]) + 1) % options.players
            asked = (seen["unseen"] > 0) & (seen["known"][1] == 0)
            alike = np.concatenate([determinize(seen, int(rng.integers(2**63))) for _ in range(options.worlds)])
            likely = sample_worlds(seen, int(rng.integers(2**63)), options.worlds)
            for worlds, predicted in ((alike, blind), (likely, weighed)):
                share = (worlds["hands"][:, other][:, asked] > 0).sum(axis=0)
                predicted.append((share + 0.5) / (options.worlds + 1))
            held.append(batch.states["hands"][row, other][asked] > 0)
    return np.concatenate(blind), np.concatenate(weighed), np.concatenate(held).astype(np.float64)


def loss(predicted: np.ndarray, held: np.ndarray) -> float:
    """Return the mean negative log likelihood."""
    return float(-np.where(held > 0, np.log(predicted), np.log(1 - predicted)).mean())


def calibration(predicted: np.ndarray, held: np.ndarray) -> list[dict[str, float]]:
    """Return predicted and true frequencies by tenths of what was predicted."""
    tenth = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
    return [
        {
            "predicted": float(predicted[tenth == b].mean()),
            "true": float(held[tenth == b].mean()),
            "cards": int((tenth == b).sum()),
        }
        for b in range(BINS)
        if (tenth == b).any()
    ]


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw predicted against true frequencies."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], "--", color="0.6", linewidth=1)
    for name, style in (("blind", "s-"), ("weighed", "o-")):
        points = [point for point in result["calibration"][name] if point["cards"] >= 30]
        label = f"{name} worlds, loss {result['loss'][name]:.3f}"
        axes.plot([p["predicted"] for p in points], [p["true"] for p in points], style, label=label)
    axes.set_xlabel("predicted: the next player holds the card")
    axes.set_ylabel("how often it did")
    most = max(point["predicted"] for points in result["calibration"].values() for point in points) * 1.2
    axes.set_xlim(0, min(most, 1))
    axes.set_ylim(0, min(most, 1))
    axes.legend()
    with writing(path) as beside:
        figure.savefig(beside, dpi=120)


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = machine.parse_options(Options, PROG, DESCRIPTION, given)
    options.at_least_one("positions", "worlds")
    machine.say("asking ...")
    blind, weighed, held = ask(options)
    result = {
        "cards": len(held),
        "loss": {"blind": loss(blind, held), "weighed": loss(weighed, held)},
        "calibration": {"blind": calibration(blind, held), "weighed": calibration(weighed, held)},
        "options": {name: getattr(options, name) for name in ("agent", "players", "positions", "worlds", "seed")},
        **origin(PROG, given),
    }
    if options.picture is not None:
        draw(result, options.picture)
        machine.say(f"wrote {options.picture}")
    machine.deliver(result, options.json)


if __name__ == "__main__":
    sys.exit(main())
