"""For tests of the table: a server in a process of its own, persons, and what they see on the wire."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect


class Server:
    """``python -m table`` on a folder, which can be killed and started again."""

    def __init__(self, data: Path, *options: str):
        self.data, self.options = data, options
        self.process: subprocess.Popen[str] | None = None
        self.address = ""

    def start(self, port: int = 0) -> None:
        command = [sys.executable, "-m", "table", "--port", str(port), "--no-browser", "--data", str(self.data)]
        self.process = subprocess.Popen(
            [*command, *self.options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://[^ /]+", line)
        if not found:
            raise AssertionError(line + self.process.communicate()[1])
        self.address = found[0]
        for _ in range(200):
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(self.address + "/api/agents").status_code == 200:
                    return
            time.sleep(0.05)
        raise AssertionError("the server does not answer")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def kill(self) -> None:
        """As ``kill -9`` does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """As Ctrl-C does; return the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(20)
        finally:
            self.process.kill()


@contextlib.contextmanager
def serving(data: Path, *options: str) -> Iterator[Server]:
    server = Server(data, *options)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class Person:
    """Somebody with a token."""

    def __init__(self, server: Server, name: str):
        self.server = server
        made = httpx.post(server.address + "/api/players", json={"name": name}).json()
        self.id, self.token, self.name = made["player"], made["token"], made["name"]

    def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        content = None if method == "GET" else {} if body is None else body
        return httpx.request(method, self.server.address + path, json=content, headers=headers)

    def table(self, *seats: str, **settings: Any) -> str:
        made = self.call("POST", "/api/tables", {"seats": seats, **settings})
        assert made.status_code == 200, made.text
        return made.json()["table"]

    def sit(self, table: str, invite: str | None = None) -> httpx.Response:
        return self.call("POST", f"/api/tables/{table}/join", {"invite": invite})

    def at(self, table: str, invite: str | None = None) -> Wire:
        return Wire(self.server, table, self.token, invite)


class Wire:
    """A connection to a table."""

    def __init__(self, server: Server, table: str, token: str | None, invite: str | None = None, **options: Any):
        self.socket: ClientConnection = connect(
            f"ws://127.0.0.1:{server.port}/ws/{table}", max_size=None, **options
        ).__enter__()
        self.send(type="hello", token=token, invite=invite)

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def message(self, wait: float = 10) -> dict[str, Any]:
        return json.loads(self.socket.recv(timeout=wait))

    def until(self, wanted: Callable[[dict[str, Any]], bool], wait: float = 20) -> dict[str, Any]:
        """Return the first message that is wanted."""
        end = time.monotonic() + wait
        while time.monotonic() < end:
            message = self.message(max(0.1, end - time.monotonic()))
            if wanted(message):
                return message
        raise AssertionError("it did not come")

    def view(self, wanted: Callable[[dict[str, Any]], bool] = lambda view: True) -> dict[str, Any]:
        return self.until(lambda message: message["type"] == "view" and wanted(message))

    def my_turn(self) -> dict[str, Any]:
        return self.view(lambda view: bool(view.get("legal")))

    def refused(self) -> str:
        return self.until(lambda message: message["type"] == "refused")["code"]

    def close(self) -> None:
        self.socket.close()
