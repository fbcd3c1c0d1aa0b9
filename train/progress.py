"""What a training run shows while it runs, and what becomes of it when an error ends it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from eval.cli import Interrupts
from train.run import Trainer

TOLD_EVERY: Final = 30.0
"""Seconds from one line to the next where there is no terminal for a progress bar."""


def follow(trainer: Trainer, interrupts: Interrupts) -> bool:
    """Train to the end or to a Ctrl-C with a progress bar, and save; tell whether it came to the end."""
    columns = (
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[speed]:>6,.0f} decisions/s"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[figures]}"),
    )
    console = Console(stderr=True)
    with rescuing(trainer), Progress(*columns, console=console, speed_estimate_period=120) as progress:
        task = progress.add_task("", total=trainer.config.decisions, speed=0.0, figures="")
        progress.update(task, completed=trainer.decisions)
        told_at = time.monotonic()
        while not trainer.done and not interrupts:
            figures = trainer.advance()
            told = "  ".join(
                f"{name} {100 * trainer.latest[f'{name}/win_share']:.0f}% {trainer.latest[f'{name}/points']:+.0f}"
                for name in trainer.config.anchors
                if trainer.latest
            )
            progress.update(
                task,
                completed=trainer.decisions,
                speed=figures["decisions_per_second"],
                figures=told or "not measured yet",
            )
            if not console.is_terminal and (trainer.done or time.monotonic() - told_at >= TOLD_EVERY):
                told_at = time.monotonic()
                console.print(
                    f"{trainer.decisions:,} of {trainer.config.decisions:,} decisions, {trainer.seconds:,.0f} s: "
                    f"{told or 'not measured yet'}"
                )
        trainer.save()
    return trainer.done


@contextlib.contextmanager
def rescuing(trainer: Trainer) -> Iterator[None]:
    """Save a run as it was after its last whole update if an error ends it; the error then tells what is saved."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError, MemoryError):
            trainer.save()
        error.add_note(f"saved at {trainer.saved:,} decisions; to go on: python -m train resume {trainer.folder}")
        raise


@contextlib.contextmanager
def quiet_threads() -> Iterator[None]:
    """Show no traceback of an ``OSError`` in a thread: TensorBoard raises it again where its writer is called."""
    before = threading.excepthook

    def show(args: threading.ExceptHookArgs) -> None:
        if not isinstance(args.exc_value, OSError):
            before(args)

    threading.excepthook = show
    try:
        yield
    finally:
        threading.excepthook = before
