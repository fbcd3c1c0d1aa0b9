"""Means with intervals, resampled by deal.

Letters: ``D`` deals, ``K`` quantities, ``R`` resamples, ``G`` seatings, ``P`` seats.

What the figures mean, for a seat and a round, averaged over all seats that an agent had:

- ``points``: its score less the mean of the others' scores;
- ``win_share``: 1 for the highest score, shared among equals, so ``1 / P`` is what equals get;
- ``score``: its score; ``closings``, ``hand_jollys``: the share of rounds that it closed, and that it closed with a
  Hand-Jolly; ``exhausted``, ``cut_off``: the share of its rounds that ended without a closer (R12, R17);
- ``games_won``, where games have several rounds: 1 for the highest total of a game, shared among equals (R18);
- of a pair: ``points`` of one less those of the other where both sit at the table, ``win_share`` the share of rounds
  in which it scored more, equals a half. At a table for two that is the same as above.

The games of one deal share its cards, so the deal is what is drawn again, with all its seatings.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from eval.rounds import Games

LEVEL: Final = 0.95
RESAMPLES: Final = 4000
_BLOCK: Final = 1 << 22  # numbers of a block of resampled weights


def bootstrap(
    sums: np.ndarray,
    counts: np.ndarray,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> np.ndarray:
    """Return percentile intervals of ``Σ sums / Σ counts`` when whole deals are drawn anew: float64[K, 2].

    ``sums`` and ``counts`` are numbers[D, K], ``counts`` above 0. With few deals, below 30 or so, the intervals are
    too narrow, and with one they are a point. Resamples in which a count is 0 are left out.
    """
    drawn, counted = np.split(resampled(np.hstack([sums, counts]), resamples, seed), 2, axis=1)
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):
        ratios = drawn / counted
    quantile = np.nanquantile if np.isnan(ratios).any() else np.quantile
    return quantile(ratios, [tail, 1 - tail], axis=0).T


def resampled(sums: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Return the totals of ``sums`` when whole deals are drawn anew: numbers[D, K] -> float64[R, K]."""
    D = len(sums)
    rng = np.random.default_rng(seed)
    totals = []
    for first in range(0, resamples, max(1, _BLOCK // D)):
        n = min(resamples - first, max(1, _BLOCK // D))
        drawn = rng.integers(D, size=(n, D)) + D * np.arange(n)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=n * D).reshape(n, D).astype(np.float64)
        totals.append(weights @ sums)
    return np.concatenate(totals)


class _Column(NamedTuple):
    """One quantity by deal."""

    sums: np.ndarray
    """float64[D]."""
    counts: np.ndarray
    """float64[D]: in how many rounds and seats."""


def _of_agent(games: Games, number: int, values: np.ndarray) -> _Column:
    """Sum ``values`` [D, G, P] over the seats of an agent."""
    seats = games.seatings == number
    return _Column((values * seats).sum(axis=(1, 2)), (games.rounds * seats.sum(axis=1)).sum(axis=1))


def _of_pair(games: Games, a: int, b: int, values: np.ndarray) -> _Column:
    """Sum ``values`` [D, G, P, P] over the seats of one agent and another."""
    seats = (games.seatings[:, :, None] == a) & (games.seatings[:, None, :] == b)
    return _Column((values * seats).sum(axis=(1, 2, 3)), (games.rounds * seats.sum(axis=(1, 2))).sum(axis=1))


def _met(games: Games, a: int, b: int) -> bool:
    """Tell whether two agents sit at one table in any seating."""
    return bool(((games.seatings == a).any(axis=1) & (games.seatings == b).any(axis=1)).any())


def summarise(
    games: Games, names: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0, level: float = LEVEL
) -> dict[str, Any]:
    """Return deals, rounds, and the figures of every agent and every pair, as ``result.json`` holds them.

    ``names`` are those of the numbers in ``games.seatings``; ``level`` is that of the intervals. ``ValueError`` if no
    deal was played to the end.
    """
    if games.deals == 0:
        raise ValueError("games: no deal was played in all its seatings")
    columns: dict[tuple[int | tuple[int, int], str], _Column] = {}
    margins = games.margins
    by_seat = {
        "points": margins,
        "win_share": games.wins,
        "score": games.scores,
        "closings": games.closings,
        "hand_jollys": games.hand_jollys,
        "exhausted": np.broadcast_to(games.exhausted[:, :, None], margins.shape),
        "cut_off": np.broadcast_to(games.cut_off[:, :, None], margins.shape),
    }
    for number in range(len(names)):
        for name, values in by_seat.items():
            columns[number, name] = _of_agent(games, number, values)
        if games.rounds.max() > 1:
            seats = (games.seatings == number).sum()
            columns[number, "games_won"] = _Column(
                _of_agent(games, number, games.games_won).sums, np.full(games.deals, float(seats))
            )
    pairs = [pair for pair in itertools.combinations(range(len(names)), 2) if _met(games, *pair)]
    for a, b in pairs:
        columns[(a, b), "points"] = _of_pair(games, a, b, games.differences)
        columns[(a, b), "win_share"] = _of_pair(games, a, b, games.above)
    sums = np.stack([column.sums for column in columns.values()], axis=1).astype(np.float64)
    counts = np.stack([column.counts for column in columns.values()], axis=1).astype(np.float64)
    means = sums.sum(axis=0) / counts.sum(axis=0)
    intervals = bootstrap(sums, counts, resamples=resamples, seed=seed, level=level)
    of_agents: list[dict[str, Any]] = [{} for _ in names]
    of_pairs = {pair: {"a": names[pair[0]], "b": names[pair[1]]} for pair in pairs}
    for i, (who, name) in enumerate(columns):
        figures: dict[str, Any] = of_pairs[who] if isinstance(who, tuple) else of_agents[who]
        figures[name] = float(means[i])
        figures[f"{name}_ci"] = [float(end) for end in intervals[i]]
        if name == "points" and not isinstance(who, tuple):
            figures["rounds"] = int(counts[:, i].sum())
    return {
        "deals": games.deals,
        "rounds": int(games.rounds.sum()),
        "agents": dict(zip(names, of_agents, strict=True)),
        "pairs": list(of_pairs.values()),
    }
