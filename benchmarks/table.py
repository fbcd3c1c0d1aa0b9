"""``python -m benchmarks.table``: how soon a table's server answers, with many tables at once.

The server runs in a process of its own, and persons of all tables in this one. Every table has four persons; whoever
is to move acts once its turn has come, as often as ``--rate`` a seat and second allows. A move is answered when the
page of who made it has the next view.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks import machine
from eval.cli import main_guard
from eval.origin import origin

PROG: Final = "python -m benchmarks.table"
DESCRIPTION: Final = """Measure how soon a server answers a move, with many tables of four persons at once.

Example: python -m benchmarks.table --json benchmarks/results/table.json"""
SEATS: Final = 4
SOON: Final = 0.1
"""Seconds within which a move should be answered."""


@dataclass
class Options(machine.Options):
    """The options of the command."""

    tables: int = 200
    """Tables at once."""
    rate: float = 1.0
    """Moves a second that each seat makes: a table of four has four times as many."""
    seconds: float = 30.0
    """How long it is measured, once all sit."""


@dataclass
class Load:
    """What was measured."""

    waits: list[float]
    """Seconds from each move to the next view, of those after the start."""
    refused: int = 0
    start: float = float("inf")


async def play(port: int, table: str, tokens: list[str], options: Options, load: Load, seed: int) -> None:
    """Play one table's four seats."""
    from websockets.asyncio.client import connect

    rng = random.Random(seed)
    pause = 1 / (options.rate * SEATS)
    due = time.perf_counter() + rng.random() * pause

    async def sit(token: str) -> None:
        nonlocal due
        sent, since = -1, 0.0
        async with connect(f"ws://127.0.0.1:{port}/ws/{table}", compression=None, max_size=None) as wire:
            await wire.send(orjson.dumps({"type": "hello", "token": token}).decode())
            async for text in wire:
                # A view in which there is nothing to do is not read: the page's work is not measured here.
                if '"type":"view"' not in text:
                    load.refused += '"type":"refused"' in text
                    continue
                if sent < 0 and '"legal":[]' in text and '"state":"playing"' in text:
                    continue
                view = orjson.loads(text)
                if sent >= 0 and view["version"] > sent:
                    if since > load.start:
                        load.waits.append(time.perf_counter() - since)
                    sent = -1
                if view["state"] == "round over" and not view["players"][view["you"]]["ready"]:
                    await wire.send('{"type":"continue"}')
                if view["legal"] and sent < view["version"]:
                    sent = view["version"]
                    wait = due - time.perf_counter()
                    if wait > 0:
                        await asyncio.sleep(wait)
                    since = time.perf_counter()
                    while due <= since:  # each table keeps its own beat, or late ones would all act at once ever after
                        due += pause
                    action = rng.choice(view["legal"])
                    await wire.send(f'{{"type":"act","actions":[{action}],"at":{sent}}}')

    await asyncio.gather(*map(sit, tokens))


async def seated(port: int, options: Options) -> list[tuple[str, list[str]]]:
    """Make persons and tables; return each table with its persons' tokens."""
    import httpx

    made: list[tuple[str, list[str]]] = []
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

        async def post(path: str, body: dict[str, Any], token: str = "") -> Any:
            while True:
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                got = await client.post(path, json=body, headers=headers)
                if got.status_code != 429:
                    return got.raise_for_status().json()
                await asyncio.sleep(0.2)

        for number in range(options.tables):
            tokens = [(await post("/api/players", {"name": f"P{number}-{seat}"}))["token"] for seat in range(SEATS)]
            wanted = {"seats": ["person"] * SEATS, "target": 100_000}
            table = (await post("/api/tables", wanted, tokens[0]))["table"]
            for token in tokens[1:]:
                await post(f"/api/tables/{table}/join", {}, token)
            made.append((table, tokens))
    return made


async def run(port: int, options: Options) -> Load:
    """Let all tables play for a while."""
    machine.say(f"seating {options.tables * SEATS} persons")
    tables = await seated(port, options)
    load = Load([])
    games = [asyncio.create_task(play(port, *table, options, load, i)) for i, table in enumerate(tables)]
    machine.say(f"playing for {options.seconds:g} s")
    await asyncio.sleep(10)
    gc.collect()
    gc.freeze()  # so that pauses of this process are not taken for the server's
    load.start = time.perf_counter()
    done, _ = await asyncio.wait(games, timeout=options.seconds, return_when=asyncio.FIRST_EXCEPTION)
    for game in games:
        game.cancel()
    await asyncio.gather(*games, return_exceptions=True)
    for game in done:
        game.result()
    return load


def measure(options: Options) -> dict[str, Any]:
    """Start a server, load it, and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "table", "--port", "0", "--no-browser", "--data", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                line = server.stdout.readline()
                found = re.search(r":(\d+)/", line)
                if not found:
                    raise RuntimeError(f"the server did not start: {line}")
                load = _run(run(int(found[1]), options))
                used = _processor_time(server.pid)
            finally:
                server.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    server.wait(10)
                server.kill()
    waits = sorted(load.waits)
    if not waits:
        raise RuntimeError("no move was answered")
    return {
        "ratio": sum(wait <= SOON for wait in waits) / len(waits),
        "tables": options.tables,
        "moves_a_second": len(waits) / options.seconds,
        "milliseconds": {
            name: 1000 * waits[min(len(waits) - 1, int(share * len(waits)))]
            for name, share in (("median", 0.5), ("95%", 0.95), ("99%", 0.99), ("most", 1.0))
        },
        "refused": load.refused,
        "server_processor_seconds": used,
    }


def _run(work: Coroutine[Any, Any, Load]) -> Load:
    """Run the persons on the event loop that the server has, too."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(work)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's loop, where there is one."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop


def _processor_time(pid: int) -> float | None:
    """Return the processor time that a process has used, where the system tells."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return None
    import os

    fields = path.read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(result: dict[str, Any]) -> None:
    """Print the figures."""
    waits = result["milliseconds"]
    print(f"{result['tables']} tables of {SEATS}, {result['moves_a_second']:.0f} moves a second")
    print(f"answered within {1000 * SOON:.0f} ms: {100 * result['ratio']:.1f}%")
    print(", ".join(f"{name} {value:.1f} ms" for name, value in waits.items()))


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = machine.parse_options(Options, PROG, DESCRIPTION, given)
    options.at_least_one("tables")
    if options.rate <= 0 or options.seconds <= 0:
        raise ValueError("--rate and --seconds: expected more than 0")
    result = {**measure(options), **origin(PROG, given), "machine": machine.describe_machine()}
    machine.deliver(result, options.json, show)


if __name__ == "__main__":
    sys.exit(main())
