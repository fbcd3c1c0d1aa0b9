"""One table: who sits where, its game, and what has happened, as a log of events.

A room changes by :meth:`Room.apply` alone. The log is what is stored, so a room that is read again from its events is
the room that it was. ``check_…`` say whether a person may do a thing, and change nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jolly_env import record
from jolly_env.actions import DISCARD, DRAW_STOCK, IllegalAction
from jolly_env.cards import HAND_VALUE, JOKER
from jolly_env.game import Game
from jolly_env.rules import Rules
from jolly_env.state import Phase
from table import view
from table.refused import Refused

Event = dict[str, Any]
WAITING, PLAYING, ROUND_OVER, FINISHED = "waiting", "playing", "round over", "finished"
MOST_AT_ONCE: Final = 60
"""Most actions of one message: a turn has fewer."""
CHAT_LENGTH: Final = 400
CHAT_KEPT: Final = 200


@dataclass
class Seat:
    """A place at a table: a person's, an agent's, or free."""

    kind: str
    name: str = ""
    player: str | None = None
    """Whose it is; "agent:NAME" for an agent."""


@dataclass
class Room:
    """A table."""

    id: str
    made_by: str
    target: int | None
    seconds: int | None
    invite: str | None
    """The code that lets somebody join; None where everybody may."""
    seats: list[Seat]
    position: dict[str, Any] | None = None
    """Where the game began, if not with a deal."""
    game: Game | None = None
    moves: int = 0
    """Grows with each change of the game."""
    ready: set[int] = field(default_factory=set)
    """Seats that pressed Continue."""
    last: dict[str, Any] | None = None
    chat: list[dict[str, Any]] = field(default_factory=list)
    cached: tuple[dict[str, Any], list[dict[str, Any]]] | None = None
    """What everybody sees of the game and of its players, as of the last move."""

    @classmethod
    def from_events(cls, table: str, events: Iterable[Event]) -> Room:
        """Return the room that these events led to."""
        events = iter(events)
        made = next(events)
        room = cls(
            id=table,
            made_by=made["by"],
            target=made["target"],
            seconds=made["seconds"],
            invite=made["invite"],
            seats=[Seat(**seat) for seat in made["seats"]],
            position=made.get("position"),
        )
        for event in events:
            room.apply(event)
        return room

    @property
    def state(self) -> str:
        """What the table is at."""
        if self.game is None:
            return WAITING
        return {Phase.ROUND_OVER: ROUND_OVER, Phase.GAME_OVER: FINISHED}.get(self.game.phase, PLAYING)

    @property
    def alone(self) -> bool:
        """Whether agents play alone, so that whoever looks on may see all hands."""
        return all(seat.kind == "agent" for seat in self.seats)

    @property
    def watch(self) -> bool:
        """Whether all hands are open to whoever looks on."""
        return self.alone or self.state == FINISHED

    @property
    def names(self) -> list[str]:
        """The names of the players by seat."""
        return [seat.name or f"player_{i}" for i, seat in enumerate(self.seats)]

    def seat_of(self, player: str | None) -> int | None:
        """Return where a person sits."""
        if player is None:
            return None
        return next((i for i, seat in enumerate(self.seats) if seat.kind == "person" and seat.player == player), None)

    def free_seat(self) -> int | None:
        """Return the first free seat."""
        return next((i for i, seat in enumerate(self.seats) if seat.kind == "free"), None)

    def mover(self) -> Seat | None:
        """Return whose turn it is, in a round that is played."""
        return self.seats[self.game.seat] if self.game is not None and self.state == PLAYING else None

    # What a person may do

    def check_join(self, player: str, invite: str | None) -> int:
        """Return the seat that a person gets."""
        seat = self.seat_of(player)
        if seat is not None:
            return seat
        if self.invite is not None and invite != self.invite:
            raise Refused("not-invited", "This table is by invitation; ask for its link.", 403)
        seat = self.free_seat()
        if seat is None:
            raise Refused("full", "All seats of this table are taken.")
        return seat

    def check_play(self, seat: int | None, actions: Sequence[int], at: int | None) -> Game:
        """Return the game after these actions, all of which are legal; the room's own game is as it was."""
        if seat is None:
            raise Refused("not-yours", "You have no seat at this table.", 403)
        if self.game is None or self.state != PLAYING:
            raise Refused("no-round", "No round is being played.")
        if self.game.seat != seat:
            raise Refused("not-your-turn", "It is not your turn.")
        if at is not None and at != self.moves:
            raise Refused("stale", "The table has changed since; look again.")
        if not 1 <= len(actions) <= MOST_AT_ONCE:
            raise Refused("bad-actions", f"Expected 1 to {MOST_AT_ONCE} actions.", 400)
        after = self.game.clone()
        for action in actions:
            if after.seat != seat or after.phase not in (Phase.DRAW, Phase.PLAY):
                raise Refused("bad-actions", "Your turn is over before the last of these actions.", 400)
            try:
                after.step(action)
            except IllegalAction as error:
                raise Refused("illegal", str(error), 400) from None
        return after

    def check_continue(self, seat: int | None) -> None:
        """Tell whether a person may go on to the next round."""
        if seat is None:
            raise Refused("not-yours", "You have no seat at this table.", 403)
        if self.state != ROUND_OVER:
            raise Refused("no-round", "There is no round to go on from.")
        if seat in self.ready:
            raise Refused("stale", "You have said so already.")

    def default_actions(self) -> list[int]:
        """Return what is played for somebody whose time is up.

        The draw is the stock's, or one card of the row where the stock gives none; then the dearest card that is no
        joker is thrown.
        """
        assert self.game is not None
        trial, actions = self.game.clone(), []
        seat = trial.seat
        while trial.phase in (Phase.DRAW, Phase.PLAY) and trial.seat == seat:
            legal = trial.legal_actions().tolist()
            throws = [action - DISCARD for action in legal if action >= DISCARD]
            if trial.phase is Phase.DRAW:
                action = DRAW_STOCK if DRAW_STOCK in legal else legal[0]
            elif throws:
                action = DISCARD + max(throws, key=lambda card: -1 if card == JOKER else int(HAND_VALUE[card]))
            else:
                action = legal[0]
            trial.step(action)
            actions.append(action)
        return actions

    # What happens

    def apply(self, event: Event, after: Game | None = None) -> None:
        """Let an event happen that was allowed; ``after`` is the game after its actions, where known."""
        kind = event["kind"]
        if kind == "sat":
            self.seats[event["seat"]] = Seat("person", event["name"], event["player"])
        elif kind == "left":
            self.seats[event["seat"]] = Seat("free")
        elif kind == "began":
            self.game = self._begin(event["seed"])
        elif kind == "played":
            self._played(event, after)
        elif kind == "continued":
            self.ready.add(event["seat"])
        elif kind == "dealt":
            assert self.game is not None
            self.game.next_round()
            self.ready, self.last = set(), None
        elif kind == "said":
            self.chat = [*self.chat, event["line"]][-CHAT_KEPT:]
        else:
            raise ValueError(f"event {kind!r}: a newer version wrote this table")
        if kind in ("began", "played", "continued", "dealt"):
            self.moves += 1
            self.cached = None

    def _begin(self, seed: int) -> Game:
        """Return the game that this table begins with."""
        if self.position is not None:
            return Game.from_json(self.position)
        return Game(Rules(players=len(self.seats), target=self.target), seed=seed)

    def _played(self, event: Event, after: Game | None) -> None:
        """Play the actions of an event."""
        assert self.game is not None
        seat, actions = self.game.seat, event["actions"]
        text = self.game.format(actions[0]) if len(actions) == 1 else ""
        if after is None:
            for action in actions:
                self.game.step(action)
        else:
            self.game = after
        self.last = {"seat": seat, "action": actions[-1], "actions": actions, "text": text}

    # What is seen

    def common(self, here: set[int], left: int | None, paused: bool) -> dict[str, Any]:
        """Return what everybody at the table sees; hands are those that are open to all.

        ``here`` are the seats of persons who are connected, ``left`` the milliseconds that the move may take.
        """
        state = self.state
        people = [
            {
                "seat": i,
                "name": seat.name,
                "kind": seat.kind,
                "player": seat.player,
                "here": seat.kind == "agent" or i in here,
                "ready": seat.kind == "agent" or i in self.ready,
            }
            for i, seat in enumerate(self.seats)
        ]
        seen: dict[str, Any] = {
            "type": "view",
            "table": self.id,
            "version": self.moves,
            "state": state,
            "you": None,
            "watch": self.watch,
            "set_up": self.position is not None,
            "target": self.target,
            "seconds": self.seconds,
            "left": left,
            "paused": paused,
            "players": people,
        }
        if self.game is None:
            return seen
        if self.cached is None:
            self.cached = view.public(self.game), view.players(self.game, self.watch or state != PLAYING)
        for person, game_seen in zip(people, self.cached[1], strict=True):
            person.update(game_seen)
        return {**seen, **self.cached[0], "legal": [], "last": self.last}

    def view(self, player: str | None, common: dict[str, Any]) -> dict[str, Any]:
        """Return what a person sees: what everybody does, the own hand, and what may be played if it is to move."""
        me = self.seat_of(player)
        if me is None:
            return common
        seen = {**common, "you": me}
        if self.game is not None and self.state == PLAYING:
            players = list(common["players"])
            players[me] = {**players[me], "hand": view.hand(self.game, me)}
            seen["players"] = players
            if self.game.seat == me:
                seen["legal"] = self.game.legal_actions().tolist()
        return seen

    def summary(self, player: str | None, here: set[int]) -> dict[str, Any]:
        """Return what the list of tables says of this one."""
        me = self.seat_of(player)
        return {
            "table": self.id,
            "state": self.state,
            "target": self.target,
            "seconds": self.seconds,
            "invited": self.invite is not None,
            "set_up": self.position is not None,
            "watch": self.watch,
            "yours": me is not None or player == self.made_by,
            "seat": me,
            "free": sum(seat.kind == "free" for seat in self.seats),
            "invite": self.invite if player == self.made_by else None,
            "players": [
                {
                    "seat": i,
                    "kind": seat.kind,
                    "name": seat.name,
                    "player": seat.player,
                    "here": seat.kind == "agent" or i in here,
                }
                for i, seat in enumerate(self.seats)
            ],
            "totals": self.game.totals if self.game is not None else [0] * len(self.seats),
        }

    def record(self) -> record.Record:
        """Return the record of a finished game."""
        if self.game is None or self.state != FINISHED:
            raise Refused("not-finished", "The game is not finished; its record would show hidden cards.")
        try:
            return record.of(self.game, self.names)
        except ValueError as error:
            raise Refused("no-record", str(error)) from None


def frames(table: str, events: Sequence[Event], after: int) -> list[dict[str, Any]]:
    """Return the frames of a table that come after frame ``after``, one for each action and deal."""
    return list(itertools.islice(_frames(table, events, after), 400))


def _frames(table: str, events: Sequence[Event], after: int) -> Iterator[dict[str, Any]]:
    """Play the events again and yield a frame for each thing that was played."""
    room = Room.from_events(table, events[:1])
    n = 0
    for event in events[1:]:
        steps: list[tuple[int | None, Event]] = []
        if event["kind"] == "played":
            assert room.game is not None
            steps = [(room.game.seat, {"kind": "played", "actions": [action]}) for action in event["actions"]]
        elif event["kind"] in ("began", "dealt"):
            steps = [(None, event)]
        else:
            room.apply(event)
        for seat, step in steps:
            room.apply(step)
            assert room.game is not None
            if n > after:
                text = room.last["text"] if seat is not None and room.last is not None else None
                yield view.frame(room.game, room.names, n, text, seat)
            n += 1
