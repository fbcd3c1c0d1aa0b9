"""Pictures of a result: points and win shares, ratings, and the matrix of all pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from eval.files import writing

if TYPE_CHECKING:
    from eval.figure import Picture

PICTURE: Final = "result.png"
RATINGS: Final = "ratings.png"
PAIRS: Final = "pairs.png"
LONGEST: Final = 40
"""Characters of a name that are shown."""


def short(name: str) -> str:
    """Return a name, of a long one its end."""
    return name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}"


def points_picture(result: dict[str, Any]) -> Picture:
    """Return points and win shares with their intervals, one line an agent and, below, one a pair."""
    from eval.figure import Picture

    lines = list(result["agents"].items())
    first_pair = len(lines)
    if len(lines) > 2:
        lines += [(f"{pair['a']} – {pair['b']}", pair) for pair in result["pairs"]]
    figure = Picture(figsize=(10, 1.6 + 0.4 * len(lines)), layout="constrained")
    for axes, key, factor, equal, label in zip(
        figure.subplots(1, 2, sharey=True),
        ("points", "win_share"),
        (1, 100),
        ((0, 0), (100 / result["players"], 50)),
        ("points per round, less the others'", "win share, %"),
        strict=True,
    ):
        for y, (_, figures) in enumerate(lines):
            value = factor * figures[key]
            low, high = (factor * end for end in figures[f"{key}_ci"])
            color, middle = ("C0", equal[0]) if y < first_pair else ("C1", equal[1])
            axes.plot([middle, middle], [y - 0.5, y + 0.5], "--", color="0.6", linewidth=1)
            axes.plot([low, high], [y, y], color=color, linewidth=2)
            axes.plot([value], [y], "o", color=color)
        axes.set_xlabel(label)
        axes.grid(axis="x", alpha=0.3)
        axes.set_yticks(range(len(lines)), [short(name) for name, _ in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)
    figure.suptitle(
        f"{result['deals']:,} deals in every seating, {result['rounds']:,} rounds; "
        f"{100 * result['level']:.4g}% intervals by deal",
        fontsize=11,
    )
    return figure


def ratings_picture(result: dict[str, Any]) -> Picture:
    """Return ratings with their intervals, the highest on top."""
    from eval.figure import Picture

    rated = sorted(result["ratings"]["agents"].items(), key=lambda item: item[1]["rating"])
    figure = Picture(figsize=(8, 1.3 + 0.4 * len(rated)), layout="constrained")
    axes = figure.subplots()
    for y, (_, figures) in enumerate(rated):
        axes.plot(figures["rating_ci"], [y, y], color="C0", linewidth=2)
        axes.plot([figures["rating"]], [y], "o", color="C0")
    axes.set_yticks(range(len(rated)), [short(name) for name, _ in rated])
    axes.set_ylim(-0.5, len(rated) - 0.5)
    axes.set_xlabel(f"rating; 400 are odds of ten to one; 0: {result['ratings']['anchor']}")
    axes.grid(axis="x", alpha=0.3)
    return figure


def pairs_picture(result: dict[str, Any]) -> Picture:
    """Return the points of each agent, in rows, against each other, in columns, as a heat map."""
    from eval.figure import Picture

    names = [short(name) for name in result["matrix"]["names"]]
    points = np.array([[np.nan if p is None else p for p in row] for row in result["matrix"]["points"]], dtype=float)
    most = float(np.nanmax(np.abs(points), initial=1.0)) if (~np.isnan(points)).any() else 1.0
    figure = Picture(figsize=(3 + 0.9 * len(names), 2 + 0.6 * len(names)), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(points, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
    for (row, column), value in np.ndenumerate(points):
        if not np.isnan(value):
            colour = "white" if abs(value) > 0.6 * most else "black"
            axes.text(column, row, f"{value:+.1f}", ha="center", va="center", color=colour, fontsize=9)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(names)), names)
    figure.colorbar(image, label="points of the row against the column")
    return figure


def draw_points(result: dict[str, Any], path: Path) -> None:
    """Write :func:`points_picture` as PNG, whole or not at all."""
    _save(points_picture(result), path)


def draw_ratings(result: dict[str, Any], path: Path) -> None:
    """Write :func:`ratings_picture` as PNG, whole or not at all."""
    _save(ratings_picture(result), path)


def draw_pairs(result: dict[str, Any], path: Path) -> None:
    """Write :func:`pairs_picture` as PNG, whole or not at all."""
    _save(pairs_picture(result), path)


def _save(figure: Picture, path: Path) -> None:
    """Write a picture whole or not at all."""
    with writing(path) as beside:
        figure.savefig(beside, dpi=120)
