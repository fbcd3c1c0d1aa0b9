"""Ratings after Bradley and Terry, from how often each agent scored above each other, and the matrix of all pairs.

Ratings are on the scale of Elo: 400 points are odds of ten to one of scoring more in a round, equals count a half. One
drawn round is added for every pair that met, so that an agent that was always above has a rating, too; the interval of
such a rating says nothing, since every resample gives the same. Ratings are counted from the agent ``random`` where it
took part, from their mean otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import choix
import numpy as np

from eval.rounds import Games
from eval.statistics import LEVEL, resampled

SCALE: Final = 400 / np.log(10)
DRAWN: Final = 0.5
"""Rounds won that are added for each of a pair."""
RESAMPLES: Final = 500
ANCHOR: Final = "random"


def rate(wins: np.ndarray, anchor: int | None) -> np.ndarray:
    """Return the ratings of ``A`` agents from how often each scored above each other: float64[A, A] -> float64[A]."""
    met = (wins + wins.T > 0) & ~np.eye(len(wins), dtype=bool)
    strengths = SCALE * choix.ilsr_pairwise_dense(wins + DRAWN * met)
    return strengths - (strengths.mean() if anchor is None else strengths[anchor])


def rating_figures(games: Games, names: Sequence[str], *, level: float = LEVEL, seed: int = 0) -> dict[str, Any]:
    """Return what ``result.json`` says of ratings: each with its interval, bootstrapped by deal."""
    A = len(names)
    anchor = names.index(ANCHOR) if ANCHOR in names else None
    wins = np.zeros((games.deals, A, A))
    for a in range(A):
        for b in range(A):
            if a != b:
                seats = (games.seatings[:, :, None] == a) & (games.seatings[:, None, :] == b)
                wins[:, a, b] = (games.above * seats).sum(axis=(1, 2, 3))
    ratings = rate(wins.sum(axis=0), anchor)
    drawn = resampled(wins.reshape(games.deals, -1), RESAMPLES, seed).reshape(-1, A, A)
    tail = (1 - level) / 2
    intervals = np.quantile([rate(each, anchor) for each in drawn], [tail, 1 - tail], axis=0).T
    return {
        "anchor": ANCHOR if anchor is not None else "mean",
        "agents": {
            name: {"rating": float(rating), "rating_ci": interval.tolist()}
            for name, rating, interval in zip(names, ratings, intervals, strict=True)
        },
    }


def matrix(pairs: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """Return the pairs as tables: row against column, None on the diagonal."""
    A = len(names)
    points: list[list[float | None]] = [[None] * A for _ in names]
    shares: list[list[float | None]] = [[None] * A for _ in names]
    for pair in pairs:
        a, b = names.index(pair["a"]), names.index(pair["b"])
        points[a][b], points[b][a] = pair["points"], 0.0 - pair["points"]
        shares[a][b], shares[b][a] = pair["win_share"], 1 - pair["win_share"]
    return {"names": list(names), "points": points, "win_share": shares}
