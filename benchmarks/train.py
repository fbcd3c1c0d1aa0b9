"""``python -m benchmarks.train``: decisions trained a second, beside learners whose environment costs nothing."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import machine
from benchmarks.engine import ratio
from eval.cli import main_guard
from eval.origin import origin

PROG = "python -m benchmarks.train"
DESCRIPTION = """Measure how many decisions are trained on in a second, with the settings of a training run.

Contestants: our learner on Jolly; the same learner on an environment that costs nothing; stock MaskablePPO with a
network of the same widths, and the same rollouts and batches, on an environment that costs nothing.

Example: python -m benchmarks.train --repeats 3 --games 64 --steps 32"""


@dataclass
class Options(machine.Options):
    """The options of the command."""

    repeats: int = 7
    """Measured updates of each contestant; they take turns, so that what else the machine does hits all alike."""
    games: int = 256
    """Games played side by side."""
    steps: int = 64
    """Decisions in each game between two updates."""
    threads: int = 2
    """Threads that torch may use."""

    def check(self) -> None:
        """Raise ``ValueError`` for a number that makes no sense."""
        self.at_least_one("repeats", "games", "steps", "threads")


def contestants(options: Options) -> dict[str, Callable[[], tuple[float, float]]]:
    """Return what makes one update, by name: each returns its decisions, and the seconds that they took."""
    import torch
    from sb3_contrib import MaskablePPO
    from torch import nn

    from benchmarks.free import FreeEnv, default_env, recorded
    from train.config import Config
    from train.run import make_learner

    torch.set_num_threads(options.threads)
    size = min(Config.batch_size, options.games * options.steps)
    config = Config(games=options.games, steps=options.steps, batch_size=size, threads=options.threads)
    tape = recorded(options.games)
    jolly, free = make_learner(config, default_env(config.games, 0)), make_learner(config, FreeEnv(tape))
    stock = MaskablePPO(
        "MlpPolicy",
        FreeEnv(tape),
        n_steps=config.steps,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        ent_coef=config.entropy,
        learning_rate=config.learning_rate,
        policy_kwargs={
            "net_arch": {"pi": list(config.widths), "vf": list(config.value_widths)},
            "activation_fn": nn.ReLU,
        },
        device="cpu",
        seed=0,
    )

    def update(learner: MaskablePPO) -> tuple[float, float]:
        start = time.perf_counter()
        learner.learn(config.games * config.steps, log_interval=1_000_000, reset_num_timesteps=False)
        return config.games * config.steps, time.perf_counter() - start

    learners = {"jolly": jolly, "same learner, free environment": free, "stock MaskablePPO, free environment": stock}
    return {name: functools.partial(update, learner) for name, learner in learners.items()}


def measure(options: Options, argv: Sequence[str]) -> dict[str, Any]:
    """Return the whole result."""
    machine.say("preparing the learners ...")
    updates = contestants(options)
    rates: dict[str, list[float]] = {name: [] for name in updates}
    for i in range(options.repeats + 1):
        machine.say(f"round {i} of {options.repeats}" if i else "a first round, not counted")
        for name, update in updates.items():
            decisions, seconds = update()
            if i:
                rates[name].append(decisions / seconds)
    jolly, free, stock = rates
    ratios = {f"{jolly} / {other}": ratio(rates, jolly, other) for other in (free, stock)}
    first = ratios[f"{jolly} / {free}"]
    assert first is not None
    return {
        "ratio": first["median"],
        "ratios": ratios,
        "decisions_per_second": {name: machine.spread(values) for name, values in rates.items()},
        "options": {name: getattr(options, name) for name in ("repeats", "games", "steps", "threads")},
        "machine": machine.describe_machine(),
        **origin(PROG, argv),
    }


def show(result: dict[str, Any]) -> None:
    """Print a result for people."""
    from rich.console import Console
    from rich.table import Table

    table = Table("learner", "decisions/s", "quartiles", title="Decisions trained a second")
    for name, row in result["decisions_per_second"].items():
        table.add_row(name, f"{row['median']:,.0f}", f"{row['low']:,.0f} to {row['high']:,.0f}")
    for name, row in result["ratios"].items():
        table.add_row(name, f"{row['median']:g} times", f"{row['low']:g} to {row['high']:g}")
    Console().print(table)


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = machine.parse_options(Options, PROG, DESCRIPTION, given)
    options.check()
    machine.deliver(measure(options, given), options.json, show)


if __name__ == "__main__":
    sys.exit(main())
