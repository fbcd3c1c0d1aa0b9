"""A room with what is not stored: who is connected, the clock of the move, the task that drives it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from table.room import PLAYING, Room

AWAY: Final = 600.0
"""Seconds that a table waits for a person who is away, before the clock goes on."""

Show = Callable[[dict[str, Any]], None]


@dataclass(eq=False)
class Guest:
    """A connection to a table: who it is and how to show it something."""

    player: str | None
    show: Show


@dataclass
class Place:
    """A room with what is not stored: who is there, its clock, the task that drives it."""

    room: Room
    guests: set[Guest] = field(default_factory=set)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    events: int = 0
    left: float | None = None
    """Seconds that the move may take still, as of ``since``."""
    since: float = 0.0
    away: float | None = None
    """When the person to move went away."""
    turn: tuple[int, int, int] | None = None
    """The turn that the clock is for."""

    def here(self) -> set[int]:
        """Return the seats of persons who are connected."""
        seats = {self.room.seat_of(guest.player) for guest in self.guests}
        return {seat for seat in seats if seat is not None}

    def paused(self) -> bool:
        """Tell whether the clock stands, because who is to move is away."""
        game = self.room.game
        if game is None or self.room.state != PLAYING or self.room.seats[game.seat].kind != "person":
            return False
        return game.seat not in self.here()

    def wind(self, now: float) -> None:
        """Let the clock run up to now, or begin anew with a new turn."""
        room, game = self.room, self.room.game
        if room.seconds is None or game is None or room.state != PLAYING:
            self.left, self.turn = None, None
            return
        turn = int(game.state["round"]), int(game.state["turn"]), game.seat
        if turn != self.turn:
            self.turn, self.left, self.away = turn, float(room.seconds), None
        elif self.left is not None:
            stands = self.away is not None and now - self.away < AWAY
            self.left -= 0.0 if stands else now - self.since
        self.since = now
        self.away = (self.away or now) if self.paused() else None

    def milliseconds(self) -> int | None:
        """Return what the page shows of the clock."""
        return None if self.left is None else max(0, round(1000 * self.left))
