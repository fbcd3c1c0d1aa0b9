"""``python -m eval run``: measure agents against each other."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eval.arena import Games, plan, play
from eval.cli import DONE, INTERRUPTED, Interrupts, catch_interrupts, parse_rules
from eval.files import writing
from eval.origin import origin
from eval.report import RESULT, save, show
from eval.statistics import summarise

if TYPE_CHECKING:
    from eval.__main__ import Run
    from jolly_env.agent import Agent
    from jolly_env.rules import Rules

MOST_DEALS: Final = 1_000_000


def run(options: Run, argv: Sequence[str]) -> int:
    """Play, save and show; return the exit code. ``ValueError`` and ``OSError`` say what is wrong with the input."""
    from rich.console import Console

    if not 1 <= options.deals <= MOST_DEALS:
        raise ValueError(f"--deals {options.deals}: expected a whole number from 1 to {MOST_DEALS}")
    if options.seed is not None and options.seed < 0:
        raise ValueError(f"--seed {options.seed}: expected a whole number of at least 0")
    if not 2 <= options.players <= 4:
        raise ValueError(f"--players {options.players}: expected 2, 3 or 4")
    rules = parse_rules(options.rules, options.players)
    plan(len(options.agents), rules.players)
    agents = named_agents(options.agents)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    made = origin("python -m eval", argv)
    folder = open_folder(options.out, options.overwrite)
    begin = time.perf_counter()
    try:
        with catch_interrupts() as interrupts:
            games = _play(agents, options.deals, seed, rules, interrupts)
    except BaseException:
        _drop_if_empty(folder)
        raise
    if games.deals == 0:
        _drop_if_empty(folder)
        print("stopped before a deal was played in all seatings; nothing to save", file=sys.stderr)
        return INTERRUPTED
    interrupted = games.deals < options.deals
    figures = summarise(games, list(agents), seed=seed)
    result = {
        "deals": figures["deals"],
        "rounds": figures["rounds"],
        "seed": seed,
        "players": rules.players,
        "rules": rules.to_json(),
        "agents": figures["agents"],
        "pairs": figures["pairs"],
        "interrupted": interrupted,
        "seatings": len(games.seatings),
        "decisions": games.decisions,
        "seconds": round(time.perf_counter() - begin, 3),
        "arguments": dataclasses.asdict(options),
        **made,
    }
    files = save(result, folder)
    console = Console(width=None if sys.stdout.isatty() else 140)
    show(result, console)
    console.print("wrote " + " and ".join(str(file) for file in files), highlight=False, soft_wrap=True)
    return INTERRUPTED if interrupted else DONE


def named_agents(names: Sequence[str]) -> dict[str, Agent]:
    """Make the agents; one that is named again is ``NAME#2``, and the same object. ``ValueError`` for unknown names."""
    from agents import make

    made: dict[str, Agent] = {}
    agents: dict[str, Agent] = {}
    for i, name in enumerate(names):
        if name not in made:
            made[name] = make(name)
        count = list(names[:i]).count(name) + 1
        agents[name if count == 1 else f"{name}#{count}"] = made[name]
    return agents


def open_folder(out: Path | None, overwrite: bool = False) -> Path:
    """Return the folder for a result, made if need be, after a try to write in it.

    None means a new one under ``runs/``. ``ValueError`` if it holds a result that is not to be overwritten.
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
        if (folder / RESULT).exists() and not overwrite:
            raise ValueError(f"--out {folder}: there is a result already; name another --out, or add --overwrite")
        folder.mkdir(parents=True, exist_ok=True)
    with writing(folder / ".try") as beside:
        beside.write_bytes(b"")
    (folder / ".try").unlink()
    return folder


def _drop_if_empty(folder: Path) -> None:
    """Remove the folder if nothing is in it."""
    try:
        folder.rmdir()
    except OSError:
        return


def _play(agents: dict[str, Agent], deals: int, seed: int, rules: Rules, interrupts: Interrupts) -> Games:
    """Play with a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games  {task.fields[speed]:,.0f} rounds/s"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        total = deals * len(plan(len(agents), rules.players))
        task = progress.add_task("playing", total=total, speed=0.0)
        begin, rounds = 0.0, 0

        def tell(games: int, ended: int) -> None:
            nonlocal begin, rounds
            now = time.perf_counter()
            if begin:
                rounds += ended
                progress.update(task, advance=games, speed=rounds / (now - begin))
            else:  # from the first round on: loading kernels is not playing
                begin = now
                progress.update(task, advance=games)

        return play(agents, deals, seed, rules=rules, stop=interrupts, on_progress=tell)
