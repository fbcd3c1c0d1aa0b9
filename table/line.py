"""One connection: what goes out to a page waits here, and what comes in too fast is noticed.

A view holds everything, so of several that wait only the newest is sent: a slow reader misses steps, and nobody waits
for it.
"""

from __future__ import annotations

import asyncio
import collections
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson

PATIENCE: Final = 15.0
"""Seconds that a message may take to be taken by the other side."""
MOST_WAITING: Final = 60
"""Messages other than views that may wait."""


class TooSlow(Exception):  # noqa: N818 - it ends a connection, as it should
    """The other side does not read."""


class Line:
    """The way out to one page."""

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send with ``send``, which waits while the other side does not read."""
        self._send = send
        self._view: dict[str, Any] | None = None
        self._others: collections.deque[dict[str, Any]] = collections.deque()
        self._news = asyncio.Event()
        self._full = False

    def show(self, message: dict[str, Any]) -> None:
        """Let a message go out soon; never waits."""
        if message["type"] == "view":
            self._view = message
        elif self._others and self._others[-1] == message:
            pass  # one answer to many pings
        elif len(self._others) >= MOST_WAITING:
            self._full = True
        else:
            self._others.append(message)
        self._news.set()

    async def run(self) -> None:
        """Send what there is, until cancelled; :class:`TooSlow` if it is not taken."""
        while True:
            await self._news.wait()
            self._news.clear()
            if self._full:
                raise TooSlow
            while self._view is not None or self._others:
                if self._others:
                    message = self._others.popleft()
                else:
                    message, self._view = self._view, None  # type: ignore[assignment]
                try:
                    await asyncio.wait_for(self._send(orjson.dumps(message).decode()), PATIENCE)
                except TimeoutError:
                    raise TooSlow from None


class Allowance:
    """So many things a second, and a few more at once."""

    def __init__(self, rate: float, most: float) -> None:
        """Allow ``rate`` a second in the long run, ``most`` at once."""
        self._rate, self._most = rate, most
        self._left, self._since = most, time.monotonic()

    def take(self) -> bool:
        """Take one; False if there is none left."""
        now = time.monotonic()
        self._left = min(self._most, self._left + self._rate * (now - self._since))
        self._since = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
