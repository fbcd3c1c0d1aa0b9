"""The server: HTTP and WebSockets before the hall, and who may ask at all. The form is in docs/table-protocol.md."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import orjson
from fastapi import Body, FastAPI, Request, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as ASGIMessage

from table import ratings, study
from table.hall import Hall
from table.line import Allowance, Line, TooSlow
from table.place import Guest, Place
from table.refused import Refused
from table.store import Person

PAGE: Final = Path(__file__).parent / "page"
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
SMALL, LARGE = 16 * 1024, 4 * 1024 * 1024
"""Bytes of a request, and of one that brings a position or a record; a WebSocket's message is small, too."""
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


class Strict(BaseModel):
    """What comes in has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class Named(Strict):
    """A name."""

    name: StrictStr = Field(max_length=200)


class NewTable(Strict):
    """A table to make."""

    seats: list[StrictStr] = Field(min_length=2, max_length=4)
    sit: StrictBool = True
    target: StrictInt | None = Field(default=250, ge=1, le=100_000)
    seconds: StrictInt | None = Field(default=None, ge=5, le=3600)
    invited: StrictBool = False
    position: dict[str, Any] | None = None


class Join(Strict):
    """How to get a seat."""

    invite: StrictStr | None = None


class Position(Strict):
    """A position to look at."""

    position: Any


class Step(Position):
    """A position to play on from."""

    action: StrictInt | None = Field(ge=0, le=838)


class Played(Strict):
    """A record, and which of its rounds."""

    record: Any
    round: StrictInt = 0


class Thinking(Position):
    """A position to think about, and who does."""

    agent: StrictStr


class Act(Strict):
    """What a person plays."""

    type: Literal["act"]
    actions: list[Annotated[StrictInt, Field(ge=0, le=838)]] = Field(min_length=1, max_length=60)
    at: StrictInt


class GoOn(Strict):
    """Continue."""

    type: Literal["continue"]


class Say(Strict):
    """Chat."""

    type: Literal["chat"]
    text: StrictStr


class Hint(Strict):
    """A question to an agent."""

    type: Literal["hint"]
    agent: StrictStr | None = None


class Ping(Strict):
    """A sign of life."""

    type: Literal["ping"]


class Hello(Strict):
    """Who comes."""

    type: Literal["hello"]
    token: StrictStr | None = None
    invite: StrictStr | None = None


MESSAGE: TypeAdapter[Act | GoOn | Say | Hint | Ping] = TypeAdapter(
    Annotated[Act | GoOn | Say | Hint | Ping, Field(discriminator="type")]
)


class Guard:
    """Turns away what comes from another page, to another host, too large or too fast, before anybody looks at it.

    WebSockets go straight to the hall: what a framework puts between costs more than the messages do.
    """

    def __init__(self, app: ASGIApp, hall: Hall, host: str) -> None:
        """Guard an app that is served at ``host``."""
        self.app, self.hall = app, hall
        self.loopback = is_loopback(host)
        self._posts: dict[str, Allowance] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let through, or answer."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused is not None:
            await _turn_away(scope, receive, send, refused)
            return
        if scope["type"] == "websocket":
            websocket = WebSocket(scope, receive, send)
            # A connection may be gone at any moment, and the server may end in the middle.
            with contextlib.suppress(WebSocketDisconnect, RuntimeError, asyncio.CancelledError):
                await websocket.accept()
                await _serve(websocket, self.hall, scope["path"].removeprefix("/ws/"))
            return
        limit = LARGE if scope["path"].startswith("/api/study/") or scope["path"] == "/api/tables" else SMALL
        read = 0

        async def counted() -> ASGIMessage:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b"")) if message["type"] == "http.request" else 0
            if read > limit:
                raise Refused("too-large", f"A request has at most {limit} bytes.", 413)
            return message

        async def answered(message: ASGIMessage) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        await self.app(scope, counted, answered)

    def _refused(self, scope: Scope, headers: dict[str, str]) -> Refused | None:
        """Return why a request is turned away, if it is."""
        host, origin = headers.get("host", ""), headers.get("origin")
        try:
            name, page = urlsplit(f"//{host}").hostname or "", None if origin is None else urlsplit(origin).netloc
        except ValueError:
            return Refused("bad-host", "Host or Origin is no address.", 400)
        if self.loopback and name not in LOOPBACK:
            return Refused("bad-host", "This server answers to localhost only.", 403)
        if page is not None and page != host:
            return Refused("bad-origin", "A page of another site may not use this table.", 403)
        if scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            if not headers.get("content-type", "").startswith("application/json"):
                return Refused("bad-type", "Expected Content-Type: application/json.", 400)
            length = headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > LARGE:
                return Refused("too-large", f"A request has at most {LARGE} bytes.", 413)
            client = (scope.get("client") or ("",))[0]
            if len(self._posts) > 10_000:
                self._posts.clear()
            if not self._posts.setdefault(client, Allowance(100, 400)).take():
                return Refused("too-fast", "Too many requests; wait a second.", 429)
        return None


async def _turn_away(scope: Scope, receive: Receive, send: Send, refused: Refused) -> None:
    """Answer a request that is turned away."""
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).close(4403, refused.reason)
    else:
        await answer(refused.to_json(), refused.status)(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine alone."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def answer(content: Any, status: int = 200) -> Response:
    """Return JSON; ``Refused`` for text that is none, as lone surrogates of a document that was handed in."""
    try:
        return Response(orjson.dumps(content), status, media_type="application/json")
    except TypeError as error:
        raise Refused("bad-text", f"This holds text that can't be sent: {error}", 400) from None


def make_app(hall: Hall, host: str = "127.0.0.1") -> FastAPI:
    """Return the app; the hall is opened when it starts and closed when it ends."""

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.hall = hall
        await hall.open()
        yield
        await hall.close()

    app = FastAPI(title="Jolly", lifespan=life, openapi_url=None, docs_url=None, redoc_url=None)
    app.add_middleware(Guard, hall=hall, host=host)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http_error)
    _add_routes(app)
    app.mount("/static", StaticFiles(directory=PAGE), name="static")
    return app


async def _refused(request: Request, error: Exception) -> Response:
    """Answer with why not."""
    assert isinstance(error, Refused)
    return answer(error.to_json(), error.status)


async def _malformed(request: Request, error: Exception) -> Response:
    """Say which field is wrong."""
    assert isinstance(error, RequestValidationError)
    return answer({"code": "bad-input", "reason": told(error.errors())}, 400)


async def _http_error(request: Request, error: Exception) -> Response:
    """Answer in the form that all errors have."""
    assert isinstance(error, HTTPException)
    return answer({"code": "http", "reason": str(error.detail)}, error.status_code)


def told(errors: Any) -> str:
    """Return the first of pydantic's errors in a line."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return f"{where}: {first['msg']}"[:300] if where else str(first["msg"])[:300]


def hall_of(request: Request) -> Hall:
    """Return the hall."""
    hall: Hall = request.app.state.hall
    return hall


def person_of(request: Request, *, needed: bool = True) -> Person | None:
    """Return who asks, by its token; ``Refused`` if that is not known, or is missing where it is needed."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if not token and not needed:
        return None
    person = hall_of(request).known(token) if scheme.lower() == "bearer" else None
    if person is None:
        raise Refused("not-known", "This needs the token of a person who is known here.", 403)
    return person


def about(person: Person) -> dict[str, Any]:
    """Return what everybody may know of somebody."""
    return {
        "player": person.id,
        "name": person.name,
        "rating": ratings.shown(person),
        "games": person.games,
        "won": person.won,
    }


def _add_routes(app: FastAPI) -> None:
    """Add all routes."""

    @app.get("/")
    async def page() -> Response:
        return FileResponse(PAGE / "index.html")

    @app.post("/api/players")
    async def new_player(request: Request, body: Named) -> Response:
        person, token = await hall_of(request).welcome(body.name)
        return answer({"player": person.id, "name": person.name, "token": token})

    @app.get("/api/me")
    async def me(request: Request) -> Response:
        person = person_of(request)
        assert person is not None
        return answer(about(person))

    @app.patch("/api/me")
    async def rename(request: Request, body: Named) -> Response:
        person = person_of(request)
        assert person is not None
        await hall_of(request).rename(person, body.name)
        return answer(about(person))

    @app.get("/api/players/{player}")
    async def player_info(request: Request, player: str) -> Response:
        hall = hall_of(request)
        person = hall.persons.get(player)
        if person is None and player.removeprefix("agent:") in hall.agents:
            person = hall.agent(player.removeprefix("agent:"))
        if person is None:
            raise Refused("no-player", "There is no such player.", 404)
        return answer(about(person))

    @app.get("/api/agents")
    async def agents(request: Request) -> Response:
        hall = hall_of(request)
        return answer([{**about(hall.agent(name)), "about": told} for name, told in hall.agents.items()])

    @app.get("/api/tables")
    async def tables(request: Request) -> Response:
        return answer(hall_of(request).listed(person_of(request, needed=False)))

    @app.post("/api/tables")
    async def new_table(request: Request, body: NewTable) -> Response:
        person = person_of(request)
        assert person is not None
        place = await hall_of(request).make(person, **body.model_dump())
        return answer(place.room.summary(person.id, place.here()))

    @app.get("/api/tables/{table}")
    async def one_table(request: Request, table: str) -> Response:
        person, place = person_of(request, needed=False), hall_of(request).place(table)
        return answer(place.room.summary(person.id if person else None, place.here()))

    @app.post("/api/tables/{table}/join")
    async def join(request: Request, table: str, body: Join) -> Response:
        hall, person = hall_of(request), person_of(request)
        assert person is not None
        place = hall.place(table)
        await hall.join(place, person, body.invite)
        return answer(place.room.summary(person.id, place.here()))

    @app.post("/api/tables/{table}/leave")
    async def leave(request: Request, table: str) -> Response:
        hall, person = hall_of(request), person_of(request)
        assert person is not None
        place = hall.place(table)
        await hall.leave(place, person)
        return answer(place.room.summary(person.id, place.here()))

    @app.get("/api/tables/{table}/record")
    async def table_record(request: Request, table: str) -> Response:
        return answer(hall_of(request).place(table).room.record())

    @app.get("/api/tables/{table}/frames")
    async def table_frames(request: Request, table: str, after: int = -1) -> Response:
        hall = hall_of(request)
        return answer(await hall.frames(hall.place(table), after))

    @app.post("/api/study/position")
    async def position(request: Request, body: Position) -> Response:
        return answer(await hall_of(request).answer(study.position_frame, body.position))

    @app.post("/api/study/step")
    async def step(request: Request, body: Step) -> Response:
        return answer(await hall_of(request).answer(study.step_frame, body.position, body.action))

    @app.post("/api/study/record")
    async def record(request: Request, body: Played) -> Response:
        return answer(await hall_of(request).answer(study.record_frames, body.record, body.round))

    @app.post("/api/study/think")
    async def think(request: Request, body: Annotated[Thinking, Body()]) -> Response:
        return answer(await hall_of(request).think(body.position, body.agent))


async def _serve(websocket: WebSocket, hall: Hall, table: str) -> None:
    """Let somebody sit or look on at a table, until it goes."""
    line = Line(websocket.send_text)
    try:
        hello = Hello.model_validate_json(await asyncio.wait_for(websocket.receive_text(), 10))
        person = hall.known(hello.token)
        if hello.token is not None and person is None:
            raise Refused("not-known", "This token is not known here.", 403)
        place = hall.place(table)
        guest = Guest(None if person is None else person.id, line.show)
        hall.enter(place, guest, hello.invite)
    except Refused as error:
        await websocket.close(4404 if error.status == 404 else 4403, error.reason)
        return
    except (ValidationError, KeyError, TimeoutError):
        await websocket.close(4403, 'The first message is {"type": "hello", "token": …}.')
        return
    reading = asyncio.create_task(_read(websocket, hall, place, guest))
    writing = asyncio.create_task(line.run())
    try:
        await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
        fault = writing.exception() if writing.done() else reading.exception()
        if isinstance(fault, TooSlow):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(websocket.close(4408, "This connection does not read what it gets."), 2)
        elif isinstance(fault, Refused):
            await websocket.close(4429, fault.reason)
    finally:
        for task in (reading, writing):
            task.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)
        hall.go(place, guest)


async def _read(websocket: WebSocket, hall: Hall, place: Place, guest: Guest) -> None:
    """Do what comes in; ``Refused`` ends the connection of somebody who sends too much."""
    messages, lines, hints = Allowance(100, 300), Allowance(1, 6), Allowance(0.5, 3)
    refusals = Allowance(5, 40)
    while True:
        try:
            text = await websocket.receive_text()
        except KeyError:  # bytes
            text = ""
        if not messages.take():
            raise Refused("too-fast", "Too many messages.", 429)
        try:
            message = MESSAGE.validate_json(text)
            if isinstance(message, Act):
                await hall.play(place, guest.player, message.actions, message.at)
            elif isinstance(message, GoOn):
                await hall.go_on(place, guest.player)
            elif isinstance(message, Say):
                _allow(lines)
                await hall.say(place, guest, message.text)
            elif isinstance(message, Hint):
                _allow(hints)
                guest.show(await hall.hint(place, guest.player, message.agent))
            else:
                guest.show({"type": "pong"})
        except (Refused, ValidationError) as error:
            if not refusals.take():
                raise Refused("too-fast", "Too many messages that were refused.", 429) from None
            if isinstance(error, ValidationError):
                error = Refused("bad-message", told(error.errors(include_url=False)), 400)
            guest.show({"type": "refused", **error.to_json()})


def _allow(allowance: Allowance) -> None:
    """Refuse what comes too fast."""
    if not allowance.take():
        raise Refused("too-fast", "Not so fast.", 429)
