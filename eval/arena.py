"""Duplicate deals: every deal is played in every seating of the agents.

Letters: ``D`` deals, ``G`` seatings a deal, ``P`` seats (players), ``B`` rows of a batch.

All seatings of a deal share the cards, the reshuffles and the decision keys of each seat, so what a lucky deal gives
to one agent it gives to the next. A deal with all its seatings is one unit of the statistics.

Deals are played, saved and counted in *units* of ``UNIT`` deals. What a unit comes to depends on nothing but the seed,
the rules and the agents: not on what is played beside it, nor in which process.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from eval.asking import ask, ask_kindly, forfeit
from eval.rounds import Games, in_order, join, make_rows, pick, round_dtype, tables
from eval.tally import TALLY, count_actions, new_room, warm_up_tally
from jolly_env.actions import DISCARD, DRAW_STOCK
from jolly_env.agent import Agent
from jolly_env.batch import Batch
from jolly_env.position import to_json
from jolly_env.rules import Rules

ROWS: Final = 512
"""Games played side by side."""
UNIT: Final = 50
"""Deals of a unit."""
POSITIONS: Final = 10
"""Faults of a unit that are kept with the position; of an agent that fails all the time that is enough."""
RECENT: Final = 8
"""Steps that have to be quick before another unit is begun."""
QUICK: Final = 0.05
"""Seconds: while a step takes less, another unit is begun as soon as there is room for its games."""


class Played(NamedTuple):
    """A unit that is over."""

    unit: int
    """Its number: it holds the deals from ``UNIT * unit`` on."""
    rows: np.ndarray
    """Its rounds by deal, seating and round (:func:`eval.rounds.round_dtype`)."""
    faults: list[dict[str, Any]]
    """What agents did wrong, in the same order."""


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


def against_each(agents: int, players: int) -> np.ndarray:
    """Return the seatings of the first agent, in each seat, against a field of each other: int64[G, P]."""
    alone = np.eye(players, dtype=np.int64)
    return np.concatenate([other * (1 - alone) for other in range(1, agents)])


def deal_seeds(seed: int, deals: int) -> np.ndarray:
    """Return the seeds of the deals: uint64[D]. More deals begin with the same ones."""
    return np.random.SeedSequence(seed).generate_state(deals, np.uint64)


def unit_deals(unit: int, deals: int) -> np.ndarray:
    """Return the numbers of the deals of a unit where there are ``deals`` of them in all: int64[n]."""
    return np.arange(UNIT * unit, min(UNIT * (unit + 1), deals))


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

    Until ``stop``, an object that is asked after every step, turns true; then the units before the first that is not
    over are returned. ``on_progress`` is told the games and the rounds that have just ended. Names and order of
    ``agents`` give the numbers in ``Games.seatings``; names may share one object. ``ValueError`` if an agent fails or
    what it returns is not legal.
    """
    rules = rules if rules is not None else Rules()
    if deals < 1:
        raise ValueError(f"deals={deals}: expected at least 1")
    floor = Floor(agents, deals, seed, rules, rows=rows, strict=True)
    units = range(-(-deals // UNIT))
    over = {played.unit: played.rows for played in floor.play(units, stop=stop, on_progress=on_progress)}
    first_missing = next((unit for unit in units if unit not in over), len(units))
    parts = [over[unit] for unit in range(first_missing)]
    whole = join(parts) if parts else np.zeros(0, dtype=round_dtype(rules.players))
    return Games.of(whole, min(UNIT * first_missing, deals), floor.seatings)


class Floor:
    """Games side by side in one batch, unit after unit; a game that ends makes room for the next."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        deals: int,
        seed: int,
        rules: Rules,
        *,
        rows: int = ROWS,
        seatings: np.ndarray | None = None,
        strict: bool = False,
        log: dict[tuple[int, int], list[int]] | None = None,
    ) -> None:
        """Make room for ``rows`` games of a tournament of ``deals`` deals; with ``strict`` an agent's fault raises.

        ``seatings`` are those of :func:`plan` unless others are given. The actions of each deal and seating are
        appended to ``log`` if there is one.
        """
        self.seatings = plan(len(agents), rules.players) if seatings is None else seatings
        self.seeds = deal_seeds(seed, deals)
        self.strict, self._log = strict, log
        warm_up_tally()
        n = min(rows, deals * len(self.seatings))
        self._names, self._agents = list(agents), list(agents.values())
        first: dict[int, int] = {}
        self._tables = tables(self.seatings)
        self._object = np.array([first.setdefault(id(agent), number) for number, agent in enumerate(self._agents)])
        self._batch = Batch(n, rules, seed=0, auto_reset=False)
        self._tallies = np.zeros(n, dtype=TALLY)
        self._room = new_room()
        self._deal, self._seating = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._drawn = np.full(n, -1, dtype=np.int64)  # card that a seat without a say drew in this turn
        self._busy = np.zeros(n, dtype=np.bool_)
        self._live = np.zeros(0, dtype=np.int64)
        self._faults: list[dict[str, Any]] = []

    def play(
        self, units: Iterable[int], *, stop: Any = False, on_progress: Callable[[int, int], None] | None = None
    ) -> Iterator[Played]:
        """Play units, and yield each as it ends, not always in order; ``stop`` and ``on_progress`` as in :func:`play`.

        The next number is asked for only when there is room for its games.
        """
        coming = iter(units)
        waiting: deque[tuple[int, int]] = deque()  # games to begin: deal and seating
        missing: dict[int, int] = {}  # games of each unit that are not over
        rows: dict[int, list[np.ndarray]] = {}
        taken: deque[float] = deque(maxlen=RECENT)  # seconds of the last steps: a draw may be quick and a discard slow
        while not stop:
            quick = len(taken) == RECENT and max(taken) < QUICK
            while not waiting and len(self._live) < len(self._batch) and (quick or not self._live.size):
                unit = next(coming, None)
                if unit is None:
                    break
                waiting.extend(itertools.product(unit_deals(unit, len(self.seeds)).tolist(), range(len(self.seatings))))
                missing[unit], rows[unit] = len(waiting), []
            self._begin(waiting)
            if not self._live.size:
                return
            start = time.perf_counter()
            ended, over = self._step()
            taken.append(time.perf_counter() - start)
            if not len(ended):
                continue
            units_of = ended["deal"] // UNIT
            for unit in set(units_of.tolist()):
                rows[unit].append(pick(ended, units_of == unit))
            if on_progress is not None:
                on_progress(len(over), len(ended))
            for unit, count in zip(*np.unique(self._deal[over] // UNIT, return_counts=True), strict=True):
                missing[int(unit)] -= int(count)
                if not missing[int(unit)]:
                    yield self._played(int(unit), rows.pop(int(unit)))

    def _begin(self, waiting: deque[tuple[int, int]]) -> None:
        """Begin waiting games in free rows."""
        count = min(len(waiting), len(self._batch) - len(self._live))
        if not count:
            return
        free = np.flatnonzero(~self._busy)[:count]
        games = np.array([waiting.popleft() for _ in range(count)])
        self._deal[free], self._seating[free] = games[:, 0], games[:, 1]
        self._batch.reset(self.seeds[games[:, 0]], free)
        self._clear(free)
        self._busy[free] = True
        self._live = np.flatnonzero(self._busy)

    def _clear(self, rows: np.ndarray) -> None:
        """Begin to count anew in rows."""
        self._tallies[rows] = np.zeros((), dtype=TALLY)
        self._drawn[rows] = -1

    def _step(self) -> tuple[np.ndarray, np.ndarray]:
        """Play one action in every game; return the rounds that it ended, and the batch rows whose games are over."""
        batch, live = self._batch, self._live
        actions = self._choose()
        if self._log is not None:
            for deal, seating, action in zip(self._deal[live], self._seating[live], actions, strict=True):
                self._log.setdefault((int(deal), int(seating)), []).append(int(action))
        count_actions(batch.states, live, actions, self._tallies, *self._room)
        batch.step(actions, live)
        ended = live[batch.round_over[live]]
        if not ended.size:
            return np.zeros(0, dtype=round_dtype(self.seatings.shape[1])), ended
        deal, seating = self._deal[ended], self._seating[ended]
        table, agent = self._tables[seating], self.seatings[seating]
        rows = make_rows(batch, ended, self._tallies[ended], deal, self.seeds[deal], seating, table, agent)
        self._clear(ended)
        over = ended[batch.terminated[ended] | batch.truncated[ended]]
        self._busy[over] = False
        self._live = np.flatnonzero(self._busy)
        return rows, over

    def _choose(self) -> np.ndarray:
        """Ask each agent for the actions of the rows in which it is to move; names that share an object are one."""
        batch, live = self._batch, self._live
        seats = batch.seats[live]
        to_move = self._object[self.seatings[self._seating[live], seats]]
        mute = self._tallies["fault"][live, seats] != 0
        actions = np.zeros(len(live), dtype=np.int64)
        for number in np.unique(self._object):
            mine = np.flatnonzero((to_move == number) & ~mute)
            if mine.size:
                actions[mine] = self._ask(int(number), live[mine], seats[mine])
        if not self.strict:
            mute = self._tallies["fault"][live, seats] != 0
            for i in np.flatnonzero(mute):
                actions[i] = self._forfeit(int(live[i]))
        return actions

    def _ask(self, number: int, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Return an agent's actions in rows, after noting its time and its faults."""
        name, agent = self._names[number], self._agents[number]
        start = time.perf_counter()
        faults: dict[int, str] = {}
        if self.strict:
            actions = ask(name, agent, self._batch, rows)
        else:
            actions, faults = ask_kindly(name, agent, self._batch, rows)
        self._tallies["seconds"][rows, seats] += (time.perf_counter() - start) / len(rows)
        for i, message in faults.items():
            self._note(int(rows[i]), int(seats[i]), message)
        return actions

    def _note(self, row: int, seat: int, message: str) -> None:
        """Write down a fault; the seat has no say in the rest of the round."""
        self._tallies["fault"][row, seat] = 1
        state, deal, seating = self._batch.states[row], int(self._deal[row]), int(self._seating[row])
        self._faults.append(
            {
                "deal": deal,
                "seed": int(self.seeds[deal]),
                "seating": seating,
                "round": int(state["round"]),
                "seat": seat,
                "agent": self._names[self.seatings[seating, seat]],
                "message": message,
                "legal": np.flatnonzero(self._batch.masks[row]).tolist(),
                "position": to_json(state),
            }
        )

    def _forfeit(self, row: int) -> int:
        """Return what a seat without a say plays."""
        state = self._batch.states[row]
        action = forfeit(state, self._batch.masks[row], int(self._drawn[row]))
        if action == DRAW_STOCK:
            self._drawn[row] = state["stock"][state["stock_top"]]
        elif action >= DISCARD:
            self._drawn[row] = -1
        return action

    def _played(self, unit: int, rows: list[np.ndarray]) -> Played:
        """Return a unit that is over, and forget its faults."""
        mine = [fault for fault in self._faults if fault["deal"] // UNIT == unit]
        self._faults = [fault for fault in self._faults if fault["deal"] // UNIT != unit]
        mine.sort(key=lambda fault: (fault["deal"], fault["seating"], fault["round"], fault["seat"]))
        for fault in mine[POSITIONS:]:
            del fault["legal"], fault["position"]
        return Played(unit, in_order(rows), mine)
