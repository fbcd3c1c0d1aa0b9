"""All tables and persons: what they ask for, agents' turns, clocks, and what is stored before it is shown.

Everything here runs on one event loop. A change of a room is checked, stored, applied and shown, in this order and
under the room's lock; if it can't be stored, nothing has happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Final

from jolly_env import record
from jolly_env.game import Game
from table import ratings, thinking
from table.place import AWAY, Guest, Place
from table.refused import Refused
from table.room import CHAT_LENGTH, FINISHED, PLAYING, ROUND_OVER, WAITING, Event, Room, Seat, frames
from table.store import Person, Statement, Store
from table.study import read_position
from table.thinking import Thinkers

LOG: Final = logging.getLogger("table")
PACE_ALONE: Final = 0.05
"""Seconds between the actions of agents that play alone."""
BREAK: Final = 60.0
"""Seconds after a round in which persons with a clock press Continue; then it goes on by itself."""
WAITING_QUESTIONS: Final = 24
"""Questions of studies and hints that may wait."""
MOST_TABLES: Final = 2000
MOST_OF_ONE: Final = 20
MOST_ALONE: Final = 8
MOST_ALONE_OF_ONE: Final = 4
"""Tables that are not finished: in all, made by one person; played by agents alone, in all, and made by one person."""
NAME_LENGTH: Final = 24


class Hall:
    """The tables of a server."""

    def __init__(
        self, store: Store, thinkers: Thinkers, agents: Iterable[tuple[str, str]], records: Path, pace: float
    ) -> None:
        """Take what was stored.

        ``agents`` are names that may be asked for, weakest first, with what they do; at a table with persons an
        agent's action takes ``pace`` seconds, so that they can follow.
        """
        self.store, self.thinkers, self.records, self.pace = store, thinkers, records, pace
        self.scholars = Thinkers(1, most=WAITING_QUESTIONS)
        """Who answers what is asked beside play, so that no question holds up an agent's turn."""
        self.agents = dict(agents)
        self.persons = {person.id: person for person in store.persons()}
        self._tokens = {person.token: person.id for person in self.persons.values() if person.token is not None}
        self.places: dict[str, Place] = {}

    async def open(self) -> None:
        """Go on with the tables that were not finished."""
        for table in self.store.unfinished():
            try:
                events = self.store.events(table)
                place = self._enter(Room.from_events(table, events), len(events))
                if place.room.state == FINISHED:  # the program ended between the last action and the result
                    await self._finish(place)
            except Exception as error:  # whatever a damaged row holds, the other tables go on
                LOG.error("table %s can't be read and is left alone: %r", table, error)

    async def close(self) -> None:
        """Stop driving; all that has happened is stored already."""
        tasks = [place.task for place in self.places.values() if place.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.thinkers.close()
        self.scholars.close()
        self.store.close()

    # Persons

    async def welcome(self, name: Any) -> tuple[Person, str]:
        """Make a person; return it and the token that it is known by."""
        token = secrets.token_urlsafe(32)
        mu, sigma = ratings.newcomer()
        person = Person(secrets.token_urlsafe(9), _hash(token), checked_name(name), mu, sigma)
        await self._keep([_put(person)])
        self.persons[person.id] = person
        self._tokens[_hash(token)] = person.id
        return person, token

    def known(self, token: str | None) -> Person | None:
        """Return whose token this is."""
        return self.persons.get(self._tokens.get(_hash(token), "")) if token else None

    async def rename(self, person: Person, name: Any) -> None:
        """Give a person another name, at tables that it sits down at from now on."""
        changed = Person(**{**vars(person), "name": checked_name(name)})
        await self._keep([_put(changed)])
        person.name = changed.name

    def agent(self, name: str) -> Person:
        """Return an agent as somebody who is rated."""
        known = self.persons.get(f"agent:{name}")
        return known or self.persons.setdefault(
            f"agent:{name}", Person(f"agent:{name}", None, name, *ratings.newcomer())
        )

    def checked_agent(self, name: Any) -> str:
        """Return the name of an agent that may be asked for: nobody names a file from outside."""
        if not isinstance(name, str) or name not in self.agents:
            raise Refused("no-agent", f"No such agent; there are {', '.join(self.agents)}.", 400)
        return name

    # Tables

    async def make(
        self,
        person: Person,
        seats: list[str],
        *,
        sit: bool,
        target: int | None,
        seconds: int | None,
        invited: bool,
        position: dict[str, Any] | None,
    ) -> Place:
        """Make a table; play begins as soon as no seat is free."""
        open_rooms = [place.room for place in self.places.values() if place.room.state != FINISHED]
        mine = [room for room in open_rooms if room.made_by == person.id]
        alone = all(seat != "person" for seat in seats)
        if len(open_rooms) >= MOST_TABLES or len(mine) >= MOST_OF_ONE:
            raise Refused("too-many", "There are too many tables that are not finished; finish or leave one.", 429)
        if alone and (
            sum(room.alone for room in open_rooms) >= MOST_ALONE
            or sum(room.alone for room in mine) >= MOST_ALONE_OF_ONE
        ):
            raise Refused("too-many", "Agents play at enough tables already; wait until one is finished.", 429)
        if position is not None:
            game = read_position(position)
            if game.players != len(seats):
                raise Refused("bad-position", f"position: {game.players} players, but {len(seats)} seats.", 400)
        places = [Seat("free") if seat == "person" else self._agent_seat(seat) for seat in seats]
        if sit and not alone:
            first = next(i for i, seat in enumerate(places) if seat.kind == "free")
            places[first] = Seat("person", person.name, person.id)
        made = {
            "kind": "made",
            "by": person.id,
            "target": target,
            "seconds": seconds,
            "invite": secrets.token_urlsafe(9) if invited else None,
            "seats": [vars(seat) for seat in places],
            "position": position,
        }
        table = secrets.token_urlsafe(9)
        room = Room.from_events(table, [made])
        statements: list[Statement] = [
            ("insert into tables (id, made_by) values (?, ?)", (table, person.id)),
            _event(table, 0, made),
        ]
        await self._keep(statements)
        place = self._enter(room, 1)
        async with place.lock:
            await self._begin_if_full(place)
        return place

    def _agent_seat(self, name: str) -> Seat:
        """Return the seat of an agent."""
        self.checked_agent(name)
        return Seat("agent", name, f"agent:{name}")

    def place(self, table: str) -> Place:
        """Return a table; one that is finished is read again."""
        place = self.places.get(table)
        if place is None:
            events = self.store.events(table) if len(table) <= 64 else []
            if not events:
                raise Refused("no-table", "There is no such table.", 404)
            place = Place(Room.from_events(table, events), events=len(events))
            if place.room.state != FINISHED:
                raise Refused("no-table", "This table can't be read.", 404)
            self.places[table] = place
        return place

    def listed(self, person: Person | None) -> list[dict[str, Any]]:
        """Return the tables that somebody may join, watch, or come back to; own ones first."""
        me = None if person is None else person.id
        found = []
        for place in self.places.values():
            room = place.room
            mine = room.seat_of(me) is not None or (room.made_by == me and me is not None)
            if room.state == FINISHED and not mine:
                continue
            # Who has set a position up knows all hands of it, so such a table is for those who get its link.
            listed = room.invite is None and room.position is None
            wanted = listed and room.state == WAITING and bool(place.guests)
            if mine or room.alone or wanted or (listed and room.state != WAITING):
                found.append((not mine, room.state == FINISHED, room.summary(me, place.here())))
        return [summary for _, _, summary in sorted(found, key=lambda row: row[:2])[:100]]

    async def join(self, place: Place, person: Person, invite: str | None) -> None:
        """Seat somebody."""
        async with place.lock:
            seat = place.room.check_join(person.id, invite)
            if place.room.seat_of(person.id) is None:
                await self._happen(place, {"kind": "sat", "seat": seat, "player": person.id, "name": person.name})
                await self._begin_if_full(place)

    async def leave(self, place: Place, person: Person) -> None:
        """Give a seat back, as long as nothing has begun."""
        async with place.lock:
            seat = place.room.seat_of(person.id)
            if seat is None:
                raise Refused("not-yours", "You have no seat at this table.", 403)
            if place.room.state != WAITING:
                raise Refused("begun", "The game has begun; the table waits for you if you go.")
            await self._happen(place, {"kind": "left", "seat": seat})
            if not any(seat.kind == "person" for seat in place.room.seats):  # nobody waits: the table is given up
                await self._keep([("update tables set finished = 1 where id = ?", (place.room.id,))])
                self.places.pop(place.room.id, None)
                if place.task is not None:
                    place.task.cancel()

    async def play(self, place: Place, player: str | None, actions: list[int], at: int | None) -> None:
        """Play for a person."""
        async with place.lock:
            after = place.room.check_play(place.room.seat_of(player), actions, at)
            await self._happen(place, {"kind": "played", "actions": actions}, after)

    async def go_on(self, place: Place, player: str | None) -> None:
        """Note that a person has seen the result of a round."""
        async with place.lock:
            seat = place.room.seat_of(player)
            place.room.check_continue(seat)
            await self._happen(place, {"kind": "continued", "seat": seat})
            await self._deal_if_ready(place)

    async def say(self, place: Place, guest: Guest, text: str) -> None:
        """Let somebody say something to all at the table."""
        person = self.persons.get(guest.player or "")
        if person is None:
            raise Refused("not-known", "Choose a name first; then you can say something.", 403)
        text = " ".join(text.split())
        if not 1 <= len(text) <= CHAT_LENGTH:
            raise Refused("bad-text", f"Expected 1 to {CHAT_LENGTH} characters.", 400)
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        line = {"seat": place.room.seat_of(person.id), "name": person.name, "text": text, "time": now}
        async with place.lock:
            await self._happen(place, {"kind": "said", "line": line}, show=False)
        for other in list(place.guests):
            other.show({"type": "chat", **line})

    # Who looks on

    def enter(self, place: Place, guest: Guest, invite: str | None) -> None:
        """Let somebody look at a table, if it may."""
        room = place.room
        welcome = room.invite in (None, invite) or guest.player == room.made_by
        if not welcome and room.seat_of(guest.player) is None:
            raise Refused("not-invited", "This table is by invitation; ask for its link.", 403)
        place.guests.add(guest)
        guest.show({"type": "chats", "lines": room.chat})
        self._moved(place)

    def go(self, place: Place, guest: Guest) -> None:
        """Note that a connection is gone."""
        place.guests.discard(guest)
        self._moved(place)
        if place.room.state == FINISHED and not place.guests:
            self.places.pop(place.room.id, None)

    def show(self, place: Place) -> None:
        """Show everybody at a table what it may see."""
        room = place.room
        common = room.common(place.here(), place.milliseconds(), place.paused())
        if (
            common["watch"]
            and room.game is not None
            and any(room.seat_of(guest.player) is None for guest in place.guests)
        ):
            common["position"] = room.game.to_json()
        for guest in place.guests:
            guest.show(room.view(guest.player, common))

    def _moved(self, place: Place) -> None:
        """Take note of a change: clock, pages, driver."""
        place.wind(time.monotonic())
        self.show(place)
        place.changed.set()

    # Thoughts and frames

    async def hint(self, place: Place, player: str | None, name: Any) -> dict[str, Any]:
        """Return what an agent thinks at a person's seat, from what this seat sees."""
        room = place.room
        agent = self.checked_agent(name if name is not None else list(self.agents)[-1])
        if room.game is None or room.state != PLAYING or room.seat_of(player) != room.game.seat:
            raise Refused("not-your-turn", "A hint is for your own turn.")
        version = room.moves
        return {"type": "hint", "version": version, "thought": await self._think(room.game, agent)}

    async def think(self, position: Any, name: Any) -> dict[str, Any]:
        """Return what an agent thinks in a position that somebody handed in."""
        game = read_position(position)
        if game.phase.name not in ("DRAW", "PLAY"):
            raise Refused("no-round", "No round is being played in this position.", 400)
        return await self._think(game, self.checked_agent(name))

    async def _think(self, game: Game, name: str) -> dict[str, Any]:
        """Ask an agent about the seat to move."""
        seat = game.seat
        texts = {int(action): game.format(int(action)) for action in game.legal_actions()}
        seen, mask = game.observe(seat).tobytes(), game.mask().tobytes()
        try:
            return await self.scholars.ask(thinking.think, name, seen, mask, game.decision_key(seat), texts)
        except Exception as error:
            LOG.warning("agent %s could not think: %.200s", name, error)
            raise Refused("no-answer", f"{name} did not answer.", 503) from None

    async def frames(self, place: Place, after: int) -> dict[str, Any]:
        """Return what was played at a table whose hands are open, in steps."""
        if not place.room.watch:
            raise Refused("not-open", "Hands are hidden while persons play here.", 403)
        events = await asyncio.to_thread(self.store.events, place.room.id)
        found = await self.answer(frames, place.room.id, events, after)
        return {"frames": found, "next": found[-1]["n"] if found else after}

    async def answer(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function says in a process beside play; ``Refused`` if it does not."""
        try:
            return await self.scholars.ask(question, *arguments)
        except RecursionError:
            raise Refused("too-deep", "This document is nested too deeply.", 400) from None
        except RuntimeError as error:
            raise Refused("no-answer", str(error), 503) from None

    # What happens at a table

    async def _happen(self, place: Place, event: Event, after: Game | None = None, *, show: bool = True) -> None:
        """Store an event, apply it, and show what came of it; ``Refused`` if it can't be stored."""
        await self._keep([_event(place.room.id, place.events, event)])
        place.events += 1
        place.room.apply(event, after)
        if place.room.state == FINISHED and event["kind"] == "played":
            await self._finish(place)
        if show:
            self._moved(place)

    async def _keep(self, statements: list[Statement]) -> None:
        """Store something; ``Refused`` if it can't be, on a full disk for one."""
        try:
            await self.store.write(statements)
        except OSError as error:
            LOG.error("%s", error)
            raise Refused(
                "not-stored", "This can't be stored, so it did not happen; the disk may be full.", 503
            ) from None

    async def _begin_if_full(self, place: Place) -> None:
        """Begin to play once no seat is free."""
        if place.room.state == WAITING and place.room.free_seat() is None:
            seed = secrets.randbits(52)  # which a browser's numbers hold exactly, so that it can pass a record on
            await self._happen(place, {"kind": "began", "seed": seed})

    async def _deal_if_ready(self, place: Place) -> None:
        """Deal the next round once all persons have pressed Continue."""
        persons = [i for i, seat in enumerate(place.room.seats) if seat.kind == "person"]
        if place.room.state == ROUND_OVER and all(seat in place.room.ready for seat in persons):
            await self._happen(place, {"kind": "dealt"})

    async def _finish(self, place: Place) -> None:
        """Rate the players, note the result, and write the record."""
        room = place.room
        assert room.game is not None
        totals = room.game.totals
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        players = [
            self.agent(seat.name) if seat.kind == "agent" else self.persons[seat.player or ""] for seat in room.seats
        ]
        if room.position is None:
            ratings.rate(players, totals)
        statements: list[Statement] = [_put(person) for person in players]
        statements.append(("update tables set finished = 1 where id = ?", (room.id,)))
        for seat, (person, total) in enumerate(zip(players, totals, strict=True)):
            statements.append(("insert into results values (?, ?, ?, ?, ?)", (room.id, seat, person.id, total, now)))
        try:
            await self.store.write(statements)
            if room.position is None:
                self.records.mkdir(parents=True, exist_ok=True)
                await asyncio.to_thread(record.save, room.record(), self.records / f"{room.id}.json")
        except OSError as error:
            LOG.error("the result of table %s can't be stored: %s", room.id, error)

    def _enter(self, room: Room, events: int) -> Place:
        """Take a room in, of which so many events are stored, and drive it."""
        place = self.places[room.id] = Place(room, events=events)
        place.wind(time.monotonic())
        place.task = asyncio.create_task(self._drive(place), name=f"table {room.id}")
        return place

    async def _drive(self, place: Place) -> None:
        """Let agents play and clocks run out, until the game is finished."""
        room = place.room
        while room.state != FINISHED:
            place.changed.clear()
            try:
                await self._next(place)
            except Refused as error:
                LOG.warning("table %s: %s", room.id, error.reason)
                await asyncio.sleep(5)
            except Exception:
                LOG.exception("table %s", room.id)
                await asyncio.sleep(5)

    async def _next(self, place: Place) -> None:
        """Do what the table waits for: an agent's action, the end of a break, the end of somebody's time."""
        room = place.room
        mover = room.mover()
        if mover is not None and mover.kind == "agent":
            began = time.monotonic()
            version = room.moves
            action = await self._agents_action(room, mover.name)
            pace = PACE_ALONE if room.alone else self.pace
            await asyncio.sleep(max(0.0, pace - (time.monotonic() - began)))
            async with place.lock:
                if room.moves == version:
                    await self._happen(place, {"kind": "played", "actions": [action]})
        elif room.state == ROUND_OVER and (room.alone or room.seconds is not None):
            if not await _within(0.5 if room.alone else BREAK, place.changed.wait()):
                async with place.lock:
                    if room.state == ROUND_OVER:
                        await self._happen(place, {"kind": "dealt"})
        elif mover is not None and place.left is not None:
            now = time.monotonic()
            place.wind(now)
            if place.left <= 0:
                async with place.lock:
                    if room.mover() is mover:
                        LOG.info("table %s: time is up for %s", room.id, mover.name)
                        await self._happen(place, {"kind": "played", "actions": room.default_actions()})
            else:
                stands = place.away is not None and now - place.away < AWAY
                await _within(5.0 if stands else place.left + 0.01, place.changed.wait())
        else:
            await place.changed.wait()

    async def _agents_action(self, room: Room, name: str) -> int:
        """Return what an agent plays; what a person without time would, where it fails."""
        game = room.game
        assert game is not None
        seat = game.seat
        try:
            seen, mask = game.observe(seat).tobytes(), game.mask().tobytes()
            action = await self.thinkers.ask(thinking.choose, name, seen, mask, game.decision_key(seat))
        except Exception as error:
            LOG.warning("table %s: %s failed, and the default is played: %.200s", room.id, name, error)
            return room.default_actions()[0]
        if not game.is_legal(action):
            LOG.warning("table %s: %s chose %s, which is not legal; the default is played", room.id, name, action)
            return room.default_actions()[0]
        return action


def checked_name(name: Any) -> str:
    """Return a person's name without what can't be seen; ``Refused`` if nothing is left, or too much."""
    text = " ".join("".join(c for c in name if c.isprintable()).split()) if isinstance(name, str) else ""
    if not 1 <= len(text) <= NAME_LENGTH:
        raise Refused("bad-name", f"A name has 1 to {NAME_LENGTH} characters.", 400)
    return text


async def _within(seconds: float, what: Awaitable[Any]) -> bool:
    """Wait for something for so long; tell whether it came."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(what, seconds)
        return True
    return False


def _hash(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _event(table: str, n: int, event: Event) -> Statement:
    """Return the statement that stores an event."""
    return 'insert into events ("table", n, body) values (?, ?, ?)', (table, n, json.dumps(event))


def _put(person: Person) -> Statement:
    """Return the statement that stores a person."""
    return (
        "insert into players (id, token, name, mu, sigma, games, won) values (?, ?, ?, ?, ?, ?, ?) on conflict (id) "
        "do update set name = excluded.name, mu = excluded.mu, sigma = excluded.sigma, games = excluded.games, "
        "won = excluded.won",
        (person.id, person.token, person.name, person.mu, person.sigma, person.games, person.won),
    )
