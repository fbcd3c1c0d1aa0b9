"""The command ``python -m eval``."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import DONE, FAILED, importing, main_guard, parse, with_address

with importing():
    import tyro


@dataclasses.dataclass(frozen=True)
class Run:
    """Play duplicate deals and measure how well each agent does.

    Each deal is played in every seating. At a table for two every pair of agents meets; at a bigger one, two agents are
    one of the first against a field of the second, in each seat, and more agents sit down in every choice and order.
    The result, with 95% intervals bootstrapped by deal, is shown as a table and saved as result.json and result.png;
    rounds.parquet holds every round.
    Ctrl-C saves what was played so far; the same command with its --out goes on from there, after a crash too.

    Example: python -m eval run greedy random runs/x/best --deals 500
    """

    agents: tyro.conf.Positional[tuple[str, ...]]
    """Names (random, greedy), run folders or weights (runs/x/best), or a file and class (mybots.py:Cautious). An agent
    named twice is NAME and NAME#2."""
    deals: int | None = None
    """How many deals, 1000 unless told; with --half-width at most."""
    half_width: float | None = None
    """Stop as soon as every pair is known to so many points, in looks after 1000, 2000, 4000 ... deals."""
    players: int | None = None
    """Seats at the table, 2 to 4; 2 unless told."""
    protocol: str | None = None
    """Play one agent by a named protocol, jolly-2p-v1 or jolly-4p-v1 (docs/protocols.md), so that figures compare."""
    seed: int | None = None
    """Seed of the deals; by default a new one, which the result records."""
    out: Path | None = None
    """Folder for the result; by default a new one under runs/. The same command with a folder in which it was stopped
    goes on with it, and with more --deals plays those too."""
    overwrite: bool = False
    """Begin anew in a folder that holds a run already."""
    workers: int | None = None
    """Processes; by default one a core. The result does not depend on it."""
    ray: str | None = None
    """Play on a Ray cluster: auto, the one that this machine is part of; an address; or without one, Ray on this
    machine with as many processors as --workers. The result does not depend on it."""
    records: int = 0
    """Write this many games, the first, as records into records/ of the folder: python -m eval replay shows them."""
    rules: str = ""
    """Rules that differ from the default: opening_points=30,target=none, or JSON."""


@dataclasses.dataclass(frozen=True)
class Replay:
    """Step through a game that was written down: on a terminal a position at a time, elsewhere all of them.

    Enter or space goes on, b goes back, a number and Enter goes there, q quits.

    Example: python -m eval replay runs/x/records/deal-000000-seating-0.json --film round.gif
    """

    record: tyro.conf.Positional[Path]
    """A record, as python -m eval run --records 5 writes it."""
    film: Path | None = None
    """Write a film of the game to this file, .gif or .mp4, instead of stepping through it."""


@dataclasses.dataclass(frozen=True)
class Audit:
    """Look for what would make an agent's figures worthless. Exit code 0: passed, 1: failed.

    It plays itself, which has to come to zero; the cards that it can't know are dealt anew, under the circumstances of
    a tournament, which may not change what it chooses; and it is asked alone and among others, which may not either.

    Example: python -m eval audit mybots.py:Cautious --deals 200
    """

    agent: tyro.conf.Positional[str]
    """Name, run folder or weights, or file and class, as for python -m eval run."""
    deals: int = 400
    """How many deals it plays against itself; a twentieth of them, at least 2, with the hidden cards dealt anew."""
    players: int = 2
    """Seats at the table, 2 to 4."""
    seed: int | None = None
    """Seed of the deals; by default a new one."""
    rules: str = ""
    """Rules that differ from the default, as for python -m eval run."""


@dataclasses.dataclass(frozen=True)
class Report:
    """Make one page, report.html, of a run: points, ratings, pairs, how agents play, luck, faults, audits.

    The page needs nothing but itself; the pictures lie beside it, too. The agents are audited for a few seconds each.

    Example: python -m eval report runs/x
    """

    folder: tyro.conf.Positional[Path]
    """Folder of a run."""
    audit: bool = True
    """Audit the agents."""


COMMANDS = {"run": Run, "report": Report, "audit": Audit, "replay": Replay}


@main_guard
def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    given = with_address(argv)
    options: Run | Report | Audit | Replay = parse(COMMANDS, "python -m eval", "Measure how well agents play.", given)
    # Imported only now, so that --help need not wait for numba.
    if isinstance(options, Replay):
        from eval.replay import film, replay

        if options.film is None:
            replay(options.record)
        else:
            film(options.record, options.film)
        return DONE
    if isinstance(options, Report):
        from eval.page import write_report

        paths, passed = write_report(options.folder, audit=options.audit)
        print("wrote " + ", ".join(str(path) for path in paths))
        return DONE if passed else FAILED
    if isinstance(options, Audit):
        from eval.audit import audit

        return audit(options)
    from eval.run import run

    return run(options, argv)


if __name__ == "__main__":
    sys.exit(main())
