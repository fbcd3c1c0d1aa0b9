"""``python -m table``: make the hall, listen, say where, and open the browser."""

from __future__ import annotations

import contextlib
import gc
import logging
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import uvicorn

from agents import make
from agents.registry import NAMES
from eval.cli import DONE
from eval.store import locked
from table.hall import Hall
from table.server import SMALL, is_loopback, make_app
from table.store import Store
from table.thinking import Thinkers

if TYPE_CHECKING:
    from table.__main__ import Options

DATABASE: Final = "table.sqlite"
RECORDS: Final = "records"


def serve(options: Options) -> int:
    """Serve until Ctrl-C; ``ValueError`` or ``OSError`` for what can't be served."""
    if not 0 <= options.port <= 65535:
        raise ValueError(f"--port {options.port}: expected a number from 0 to 65535")
    if options.processes < 1:
        raise ValueError(f"--processes {options.processes}: expected at least 1")
    if not 0 <= options.pace <= 60:
        raise ValueError(f"--pace {options.pace}: expected 0 to 60 seconds")
    agents = agents_to_choose(options.agents)
    if options.against and options.against not in agents:
        raise ValueError(f"--against {options.against}: expected one of {', '.join(agents)}; --agents adds others")
    options.data.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(_listen(options.host, options.port)) as listening, locked(options.data, "--data"):
        store = Store(options.data / DATABASE)
        hall = Hall(store, Thinkers(options.processes), agents.items(), options.data / RECORDS, options.pace)
        app = make_app(hall, options.host)
        logging.basicConfig(format="%(message)s", level=logging.WARNING)
        config = uvicorn.Config(
            app, log_level="warning", ws="websockets-sansio", ws_max_size=SMALL, timeout_graceful_shutdown=2
        )
        address = _address(options.host, listening.getsockname()[1])
        page = address + (f"#/play/{quote(options.against, safe='')}" if options.against else "")
        print(f"Jolly is played at {page} - Ctrl-C ends it, and nothing is lost", flush=True)
        if not is_loopback(options.host):
            print("Whoever reaches this address can play; what is sent is not encrypted.", file=sys.stderr, flush=True)
        if options.browser:
            threading.Timer(0.8, webbrowser.open, [page]).start()
        # What is there by now stays; a full collection would else stop the table for a tenth of a second or more.
        gc.collect()
        gc.freeze()
        uvicorn.Server(config).run(sockets=[listening])
    return DONE


def agents_to_choose(others: tuple[str, ...]) -> dict[str, str]:
    """Return who may be chosen, weakest first, with what each does; ``ValueError`` if one can't be made."""
    for name in others:
        try:
            make(name)
        except SystemExit as stop:
            raise ValueError(f"--agents {name}: it ended the program: {stop}") from None
    return {**dict.fromkeys(others, "named on the command line"), **NAMES}


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; ``OSError`` names the address."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except OSError as error:
        why = error.strerror or str(error)
        raise OSError(error.errno, f"{why}; another --port, say", f"{host}:{port}") from None
    return listening


def _address(host: str, port: int) -> str:
    """Return where a browser on this machine finds the page."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"
