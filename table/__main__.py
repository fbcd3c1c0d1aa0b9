"""The command ``python -m table``."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import importing, main_guard, parse_one

with importing():
    import tyro


@dataclasses.dataclass(frozen=True)
class Options:
    """Open a table to play Jolly at in the browser: with others, against agents, or to watch agents play.

    Tables, games and results are kept, so that a restart loses nothing; finished games are written as records, which
    python -m eval replay shows. Ctrl-C ends it.

    Example: python -m table --against champion
    """

    port: int = 8000
    """Port; 0 takes a free one."""
    host: str = "127.0.0.1"
    """Address to listen at. 127.0.0.1 is this machine alone, 0.0.0.0 all that can reach it, without encryption."""
    browser: bool = True
    """Open the page in the browser."""
    against: str = ""
    """Begin a game against this agent at once."""
    agents: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Another agent that may be chosen, as for python -m eval run: a run folder, weights, or a file and class."""
    data: Path = Path("runs/table")
    """Folder for tables, results and records."""
    pace: float = 0.7
    """Seconds that an agent's action takes where persons play, so that they can follow."""
    processes: int = 1
    """Processes in which agents think."""


@main_guard
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = parse_one(Options, "python -m table", sys.argv[1:] if argv is None else argv)
    # Imported only now, so that --help need not wait for numba.
    from table.serve import serve

    return serve(options)


if __name__ == "__main__":
    sys.exit(main())
