"""Points with the luck of the draws taken out, beside the raw ones.

The luck of a seat (:mod:`eval.luck`) has the mean 0 whatever the agents do, so points less any multiple of it have the
same mean as the points. The multiple is fitted: a deal's margins are reduced by its luck times the slope that the other
deals show (two folds, deals of even and of odd number), so that what is taken out of a deal was not fitted to it. That
leaves the mean of a round's points where it was; of games of several rounds, whose number depends on luck too, to first
order.

Letters: ``D`` deals, ``R`` rounds, ``P`` seats, ``K`` quantities.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from eval.statistics import LEVEL, bootstrap

FOLDS: Final = 2


def slopes(margins: np.ndarray, luck: np.ndarray) -> np.ndarray:
    """Return for each deal the slope of margins on luck among the deals of the other fold: float64[D] -> float64[D]."""
    fold = np.arange(len(luck)) % FOLDS
    fitted = np.zeros(len(luck))
    for number in range(FOLDS):
        others = fold != number
        spread = luck[others] - luck[others].mean() if others.any() else np.zeros(0)
        square = (spread**2).sum()
        fitted[fold == number] = (spread * margins[others]).sum() / square if square > 0 else 0.0
    return fitted


def adjusted(
    margins: np.ndarray, luck: np.ndarray, counts: np.ndarray, *, level: float = LEVEL, seed: int = 0
) -> list[dict[str, Any]]:
    """Return the raw and the adjusted points a round, with intervals, from sums by deal: float64[D, K] each.

    "narrower" is the share by which the interval is narrower than the raw one; the slopes are kept as they are in the
    resamples.
    """
    slope = np.stack([slopes(*columns) for columns in zip(margins.T, luck.T, strict=True)], axis=1)
    sums = np.stack([margins, margins - slope * luck, luck], axis=2)  # [D, K, 3]
    K = margins.shape[1]
    flat = sums.reshape(len(sums), -1)
    intervals = bootstrap(flat, np.repeat(counts, 3, axis=1), level=level, seed=seed).reshape(K, 3, 2)
    means = sums.sum(axis=0) / counts.sum(axis=0)[:, None]
    figures = []
    for k in range(K):
        raw, narrow = np.diff(intervals[k, :2], axis=1)[:, 0]
        told: dict[str, Any] = {}
        for i, name in enumerate(("points", "adjusted", "luck")):
            told |= {name: float(means[k, i]), f"{name}_ci": intervals[k, i].tolist()}
        told |= {"slope": float(slope[:, k].mean()), "narrower": float(1 - narrow / raw) if raw > 0 else 0.0}
        figures.append(told)
    return figures


def luck_figures(
    rows: np.ndarray, deals: int, names: Sequence[str], *, level: float = LEVEL, seed: int = 0
) -> dict[str, Any]:
    """Return what ``result.json`` says of luck: adjusted points of every agent, and of every pair that met."""
    agents = rows["agent"]
    met = [(agents == number).any(axis=1) for number in range(len(names))]
    pairs = [(a, b) for a, b in itertools.combinations(range(len(names)), 2) if (met[a] & met[b]).any()]
    sides = [(agents == a, None) for a in range(len(names))]
    sides += [(agents == a, agents == b) for a, b in pairs]
    sums = [_by_deal(rows, deals, *side) for side in sides]
    figures = adjusted(*(np.stack(columns, axis=1) for columns in zip(*sums, strict=True)), level=level, seed=seed)
    return {
        "agents": dict(zip(names, figures, strict=False)),
        "pairs": [
            {"a": names[a], "b": names[b], **told} for (a, b), told in zip(pairs, figures[len(names) :], strict=True)
        ],
    }


def _by_deal(
    rows: np.ndarray, deals: int, seats: np.ndarray, others: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sums by deal of margins, luck and seats: float64[D] each.

    ``seats`` bool[R, P] are one side, ``others`` the other; None: all other seats, of whom the mean is taken.
    """
    P = seats.shape[1]
    met = seats[:, :, None] & ~np.eye(P, dtype=bool) if others is None else seats[:, :, None] & others[:, None, :]
    share = P - 1 if others is None else 1

    def total(values: np.ndarray) -> np.ndarray:
        differences = values[:, :, None] - values[:, None, :]
        return np.bincount(rows["deal"], (differences * met).sum(axis=(1, 2)) / share, minlength=deals)

    counts = np.bincount(rows["deal"], met.sum(axis=(1, 2)) / share, minlength=deals)
    return total(rows["score"].astype(np.float64)), total(rows["luck"].astype(np.float64)), counts
