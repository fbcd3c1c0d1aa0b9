"""A tournament in one call from Python, made for notebooks, and a result that shows itself.

::

    from eval.compare import Result, compare

    result = compare("planner", "greedy", "mybots.py:Cautious", deals=400)
    result                                    # a table with intervals, in a notebook as HTML
    result.figures["agents"]["planner"]       # what result.json holds
    polars.from_arrow(result.seats)           # a row a round and seat
    compare("greedy", mine=Cautious())        # an object plays in this process
    Result.load("runs/eval-...")              # a run of the command line
"""

from __future__ import annotations

import dataclasses
import inspect
import io
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.arena import UNIT
from eval.report import read_result, save, show
from eval.store import Store, clear, locked, read_run
from eval.workers import Task, named_agents
from jolly_env.agent import Agent
from jolly_env.rules import Rules

if TYPE_CHECKING:
    import pyarrow as pa

    from eval.figure import Picture


def compare(
    *agents: str,
    deals: int = 1000,
    players: int | None = None,
    rules: Rules | None = None,
    seed: int = 0,
    workers: int | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    **objects: Agent,
) -> Result:
    """Play duplicate deals in every seating, as ``python -m eval run`` does, and return the result.

    ``agents`` are names as the command takes them; ``objects`` are agents that exist already, by the names that they
    are to have, and with them all play in this process. ``players`` is 2, or what ``rules`` say. With ``out`` the run
    is kept in that folder, and the same call goes on with it. ``ValueError`` says what is wrong with the input.
    """
    from eval.run import cores, drop_if_empty, open_folder

    table = _table(players, rules)
    _check(deals, seed, workers, objects)
    made = _agents(agents, objects)
    task = Task(tuple(agents) + tuple(objects), deals, seed, table)
    task.seatings()
    count = workers or (1 if objects else cores())
    arguments = {"agents": list(task.agents), "deals": deals, "seed": seed, "workers": workers, "objects": [*objects]}
    if out is None:
        with tempfile.TemporaryDirectory(prefix="jolly-") as room:
            return dataclasses.replace(_play(task, made, count, Path(room), arguments), folder=None)
    try:
        folder = open_folder(Path(out), overwrite)
        try:
            with locked(folder):
                if overwrite:
                    clear(folder)
                elif objects and read_run(folder) is not None:
                    raise ValueError(f"--out {folder}: there is a run already, and who played in it can't be known")
                return _play(task, made, count, folder, arguments)
        finally:
            drop_if_empty(folder)
    except ValueError as error:
        told = str(error).replace("--out ", "out=", 1).replace("--out", "out")
        raise ValueError(told.replace("add --overwrite", "give overwrite=True")) from None


@dataclasses.dataclass(frozen=True)
class Result:
    """What a tournament has come to."""

    figures: dict[str, Any]
    """What ``result.json`` holds."""
    rounds: pa.Table
    """The rounds, a row each, with the columns of ``rounds.parquet`` (:mod:`eval.rounds`)."""
    faults: list[dict[str, Any]]
    """What agents did wrong, in the order of the deals."""
    folder: Path | None = None
    """Where it is kept, if it is."""

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """Return the result in the folder of a run; ``ValueError`` if there is none, or if its rounds are damaged."""
        folder = Path(folder)
        figures, run = read_result(folder), read_run(folder)
        if run is None:
            raise ValueError(f"{folder}: there is no run.json in it; python -m eval run writes one")
        store, units = Store(folder, run), -(-figures["deals"] // UNIT)
        if store.prefix() < units:
            which = store.damaged[0] if store.damaged else folder
            raise ValueError(f"{which}: its rounds are damaged or missing; the same command plays them again")
        return cls._of(figures, store, units)

    @classmethod
    def _of(cls, figures: dict[str, Any], store: Store, units: int) -> Result:
        """Return a result with what a store holds."""
        from eval.parquet import table_of

        return cls(figures, table_of(store.rows(units)), store.told_faults(units), store.folder)

    @property
    def names(self) -> list[str]:
        """The agents, by the numbers that :attr:`rounds` has for them."""
        return list(self.figures["names"])

    @property
    def seats(self) -> pa.Table:
        """A row a round and seat, for polars or pandas: the agent's name, and what the row of the round has for it."""
        import pyarrow as pa

        players, names, parts = int(self.figures["players"]), pa.array(self.names), []
        for seat in range(players):
            own = {
                column.removesuffix(f"_{seat}"): self.rounds[column]
                for column in self.rounds.column_names
                if column.endswith(f"_{seat}")
            }
            shared = {name: self.rounds[name] for name in ("deal", "seating", "round", "turns", "hand_jolly")}
            own["agent"] = names.take(own["agent"].combine_chunks())
            about = {"seat": pa.array([seat] * len(self.rounds), pa.int8())}
            closed = {"closed": pa.compute.equal(self.rounds["closer"], seat)}
            parts.append(pa.table({**shared, **about, **closed, **own}))
        return pa.concat_tables(parts).sort_by([(name, "ascending") for name in ("deal", "seating", "round", "seat")])

    def plot(self, what: str = "points") -> Picture:
        """Return a matplotlib figure of the "points" and win shares, the "ratings", or all "pairs" as a heat map."""
        from eval import pictures

        drawn = {
            "points": pictures.points_picture,
            "ratings": pictures.ratings_picture,
            "pairs": pictures.pairs_picture,
        }
        if what not in drawn:
            raise ValueError(f"plot {what!r}: expected {', '.join(drawn)}")
        return drawn[what](self.figures)

    def __repr__(self) -> str:
        """Return who played, and how much."""
        where = f", {self.folder}" if self.folder else ""
        return f"Result({', '.join(self.names)}: {self.figures['deals']:,} deals{where})"

    def __str__(self) -> str:
        """Return the tables that the command prints."""
        from rich.console import Console

        text = io.StringIO()
        show(self.figures, Console(file=text, width=max(100, shutil.get_terminal_size().columns)))
        return text.getvalue().rstrip()

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        from eval.markup import table_html

        return table_html(self.figures)


def _play(task: Task, agents: dict[str, Agent], workers: int, folder: Path, arguments: dict[str, Any]) -> Result:
    """Play what is missing in a folder, and save what it has come to."""
    from eval.origin import origin
    from eval.run import describe, finish, read_made
    from eval.tournament import Meter, Tournament

    given = [repr(name) for name in task.agents if name not in arguments["objects"]]
    given += [f"{name}=…" for name in arguments["objects"]] + [f"deals={task.deals}", f"rules={task.rules!r}"]
    made = origin("", ()) | {"command": f"compare({', '.join([*given, f'seed={task.seed}'])})"}
    store = Store(folder, describe(task))
    tournament = Tournament(task, agents, store)
    begin, before = time.perf_counter(), read_made(folder, made) if tournament.over else {}
    with Meter(tournament) as meter:
        tournament.play(workers, False, meter.tell)
    how = {**arguments, "protocol": None, "rules": task.rules.to_json(), "players": task.rules.players}
    figures = finish(tournament, how, made, time.perf_counter() - begin) | before
    save(figures, folder)
    return Result._of(figures, store, tournament.units)


def _table(players: int | None, rules: Rules | None) -> Rules:
    """Return the rules that are played; ``ValueError`` if the two don't fit."""
    if rules is None:
        return Rules() if players is None else Rules(players=_whole("players", players, 2, 4))
    if not isinstance(rules, Rules):
        raise ValueError(f"rules={rules!r}: expected Rules, as in Rules(opening_points=30)")
    if players is not None and players != rules.players:
        raise ValueError(f"players={players!r}: but the rules are for {rules.players}")
    return rules


def _check(deals: int, seed: int, workers: int | None, objects: Mapping[str, Agent]) -> None:
    """Make sure that numbers are within their ranges."""
    from eval.run import MOST_DEALS

    _whole("deals", deals, 1, MOST_DEALS)
    _whole("seed", seed, 0, None)
    if workers is not None:
        _whole("workers", workers, 1, 1 if objects else None)


def _whole(name: str, value: Any, low: int, high: int | None) -> int:
    """Return a whole number within a range; ``ValueError`` for anything else."""
    if type(value) is int and low <= value and (high is None or value <= high):
        return value
    most = "of at least {}" if high is None else "from {} to {}"
    alone = "; agents given as objects play in this process" if (name, high) == ("workers", 1) else ""
    raise ValueError(f"{name}={value!r}: expected a whole number {most.format(low, high)}{alone}")


def _agents(names: tuple[str, ...], objects: Mapping[str, Agent]) -> dict[str, Agent]:
    """Return all agents by name; ``ValueError`` for what is none."""
    from agents.registry import LEVELS, NAMES

    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"agent {type(name).__name__}: expected a name; give an object by keyword, as in mine=…")
    for name, agent in objects.items():
        if name in NAMES or name in LEVELS or name in names:
            raise ValueError(f"{name}=…: there is an agent of that name; give the object another")
        if inspect.isclass(agent):
            raise ValueError(f"{name}={agent.__name__}: expected an object; {agent.__name__}() may make one")
        if not callable(getattr(agent, "act", None)):
            raise ValueError(f"{name}={agent!r}: no agent: it has no method act(observations, masks, keys)")
    return named_agents(names) | dict(objects)
