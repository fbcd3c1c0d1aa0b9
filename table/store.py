"""What lasts: persons, tables as their events, and results, in one SQLite file.

What is to be written within a few milliseconds is committed together, on the event loop: a commit takes some 50
microseconds, and a thread for it would wait for Python's lock at every statement. Whoever waits for a write knows that
a crash of this program does not lose it. The log that SQLite writes to is brought into the file by a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SCHEMA: Final = """
create table if not exists about (version integer not null);
create table if not exists players (
    id text primary key, token text unique, name text not null,
    mu real not null, sigma real not null, games integer not null default 0, won integer not null default 0);
create table if not exists tables (id text primary key, made_by text not null, finished integer not null default 0);
create table if not exists events (
    "table" text not null references tables(id), n integer not null, body text not null,
    primary key ("table", n)) without rowid;
create table if not exists results (
    "table" text not null references tables(id), seat integer not null, player text not null, total integer not null,
    finished text not null, primary key ("table", seat)) without rowid;
"""
VERSION: Final = 1
TOGETHER: Final = 0.003
"""Seconds within which writes gather."""
CHECKPOINT: Final = 20.0
"""Seconds between two times that the log is brought into the file."""

Statement = tuple[str, tuple[Any, ...]]


@dataclass
class Person:
    """Somebody who plays, an agent too; ``token`` is the hash of what a browser keeps."""

    id: str
    token: str | None
    name: str
    mu: float
    sigma: float
    games: int = 0
    won: int = 0


class Store:
    """The file. Reads are for the start and for rare questions; writes are awaited."""

    def __init__(self, path: Path) -> None:
        """Open or make the file; ``ValueError`` if it is none of ours."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = self._open()
        self._jobs: list[tuple[list[Statement], asyncio.Future[None]]] = []
        self._checkpoints: asyncio.Task[None] | None = None

    def _open(self) -> sqlite3.Connection:
        """Open the file and see that it has our tables."""
        try:
            connection = sqlite3.connect(self.path, check_same_thread=False, timeout=10, isolation_level=None)
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=normal")
            connection.execute("pragma wal_autocheckpoint=0")
            connection.executescript(SCHEMA)
            (version,) = connection.execute("select max(version) from about").fetchone()
            if version is None:
                connection.execute("insert into about values (?)", (VERSION,))
            elif version != VERSION:
                raise ValueError(f"{self.path}: version {version}; this version reads {VERSION}")
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path}: not a file of tables that can be used: {error}") from None
        return connection

    def persons(self) -> Iterator[Person]:
        """Return all who have ever played here."""
        try:
            for row in self._file.execute("select id, token, name, mu, sigma, games, won from players"):
                yield Person(*row)
        except sqlite3.Error as error:
            raise ValueError(f"{self.path}: damaged, or made by another version: {error}") from None

    def unfinished(self) -> list[str]:
        """Return the tables that are waiting or played."""
        return [row[0] for row in self._file.execute("select id from tables where finished = 0 order by rowid")]

    def finished_of(self, player: str) -> list[str]:
        """Return the last finished tables of a person, the newest first."""
        rows = self._file.execute(
            'select "table" from results where player = ? order by finished desc limit 20', (player,)
        )
        return [row[0] for row in rows]

    def events(self, table: str) -> list[dict[str, Any]]:
        """Return what happened at a table, in order; empty if there is no such table."""
        rows = self._file.execute('select body from events where "table" = ? order by n', (table,))
        return [json.loads(row[0]) for row in rows]

    async def write(self, statements: list[Statement]) -> None:
        """Write, all or nothing, and return once it is committed; ``OSError`` if it can't be."""
        loop = asyncio.get_running_loop()
        if self._checkpoints is None:
            self._checkpoints = loop.create_task(self._checkpoint())
        if not self._jobs:
            loop.call_later(TOGETHER, self._commit)
        done: asyncio.Future[None] = loop.create_future()
        self._jobs.append((statements, done))
        await done

    def close(self) -> None:
        """Write what waits, and close."""
        if self._checkpoints is not None:
            self._checkpoints.cancel()
        self._commit()
        self._file.close()

    def _commit(self) -> None:
        """Commit what has gathered, and tell who waits how it went."""
        jobs, self._jobs = self._jobs, []
        if not jobs:
            return
        answers: list[Exception | None] = []
        try:
            self._file.execute("begin immediate")
            answers = [self._one(statements) for statements, _ in jobs]
            self._file.execute("commit")
        except sqlite3.Error as error:
            if self._file.in_transaction:
                self._file.execute("rollback")
            answers = [OSError(f"{self.path}: {error}")] * len(jobs)
        for (_, done), answer in zip(jobs, answers, strict=True):
            _settle(done, answer)

    def _one(self, statements: list[Statement]) -> Exception | None:
        """Write one job within a transaction; what is wrong with it leaves the others alone."""
        self._file.execute("savepoint job")
        try:
            for sql, values in statements:
                self._file.execute(sql, values)
        except sqlite3.IntegrityError as error:
            self._file.execute("rollback to job")
            return OSError(f"{self.path}: {error}")
        finally:
            self._file.execute("release job")
        return None

    async def _checkpoint(self) -> None:
        """Bring the log into the file from time to time, beside the event loop."""
        while True:
            await asyncio.sleep(CHECKPOINT)
            await asyncio.to_thread(self._bring_in)

    def _bring_in(self) -> None:
        """Bring the log into the file, as far as nobody is in the way."""
        with (
            contextlib.closing(sqlite3.connect(self.path, timeout=1)) as connection,
            contextlib.suppress(sqlite3.Error),
        ):
            connection.execute("pragma wal_checkpoint(passive)")


def _settle(done: asyncio.Future[None], answer: Exception | None) -> None:
    """Tell who waits how a write went."""
    if done.done():
        return
    if answer is None:
        done.set_result(None)
    else:
        done.set_exception(answer)
