"""``python -m benchmarks.pages``: write the figures of README.md and of pages of docs/ from the benchmarks' results.

A block ``<!-- figures:engine -->`` … ``<!-- /figures -->`` is filled from ``benchmarks/results/engine.json``;
``demo.json`` is the ``result.json`` of the evaluation that ``make demo`` ends with.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import parse_options, significant
from eval.cli import main_guard
from eval.files import write_text

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, ROOT / "docs" / "openspiel.md", ROOT / "docs" / "table.md", ROOT / "docs" / "cluster.md"]
RESULTS = ROOT / "benchmarks" / "results"
BLOCK = re.compile(r"(<!-- figures:(\w+) -->\n).*?(<!-- /figures -->)", re.DOTALL)

RATIOS = {
    "batch / open_spiel": "`Batch`, random play, over OpenSpiel's `gin_rummy`",
    "batch_greedy / open_spiel": "`Batch`, greedy's play and its choosing included, over the same",
    "raw_env / open_spiel": "`jolly_v0.raw_env` over the same",
    "env / open_spiel": "`jolly_v0.env()` over the same",
    "batch / rlcard": "`Batch`, random play, over RLCard's gin rummy",
    "batch / copy": "`Batch`, random play, over a plain copy of the bytes that it writes",
}
STEPS = {
    "batch": "`Batch`: records and masks, random play",
    "batch_features": "`Batch`: features and masks, random play",
    "batch_none": "`Batch`: masks only, random play",
    "batch_greedy": "`Batch`: records and masks, greedy's play",
    "raw_env": "`jolly_v0.raw_env`",
    "env": "`jolly_v0.env()`",
    "open_spiel": "OpenSpiel `gin_rummy` from Python",
    "rlcard": "RLCard gin rummy",
    "copy": "the limit: a plain copy of a step's bytes",
}
HANDS = {"all": "all, met in random play", "cannot_open": "of these, cannot open", "can_open": "of these, can open"}


def engine_block(result: dict[str, Any]) -> list[str]:
    """Return the lines of the engine's figures, ratios first."""
    lines = ["| steps a second, compared | times | quartiles |", "|---|--:|--:|"]
    for key, label in RATIOS.items():
        lines.append(f"| {label} | {_three(result['ratios'][key])} |")
    lines += ["", "| one core | steps a second | ns a step |", "|---|--:|--:|"]
    for key, label in STEPS.items():
        row = result["steps"][key]
        if row["steps_per_second"] is None:
            lines.append(f"| {label} | not measured | |")
        else:
            rate, ns = row["steps_per_second"]["median"], row["ns_per_step"]["median"]
            lines.append(f"| {label} | {_grouped(rate)} | {_grouped(ns)} |")
    lines += ["", "| legal actions after the draw, not opened (R8) | median | 99th percentile |", "|---|--:|--:|"]
    for key, row in result["opening"].items():
        lines.append(f"| {HANDS.get(key, key)} | {_duration(row['median_ns'])} | {_duration(row['p99_ns'])} |")
    start = result["start"]
    compiling = start["compile_seconds"]
    lines += ["", f"`import jolly_env` takes {start['import_seconds']['median']:.2g} s"]
    lines[-1] += "." if compiling is None else f"; the kernels compile once, in {compiling:.0f} s."
    return lines


def train_block(result: dict[str, Any]) -> list[str]:
    """Return the lines of the learner's figures, ratios first."""
    lines = ["| decisions trained a second, compared | times | quartiles |", "|---|--:|--:|"]
    ratios = result.get("ratios") or {"the same learner on a free environment": result["ratio"]}
    for label, value in ratios.items():
        lines.append(f"| {label} | {_three(value)} |")
    rates = result.get("decisions_per_second")
    if isinstance(rates, dict):
        lines += ["", "| learner | decisions a second |", "|---|--:|"]
        for label, value in rates.items():
            lines.append(f"| {label} | {_grouped(value['median'] if isinstance(value, dict) else value)} |")
    return lines


def demo_block(result: dict[str, Any]) -> list[str]:
    """Return the lines of how the demo's agent did, from the ``result.json`` of its evaluation."""
    lines = ["| | rounds won | points a round |", "|---|--:|--:|"]
    for pair in result["pairs"]:
        (low, high), (fewest, most) = pair["win_share_ci"], pair["points_ci"]
        won = f"**{100 * pair['win_share']:.1f}%** ({100 * low:.1f} to {100 * high:.1f})"
        points = f"{pair['points']:+.1f} ({fewest:+.1f} to {most:+.1f})"
        lines.append(f"| {Path(pair['a']).name} against {Path(pair['b']).name} | {won} | {points} |")
    lines += ["", f"{result['deals']:,} duplicate deals, each in both seatings; 95% intervals bootstrapped by deal."]
    return lines


def tiny_block(result: dict[str, Any]) -> list[str]:
    """Return the lines of how far players of the tiny game are from an equilibrium."""
    lines = ["| | exploitability, points a round |", "|---|--:|"]
    lines += [f"| `{name}` | {points:.2f} |" for name, points in result["bots"].items()]
    for point in result["cfr"]:
        lines.append(f"| OpenSpiel's CFR, {point['iterations']} iterations | {point['points']:.2f} |")
    for name in sorted(key for key in result if key.startswith("ppo-")):
        last = result[name]["curve"][-1]
        lines.append(f"| self-play, seed {name[4:]}, {last['decisions']:,} decisions | {last['points']:.2f} |")
    same = [f"`{name}` {ours:.6f} and {theirs:.6f}" for name, (ours, theirs) in result["both"].items()]
    lines += ["", f"By `eval.exploit` and by OpenSpiel: {', '.join(same)}."]
    return lines


def table_block(result: dict[str, Any]) -> list[str]:
    """Return the lines of how soon the table's server answers."""
    waits = result["milliseconds"]
    lines = [f"| {result['tables']} tables of four, {result['moves_a_second']:.0f} moves a second | |", "|---|--:|"]
    lines.append(f"| answered within 100 ms | **{100 * result['ratio']:.1f}%** |")
    lines += [f"| {name} | {waits[name]:.0f} ms |" for name in ("median", "95%", "99%")]
    cores = result["machine"]["cores"]
    return [*lines, "", f"Server and persons share {cores} cores; a move is answered when the next view has come back."]


def ray_block(result: dict[str, Any]) -> list[str]:
    """Return the lines of what Ray costs, and how far it would carry."""
    rounds = result["rounds"]
    lines = ["| planner against greedy, two cores | µs a round |", "|---|--:|"]
    lines += [
        f"| {n} local process{'es' * (n != '1')} | {_grouped(1e6 * s / rounds)} |"
        for n, s in result["local_seconds"].items()
    ]
    lines += [
        f"| Ray, {n} worker{'s' * (n != '1')} | {_grouped(1e6 * s / rounds)} |"
        for n, s in result["ray_seconds"].items()
    ]
    hand, unit = 1000 * result["handing_out_seconds"], 1000 * result["unit_seconds"]
    lines += [
        "",
        f"A unit takes a worker {unit:.0f} ms and the process that hands out and writes {hand:.1f} ms. The model:",
        "",
    ]
    lines += ["| cores | units a second | of what the cores could do |", "|--:|--:|--:|"]
    lines += [
        f"| {n} | {row['units_a_second']:.0f} | {100 * row['efficiency']:.0f}% |" for n, row in result["model"].items()
    ]
    return [*lines, "", f"It saturates at {result['saturates_at_cores']:.0f} cores with these agents."]


BLOCKS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "engine": engine_block,
    "train": train_block,
    "demo": demo_block,
    "tiny": tiny_block,
    "table": table_block,
    "ray": ray_block,
}
COMMANDS = {name: f"python -m benchmarks.{name} --json benchmarks/results/{name}.json" for name in BLOCKS}
COMMANDS["demo"] = "make demo"
COMMANDS["tiny"] += " --picture docs/pictures/tiny.png"


def _three(value: Any) -> str:
    """Return a ratio and its quartiles as two cells."""
    if value is None:
        return "not measured |"
    if isinstance(value, dict):
        return f"**{significant(value['median'], 2):g}** | {value['low']:.2g} to {value['high']:.2g}"
    return f"**{significant(value, 2):g}** |"


def _grouped(value: float) -> str:
    """Return a number to three digits, its thousands apart."""
    return f"{significant(value, 3):,.0f}"


def _duration(ns: float | None) -> str:
    """Return a time in the unit that suits it."""
    if ns is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{significant(ns / size, 2):g} {unit}"
    return f"{significant(ns, 2):g} ns"


def render(text: str, results: Path = RESULTS) -> str:
    """Return a page's text with its blocks filled from the results; ``ValueError`` names a result that is damaged."""

    def fill(match: re.Match[str]) -> str:
        name, path = match[2], results / f"{match[2]}.json"
        if name not in BLOCKS:
            raise ValueError(f"figures:{name}: expected one of {', '.join(BLOCKS)}")
        command = COMMANDS[name]
        if not path.exists():
            return f"{match[1]}Not measured yet; `{command}` does.\n{match[3]}"
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
            lines = [*BLOCKS[name](result), "", _origin(result, command)]
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path}: not a result of this benchmark: {error!r}") from None
        return match[1] + "\n".join(lines) + "\n" + match[3]

    return BLOCK.sub(fill, text)


def _origin(result: dict[str, Any], command: str) -> str:
    """Return the line that says how the figures came about."""
    day, commit = str(result["started"])[:10], str(result["commit"] or "unknown")[:10]
    told = f"`{command}` measures this again. Measured on {day} at commit {commit}"
    machine = result.get("machine")
    return f"{told}: {machine['cpu']}, {machine['system']}." if machine else f"{told}."


@dataclass
class Options:
    """The options of the command."""

    check: bool = False
    """Write nothing; exit with 1 if a page's figures are not those of the results."""


@main_guard
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    given = list(sys.argv[1:] if argv is None else argv)
    description = (
        "Write the figures of README.md and docs/ from benchmarks/results/.\n\n"
        "Example: python -m benchmarks.pages --check"
    )
    options = parse_options(Options, "python -m benchmarks.pages", description, given)
    changed = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = render(text)
        if new == text:
            continue
        changed = 1
        if options.check:
            told = "its figures are not those of benchmarks/results; python -m benchmarks.pages writes them"
            print(f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}: {told}")
        else:
            write_text(page, new)
    return changed if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
