"""``python -m eval report``: one self-contained page on a run, with its pictures inside, and the pictures beside it."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from eval.audit import Finding, audited
from eval.behaviour import FIGURES
from eval.files import write_text
from eval.pictures import PAIRS, PICTURE, RATINGS, draw_pairs, draw_points, draw_ratings
from eval.report import RESULT, interval, looked, percent, read_result
from eval.store import FAULTS, PAGE
from jolly_env.rules import Rules

TEMPLATE: Final = "page.html.j2"
AUDIT_SECONDS: Final = 10
"""About how long the audits of an agent may take."""
AUDIT_DEALS: Final = 200
LEAST_DEALS: Final = 10
"""However slow the agent is, so many deals against itself are played: the interval of fewer may be a point."""


def write_report(folder: Path, *, audit: bool = True) -> tuple[list[Path], bool]:
    """Write the page and its pictures into the folder of a run; return their paths, and whether the audits passed.

    ``ValueError`` if there is no result, or one that is damaged or of an older version.
    """
    result = read_result(folder)
    try:
        return _write_page(result, folder, audit=audit)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        # The figures are taken on trust, hundreds of them, and each may be of another form than it was written in.
        raise ValueError(f"{folder / RESULT}: damaged, no page can be made of it: {error!r}; run it again") from error


def _write_page(result: dict[str, Any], folder: Path, *, audit: bool) -> tuple[list[Path], bool]:
    """Write the page of a result that is whole; any error may come of one that is not."""
    from jinja2 import Environment

    pictures = {"points": folder / PICTURE, "ratings": folder / RATINGS, "pairs": folder / PAIRS}
    for draw, path in zip((draw_points, draw_ratings, draw_pairs), pictures.values(), strict=True):
        draw(result, path)
    audits = [(name, each) for name in _makers(result) for each in audit_findings(name, result)] if audit else []
    template = Path(__file__).with_name(TEMPLATE).read_text(encoding="utf-8")
    text = (
        Environment(autoescape=True, trim_blocks=True)
        .from_string(template)
        .render(
            **_content(result),
            faults=_faults(result, folder),
            audits=audits,
            pictures={name: _embedded(path) for name, path in pictures.items()},
        )
    )
    write_text(folder / PAGE, text)
    return [folder / PAGE, *pictures.values()], all(finding.passed for _, finding in audits)


def audit_findings(name: str, result: dict[str, Any]) -> list[Finding]:
    """Audit an agent of a result under its rules, in as many deals as take a few seconds."""
    players = int(result["players"])
    rules = Rules.from_json({**result["rules"], "players": players})
    played = result["behaviour"][name]
    rounds = result["rounds"] / (result["deals"] * result["seatings"])
    cost = played["seconds_per_decision"] * played["decisions"] * rounds * players * (players + 1)
    deals = int(min(max(AUDIT_SECONDS / max(cost, 1e-9), LEAST_DEALS), AUDIT_DEALS))
    return audited(name, rules, deals, result["seed"])


def _makers(result: dict[str, Any]) -> list[str]:
    """Return the names by which the agents can be made, each once."""
    names = result["names"]
    return [name for name in names if not any(name.startswith(f"{other}#") for other in names)]


def _embedded(path: Path) -> str:
    """Return a picture as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()


def _content(result: dict[str, Any]) -> dict[str, Any]:
    """Return what the page says of a result."""
    names = result["names"]
    rounds, deals = f"{result['rounds']:,} rounds", f"{result['deals']:,} deals"
    return {
        "title": " · ".join(names),
        "summary": f"{deals}, each in {result['seatings']} seatings at a table for {result['players']}: {rounds}."
        + (" The run was interrupted." if result["interrupted"] else "")
        + (f" It {looked(result)}." if len(result["looks"]) > 1 else ""),
        "head": _head(result),
        "names": names,
        "agents": [_agent_row(result, name) for name in names],
        "pairs": [_pair_row(pair, luck) for pair, luck in zip(result["pairs"], result["luck"]["pairs"], strict=True)],
        "behaviour": [
            [f"{figure}: {text}", *(_shown(result, name, figure) for name in names)] for figure, text in FIGURES.items()
        ],
        "luck": _luck(result),
        "reading": _reading(result),
    }


def _head(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return where a result comes from."""
    commit = f"{result['commit'] or 'unknown'}" + (" (with changes)" if result.get("changed") else "")
    return [
        ("command", result["command"]),
        ("protocol", result.get("protocol") or "none"),
        ("seed", str(result["seed"])),
        ("rules", json.dumps(result["rules"]) if result["rules"] else "the default"),
        ("commit", commit),
        ("started", result["started"]),
        ("versions", ", ".join(f"{name} {version}" for name, version in result["versions"].items())),
    ]


def _agent_row(result: dict[str, Any], name: str) -> list[str]:
    """Return the line of an agent."""
    figures, rated = result["agents"][name], result["ratings"]["agents"][name]
    low, high = rated["rating_ci"]
    rating = f"{rated['rating']:.0f} ({low:.0f} to {high:.0f})"
    adjusted = interval(result["luck"]["agents"][name], "adjusted")
    return [name, interval(figures, "points"), adjusted, _share(figures), rating]


def _pair_row(pair: dict[str, Any], luck: dict[str, Any]) -> list[str]:
    """Return the line of a pair."""
    names = f"{pair['a']} – {pair['b']}"
    return [names, interval(pair, "points"), interval(luck, "adjusted"), percent(luck["narrower"]), _share(pair)]


def _share(figures: dict[str, Any]) -> str:
    """Return a win share and its interval as text."""
    low, high = figures["win_share_ci"]
    return f"{percent(figures['win_share'])} ({100 * low:.1f} to {100 * high:.1f})"


def _shown(result: dict[str, Any], name: str, figure: str) -> str:
    """Return a figure of an agent's play, with its interval where there is one."""
    played = result["behaviour"][name]
    value = played[figure]
    if value is None:
        return "–"
    if figure == "seconds_per_decision":
        return f"{value:.2g}"
    low, high = played[f"{figure}_ci"]
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def _luck(result: dict[str, Any]) -> str:
    """Return a sentence on how much the adjustment narrows."""
    best = max(result["luck"]["pairs"], key=lambda pair: pair["narrower"])
    return (
        "Without the luck of the draws the interval of the points "
        f"is narrower by {percent(best['narrower'])} for {best['a']} – {best['b']}, the pair that it helps most. "
        "Each draw from the stock is compared with the mean of all cards that might have come, so its luck is zero in "
        "the mean, and taking it out moves no result in the mean. How much of it counts is fitted to the other half of "
        "the deals."
    )


def _faults(result: dict[str, Any], folder: Path) -> list[str]:
    """Return a line for each agent that forfeited rounds, with its most frequent message."""
    path = folder / FAULTS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    messages = Counter((fault["agent"], fault["message"]) for fault in map(json.loads, lines))
    told = []
    for name, count in result["faults"].items():
        if count:
            most = next((message for (agent, message), _ in messages.most_common() if agent == name), "")
            told.append(f"{name} forfeited {count:,} rounds; most often: {most}")
    return told


def _reading(result: dict[str, Any]) -> list[str]:
    """Return how the figures are to be read."""
    return [
        "All seatings of a deal share its cards, its reshuffles and the random keys of each seat, so what a lucky deal "
        "gives to one agent it gives to the next.",
        "Points: the score of a round less the mean of the others' scores; of a pair, less the other's score.",
        "Win share: rounds with the highest score, shared among equals; of a pair, rounds in which the first scored "
        f"more, equals a half. Equal play is {percent(1 / result['players'])}, of a pair {percent(0.5)}.",
        f"In brackets: {100 * result['level']:.4g}% intervals, bootstrapped by whole deals. An interval without zero "
        "is a difference that chance alone would seldom make; one with zero is no proof of equality.",
        "Ratings: Bradley and Terry, from shares of rounds above each other, with one drawn round added for every pair "
        "that met; 400 points are odds of ten to one. One that was above, or below, in all rounds has the rating that "
        "the drawn round leaves it, and its interval says nothing.",
        "Audits: against itself, an agent has to come to zero; with the cards that it can't know dealt anew, and alone "
        "or in other company, it has to choose the same.",
    ]
