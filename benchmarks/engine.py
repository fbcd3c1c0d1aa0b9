"""``python -m benchmarks.engine``: how fast the engine is, on one core, beside OpenSpiel's and RLCard's gin rummy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import machine
from eval.cli import main_guard
from eval.origin import origin

PROG = "python -m benchmarks.engine"
DESCRIPTION = """Measure the engine on one core, beside OpenSpiel's and RLCard's gin rummy where they are installed.

Example: python -m benchmarks.engine --seconds 0.2 --repeats 3 --no-compile"""

RATIOS: dict[str, tuple[str, str]] = {
    "batch / open_spiel": ("batch", "open_spiel"),
    "batch_greedy / open_spiel": ("batch_greedy", "open_spiel"),
    "raw_env / open_spiel": ("raw_env", "open_spiel"),
    "env / open_spiel": ("env", "open_spiel"),
    "batch / rlcard": ("batch", "rlcard"),
    "raw_env / rlcard": ("raw_env", "rlcard"),
    "batch / copy": ("batch", "copy"),
}
"""Which contestants are compared: steps a second of the first over those of the second."""


@dataclass
class Options(machine.Options):
    """The options of the command."""

    seconds: float = 0.5
    """Seconds of one measurement of one contestant."""
    repeats: int = 9
    """Measurements of each contestant; they take turns, so that what else the machine does hits all alike."""
    games: int = 128
    """Games of a batch."""
    hands: int = 4000
    """Hands that the legal actions are timed for."""
    compile: bool = True
    """Also time the first compile, half a minute."""

    def check(self) -> None:
        """Raise ``ValueError`` for a number that makes no sense."""
        if not 0 < self.seconds < 1e6:
            raise ValueError(f"--seconds {self.seconds}: expected a positive number")
        self.at_least_one("repeats", "games", "hands")


def measure_contestants(options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return steps a second of each contestant and the ratios; null with a note where a package is missing."""
    from benchmarks.contestants import Play, contestants

    players: dict[str, Play] = {}
    rates: dict[str, list[float]] = {}
    parts: dict[str, list[float]] = {}
    rows: dict[str, Any] = {}
    for name, make in contestants(options.games).items():
        rows[name] = None
        machine.say(f"preparing {name} ...")
        try:
            players[name] = make()
        except ImportError as error:
            rows[name] = {"steps_per_second": None, "note": f"not measured: {error.name} is missing or incomplete"}
            continue
        rates[name], parts[name] = [], []
    for i in range(options.repeats):
        machine.say(f"round {i + 1} of {options.repeats}: {', '.join(players)}")
        for name, play in players.items():
            times = play(options.seconds)
            rates[name].append(times["steps"] / times["seconds"])
            parts[name].append(times["choose"] / times["steps"] if "choose" in times else np.nan)
    for name in players:
        rows[name] = {
            "steps_per_second": machine.spread(rates[name]),
            "ns_per_step": machine.spread(1e9 / np.array(rates[name])),
        }
        if not np.isnan(parts[name]).any():
            rows[name]["ns_to_choose"] = machine.spread(1e9 * np.array(parts[name]))
    return rows, {label: ratio(rates, *pair) for label, pair in RATIOS.items()}


def ratio(rates: dict[str, list[float]], over: str, under: str) -> dict[str, float] | None:
    """Return the ratio of two contestants, round by round, as a median with its spread."""
    if over not in rates or under not in rates:
        return None
    return machine.spread(np.array(rates[over]) / np.array(rates[under]), digits=3)


def measure(options: Options, argv: Sequence[str]) -> dict[str, Any]:
    """Return the whole result."""
    from benchmarks import start
    from benchmarks.contestants import bytes_of_a_step
    from benchmarks.hands import measure_hands

    rows, ratios = measure_contestants(options)
    machine.say("timing the legal actions of hands that have not opened ...")
    hands = measure_hands(options.hands)
    machine.say("timing imports ...")
    starting: dict[str, Any] = {"import_seconds": machine.spread(start.import_seconds(start.IMPORT), digits=3)}
    starting["compile_seconds"] = starting["compile_wall_seconds"] = None
    if options.compile:
        machine.say("timing a first compile ...")
        seconds = [machine.significant(value, 3) for value in start.compile_seconds()]
        starting["compile_seconds"], starting["compile_wall_seconds"] = seconds
    main_ratio = ratios["batch / open_spiel"]
    return {
        "ratio": main_ratio["median"] if main_ratio else None,
        "ratios": ratios,
        "steps": rows,
        "bytes_per_step": bytes_of_a_step(),
        "opening": hands,
        "start": starting,
        "options": {name: getattr(options, name) for name in ("seconds", "repeats", "games", "hands")},
        "machine": machine.describe_machine(),
        **origin(PROG, argv),
        "beside": machine.versions_of(("open_spiel", "rlcard")),
    }


def show(result: dict[str, Any]) -> None:
    """Print a result for people."""
    from rich.console import Console
    from rich.table import Table

    steps = Table("one core", "steps/s", "ns/step", "quartiles", title="Steps")
    for name, row in result["steps"].items():
        if row["steps_per_second"] is None:
            steps.add_row(name, "-", "-", row["note"])
            continue
        rate, ns = row["steps_per_second"], row["ns_per_step"]
        steps.add_row(name, f"{rate['median']:,.0f}", f"{ns['median']:,.0f}", f"{ns['low']:,.0f} to {ns['high']:,.0f}")
    ratios = Table("ratio", "median", "quartiles", title="Steps a second, compared")
    for name, row in result["ratios"].items():
        ratios.add_row(
            name, *(("-", "-") if row is None else (f"{row['median']:g}", f"{row['low']:g} to {row['high']:g}"))
        )
    hands = Table("hands", "number", "median ns", "99th percentile", "most", title="Legal actions before the opening")
    for name, row in result["opening"].items():
        if row["hands"]:
            hands.add_row(name, str(row["hands"]), *(f"{row[key]:,.0f}" for key in ("median_ns", "p99_ns", "max_ns")))
    console = Console()
    for table in (steps, ratios, hands):
        console.print(table)
    start = result["start"]
    print(f"import jolly_env: {start['import_seconds']['median']:.2f} s; first compile: {start['compile_seconds']} s")


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = machine.parse_options(Options, PROG, DESCRIPTION, given)
    options.check()
    machine.use_one_core()
    machine.deliver(measure(options, given), options.json, show)


if __name__ == "__main__":
    sys.exit(main())
