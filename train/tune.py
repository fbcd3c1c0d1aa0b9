"""``python -m train tune``: find better weights for a bot by CMA-ES (Hansen 2016) in play on duplicate deals.

Every generation draws new deals, the same for all its candidates, so no deal is ever used twice. What is kept in the
end is the mean of the last generations, which the noise of single candidates does not favour.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import multiprocessing
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import agents
from agents.weights import weigh, weights_of
from eval.arena import play
from eval.cli import DONE, INTERRUPTED, Interrupts, catch_interrupts, parse_rules
from eval.files import write_json
from eval.origin import origin
from eval.workers import deaf

if TYPE_CHECKING:
    from train.__main__ import Tune

SPREAD = 0.3
"""Standard deviation of the first generation, in scales of the weights."""
LEAST = 0.1
"""The least scale of a weight; else it is what the weight is at the start."""
LAST = 5
"""Generations whose means are averaged in the end."""


def tune(options: Tune, argv: Sequence[str]) -> int:
    """Run or go on with a search; return the exit code. ``ValueError`` for what can't be."""
    search = Search(options, origin("python -m train", argv))
    with catch_interrupts() as interrupts:
        search.run(interrupts)
    return DONE if len(search.generations) >= options.generations else INTERRUPTED


class Search:
    """A search in one file, which holds every generation's values and so can be gone on with."""

    def __init__(self, options: Tune, made: dict[str, Any]) -> None:
        """Prepare the search, and repeat what the file already holds."""
        from cmaes import CMA

        if options.population < 2:
            raise ValueError(f"population={options.population}: expected at least 2 candidates")
        self.options, self.made = options, made
        self.path = options.out
        weights = weights_of(options.agent)
        self.names = list(weights)
        many = options.agent == "planner" and options.players > 2
        self.start = weigh("planner-many" if many else options.agent, weights, {})
        self.scales = np.maximum(np.abs(self.start), LEAST)
        for name in options.against:
            agents.make(name)
        self.optimiser = CMA(
            mean=np.zeros(len(self.start)), sigma=SPREAD, seed=options.seed, population_size=options.population
        )
        self.generations: list[dict[str, Any]] = self._read()
        for generation in self.generations:
            self.optimiser.tell([(self.optimiser.ask(), -value) for value in generation["values"]])

    def run(self, interrupts: Interrupts) -> None:
        """Try generation after generation, in processes side by side; the file is written after each."""
        from rich.progress import Progress

        context = multiprocessing.get_context("spawn")
        told = self.options
        table = (told.against, told.players, told.rules, told.deals)
        with (
            Progress(disable=not sys.stderr.isatty()) as progress,
            concurrent.futures.ProcessPoolExecutor(self.options.workers, context) as pool,
        ):
            task = progress.add_task("", total=self.options.generations, completed=len(self.generations))
            while len(self.generations) < self.options.generations and not interrupts:
                begin = time.perf_counter()
                points = [self.optimiser.ask() for _ in range(self.options.population)]
                seed = [self.options.seed, len(self.generations)]
                with deaf():  # here the workers start
                    jobs = [pool.submit(measure, self._name(x), *table, seed) for x in points]
                values = [job.result() for job in jobs]
                self.optimiser.tell([(x, -value) for x, value in zip(points, values, strict=True)])
                self.generations.append(
                    {
                        "mean": self.optimiser._mean.tolist(),
                        "values": values,
                        "seconds": round(time.perf_counter() - begin, 1),
                    }
                )
                self._write()
                figures = f"{self.options.agent}: best {max(values):+.1f}, mean {np.mean(values):+.1f} points"
                progress.update(task, advance=1, description=figures)
                print(f"generation {len(self.generations)}: {figures}", flush=True)

    def weights(self) -> dict[str, float]:
        """Return the weights that the search has come to."""
        means = [generation["mean"] for generation in self.generations[-LAST:]]
        return self._named(np.mean(means, axis=0))

    def _named(self, x: np.ndarray) -> dict[str, float]:
        """Return a point of the search as weights."""
        return dict(zip(self.names, (self.start + self.scales * x).round(5).tolist(), strict=True))

    def _name(self, x: np.ndarray) -> str:
        """Return the name under which the registry makes a candidate."""
        return f"{self.options.agent}:" + ",".join(f"{name}={value}" for name, value in self._named(x).items())

    def _read(self) -> list[dict[str, Any]]:
        """Return the generations that the file holds; ``ValueError`` if it is another search's."""
        if not self.path.exists():
            return []
        try:
            held = json.loads(self.path.read_text(encoding="utf-8"))
            same = held["search"] == self._settings()
            generations = held["generations"]
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{self.path}: not the file of a search: {error}") from None
        if not same:
            raise ValueError(f"{self.path}: of another search: {held['search']}; name another --out")
        return list(generations)

    def _settings(self) -> dict[str, Any]:
        """Return what decides the course of the search."""
        settings = dataclasses.asdict(self.options)
        kept = ("agent", "against", "players", "rules", "deals", "population", "seed")
        return json.loads(json.dumps({name: settings[name] for name in kept} | {"start": self.start.tolist()}))

    def _write(self) -> None:
        """Write all that there is."""
        write_json(
            self.path,
            {"weights": self.weights(), "search": self._settings(), **self.made, "generations": self.generations},
        )


def measure(name: str, against: Sequence[str], players: int, rules: str, deals: int, seed: list[int]) -> float:
    """Return the points per round of an agent against each of the others, on average."""
    drawn = int(np.random.SeedSequence(seed).generate_state(1)[0])
    agent, means = agents.make(name), []
    for other in against:
        both = {"candidate": agent, "other": agents.make(other)}
        games = play(both, deals, drawn, rules=parse_rules(rules, players))
        own = games.seatings == 0
        means.append((games.margins * own).sum() / (games.rounds * own.sum(axis=1)).sum())
    return float(np.mean(means))
