"""What a result looks like on screen, and its files in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from eval.files import write_json
from eval.pictures import PICTURE, draw_points

if TYPE_CHECKING:
    from rich.console import Console

RESULT: Final = "result.json"
FEW_DEALS: Final = 30


def save(result: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``result.json`` and the picture into a folder; return their paths."""
    paths = [folder / RESULT, folder / PICTURE]
    write_json(paths[0], result)
    draw_points(result, paths[1])
    return paths


def read_result(folder: Path) -> dict[str, Any]:
    """Return the result in a folder; ``ValueError`` if it is none that a report can be made of."""
    path = folder / RESULT
    if folder.is_file():
        raise ValueError(f"{folder}: a file; name the folder of a run")
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder}: there is no {RESULT} in it; python -m eval run writes one") from None
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(result, dict):
        raise ValueError(f"{path}: not a result")
    missing = {
        "deals",
        "rounds",
        "players",
        "seed",
        "names",
        "agents",
        "pairs",
        "matrix",
        "ratings",
        "behaviour",
        "luck",
        "faults",
        "level",
    } - set(result)
    if missing:
        raise ValueError(f"{path}: made by an older version, without {', '.join(sorted(missing))}; run it again")
    return result


def show(result: dict[str, Any], console: Console) -> None:
    """Print the figures of each agent, each against each where there are more than two, and how rounds ended."""
    from rich.table import Table

    players, agents = result["players"], result["agents"]
    title = f"{result['deals']:,} deals, {result['rounds']:,} rounds, {players} players, seed {result['seed']}"
    table = Table(title=title + (", interrupted" if result.get("interrupted") else ""), title_justify="left")
    ends = Table(title="How rounds ended", title_justify="left")
    table.add_column("agent", overflow="fold")
    ends.add_column("agent", overflow="fold")
    for head in ("points", "win share", "score"):
        table.add_column(head, justify="right", no_wrap=True)
    for head in ("closed by it", "by Hand-Jolly", "no draw left", "cut off"):
        ends.add_column(head, justify="right", no_wrap=True)
    for name, figures in agents.items():
        table.add_row(name, _points(figures), _share(figures), f"{figures['score']:.1f}")
        ends.add_row(name, *(percent(figures[key]) for key in ("closings", "hand_jollys", "exhausted", "cut_off")))
    console.print(table)
    if len(agents) > 2:
        table = Table(title="Head to head", title_justify="left")
        table.add_column("agent", overflow="fold")
        table.add_column("against", overflow="fold")
        table.add_column("points", justify="right", no_wrap=True)
        table.add_column("win share", justify="right", no_wrap=True)
        for name in agents:
            for pair in result["pairs"]:
                if name in (pair["a"], pair["b"]):
                    seen = pair if name == pair["a"] else _turned(pair)
                    table.add_row(name, seen["b"], _points(seen), _share(seen))
            table.add_section()
        console.print(table)
    console.print(ends)
    _show_more(result, console)
    console.print(
        "points: score less the mean of the others', per round; win share: rounds with the highest score, shared among "
        f"equals (equal play: {percent(1 / players)}); in brackets {100 * result['level']:.4g}% intervals, "
        "bootstrapped by deal",
        style="dim",
        highlight=False,
    )
    if result["deals"] < FEW_DEALS:
        console.print(f"Fewer than {FEW_DEALS} deals: the true intervals are wider.", style="yellow", highlight=False)


def _show_more(result: dict[str, Any], console: Console) -> None:
    """Print ratings, points without the luck of the draws, and faults."""
    from rich.table import Table

    table = Table(title="Ratings, and points without the luck of the draws", title_justify="left")
    table.add_column("agent", overflow="fold")
    for head in ("rating", "adjusted points", "interval narrower by"):
        table.add_column(head, justify="right", no_wrap=True)
    for name, figures in result["luck"]["agents"].items():
        rated = result["ratings"]["agents"][name]
        low, high = rated["rating_ci"]
        rating = f"{rated['rating']:.0f} ({low:.0f} to {high:.0f})"
        table.add_row(name, rating, interval(figures, "adjusted"), percent(figures["narrower"]))
    console.print(table)
    for name, count in result["faults"].items():
        if count:
            console.print(
                f"{name} forfeited {count:,} rounds by faults: see faults.jsonl", style="red", highlight=False
            )
    if len(result["looks"]) > 1:
        console.print(looked(result), style="dim", highlight=False)


def looked(result: dict[str, Any]) -> str:
    """Return a sentence on how often a run was looked at, and what that does to its intervals."""
    return (
        f"ended after {result['deals']:,} deals, at one of {len(result['looks'])} looks fixed before; so that they "
        f"together miss in at most 5% of cases, intervals are made at the level {percent(result['level'])}"
    )


def _turned(pair: dict[str, Any]) -> dict[str, Any]:
    """Return a pair as the other of the two sees it."""
    return {
        "a": pair["b"],
        "b": pair["a"],
        "points": 0.0 - pair["points"],
        "points_ci": [0.0 - end for end in reversed(pair["points_ci"])],
        "win_share": 1 - pair["win_share"],
        "win_share_ci": [1 - end for end in reversed(pair["win_share_ci"])],
    }


def percent(share: float) -> str:
    """Return a share as text."""
    return f"{100 * share:.1f}%"


def _points(figures: dict[str, Any]) -> str:
    """Return points and their interval as text."""
    return interval(figures, "points")


def interval(figures: dict[str, Any], name: str) -> str:
    """Return a figure in points and its interval as text."""
    low, high = figures[f"{name}_ci"]
    return f"{figures[name]:+.1f} ({low:+.1f} to {high:+.1f})"


def _share(figures: dict[str, Any]) -> str:
    """Return a win share and its interval as text."""
    low, high = figures["win_share_ci"]
    return f"{percent(figures['win_share'])} ({100 * low:.1f} to {100 * high:.1f})"
