"""When a run ends: after so many deals, or as soon as its intervals are narrow enough.

A run that may end early is looked at after 1,000, 2,000, 4,000, ... deals and at its most, at no other time. Each look
could end it by chance, so all its intervals are made at the level 1 - 0.05 / looks (Bonferroni): whichever look ends
it, the chance that an interval misses is at most 5%.
"""

from __future__ import annotations

from typing import Any, Final

from eval.rounds import Games
from eval.statistics import LEVEL, summarise

FIRST_LOOK: Final = 1000
"""Deals; twice as many from each look to the next."""


def schedule(deals: int, half_width: float | None) -> list[int]:
    """Return after how many deals a run of at most ``deals`` is looked at; without a half-width only at its end."""
    looks = []
    if half_width is not None:
        look = FIRST_LOOK
        while look < deals:
            looks.append(look)
            look *= 2
    return [*looks, deals]


def level(looks: int) -> float:
    """Return the level of the intervals where a run is looked at so many times."""
    return 1 - (1 - LEVEL) / looks


def widest(games: Games, names: list[str], looks: int, seed: int) -> float:
    """Return the widest half-width of what a run is to settle, in points.

    That is every pair, or the first agent where it sits alone against a field of another.
    """
    figures = summarise(games, names, level=level(looks), seed=seed)
    field = len(names) == 2 < games.seatings.shape[1]
    settled: list[dict[str, Any]] = [figures["agents"][names[0]]] if field else figures["pairs"]
    return max((high - low) / 2 for low, high in (each["points_ci"] for each in settled))
