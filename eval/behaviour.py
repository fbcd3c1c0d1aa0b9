"""How agents play: means over their seats and rounds, with intervals bootstrapped by deal.

Letters: ``D`` deals, ``R`` rounds, ``P`` seats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from eval.statistics import LEVEL, bootstrap

FIGURES: Final = {
    "turns_to_open": "own turns until it opened, of the rounds in which it did",
    "opened_share": "share of rounds in which it opened",
    "takes": "takes from the row, a round",
    "cards_per_take": "cards of a take",
    "draws": "draws from the stock, a round",
    "swaps": "jokers swapped out, a round",
    "laid": "points on the table at the end",
    "caught": "points in hand at the end (R15)",
    "closings": "share of rounds that it closed",
    "hand_jollys": "share of rounds that it closed with a Hand-Jolly",
    "decisions": "actions a round",
    "faults": "share of rounds that it forfeited",
    "seconds_per_decision": "time of its own; no interval",
}
"""What each figure means."""


def behaviour_figures(
    rows: np.ndarray, deals: int, names: Sequence[str], *, level: float = LEVEL, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """Return what ``result.json`` says of each agent's play; None for a mean of nothing, as cards of no take."""
    ratios = _ratios(rows)
    columns = []
    for number in range(len(names)):
        seats = rows["agent"] == number
        columns += [[_by_deal(rows, deals, part * seats) for part in ratios[name]] for name in FIGURES]
    sums, counts = np.moveaxis(np.array(columns), 0, -1)
    some = counts.sum(axis=0) > 0
    intervals = np.zeros((len(columns), 2))
    intervals[some] = bootstrap(sums[:, some], counts[:, some], level=level, seed=seed)
    figures: dict[str, dict[str, Any]] = {name: {} for name in names}
    for i, (agent, name) in enumerate((agent, name) for agent in names for name in FIGURES):
        figures[agent][name] = float(sums[:, i].sum() / counts[:, i].sum()) if some[i] else None
        if name != "seconds_per_decision":
            figures[agent][f"{name}_ci"] = intervals[i].tolist() if some[i] else None
    return figures


def _ratios(rows: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return what is added up for each figure, and what it is divided by: numbers[R, P] each."""
    one = np.ones(rows["agent"].shape)
    opened = rows["opened"] > 0
    closed = rows["closer"][:, None] == np.arange(rows["agent"].shape[1])
    return {
        "turns_to_open": (rows["opened"] * opened, opened),
        "opened_share": (opened, one),
        "takes": (rows["takes"], one),
        "cards_per_take": (rows["taken"], rows["takes"]),
        "draws": (rows["draws"], one),
        "swaps": (rows["swaps"], one),
        "laid": (rows["laid"], one),
        "caught": (rows["hand"], one),
        "closings": (closed, one),
        "hand_jollys": (closed & rows["hand_jolly"][:, None], one),
        "decisions": (rows["decisions"], one),
        "faults": (rows["fault"], one),
        "seconds_per_decision": (rows["seconds"], rows["decisions"]),
    }


def _by_deal(rows: np.ndarray, deals: int, values: np.ndarray) -> np.ndarray:
    """Add up values by deal: numbers[R, P] -> float64[D]."""
    return np.bincount(rows["deal"], values.sum(axis=1), minlength=deals)
