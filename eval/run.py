"""``python -m eval run``: measure agents against each other."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from eval.adjust import luck_figures
from eval.arena import UNIT
from eval.behaviour import behaviour_figures
from eval.cli import DONE, INTERRUPTED, catch_interrupts, parse_rules
from eval.files import writing
from eval.origin import origin
from eval.protocol import chosen, told
from eval.ratings import matrix, rating_figures
from eval.records import write_records
from eval.remote import connected, import_ray
from eval.report import RESULT, save, show
from eval.statistics import summarise
from eval.stopping import level
from eval.store import LOCK, RUN, Store, clear, fingerprint, holds_training, locked, read_run, source_hash
from eval.tournament import Meter, Tournament
from eval.workers import Task, named_agents

if TYPE_CHECKING:
    from eval.__main__ import Run

MOST_DEALS: Final = 1_000_000


def run(options: Run, argv: Sequence[str]) -> int:
    """Play, save and show; return the exit code. ``ValueError`` and ``OSError`` say what is wrong with the input."""
    _check(options)
    protocol = None if options.protocol is None else chosen(options)
    names = options.agents if protocol is None else (*options.agents, *protocol.opponents(options.agents[0]))
    deals = protocol.deals if protocol else 1000 if options.deals is None else options.deals
    rules = parse_rules(options.rules, protocol.players if protocol else options.players or 2)
    task = Task(names, deals, 0, rules, each=protocol is not None)
    task.seatings()
    agents = named_agents(names)
    made = origin("python -m eval", argv)
    folder = open_folder(options.out, options.overwrite)
    try:
        with locked(folder):
            if options.overwrite:
                clear(folder)
            task = dataclasses.replace(task, seed=_seed(options, folder))
            store = Store(folder, describe(task, options.half_width, options.protocol))
            return _go_on(options, Tournament(task, agents, store, options.half_width), made)
    finally:
        drop_if_empty(folder)


def describe(task: Task, half_width: float | None = None, protocol: str | None = None) -> dict[str, Any]:
    """Return what ``run.json`` says: what has to be the same for a run to go on, and how many deals it is to have."""
    prints = {name: fingerprint(name) for name in task.agents}
    return {
        "agents": list(task.agents),
        "players": task.rules.players,
        "rules": task.rules.to_json(),
        "seed": task.seed,
        "half_width": half_width,
        "protocol": protocol,
        "files": {name: of for name, of in prints.items() if of is not None},
        "sources": source_hash(),
        "deals": task.deals,
    }


def _check(options: Run) -> None:
    """Make sure that numbers are within their ranges; ``ValueError`` names the first that is not."""
    if options.deals is not None and not 1 <= options.deals <= MOST_DEALS:
        raise ValueError(f"--deals {options.deals}: expected a whole number from 1 to {MOST_DEALS}")
    if options.seed is not None and options.seed < 0:
        raise ValueError(f"--seed {options.seed}: expected a whole number of at least 0")
    if options.players is not None and not 2 <= options.players <= 4:
        raise ValueError(f"--players {options.players}: expected 2, 3 or 4")
    if options.workers is not None and options.workers < 1:
        raise ValueError(f"--workers {options.workers}: expected a whole number of at least 1")
    if options.records < 0:
        raise ValueError(f"--records {options.records}: expected a whole number of at least 0")
    if options.ray is not None:
        import_ray()
    if options.half_width is not None and not options.half_width > 0:
        raise ValueError(f"--half-width {options.half_width}: expected points, more than 0")


def _seed(options: Run, folder: Path) -> int:
    """Return the seed that was asked for, else that of the run to go on with, else one of the operating system."""
    if options.seed is not None:
        return options.seed
    before = read_run(folder)
    return secrets.randbits(32) if before is None else int(before["seed"])


def _go_on(options: Run, tournament: Tournament, made: dict[str, Any]) -> int:
    """Play what is missing, then save and show what it has come to."""
    store = tournament.store
    for path in store.damaged:
        print(f"{path} is damaged; what it held is played again", file=sys.stderr)
    begin, before = time.perf_counter(), read_made(store.folder, made) if tournament.over else {}
    if options.ray is None:
        with catch_interrupts() as interrupts, Meter(tournament) as meter:
            tournament.play(options.workers or cores(), interrupts, meter.tell)
    else:
        with (
            connected(options.ray, options.workers) as ray,
            catch_interrupts() as interrupts,
            Meter(tournament) as meter,
        ):
            tournament.play_remotely(ray, interrupts, meter.tell)
    if not tournament.deals:
        rest = "the same command goes on with what is saved" if store.units else "nothing to save"
        print(f"stopped before the first {UNIT} deals were played in all seatings; {rest}", file=sys.stderr)
        return INTERRUPTED
    if options.records:
        write_records(tournament.task, tournament.agents, tournament.rows(), options.records, store.folder)
    result = finish(tournament, dataclasses.asdict(options), made, time.perf_counter() - begin) | before
    _tell(result, save(result, store.folder))
    return DONE if tournament.over else INTERRUPTED


def finish(tournament: Tournament, arguments: dict[str, Any], made: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return what ``result.json`` holds; faults are written down, and all rounds in one file if there is enough."""
    store, result = tournament.store, evaluate(tournament, arguments, made, seconds)
    store.write_faults(tournament.units)
    if tournament.over:
        store.finish(tournament.units, {key: result[key] for key in ("names", "seed", "rules", "versions", "commit")})
    return result


def read_made(folder: Path, made: dict[str, Any]) -> dict[str, Any]:
    """Return what a result that is there already says of its making: shown again, it is not made anew."""
    try:
        result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        return {key: result[key] for key in (*made, "seconds")}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def evaluate(tournament: Tournament, arguments: dict[str, Any], made: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return what ``result.json`` holds."""
    task, names = tournament.task, list(tournament.agents)
    rows, games = tournament.rows(), tournament.games()
    how: Any = {"seed": task.seed, "level": level(len(tournament.looks))}
    figures = summarise(games, names, **how)
    faults = [fault["agent"] for fault in tournament.store.told_faults(tournament.units)]
    return {
        "deals": figures["deals"],
        "rounds": figures["rounds"],
        "seed": task.seed,
        "players": task.rules.players,
        "rules": task.rules.to_json(),
        "protocol": None if arguments["protocol"] is None else told(arguments["protocol"]),
        "names": names,
        "agents": figures["agents"],
        "pairs": figures["pairs"],
        "matrix": matrix(figures["pairs"], names),
        "ratings": rating_figures(games, names, **how),
        "behaviour": behaviour_figures(rows, games.deals, names, **how),
        "luck": luck_figures(rows, games.deals, names, **how),
        "faults": {name: faults.count(name) for name in names},
        "interrupted": not tournament.over,
        "half_width": tournament.half_width,
        "looks": tournament.looks,
        "level": how["level"],
        "seatings": len(games.seatings),
        "decisions": games.decisions,
        "seconds": round(seconds, 3),
        "arguments": arguments,
        **made,
    }


def _tell(result: dict[str, Any], files: Sequence[Path]) -> None:
    """Print a result and where it is."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 140)
    show(result, console)
    console.print("wrote " + " and ".join(str(file) for file in files), highlight=False, soft_wrap=True)


def cores() -> int:
    """Return how many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_folder(out: Path | None, overwrite: bool = False) -> Path:
    """Return the folder for a result, made if need be, after a try to write in it.

    None means a new one under ``runs/``. ``ValueError`` if it holds a result of something else than a run that can be
    gone on with.
    """
    if out is None:
        stem = datetime.datetime.now().strftime("eval-%Y%m%d-%H%M%S")
        for number in range(1, 1000):
            folder = Path("runs") / (stem if number == 1 else f"{stem}-{number}")
            try:
                folder.mkdir(parents=True)
                break
            except FileExistsError:
                continue
    else:
        folder = out
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"--out {folder}: not a folder")
        if holds_training(folder):
            raise ValueError(f"--out {folder}: holds a training run, which would be lost; name another --out")
        if (folder / RESULT).exists() and not (folder / RUN).exists() and not overwrite:
            raise ValueError(f"--out {folder}: there is a result already; name another --out, or add --overwrite")
        folder.mkdir(parents=True, exist_ok=True)
    with writing(folder / ".try") as beside:
        beside.write_bytes(b"")
    (folder / ".try").unlink()
    return folder


def drop_if_empty(folder: Path) -> None:
    """Remove the folder if nothing was saved in it."""
    if {path.name for path in folder.iterdir()} <= {RUN, LOCK}:
        for name in (RUN, LOCK):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
