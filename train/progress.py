"""What a training run shows while it runs."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from eval.cli import Interrupts
from train.run import Trainer


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
    with Progress(*columns, console=console, speed_estimate_period=120) as progress:
        task = progress.add_task("", total=trainer.config.decisions, speed=0.0, figures="")
        progress.update(task, completed=trainer.decisions)
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
            if not console.is_terminal and trainer.updates % trainer.config.evaluate_every == 0:
                console.print(f"{trainer.decisions:,} decisions, {trainer.seconds:,.0f} s: {told}")
    trainer.save()
    return trainer.done
