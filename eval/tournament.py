"""A tournament: the units that are missing are played, each is saved as it ends, until there is enough."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Generator
from typing import Any, Final

import numpy as np

from eval import remote
from eval.arena import UNIT, Played
from eval.rounds import Games
from eval.stopping import schedule, widest
from eval.store import Store
from eval.workers import Task, play_units
from jolly_env.agent import Agent

TOLD_FAULTS: Final = 3
"""Faults that are told of on stderr as they happen."""


class Tournament:
    """What is played, what there is of it in a :class:`Store`, and when it ends."""

    def __init__(self, task: Task, agents: dict[str, Agent], store: Store, half_width: float | None = None) -> None:
        """Take up a tournament where its store left it."""
        self.task, self.agents, self.store = task, agents, store
        self.half_width = half_width
        self.seatings = task.seatings()
        self.looks = schedule(task.deals, half_width)
        """After how many deals the tournament is looked at; see :mod:`eval.stopping`."""
        self.deals = 0
        """Deals that count: all before the first unit that is missing, or before the look that ended it."""
        self.over = False
        """Whether there is enough."""
        self._looked = 0
        self._told = 0
        self._look()

    @property
    def units(self) -> int:
        """Units that count."""
        return -(-self.deals // UNIT)

    def rows(self) -> np.ndarray:
        """Return the rounds that count."""
        return self.store.rows(self.units)

    def games(self) -> Games:
        """Return the sums of what counts."""
        return Games.of(self.rows(), self.deals, self.seatings)

    def missing(self) -> list[int]:
        """Return the units that are not over."""
        return [unit for unit in range(-(-self.task.deals // UNIT)) if unit not in self.store.units]

    def play(self, workers: int, stop: Any, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Play on until there is enough, or ``stop`` turns true; ``OSError`` if what is over can't be saved."""
        workers = min(workers, len(self.missing()))
        if not self.over:
            units = iter(self.missing())
            self._take(play_units(self.task, self.agents, units, workers, stop=stop, on_progress=on_progress))

    def play_remotely(self, ray: Any, stop: Any, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Play on as :meth:`play` does, on the cluster that Ray is connected to."""
        if not self.over:
            units = iter(self.missing())
            self._take(remote.play_units(ray, self.task, units, stop=stop, on_progress=on_progress))

    def _take(self, units: Generator[Played]) -> None:
        """Keep units as they end, until there is enough."""
        with contextlib.closing(units):
            for played in units:
                self.store.add(played)
                self._tell_faults(played)
                if self._look():
                    return

    def _look(self) -> bool:
        """See how far it has come; tell whether that is enough."""
        self.deals = min(self.store.prefix() * UNIT, self.task.deals)
        for number in range(self._looked, len(self.looks)):
            deals = self.looks[number]
            if deals > self.deals:
                break
            self._looked = number + 1
            if deals == self.task.deals or self._narrow(deals):
                self.deals, self.over = deals, True
                break
        return self.over

    def _narrow(self, deals: int) -> bool:
        """Tell whether the intervals are narrow enough after so many deals."""
        games = Games.of(self.store.rows(deals // UNIT), deals, self.seatings)
        assert self.half_width is not None
        return widest(games, list(self.agents), len(self.looks), self.task.seed) <= self.half_width

    def _tell_faults(self, unit: Played) -> None:
        """Warn of the first faults of agents."""
        for fault in unit.faults:
            self._told += 1
            if self._told > TOLD_FAULTS:
                return
            where = f"deal {fault['deal']}, seating {fault['seating']}, round {fault['round']}, seat {fault['seat']}"
            print(f"warning: {fault['message']}; {where}: it forfeits that round", file=sys.stderr)
            if self._told == TOLD_FAULTS:
                print("warning: further faults are only counted and written down", file=sys.stderr)


class Meter:
    """Tells how far a tournament has come: a bar on a terminal, nothing elsewhere."""

    def __init__(self, tournament: Tournament) -> None:
        """Measure what is missing now."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games  {task.fields[speed]:,.0f} rounds/s"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not (console.is_terminal and sys.stderr.isatty()),  # notebooks force colours on processes
        )
        G, deals = len(tournament.seatings), tournament.task.deals
        done = deals - sum(min(UNIT, deals - UNIT * unit) for unit in tournament.missing())
        self._bar = self._progress.add_task("playing", total=deals * G, completed=done * G, speed=0.0)
        self._begin, self._rounds = 0.0, 0

    def __enter__(self) -> Meter:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._progress.stop()

    def tell(self, games: int, rounds: int) -> None:
        """Note games and rounds that have ended."""
        now = time.perf_counter()
        if self._begin:
            self._rounds += rounds
            self._progress.update(self._bar, advance=games, speed=self._rounds / (now - self._begin))
        else:  # from the first round on: loading kernels is not playing
            self._begin = now
            self._progress.update(self._bar, advance=games)
