"""The curve of a run: one row an update, as CSV and as PNG."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.files import write_text, writing

FIELDS = (
    "decisions",
    "seconds",
    "decisions_per_second",
    "learning_rate",
    "entropy_loss",
    "policy_gradient_loss",
    "value_loss",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
)


class Curve:
    """The figures of every update; those of evaluations are empty where none was made."""

    def __init__(self, folder: Path, anchors: Sequence[str]) -> None:
        """Keep the curve of the run in ``folder``."""
        self.path = folder / "curve.csv"
        self.anchors = list(anchors)
        parts = ("points", "points_low", "points_high", "win_share")
        self.fields = [*FIELDS, *(f"{name}/{part}" for name in anchors for part in parts)]
        self.rows: list[dict[str, str]] = []

    def add(self, figures: Mapping[str, float]) -> None:
        """Append an update."""
        self.rows.append({name: f"{figures[name]:.6g}" if name in figures else "" for name in self.fields})
        self.rows[-1]["decisions"] = str(int(figures["decisions"]))

    def keep(self, decisions: int) -> bool:
        """Read the whole rows up to ``decisions``, as what came after is played again; tell whether none is lost."""
        try:
            with self.path.open(newline="", encoding="utf-8", errors="replace") as file:
                rows: list[dict[str, str]] = list(csv.DictReader(file))
        except (OSError, csv.Error):
            rows = []
        whole = [row for row in rows if self._is_whole(row)]
        self.rows = [row for row in whole if int(row["decisions"]) <= decisions]
        last = int(self.rows[-1]["decisions"]) if self.rows else 0
        return len(whole) == len(rows) and last == decisions

    def latest(self) -> dict[str, float]:
        """Return the figures of the last evaluation; nothing if there is none."""
        for row in reversed(self.rows):
            figures = {name: float(row[name]) for name in self.fields if "/" in name and row[name]}
            if figures:
                return figures
        return {}

    def _is_whole(self, row: Mapping[str, str | None]) -> bool:
        """Tell whether a row has a number, or nothing, for each field."""
        words = [word for name in self.fields if (word := row.get(name)) is not None]
        if not len(words) == len(row) == len(self.fields) or not words[0].isdecimal():
            return False
        try:
            return all(word == "" or math.isfinite(float(word)) for word in words)
        except ValueError:
            return False

    def save(self) -> None:
        """Write both files."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_text(self.path, text.getvalue())
        draw(self.path)


def draw(path: Path, to: Path | None = None) -> None:
    """Draw win share and points against the anchors of a ``curve.csv``, beside it or into ``to``."""
    from matplotlib.figure import Figure

    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    anchors = [name.removesuffix("/win_share") for name in (rows[0] if rows else {}) if name.endswith("/win_share")]
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    shares, points = figure.subplots(1, 2)
    for number, name in enumerate(anchors):
        measured = [row for row in rows if row[f"{name}/win_share"]]
        x = [int(row["decisions"]) / 1e6 for row in measured]
        low, middle, high = (
            [float(row[f"{name}/{part}"]) for row in measured] for part in ("points_low", "points", "points_high")
        )
        shares.plot(
            x, [100 * float(row[f"{name}/win_share"]) for row in measured], f"C{number}.-", label=f"against {name}"
        )
        points.plot(x, middle, f"C{number}.-")
        points.fill_between(x, low, high, color=f"C{number}", alpha=0.2, linewidth=0)
    points.axhline(0, color="grey", linewidth=0.8)
    shares.set(xlabel="million decisions", ylabel="rounds won, %", ylim=(0, 100))
    points.set(xlabel="million decisions", ylabel="points a round, 95%")
    if anchors:
        shares.legend(loc="lower right")
    with writing(to or path.with_suffix(".png")) as beside:
        figure.savefig(beside, dpi=110)
