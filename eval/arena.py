"""Duplicate deals: every deal is played in every seating of the agents.

Letters: ``D`` deals, ``G`` seatings a deal, ``P`` seats (players), ``B`` rows of a batch.

All seatings of a deal share the cards, the reshuffles and the decision keys of each seat, so what a lucky deal gives
to one agent it gives to the next. A deal with all its seatings is one unit of the statistics.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from jolly_env.actions import ACTIONS, IllegalAction
from jolly_env.agent import Agent
from jolly_env.batch import Batch
from jolly_env.rules import Rules
from jolly_env.state import Ending

ROWS: Final = 512
"""Games played side by side."""


@dataclasses.dataclass
class Games:
    """What the rounds of ``D`` deals in ``G`` seatings came to: sums over the rounds of each game."""

    seatings: np.ndarray
    """int64[G, P]: the number of the agent in each seat."""
    rounds: np.ndarray
    """int64[D, G]: rounds played; 1 in all games without a ``target``."""
    exhausted: np.ndarray
    """int64[D, G]: rounds that ended since no draw was left (R12)."""
    cut_off: np.ndarray
    """int64[D, G]: rounds that were cut off at ``max_turns`` (R17)."""
    scores: np.ndarray
    """int64[D, G, P]: points."""
    wins: np.ndarray
    """float64[D, G, P]: rounds won; a round goes to the highest score, shared among equals."""
    closings: np.ndarray
    """int64[D, G, P]: rounds that the seat closed."""
    hand_jollys: np.ndarray
    """int64[D, G, P]: rounds that the seat closed with a Hand-Jolly."""
    differences: np.ndarray
    """int64[D, G, P, P]: points of one seat less those of another."""
    above: np.ndarray
    """float64[D, G, P, P]: rounds in which one seat scored more than another; equals count a half."""
    done: np.ndarray
    """bool[D, G]: the game is over."""
    decisions: int = 0
    """Actions played in all games."""
    seconds: float = 0.0
    """Time that they took."""

    @classmethod
    def empty(cls, deals: int, seatings: np.ndarray) -> Games:
        """Return the sums before the first round."""
        G, P = seatings.shape
        return cls(
            seatings=seatings,
            rounds=np.zeros((deals, G), np.int64),
            exhausted=np.zeros((deals, G), np.int64),
            cut_off=np.zeros((deals, G), np.int64),
            scores=np.zeros((deals, G, P), np.int64),
            wins=np.zeros((deals, G, P)),
            closings=np.zeros((deals, G, P), np.int64),
            hand_jollys=np.zeros((deals, G, P), np.int64),
            differences=np.zeros((deals, G, P, P), np.int64),
            above=np.zeros((deals, G, P, P)),
            done=np.zeros((deals, G), np.bool_),
        )

    @property
    def deals(self) -> int:
        """Number of deals, D."""
        return len(self.rounds)

    @property
    def margins(self) -> np.ndarray:
        """Points of each seat less the mean of the others' in the same round: float64[D, G, P]."""
        return self.differences.sum(axis=-1) / (self.seatings.shape[1] - 1)

    def add(self, deal: np.ndarray, seating: np.ndarray, batch: Batch, rows: np.ndarray) -> None:
        """Add the rounds that have just ended in ``rows`` of a batch, one for each (deal, seating)."""
        scores = batch.scores[rows]
        best = scores == scores.max(axis=1, keepdims=True)
        differences = scores[:, :, None] - scores[:, None, :]
        at = (deal, seating)
        self.rounds[at] += 1
        self.exhausted[at] += batch.endings[rows] == Ending.EXHAUSTED
        self.cut_off[at] += batch.endings[rows] == Ending.CUT_OFF
        self.scores[at] += scores
        self.wins[at] += best / best.sum(axis=1, keepdims=True)
        self.differences[at] += differences
        self.above[at] += (differences > 0) + 0.5 * (differences == 0)
        closer = batch.closers[rows]
        closed = np.flatnonzero(closer >= 0)
        at_closer = (deal[closed], seating[closed], closer[closed])
        self.closings[at_closer] += 1
        self.hand_jollys[at_closer] += batch.hand_jolly[rows][closed]
        self.done[at] = batch.terminated[rows] | batch.truncated[rows]

    def finished(self) -> Games:
        """Return the deals before the first that is not played in all seatings.

        Later ones may be over too, but those are the short ones, and counting them would favour whoever closes fast.
        """
        whole = self.done.all(axis=1)
        n = self.deals if whole.all() else int(np.argmin(whole))
        arrays = {
            field.name: getattr(self, field.name)[:n]
            for field in dataclasses.fields(self)
            if field.name not in ("seatings", "decisions", "seconds")
        }
        return dataclasses.replace(self, **arrays)


def plan(agents: int, players: int) -> np.ndarray:
    """Return the seatings in which each deal is played: int64[G, P], the number of the agent in each seat.

    At a table for two, every pair both ways round. Two agents at a bigger table: one of the first against a field of
    the second, in each seat. As many agents as seats, or more: every choice of them in every order. ``ValueError``
    where there is no such plan.
    """
    if agents < 2:
        raise ValueError(f"agents: name at least two, got {agents}; an agent may be named twice to play itself")
    if agents == 2 < players:
        return np.ones((players, players), dtype=np.int64) - np.eye(players, dtype=np.int64)
    if agents < players:
        raise ValueError(f"agents: {agents} do not fill {players} seats; name 2, or at least {players}")
    choices = itertools.combinations(range(agents), players)
    return np.array([order for chosen in choices for order in itertools.permutations(chosen)], dtype=np.int64)


def deal_seeds(seed: int, deals: int) -> np.ndarray:
    """Return the seeds of the deals: uint64[D]. More deals begin with the same ones."""
    return np.random.SeedSequence(seed).generate_state(deals, np.uint64)


def play(
    agents: Mapping[str, Agent],
    deals: int,
    seed: int,
    *,
    rules: Rules | None = None,
    rows: int = ROWS,
    stop: Any = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> Games:
    """Play ``deals`` deals, each in all seatings of ``agents`` (see :func:`plan`), at most ``rows`` games at a time.

    Until ``stop``, an object that is asked after every step, turns true; then the deals that are whole are returned.
    ``on_progress`` is told the games and the rounds that have just ended. Names and order of ``agents`` give the
    numbers in ``Games.seatings``; names may share one object. Only ``seconds`` depends on ``rows``. ``ValueError`` if
    an agent fails or what it returns is not legal.
    """
    rules = rules if rules is not None else Rules()
    if deals < 1:
        raise ValueError(f"deals={deals}: expected at least 1")
    seatings = plan(len(agents), rules.players)
    G = len(seatings)
    seeds = deal_seeds(seed, deals)
    games = Games.empty(deals, seatings)
    total = deals * G
    job = np.arange(min(rows, total))  # the game in each row: number deal * G + seating
    started = len(job)
    batch = Batch(len(job), rules, seed=seeds[job // G], auto_reset=False)
    live = np.arange(len(job))
    start = time.perf_counter()
    while live.size and not stop:
        actions = _choose(agents, seatings[job[live] % G, batch.seats[live]], batch, live)
        batch.step(actions, live)
        games.decisions += len(live)
        ended = live[batch.round_over[live]]
        if not ended.size:
            continue
        games.add(job[ended] // G, job[ended] % G, batch, ended)
        over = ended[batch.terminated[ended] | batch.truncated[ended]]
        again = over[: total - started]
        job[again] = np.arange(started, started + len(again))
        started += len(again)
        if again.size:
            batch.reset(seeds[job[again] // G], again)
        live = np.setdiff1d(live, over[len(again) :], assume_unique=True)
        if on_progress is not None:
            on_progress(len(over), len(ended))
    games.seconds = time.perf_counter() - start
    return games.finished()


def _choose(agents: Mapping[str, Agent], to_move: np.ndarray, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """Ask each agent for the actions of the rows in which it is to move: int64[B].

    ``to_move`` int64[B] are the numbers of the agents. Names that share an object are asked once.
    """
    actions = np.zeros(len(rows), dtype=np.int64)
    objects: dict[int, int] = {}
    shared = np.array([objects.setdefault(id(agent), number) for number, agent in enumerate(agents.values())])
    for number in objects.values():
        mine = np.flatnonzero(shared[to_move] == number)
        if not mine.size:
            continue
        name, agent = list(agents.items())[number]
        actions[mine] = _ask(name, agent, batch, rows[mine])
    return actions


def _ask(name: str, agent: Agent, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """Return an agent's actions in ``rows``: int64[B]; ``ValueError`` that names it if they can't be played."""
    # Copies, which an agent may keep; `take` copies records six times as fast as an index does.
    views = batch.observations.take(rows), batch.masks.take(rows, axis=0), batch.keys[rows]
    try:
        actions = np.asarray(agent.act(*views))
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise ValueError(
            f"agent {name}: act failed: {type(error).__name__}: {error} ({where.filename}, line {where.lineno})"
        ) from error
    if actions.shape != rows.shape or not np.issubdtype(actions.dtype, np.integer):
        raise IllegalAction(
            f"agent {name}: act returned {actions.dtype}{list(actions.shape)}, expected whole numbers[{len(rows)}]"
        )
    legal = (actions >= 0) & (actions < ACTIONS)
    legal[legal] = batch.masks[rows[legal], actions[legal]] != 0
    if not legal.all():
        raise IllegalAction(f"agent {name}: act returned {actions[~legal][0]}, which is not legal there")
    return actions
