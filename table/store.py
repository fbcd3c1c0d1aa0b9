"""What lasts: persons, tables as their events, and results, in one SQLite file.

Writes go through one thread, which commits what has gathered, so that a move costs a share of a commit; whoever waits
for a write knows that it is on the disk's side of a crash of this program.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import threading
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
BATCH: Final = 256

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
        self._reader = self._open()
        self._jobs: queue.SimpleQueue[tuple[list[Statement], asyncio.Future[None], asyncio.AbstractEventLoop] | None]
        self._jobs = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="store", daemon=True)
        self._thread.start()

    def _open(self) -> sqlite3.Connection:
        """Open the file and see that it has our tables."""
        try:
            connection = sqlite3.connect(self.path, check_same_thread=False, timeout=10)
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=normal")
            connection.executescript(SCHEMA)
            (version,) = connection.execute("select max(version) from about").fetchone()
            if version is None:
                connection.execute("insert into about values (?)", (VERSION,))
                connection.commit()
            elif version != VERSION:
                raise ValueError(f"{self.path}: version {version}; this version reads {VERSION}")
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path}: not a file of tables that can be used: {error}") from None
        return connection

    def persons(self) -> Iterator[Person]:
        """Return all who have ever played here."""
        for row in self._reader.execute("select id, token, name, mu, sigma, games, won from players"):
            yield Person(*row)

    def unfinished(self) -> list[str]:
        """Return the tables that are waiting or played."""
        return [row[0] for row in self._reader.execute("select id from tables where finished = 0 order by rowid")]

    def finished_of(self, player: str) -> list[str]:
        """Return the last finished tables of a person, the newest first."""
        rows = self._reader.execute(
            'select "table" from results where player = ? order by finished desc limit 20', (player,)
        )
        return [row[0] for row in rows]

    def events(self, table: str) -> list[dict[str, Any]]:
        """Return what happened at a table, in order; empty if there is no such table."""
        rows = self._reader.execute('select body from events where "table" = ? order by n', (table,))
        return [json.loads(row[0]) for row in rows]

    async def write(self, statements: list[Statement]) -> None:
        """Write, all or nothing, and return once it is committed; ``OSError`` if it can't be."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._jobs.put((statements, done, loop))
        await done

    def close(self) -> None:
        """Write what waits, and close."""
        self._jobs.put(None)
        self._thread.join()
        self._reader.close()

    def _write(self) -> None:
        """Commit what has gathered, again and again: the thread."""
        connection = sqlite3.connect(self.path, timeout=10, isolation_level=None)
        connection.execute("pragma synchronous=normal")
        ending = False
        while not ending:
            jobs = [self._jobs.get()]
            while len(jobs) < BATCH and not self._jobs.empty():
                jobs.append(self._jobs.get())
            ending = None in jobs
            batch = [job for job in jobs if job is not None]
            if not batch:
                continue
            answers: list[Exception | None] = []
            try:
                connection.execute("begin immediate")
                for statements, _, _ in batch:
                    answers.append(self._one(connection, statements))
                connection.execute("commit")
            except sqlite3.Error as error:
                if connection.in_transaction:
                    connection.execute("rollback")
                answers = [OSError(f"{self.path}: {error}")] * len(batch)
            for (_, done, loop), answer in zip(batch, answers, strict=True):
                loop.call_soon_threadsafe(_settle, done, answer)
        connection.close()

    def _one(self, connection: sqlite3.Connection, statements: list[Statement]) -> Exception | None:
        """Write one job in a transaction within; what is wrong with it leaves the others alone."""
        connection.execute("savepoint job")
        try:
            for sql, values in statements:
                connection.execute(sql, values)
        except sqlite3.IntegrityError as error:
            connection.execute("rollback to job")
            return OSError(f"{self.path}: {error}")
        finally:
            connection.execute("release job")
        return None


def _settle(done: asyncio.Future[None], answer: Exception | None) -> None:
    """Tell who waits how a write went."""
    if done.done():
        return
    if answer is None:
        done.set_result(None)
    else:
        done.set_exception(answer)
