"""``Game``: one game behind a facade that checks what it is given."""

from __future__ import annotations

import copy
import json
import operator
import struct
import threading
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jolly_env import engine
from jolly_env._jit import entry
from jolly_env.actions import ACTIONS, Action, IllegalAction, format_action
from jolly_env.arrays import MASK, as_rows, to_fill, to_read
from jolly_env.bits import has_bit
from jolly_env.cards import CARD_KINDS, Card, format_card
from jolly_env.explain import why_not
from jolly_env.legal import write_mask
from jolly_env.observation import OBSERVATION, observe
from jolly_env.packing import new_scratch
from jolly_env.rules import Rules, checked_rules
from jolly_env.seeding import seed_streams, whole_seed
from jolly_env.state import GAME_OVER, STATE, Ending, Phase, copy_states
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
        reshuffles: Sequence[Sequence[Card]] | None = None,
    ) -> None:
        """Deal the first round.

        ``deck`` fixes the cards of the first round: ``deck[0:hand_size]`` is seat 0's hand and so on, the rest the
        stock. ``reshuffles[i]`` is the stock after the i-th recycling of that round, in the order in which it is
        drawn; where none is given, the game's own random state decides. ``ValueError`` for other cards.
        """
        self.rules = Rules() if rules is None else checked_rules(rules)
        self.seed = None if seed is None else whole_seed(seed)
        """What the game was seeded with."""
        self._scratch = _shared_scratch()
        warm_up_kernels()
        self.states = np.zeros(1, dtype=STATE)
        self.states["rules"] = self.rules.numbers()
        self.states["pack"] = self.rules.counts()[:-1]
        rng, key = seed_streams(self.seed, 1)
        self.states["rng"], self.states["key"] = rng, key
        self.finished: list[dict[str, Any]] = []
        """The logs of the rounds before this one (:meth:`log`)."""
        self.deck: list[Card] = []
        """The cards of this round in the order in which they were dealt; empty if it began as a position."""
        self.reshuffles: list[list[Card]] = []
        """The stocks that the recyclings of this round made, in the order in which they are drawn."""
        self.played: list[Action] = []
        """The actions of this round."""
        self._given: list[list[Card]] = []
        self._deal(deck, reshuffles, engine.NEW_GAME)

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
        return bool(self.states["phase"][0] == GAME_OVER)

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
        out = np.empty(ACTIONS, dtype=MASK) if out is None else to_fill("out", out, (ACTIONS,), MASK)
        _mask(self.states, out)
        return out

    def legal_actions(self) -> np.ndarray:
        """Return the legal actions of the seat to move, ascending: int64[n]."""
        return np.flatnonzero(self.mask())

    def is_legal(self, action: Action) -> bool:
        """Tell whether ``action`` is legal now; :class:`IllegalAction` for what is no whole number."""
        return self._legal(_whole(action))

    def decision_key(self, seat: int) -> int:
        """Return the random key of a seat's next decision."""
        return int(_decision_key(self.states, self._seat(seat)))

    def observe(self, seat: int, out: np.ndarray | None = None) -> np.ndarray:
        """Return what ``seat`` may know: OBSERVATION[1], a new array or ``out`` filled."""
        out = to_fill("out", out, (1,), OBSERVATION)
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
        if not self._legal(number):
            raise IllegalAction(why_not(self.state, number))
        recycles = int(self.states["recycles"][0])
        before = copy_states(self.states) if recycles < len(self._given) else None
        self._run(engine.APPLY, number)
        if int(self.states["recycles"][0]) > recycles:
            if before is not None:
                self._use_given(recycles, before)
            self.reshuffles.append(self.stock())
        self.played.append(number)

    def next_round(
        self, deck: Sequence[Card] | None = None, reshuffles: Sequence[Sequence[Card]] | None = None
    ) -> None:
        """Deal the next round after one that is over, with the given cards if there are any; else ``ValueError``."""
        if self.phase is not Phase.ROUND_OVER:
            raise ValueError("next_round: " + ("the game is over" if self.over else "the round is not over"))
        done = self.log()
        self._deal(deck, reshuffles, engine.GO_ON)
        self.finished = [*self.finished, done]

    def log(self) -> dict[str, Any]:
        """Return this round as numbers: deck, reshuffles, actions, and the outcome if it is over."""
        over = self.phase in (Phase.ROUND_OVER, Phase.GAME_OVER)
        return {
            "deck": list(self.deck),
            "reshuffles": list(self.reshuffles),
            "actions": list(self.played),
            "scores": self.scores if over else None,
            "closer": self.closer if over else None,
            "hand_jolly": over and self.hand_jolly,
        }

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
        _swap(self.states["stock"][0], top, place)
        if self.reshuffles:
            self.reshuffles = copy.deepcopy(self.reshuffles)
            _swap(self.reshuffles[-1], top, place)
        elif self.deck:
            _swap(self.deck, top, place)

    def refresh(self) -> None:
        """Work out the legal actions anew after the state was changed from outside."""
        self._run(engine.REFRESH)

    def clone(self) -> Game:
        """Return an independent copy."""
        other = Game.__new__(Game)
        other.rules = self.rules
        other._scratch = self._scratch
        other.states = copy_states(self.states)
        other.seed = self.seed
        other.finished = self.finished
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

    @classmethod
    def from_state(cls, state: np.ndarray) -> Game:
        """Return a game that goes on from a copy of a state, STATE[1], of unknown past: its log is empty."""
        states = to_read("state", as_rows(state), (1,), STATE).copy()
        game = cls.__new__(cls)
        warm_up_kernels()
        game.states = states
        game.rules = Rules.from_numbers(game.state["rules"], game.state["pack"])
        game._scratch = _shared_scratch()
        game.seed = None
        game.finished, game.deck, game.reshuffles, game.played, game._given = [], [], [], [], []
        game.refresh()
        return game

    def _repr_svg_(self) -> str:
        """Return the whole table as a picture, which notebooks show."""
        from jolly_env.drawing import draw_table

        return draw_table(self).svg

    def to_json(self) -> dict[str, Any]:
        """Return the position as a document that a person can edit (:mod:`jolly_env.position`), without the log."""
        from jolly_env.position import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, document: Any) -> Game:
        """Return the game that goes on from a position; ``ValueError`` says where the position is wrong and why."""
        from jolly_env.position import from_json

        return from_json(document)

    def to_bytes(self) -> bytes:
        """Save the game: :data:`MAGIC`, a checksum, the log as JSON, and the record."""
        log = {
            "rules": self.rules.to_json(),
            "seed": self.seed,
            "finished": self.finished,
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
        if not isinstance(data, bytes | bytearray | memoryview):
            raise ValueError(f"saved game: expected bytes, got {type(data).__name__}")
        data = bytes(data)
        if not data.startswith(MAGIC):
            raise ValueError(f"saved game: expected {MAGIC!r} at byte 0, got {data[: len(MAGIC)]!r}")
        body = data[len(MAGIC) + 4 :]
        if len(body) < 4 or zlib.crc32(body) != struct.unpack_from("<I", data, len(MAGIC))[0]:
            raise ValueError(f"saved game: {len(data)} bytes, but their checksum does not fit: it is damaged")
        try:
            (size,) = struct.unpack_from("<I", body)
            log = json.loads(body[4 : 4 + size])
            game = cls.__new__(cls)
            game.rules = Rules.from_json(log["rules"])
            game._scratch = _shared_scratch()
            (state,) = np.frombuffer(body[4 + size :], dtype=STATE)
            game.states = np.array([state], dtype=STATE)
            game.seed, game.finished = log["seed"], log["finished"]
            game.deck, game.reshuffles = log["deck"], log["reshuffles"]
            game.played, game._given = log["played"], log["given"]
        except (ValueError, KeyError, TypeError, struct.error) as error:
            raise ValueError(f"saved game: it was made by another version: {error}") from None
        return game

    def _run(self, command: int, argument: int = 0) -> None:
        """Let the engine do one thing with the state."""
        engine.run(self.states, _ROW, command, np.array([argument]), self._scratch)

    def _deal(self, deck: Sequence[Card] | None, reshuffles: Sequence[Sequence[Card]] | None, command: int) -> None:
        """Deal a round by ``command``, or ``deck`` where it is given; nothing is changed if the cards are wrong."""
        counts = self.rules.counts()
        listed = _listed("reshuffles", () if reshuffles is None else reshuffles, "lists of cards")
        given = [_checked_cards(f"reshuffles[{i}]", cards, counts, exact=False) for i, cards in enumerate(listed)]
        if deck is None:
            self._run(command)
        else:
            cards = _checked_cards("deck", deck, counts, exact=True)
            self.states["round"] += command == engine.GO_ON
            self.states["stock"][0, : len(cards)] = cards
            self.states["stock_size"] = len(cards)
            self._run(engine.DEAL)
        self._given = given
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
        if not isinstance(seat, int | np.integer) or not 0 <= seat < self.players:
            raise ValueError(f"seat {seat!r}: expected a whole number from 0 to {self.players - 1}")
        return int(seat)

    def _legal(self, number: int) -> bool:
        """Tell whether the action of this number is legal now."""
        return 0 <= number < ACTIONS and _is_legal(self.states, number)


def checked_game(game: Any) -> Game:
    """Return a game that a caller hands in; ``ValueError`` for anything else."""
    if not isinstance(game, Game):
        raise ValueError(f"game: expected a jolly_env.Game, got {type(game).__name__}")
    return game


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


def _swap(cards: Any, a: int, b: int) -> None:
    """Let the cards at two places change places."""
    cards[a], cards[b] = cards[b], cards[a]


def _listed(name: str, given: Any, what: str) -> list[Any]:
    """Return what a caller lists; ``ValueError`` if it is no list."""
    try:
        return list(given)
    except TypeError:
        raise ValueError(f"{name}: expected a list of {what}, got {given!r}") from None


def _checked_cards(name: str, cards: Iterable[Any], counts: np.ndarray, *, exact: bool) -> list[Card]:
    """Return ``cards`` if they are those of the pack, or at least no others; ``ValueError`` names the first fault."""
    seen = np.zeros(CARD_KINDS, dtype=np.int64)
    numbers = []
    for place, given in enumerate(_listed(name, cards, "cards")):
        try:
            number = operator.index(given)
        except TypeError:
            number = -1
        if not 0 <= number < CARD_KINDS:
            raise ValueError(f"{name}[{place}]={given!r}: a card is a number from 0 to {CARD_KINDS - 1}")
        numbers.append(number)
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
    return numbers


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
