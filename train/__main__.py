"""The command ``python -m train``."""

from __future__ import annotations

import dataclasses
import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.cli import INTERRUPTED, catch_interrupts, importing, main_guard, parse, with_address

with importing():
    import tyro

    from train.config import Config, with_preset

if TYPE_CHECKING:
    from train.run import Trainer


@dataclasses.dataclass(frozen=True)
class Run:
    """Train an agent: it imitates a teacher, then plays against itself, its past and bots.

    The folder then holds best/ and last/ (agents: python -m eval run RUN/best greedy), snapshots/, curve.csv,
    curve.png, run.json and tensorboard/. Ctrl-C saves; python -m train resume RUN goes on.

    --preset quick, laptop (the default) or gpu stands for settings that are good for ten minutes or two hours on two
    cores, or on a GPU; what is given beside it counts more.

    Example: python -m train run --preset quick --out runs/first --bots planner --bot-share 0.2
    """

    config: tyro.conf.OmitArgPrefixes[Config]
    out: Path | None = None
    """Folder for the run; by default a new one under runs/."""


@dataclasses.dataclass(frozen=True)
class Resume:
    """Go on with a run from its last checkpoint, bit for bit as if it had not stopped.

    Example: python -m train resume runs/first --decisions 2000000
    """

    folder: tyro.conf.Positional[Path]
    """The run's folder."""
    decisions: int | None = None
    """New end of the run; by default the one it was started with."""


@dataclasses.dataclass(frozen=True)
class Tune:
    """Search for better weights of a bot by CMA-ES, in play on duplicate deals that are never used again.

    The file is written after each generation; the same command goes on with it.

    Example: python -m train tune careful --against greedy --out runs/careful.json
    """

    agent: tyro.conf.Positional[str]
    """The bot: careful or planner."""
    out: Path
    """File for the weights and the course of the search."""
    against: tuple[str, ...] = ("greedy",)
    """Opponents; the mean of the points against each of them counts."""
    players: int = 2
    """Players at the table; one candidate meets a field."""
    rules: str = ""
    """Rules that differ, as in opening_points=30."""
    generations: int = 40
    """Generations."""
    population: int = 16
    """Candidates of a generation."""
    deals: int = 1000
    """Deals for each candidate and opponent."""
    seed: int = 1
    """Seed of the deals and the candidates."""
    workers: int = 2
    """Processes side by side."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Search for good settings of training, in runs of which poor ones are stopped early.

    Each trial is a run in a folder of its own; what is known of all is kept, and the same command goes on. The folder
    gets sweep.json, with the best settings and the command that trains by them, and sweep.png.

    Example: python -m train sweep --over learning_rate=1e-4..3e-3:log --over hold=0..0.3 --out runs/sweep --trials 12
    """

    out: Path
    """Folder of the search; on a cluster one that all nodes see."""
    over: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """A setting and where to look for it: NAME=LOW..HIGH, NAME=LOW..HIGH:log, or NAME=A,B,C. May be given often."""
    settings: str = "--preset quick --evaluate-every 8"
    """What all runs have in common, as for python -m train run."""
    anchor: str = ""
    """The points against this agent count; by default the last that the runs are measured against."""
    trials: int = 20
    """Trials in all, with those of a search that is gone on with."""
    workers: int = 1
    """Trials side by side."""
    seed: int = 1
    """Seed of the search."""
    ray: str | None = None
    """Run the trials on a Ray cluster: auto, an address, or without one, Ray on this machine."""


COMMANDS = {"run": Run, "resume": Resume, "tune": Tune, "sweep": Sweep}


@main_guard
def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    words = with_preset(argv) if argv[:1] == ["run"] else with_address(_joined(argv))
    options: Run | Resume | Tune | Sweep = parse(
        COMMANDS, "python -m train", "Train agents by self-play; tune bots.", words
    )
    if isinstance(options, Sweep):
        from train.sweep import sweep

        return sweep(options, argv)
    if isinstance(options, Tune):
        from train.tune import tune  # here, so that --help need not wait for numba

        return tune(options, argv)
    return learn(options, argv)


def _joined(argv: Sequence[str]) -> list[str]:
    """Return a command line in which ``--settings`` and its value, which begins with dashes, too, are one word."""
    given = list(argv)
    if "--settings" in given[:-1]:
        at = given.index("--settings")
        given[at : at + 2] = [f"--settings={given[at + 1]}"]
    return given


def learn(options: Run | Resume, argv: Sequence[str]) -> int:
    """Begin a run or go on with one; return the exit code. Wrong input is found before torch is imported."""
    from agents import make
    from train.folder import check_new, held, read_config

    if isinstance(options, Run):
        config, folder = options.config, options.out
        if folder is None:
            folder = Path("runs") / datetime.datetime.now().strftime("train-%Y%m%d-%H%M%S")
        check_new(folder)
    else:
        folder = options.folder
        config = read_config(folder)
    for name in (*config.anchors, *config.bots, config.teacher):
        if not Path(name).exists():  # others are networks, for which torch must be there
            make(name)
    with held(folder):
        from train.progress import follow, quiet_threads
        from train.run import go_on, start

        with catch_interrupts() as interrupts, quiet_threads():
            trainer = start(config, folder, argv) if isinstance(options, Run) else go_on(folder, options.decisions)
            finished = follow(trainer, interrupts)
    tell(trainer, finished)
    return 0 if finished else INTERRUPTED


def tell(trainer: Trainer, finished: bool) -> None:
    """Print what there is now."""
    folder = trainer.folder
    if finished:
        print(f"trained on {trainer.decisions:,} decisions in {trainer.seconds:,.0f} s")
    else:
        print(f"stopped at {trainer.decisions:,} decisions, saved; go on with: python -m train resume {folder}")
    for name in ("best", "last", "curve.png", "curve.csv", "tensorboard"):
        if (folder / name).exists():
            print(f"  {folder / name}")


if __name__ == "__main__":
    sys.exit(main())
