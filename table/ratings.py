"""Ratings of persons and agents: openskill's Plackett-Luce, from the places of a finished game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from openskill.models import PlackettLuce

from table.store import Person

MODEL: Final = PlackettLuce()
ALPHA, TARGET = 40.0, 1000.0
"""A newcomer's rating is 1000, and one standard deviation of skill is some 330 points."""


def newcomer() -> tuple[float, float]:
    """Return mean and deviation of the skill of somebody who has not played."""
    rating = MODEL.rating()
    return rating.mu, rating.sigma


def shown(person: Person) -> int:
    """Return a rating as people read them: cautious, so that it grows with games, 1000 at first."""
    return round(MODEL.rating(mu=person.mu, sigma=person.sigma).ordinal(alpha=ALPHA, target=TARGET))


def rate(persons: Sequence[Person], totals: Sequence[int]) -> None:
    """Rate the players of a finished game anew; a player who sits twice counts once, by the better seat."""
    best: dict[str, tuple[Person, int]] = {}
    for person, total in zip(persons, totals, strict=True):
        if person.id not in best or best[person.id][1] < total:
            best[person.id] = person, total
    if len(best) > 1:
        teams = [[MODEL.rating(mu=person.mu, sigma=person.sigma)] for person, _ in best.values()]
        rated = MODEL.rate(teams, scores=[float(total) for _, total in best.values()])
        for (person, _), (new,) in zip(best.values(), rated, strict=True):
            person.mu, person.sigma = new.mu, new.sigma
    top = max(totals)
    for person, total in best.values():
        person.games += 1
        person.won += total == top
