"""``python -m benchmarks.ladder``: play the runs that docs/results.md tells of, and write it.

Each run is a ``python -m eval run`` in a folder of its own under runs/ladder, whose deals come from a seed of the
operating system; stopped, it goes on. What the page needs of each is kept in benchmarks/results/ladder/, and the page
is written from that alone.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import parse_options
from eval.__main__ import main as evaluate
from eval.cli import DONE, FAILED, main_guard
from eval.files import write_json, write_text, writing
from eval.origin import origin
from jolly_env.rules import Rules

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "ladder"
PAGE = ROOT / "docs" / "results.md"
PICTURE = ROOT / "docs" / "pictures" / "budget.png"
KEPT = (
    "deals",
    "rounds",
    "seed",
    "players",
    "rules",
    "agents",
    "pairs",
    "ratings",
    "behaviour",
    "luck",
    "faults",
    "seconds",
    "command",
    "started",
    "commit",
    "versions",
)
PROG = "python -m benchmarks.ladder"
DESCRIPTION = """Play the runs of docs/results.md that are not there yet, and write the page.

Example: python -m benchmarks.ladder --only pairs-2p,budget-4"""

RUNGS = ("random", "greedy", "careful", "planner", "racer")
BUDGETS = {4: "budget-4", 16: "budget-16", 64: "budget-64", 256: "search-2p"}
"""The runs with so many worlds a decision; the last are what the search has by default."""
AUDITS = {"random": 2000, "greedy": 2000, "careful": 2000, "planner": 2000, "racer": 2000, "search": 20}
"""In how many deals each rung is audited."""
IDEAS = {
    "careful": {
        "out=0": "outs: copies of the missing card within reach",
        "danger_meld=0": "danger: what goes with known and unseen cards of the next player",
        "danger_closed=0": "danger before the next player has opened",
        "joker=0": "the price of a joker",
        "fit=0": "cards that fit the table, before the opening",
    },
    "planner": {
        "hold=0,jolly=0": "holding back before the opening",
        "jolly=0": "the chance of a Hand-Jolly",
        "potential=0": "melds that lack a card",
        "jokered=0": "melds that lack a card, with a joker in hand",
        "fit=0": "cards that fit the table, before the opening",
        "danger_fit=0,danger_meld=0": "danger of a discard, once the next player has opened",
        "joker=0": "the price of a joker",
        "left_near=0": "how near the others are to closing",
        "close=0": "what the others are caught with",
        "open=0": "the worth of having opened",
    },
}
"""What is taken out of a bot, by its weights, and what idea that is."""
IDEA_DEALS = {"careful": (20_000, 5_000), "planner": (5_000, 5_000)}
"""Deals for each idea, at tables for two and for four."""
GONE = {
    "careful": {
        "in_row": "outs that lie in the row",
        "danger_fit": "danger: what fits the table",
        "passed": "danger: what the next player has thrown",
        "potential": "draws and lays weigh what may still come",
        "left_near": "how near the others are to closing",
        "close": "what the others are caught with",
        "jokered": "melds that lack a card, with a joker in hand",
        "stock": "what a take has to be worth more than the stock",
    },
    "planner": {
        "hold_open": "holding back after the opening",
        "in_row": "outs that lie in the row",
        "stock": "the stock beyond what it brings on average",
        "shown": "the price of showing what is taken",
        "danger_closed": "danger before the next player has opened",
        "passed": "danger: what the next player has thrown",
        "left_late": "how late it is",
    },
}
"""Ideas that were worth nothing and were taken out; their figures were measured before."""


def runs() -> dict[str, list[str]]:
    """Return the arguments of each run by its name."""
    found = {"pairs-2p": [*RUNGS, "--deals", "5000"]}
    for better, worse in zip(RUNGS[1:], RUNGS, strict=False):
        found[f"{better}-4p"] = [better, worse, "--players", "4", "--deals", "5000"]
    found["search-2p"] = ["search", "planner", "--deals", "500"]
    for worlds, name in BUDGETS.items():
        found.setdefault(name, [f"search:worlds={worlds}", "planner", "--deals", "300"])
    for agent, deals in AUDITS.items():
        found[f"audit-{agent}"] = [agent, "--deals", str(deals)]
    for agent, ideas in IDEAS.items():
        two, four = IDEA_DEALS[agent]
        for idea in ideas:
            found[without(agent, idea)] = [agent, f"{agent}:{idea}", "--deals", str(two)]
        for idea in ideas:
            many = ["--players", "4", "--deals", str(four)]
            found[without(f"{agent}-4p", idea)] = [agent, f"{agent}:{idea}", *many]
    return found


def without(agent: str, idea: str) -> str:
    """Return the name of the run that takes an idea, joker=0 or hold=0,jolly=0, out of an agent."""
    return f"{agent}-without-" + "-".join(part.partition("=")[0] for part in idea.split(","))


@dataclass
class Options:
    """The options of the command."""

    only: str = ""
    """Names of runs, with commas between; all by default."""
    page: bool = False
    """Write the page from what is there, and play nothing."""

    def check(self) -> None:
        """Raise ``ValueError`` for a run that there is not."""
        unknown = set(filter(None, self.only.split(","))) - set(runs())
        if unknown:
            raise ValueError(f"--only {','.join(sorted(unknown))}: no such run; expected {', '.join(runs())}")


@main_guard
def main(argv: Sequence[str] | None = None) -> int:
    """Play, gather and write."""
    options = parse_options(Options, PROG, DESCRIPTION, sys.argv[1:] if argv is None else argv)
    options.check()
    if not options.page:
        for name in filter(None, options.only.split(",")) if options.only else runs():
            code = play(name)
            if code:
                return code
    if any(read(name) for name in BUDGETS.values()):
        draw_budget()
    write_text(PAGE, page())
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 0


def play(name: str) -> int:
    """Play a run, or what is missing of it, and keep its figures; return the exit code."""
    folder = Path("runs") / "ladder" / name
    print(f"== {name}", flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    if name.startswith("audit-"):
        return play_audit(name)
    code = evaluate(["run", *runs()[name], "--out", str(folder)])
    if code:
        return code
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    write_json(RESULTS / f"{name}.json", {key: result[key] for key in KEPT})
    return 0


def play_audit(name: str) -> int:
    """Audit a rung as ``python -m eval audit`` does, and keep what was found; return the exit code."""
    from eval.audit import audited, line

    agent, _, deals = runs()[name]
    seed = secrets.randbits(32)
    findings = audited(agent, Rules(), int(deals), seed)
    print("\n".join(line(finding) for finding in findings))
    found = [finding._asdict() for finding in findings]
    write_json(RESULTS / f"{name}.json", {"findings": found, "seed": seed, **origin(PROG, ["--only", name])})
    return DONE if all(finding.passed for finding in findings) else FAILED


def read(name: str) -> dict[str, Any] | None:
    """Return the figures of a run; None if it was not played yet."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def page() -> str:
    """Return docs/results.md."""
    parts = [
        "# Results",
        "",
        "All figures are points per round of a margin: own score less the mean of the others'. In brackets 95%",
        "intervals, bootstrapped by deal; every deal is played in every seating, and no deal was used before. This",
        "page is written by",
        "",
        "```",
        "python -m benchmarks.ladder",
        "```",
        "",
        "from `benchmarks/results/ladder/`, where each run's seed, command, commit and versions stand.",
        "",
    ]
    return (
        "\n".join([*parts, *ladder(), *bigger(), *behaviour(), *search(), *beliefs(), *audits(), *ablations()]) + "\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table in Markdown: the first column to the left, the others to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def points(figures: dict[str, Any], name: str = "points") -> str:
    """Return points with their interval."""
    low, high = figures[f"{name}_ci"]
    return f"{figures[name]:+.1f} ({low:+.1f} to {high:+.1f})"


def share(figures: dict[str, Any]) -> str:
    """Return a win share with its interval."""
    low, high = figures["win_share_ci"]
    return f"{100 * figures['win_share']:.1f}% ({100 * low:.1f} to {100 * high:.1f})"


def told(result: dict[str, Any]) -> str:
    """Return how much was played."""
    return f"{result['deals']:,} deals, {result['rounds']:,} rounds, {result['seconds']:,.0f} s, seed {result['seed']}."


def ladder() -> list[str]:
    """Return the rungs at a table for two."""
    result = read("pairs-2p")
    if result is None:
        return []
    lines = ["## The ladder, two players", "", told(result), ""]
    luck = {(pair["a"], pair["b"]): pair for pair in result["luck"]["pairs"]}
    rows = []
    for pair in result["pairs"]:
        adjusted = luck[pair["a"], pair["b"]]
        rows.append(
            (
                f"{pair['b']} against {pair['a']}",
                points(turned(pair)),
                share(turned(pair)),
                points(turned(adjusted, "adjusted"), "adjusted"),
                f"{100 * adjusted['narrower']:.0f}%",
            )
        )
    lines += table(("pair", "points", "scores more in", "points without the luck of draws", "narrower by"), rows)
    ratings = result["ratings"]["agents"]
    rated = [
        (name, f"{figures['rating']:.0f}", " to ".join(f"{end:.0f}" for end in figures["rating_ci"]))
        for name, figures in ratings.items()
    ]
    return lines + table(("agent", "rating (Bradley–Terry, `random` = 0)", "95% interval"), rated)


def turned(pair: dict[str, Any], name: str = "points") -> dict[str, Any]:
    """Return a pair's figures as the second of the two sees them."""
    seen = {name: 0.0 - pair[name], f"{name}_ci": [0.0 - end for end in reversed(pair[f"{name}_ci"])]}
    if "win_share" in pair:
        seen |= {"win_share": 1 - pair["win_share"], "win_share_ci": [1 - e for e in reversed(pair["win_share_ci"])]}
    return seen


def bigger() -> list[str]:
    """Return the rungs at a table for four."""
    rows = []
    for better, worse in zip(RUNGS[1:], RUNGS, strict=False):
        result = read(f"{better}-4p")
        if result is not None:
            figures = result["agents"][better]
            rows.append((f"{better} against three {worse}", points(figures), share(figures), f"{result['deals']:,}"))
    if not rows:
        return []
    return ["## The ladder, four players", "", *table(("table", "points", "wins (equal play: 25%)", "deals"), rows)]


SHOWN = {
    "turns_to_open": ("own turns to open", 1, ""),
    "opened_share": ("rounds in which it opened", 100, "%"),
    "takes": ("takes from the row", 1, ""),
    "cards_per_take": ("cards a take", 1, ""),
    "swaps": ("jokers swapped", 1, ""),
    "laid": ("points laid", 1, ""),
    "caught": ("points caught in hand", 1, ""),
    "closings": ("closed", 100, "%"),
    "hand_jollys": ("by Hand-Jolly", 100, "%"),
    "seconds_per_decision": ("microseconds a decision", 1e6, ""),
}
"""What is shown of the behaviour: its name, factor and unit."""


def behaviour() -> list[str]:
    """Return how the rungs play."""
    result = read("pairs-2p")
    if result is None:
        return []
    names = list(result["behaviour"])
    rows = []
    for key, (label, factor, unit) in SHOWN.items():
        values = [result["behaviour"][name][key] for name in names]
        rows.append((label, *("–" if value is None else f"{factor * value:.1f}{unit}" for value in values)))
    return ["## How they play", "", "A round, at a table for two, over all opponents.", "", *table(("", *names), rows)]


def search() -> list[str]:
    """Return what the search gains, by its budget."""
    rows = []
    for worlds, name in BUDGETS.items():
        result = read(name)
        if result is None:
            continue
        agent = next(iter(result["agents"]))
        seconds = result["behaviour"][agent]["seconds_per_decision"]
        label = f"{worlds} ({result['deals']} deals)"
        rows.append((label, points(result["agents"][agent]), share(result["agents"][agent]), f"{1000 * seconds:.1f}"))
    if not rows:
        return []
    head = ("worlds", "points against the planner", "scores more in", "milliseconds a decision")
    picture = "![points against worlds](pictures/budget.png)"
    return ["## Search against its budget", "", *table(head, rows), picture, ""]


def draw_budget() -> None:
    """Draw what the search gains by its budget."""
    from matplotlib.figure import Figure

    results = {worlds: read(name) for worlds, name in BUDGETS.items()}
    gains = {worlds: next(iter(result["agents"].values())) for worlds, result in results.items() if result is not None}
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    means = [gain["points"] for gain in gains.values()]
    ends = [[abs(end - gain["points"]) for end in gain["points_ci"]] for gain in gains.values()]
    axes.errorbar(list(gains), means, yerr=list(zip(*ends, strict=True)), fmt="o-", capsize=4)
    axes.axhline(0, color="0.6", linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_xticks(list(BUDGETS), [str(worlds) for worlds in BUDGETS])
    axes.set_xlabel("worlds a decision")
    axes.set_ylabel("points a round against the planner")
    with writing(PICTURE) as beside:
        figure.savefig(beside, dpi=120)


def beliefs() -> list[str]:
    """Return how well sampled worlds tell who holds what, as ``python -m benchmarks.beliefs`` has found."""
    path = RESULTS.parent / "beliefs.json"
    if not path.exists():
        return []
    result = json.loads(path.read_text(encoding="utf-8"))
    told = (
        f"For {result['cards']:,} unseen cards, in {result['options']['positions']:,} positions of "
        f"`{result['options']['agent']}`'s play: how often the next player holds them, as predicted and as it was. The"
    )
    lines = [told, "loss is the mean negative log likelihood. Made by", "", "```", result["command"], "```", ""]
    rows = [
        (
            f"{point['predicted']:.2f}",
            f"{point['true']:.2f}",
            f"{point['cards']:,}",
        )
        for point in result["calibration"]["weighed"]
    ]
    loss = f"Loss: {result['loss']['blind']:.4f} of worlds drawn blindly, {result['loss']['weighed']:.4f} of these."
    picture = "![predicted against true](pictures/beliefs.png)"
    head = ("predicted, by tenths", "true", "cards")
    return ["## Beliefs", "", *lines, loss, "", *table(head, rows), picture, ""]


def audits() -> list[str]:
    """Return what the audits found."""
    rows = [
        (agent, finding["name"], "passed" if finding["passed"] else "FAILED", finding["told"])
        for agent in AUDITS
        for finding in (read(f"audit-{agent}") or {"findings": []})["findings"]
    ]
    return ["## Audits", "", *table(("agent", "audit", "", "what was found"), rows)] if rows else []


def ablations() -> list[str]:
    """Return what each idea is worth."""
    lines = []
    for agent, ideas in IDEAS.items():
        rows = [idea_row(agent, weights, idea) for weights, idea in ideas.items()]
        lines += [f"## What each idea of `{agent}` is worth", ""]
        two, four = IDEA_DEALS[agent]
        lines += [f"Against itself without the idea: {two:,} deals for two; for four, {four:,} against a field.", ""]
        lines += table(("idea", "without it", "points, two players", "points, four players"), rows)
        lines += ["Worth nothing, and therefore taken out (as measured before):", ""]
        rows = [idea_row(agent, name, idea) for name, idea in GONE[agent].items()]
        lines += table(("idea", "its weight", "points, two players", "points, four players"), rows)
    return lines


def idea_row(agent: str, weights: str, idea: str) -> tuple[str, str, str, str]:
    """Return what an idea is worth as a row of a table; cells are empty where it was not measured."""
    two, four = read(without(agent, weights)), read(without(f"{agent}-4p", weights))
    cells = ("" if result is None else points(result["agents"][agent]) for result in (two, four))
    return (idea, f"`{weights}`", *cells)  # type: ignore[return-value]


if __name__ == "__main__":
    sys.exit(main())
