"""The command ``python -m eval``."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.cli import importing, main_guard, parse

with importing():
    import tyro


@dataclasses.dataclass(frozen=True)
class Run:
    """Play duplicate deals and measure how well each agent does.

    Each deal is played in every seating. At a table for two every pair of agents meets; at a bigger one, two agents are
    one of the first against a field of the second, in each seat, and more agents sit down in every choice and order.
    The result, with 95% intervals bootstrapped by deal, is shown as a table and saved as result.json and result.png.
    Ctrl-C saves what was played so far.

    Example: python -m eval run greedy random runs/x/best --deals 500
    """

    agents: tyro.conf.Positional[tuple[str, ...]]
    """Names (random, greedy), run folders or weights (runs/x/best), or a file and class (mybots.py:Cautious). An agent
    named twice is NAME and NAME#2."""
    deals: int = 1000
    """How many deals."""
    players: int = 2
    """Seats at the table, 2 to 4."""
    seed: int | None = None
    """Seed of the deals; by default a new one, which the result records."""
    out: Path | None = None
    """Folder for the result; by default a new one under runs/."""
    overwrite: bool = False
    """Replace a result that is in the folder already."""
    rules: str = ""
    """Rules that differ from the default: opening_points=30,target=none, or JSON."""


COMMANDS = {"run": Run}


@main_guard
def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    options: Run = parse(COMMANDS, "python -m eval", "Measure how well agents play.", argv)
    from eval.run import run  # here, so that --help need not wait for numba

    return run(options, argv)


if __name__ == "__main__":
    sys.exit(main())
