"""``Game``: one game behind a facade that checks what it is given."""

from __future__ import annotations

import json
import struct
import threading
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jolly_env import engine
from jolly_env._jit import entry
from jolly_env.actions import ACTIONS, Action, IllegalAction, format_action
from jolly_env.bits import has_bit
from jolly_env.cards import CARD_KINDS, Card, format_card
from jolly_env.explain import why_not
from jolly_env.legal import write_mask
from jolly_env.observation import OBSERVATION, observe
from jolly_env.opening import new_scratch
from jolly_env.rules import Rules
from jolly_env.seeding import seed_streams
from jolly_env.state import STATE, Ending, Phase
from jolly_env.warmup import warm_up_kernels

MAGIC = b"jolly game 1\n"
"""First bytes of a saved game: what it is, and the version of the format."""


_LOCAL = threading.local()
_ROW = np.zeros(1, dtype=np.int64)


class Game:
    """One game of Jolly: rounds until someone has ``target`` points, or one round without a target.

    ``states`` is the game's record in an array of one, STATE[1]; ``state`` the record itself. Both are live: whoever
    changes them must call :meth:`refresh`.
    """

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        seed: int | None = None,
        deck: Sequence[Card] | None = None,
        reshuffles: Sequence[Sequence[Card]] = (),
    ) -> None:
        """Deal the first round.

        ``deck`` fixes the cards of the first round: ``deck[0:hand_size]`` is seat 0's hand and so on, the rest the
        stock. ``reshuffles[i]`` is the stock after the i-th recycling of that round, in the order in which it is
        drawn; where none is given, the game's own random state decides. ``ValueError`` for other cards.
        """
        self.rules = rules if rules is not None else Rules()
        self._scratch = _shared_scratch()
        warm_up_kernels()
        self.states = np.zeros(1, dtype=STATE)
        self.states["rules"] = self.rules.numbers()
        self.states["pack"] = self.rules.counts()[:-1]
        rng, key = seed_streams(seed, 1)
        self.states["rng"], self.states["key"] = rng, key
        self.deck: list[Card] = []
        """The cards of this round in the order in which they were dealt."""
        self.reshuffles: list[list[Card]] = []
        """The stocks that the recyclings of this round made, in the order in which they are drawn."""
        self.played: list[str] = []
        """The actions of this round in notation."""
        self._given: list[list[Card]] = [[int(c) for c in cards] for cards in reshuffles]
        for i, cards in enumerate(self._given):
            _check_cards(f"reshuffles[{i}]", cards, self.rules.counts(), exact=False)
        if deck is None:
            self._run(engine.NEW_GAME)
        else:
            cards = [int(c) for c in deck]
            _check_cards("deck", cards, self.rules.counts(), exact=True)
            self.states["stock"][0, : len(cards)] = cards
            self.states["stock_size"] = len(cards)
            self._run(engine.DEAL)
        self._note_deal()

    @property
    def state(self) -> Any:
        """The game's record."""
        return self.states[0]

    @property
    def players(self) -> int:
        """Number of players."""
        return self.rules.players

    @property
    def seat(self) -> int:
        """Seat to move."""
        return int(self.states["seat"][0])

    @property
    def phase(self) -> Phase:
        """What the seat to move has to do."""
        return Phase(int(self.states["phase"][0]))

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(self.states["phase"][0] == Phase.GAME_OVER)

    @property
    def truncated(self) -> bool:
        """Whether the game is over because it was cut off (R17, ``max_rounds``)."""
        return bool(self.states["truncated"][0])

    @property
    def scores(self) -> list[int]:
        """Points of the last finished round, by seat (R14 to R16)."""
        return [int(n) for n in self.states["scores"][0, : self.players]]

    @property
    def totals(self) -> list[int]:
        """Points of the finished rounds, by seat (R18)."""
        return [int(n) for n in self.states["totals"][0, : self.players]]

    @property
    def closer(self) -> int | None:
        """Seat that closed the last finished round, if any (R13)."""
        closer = int(self.states["closer"][0])
        return None if self.ending is not Ending.CLOSED else closer

    @property
    def hand_jolly(self) -> bool:
        """Whether the last finished round ended with a Hand-Jolly (R13)."""
        return bool(self.states["hand_jolly"][0])

    @property
    def ending(self) -> Ending:
        """How the last finished round ended."""
        return Ending(int(self.states["ending"][0]))

    def mask(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return the legal actions of the seat to move as ones: int8[839]."""
        out = np.empty(ACTIONS, dtype=np.int8) if out is None else out
        _mask(self.states, out)
        return out

    def legal_actions(self) -> np.ndarray:
        """Return the legal actions of the seat to move, ascending: int64[n]."""
        return np.flatnonzero(self.mask())

    def is_legal(self, action: Action) -> bool:
        """Tell whether ``action`` is legal now."""
        return 0 <= action < ACTIONS and _is_legal(self.states, action)

    def decision_key(self, seat: int) -> int:
        """Return the random key of a seat's next decision."""
        return int(_decision_key(self.states, self._seat(seat)))

    def observe(self, seat: int, out: np.ndarray | None = None) -> np.ndarray:
        """Return what ``seat`` may know: OBSERVATION[1], a new array or ``out`` filled."""
        out = np.zeros(1, dtype=OBSERVATION) if out is None else out
        observe_seat(self.states, self._seat(seat), out)
        return out

    def format(self, action: Action) -> str:
        """Return an action in notation."""
        return format_action(action, self.state)

    def step(self, action: Action) -> None:
        """Play an action; after the last one of a round the phase says so and :meth:`next_round` goes on.

        An action that is not legal raises :class:`IllegalAction` and leaves the game as it was.
        """
        number = _whole(action)
        if not self.is_legal(number):
            raise IllegalAction(why_not(self.state, number))
        text = format_action(number, self.state)
        recycles = int(self.states["recycles"][0])
        before = self.states.copy() if recycles < len(self._given) else None
        self._run(engine.APPLY, number)
        if int(self.states["recycles"][0]) > recycles:
            if before is not None:
                self._use_given(recycles, before)
            self.reshuffles.append(self.stock())
        self.played.append(text)

    def next_round(self) -> None:
        """Deal the next round after one that is over; ``ValueError`` at any other time."""
        if self.phase is not Phase.ROUND_OVER:
            raise ValueError("next_round: " + ("the game is over" if self.over else "the round is not over"))
        self._run(engine.GO_ON)
        self._given = []
        self._note_deal()

    def stock(self) -> list[Card]:
        """Return the stock in the order in which it will be drawn."""
        top, size = int(self.states["stock_top"][0]), int(self.states["stock_size"][0])
        return [int(c) for c in self.states["stock"][0, top : top + size]]

    def put_on_top(self, card: Card) -> None:
        """Make ``card`` the next of the stock, in place of the card that is; ``ValueError`` if it is not in it."""
        stock = self.stock()
        if card not in stock:
            raise ValueError(f"put_on_top: {format_card(card)} is not in the stock")
        top = int(self.states["stock_top"][0])
        place = top + stock.index(card)
        cards = self.states["stock"][0]
        cards[top], cards[place] = cards[place], cards[top]

    def refresh(self) -> None:
        """Work out the legal actions anew after the state was changed from outside."""
        self._run(engine.REFRESH)

    def clone(self) -> Game:
        """Return an independent copy."""
        other = Game.__new__(Game)
        other.rules = self.rules
        other._scratch = self._scratch
        other.states = self.states.copy()
        other.deck = list(self.deck)
        other.reshuffles = list(self.reshuffles)
        other.played = list(self.played)
        other._given = self._given
        return other

    __copy__ = clone

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        """Return an independent copy."""
        return self.clone()

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """Pickle as the saved bytes."""
        return Game.from_bytes, (self.to_bytes(),)

    def to_bytes(self) -> bytes:
        """Save the game: :data:`MAGIC`, a checksum, the log as JSON, and the record."""
        log = {
            "rules": self.rules.to_json(),
            "deck": self.deck,
            "reshuffles": self.reshuffles,
            "given": self._given,
            "played": self.played,
        }
        text = json.dumps(log).encode()
        body = struct.pack("<I", len(text)) + text + self.states.tobytes()
        return MAGIC + struct.pack("<I", zlib.crc32(body)) + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Game:
        """Return a saved game; ``ValueError`` if the bytes are damaged or of another version."""
        if not data.startswith(MAGIC):
            raise ValueError(f"saved game: expected {MAGIC!r} at byte 0, got {bytes(data[: len(MAGIC)])!r}")
        body = data[len(MAGIC) + 4 :]
        if len(body) < 4 or zlib.crc32(body) != struct.unpack_from("<I", data, len(MAGIC))[0]:
            raise ValueError(f"saved game: {len(data)} bytes, but their checksum does not fit: it is damaged")
        (size,) = struct.unpack_from("<I", body)
        log = json.loads(body[4 : 4 + size])
        game = cls.__new__(cls)
        game.rules = Rules.from_json(log["rules"])
        game._scratch = _shared_scratch()
        game.states = np.frombuffer(body[4 + size :], dtype=STATE).copy()
        game.deck, game.reshuffles = log["deck"], log["reshuffles"]
        game.played, game._given = log["played"], log["given"]
        return game

    def _run(self, command: int, argument: int = 0) -> None:
        """Let the engine do one thing with the state."""
        engine.run(self.states, _ROW, command, np.array([argument]), self._scratch)

    def _note_deal(self) -> None:
        """Start the log of a round that has just been dealt."""
        count = int(self.states["stock_top"][0]) + int(self.states["stock_size"][0])
        self.deck = [int(c) for c in self.states["stock"][0, :count]]
        self.reshuffles = []
        self.played = []

    def _use_given(self, i: int, before: np.ndarray) -> None:
        """Put the stock in the order of the caller's reshuffle ``i``; on other cards take the step back."""
        cards = self._given[i]
        if sorted(cards) != sorted(self.stock()):
            self.states[:] = before
            raise ValueError(f"reshuffles[{i}]: not the cards that are recycled")
        self.states["stock"][0, : len(cards)] = cards

    def _seat(self, seat: int) -> int:
        """Return ``seat`` after a check."""
        if not 0 <= seat < self.players:
            raise ValueError(f"seat {seat}: expected a number from 0 to {self.players - 1}")
        return seat


def _shared_scratch() -> np.ndarray:
    """Return the scratch of this thread's games: one game at a time is stepped in a thread."""
    scratch: np.ndarray | None = getattr(_LOCAL, "scratch", None)
    if scratch is None:
        scratch = _LOCAL.scratch = new_scratch()
    return scratch


def _whole(action: Any) -> int:
    """Return an action as an int; :class:`IllegalAction` for NaN, fractions and other things."""
    try:
        number = int(action)
        if number == action:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise IllegalAction(f"action {action!r}: an action is a whole number from 0 to {ACTIONS - 1}")


def _check_cards(name: str, cards: Iterable[Card], counts: np.ndarray, *, exact: bool) -> None:
    """Make sure that ``cards`` are those of the pack, or at least no others; ``ValueError`` names the first fault."""
    seen = np.zeros(CARD_KINDS, dtype=np.int64)
    for place, number in enumerate(cards):
        if not 0 <= number < CARD_KINDS:
            raise ValueError(f"{name}[{place}]={number}: a card is a number from 0 to {CARD_KINDS - 1}")
        seen[number] += 1
        if seen[number] > counts[number]:
            raise ValueError(
                f"{name}[{place}]: {format_card(number)} number {seen[number]}, but the pack has {counts[number]}"
            )
    if exact and (seen != counts).any():
        missing = int(np.flatnonzero(seen != counts)[0])
        raise ValueError(
            f"{name}: {int(seen.sum())} cards, but the pack has {int(counts.sum())}: {format_card(missing)} is missing"
        )


@entry
def _mask(states: np.ndarray, out: np.ndarray) -> None:
    """Write the legal actions."""
    write_mask(states[0], out)


@entry
def observe_seat(states: np.ndarray, seat: int, out: np.ndarray) -> None:
    """Write what a seat may know of one game: STATE[1] -> OBSERVATION[1]."""
    observe(states[0], seat, out[0])


@entry
def _is_legal(states: np.ndarray, action: int) -> bool:
    """Tell whether an action is legal."""
    return has_bit(states[0]["legal"], action)


@entry
def _decision_key(states: np.ndarray, seat: int) -> np.uint64:
    """Return the random key of a seat's next decision."""
    return engine.decision_key(states[0], seat)
