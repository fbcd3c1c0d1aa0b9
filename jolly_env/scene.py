"""What is shown of a table, as text or drawn: all that a seat may know, or everything.

Seats are absolute here. ``ValueError`` for what is neither a game nor one observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jolly_env.cards import CARD_KINDS, JOKER, RANKS, SUITS, Card
from jolly_env.game import Game, checked_game
from jolly_env.notation import meld_slots, meld_words
from jolly_env.observation import OBSERVATION, as_record, rules_of, wide
from jolly_env.state import Ending, MeldKind, Phase

_PHASES = {Phase.DRAW: "to draw", Phase.PLAY: "to play", Phase.ROUND_OVER: "round over", Phase.GAME_OVER: "game over"}
_ENDINGS = {Ending.EXHAUSTED: "no draw was left (R12)", Ending.CUT_OFF: "cut off (R17)"}


class LaidCard(NamedTuple):
    """A card of a meld, what it stands for (JOKER: a set's joker, for itself), and who laid it."""

    laid: Card
    meant: Card
    seat: int


class ShownMeld(NamedTuple):
    """A meld: its owner is who laid most of it, and it is fresh in the turn in which it was laid."""

    number: int
    owner: int
    fresh: bool
    cards: list[LaidCard]
    joker: tuple[int, int | None] | None
    """What a set's joker stands for (R5): the rank, and the suit once three others lie there."""


class ShownPlayer(NamedTuple):
    """A player: ``hand`` is None where it is hidden, and then ``known`` is what is known of it, by suit."""

    seat: int
    moves: bool
    size: int
    laid: int
    total: int
    opened_turn: int
    hand: list[Card] | None
    known: list[Card]

    @property
    def opened(self) -> str:
        """When the player opened, in words."""
        return "not opened" if self.opened_turn < 0 else f"opened in turn {self.opened_turn}"


class Scene(NamedTuple):
    """A table: ``stock`` is None where it is hidden, else the cards in the order in which they are drawn."""

    facts: list[str]
    row: list[Card]
    melds: list[ShownMeld]
    players: list[ShownPlayer]
    stock_size: int
    stock: list[Card] | None = None
    outcome: str | None = None


def scene_of(source: Any) -> Scene:
    """Return the table of a game, with everything, or of an observation, with what its seat may know."""
    if isinstance(source, Game):
        return scene_of_game(source)
    dtype = source.dtype if isinstance(source, np.ndarray | np.void) else None
    if dtype != OBSERVATION and dtype != np.int16:
        raise ValueError(f"table: expected a jolly_env.Game or an observation, got {type(source).__name__}")
    return scene_of_observation(source)


def scene_of_game(game: Game) -> Scene:
    """Return the table of a game: all hands, the stock, and the outcome of a round that is over."""
    state = checked_game(game).state
    scene = _scene(game.observe(0)[0], {seat: state["hands"][seat] for seat in range(game.players)})
    over = game.phase in (Phase.ROUND_OVER, Phase.GAME_OVER)
    return scene._replace(stock=game.stock(), outcome=_outcome(game) if over else None)


def scene_of_observation(observation: Any) -> Scene:
    """Return the table as the seat of an observation knows it: a record, an array of one, or its flat vector."""
    record = as_record(observation)
    if np.ndim(record):
        if np.size(record) != 1:
            raise ValueError(f"render: expected one observation, got an array of {np.size(record)}")
        record = np.reshape(record, 1)[0]
    return _scene(record, {int(record["seat"]): record["hand"]})


def listed(counts: Any) -> list[Card]:
    """Return cards given as counts, by suit."""
    return [card for card in range(CARD_KINDS) for _ in range(int(counts[card]))]


def _outcome(game: Game) -> str:
    """Return how the round ended and its points, in words."""
    if game.closer is not None:
        how = f"player_{game.closer} closed" + (" with a Hand-Jolly" if game.hand_jolly else "")
    else:
        how = _ENDINGS.get(game.ending, "the round ended")
    scores = ", ".join(f"player_{seat} {points:+d}" for seat, points in enumerate(game.scores))
    return f"{how}: {scores}"


def _scene(record: Any, hands: Mapping[int, Any]) -> Scene:
    """Return the table of a record; ``hands`` are the counts of the hands to show, by seat."""
    me = int(record["seat"])
    players = rules_of(record).players
    mover = (me + int(record["to_move"])) % players
    phase = Phase(int(record["phase"]))
    going_on = phase in (Phase.DRAW, Phase.PLAY)
    facts = [
        f"round {int(wide(record, 'round'))}",
        f"turn {int(wide(record, 'turn'))}",
        f"player_{mover} {_PHASES[phase]}" if going_on else _PHASES[phase],
        f"stock {int(record['stock_size'])}",
        f"row {int(record['row_size'])}",
    ]
    if record["opening_laid"] > 0:
        facts.append(f"{int(record['opening_laid'])} of {rules_of(record).opening_points} points to open")
    return Scene(
        facts=facts,
        row=[int(c) for c in record["row_cards"][: int(record["row_size"])]],
        melds=[_meld(record, m, me, players) for m in range(int(record["meld_count"]))],
        players=[
            _player(record, seat, (seat - me) % players, going_on and seat == mover, hands.get(seat))
            for seat in range(players)
        ],
        stock_size=int(record["stock_size"]),
    )


def _meld(record: Any, m: int, me: int, players: int) -> ShownMeld:
    """Return a meld of a record."""
    seats = [(me + int(record["meld_seats"][m][slot])) % players for slot in meld_slots(record, m)]
    cards = [LaidCard(*words, seat) for words, seat in zip(meld_words(record, m), seats, strict=True)]
    joker = None
    if record["meld_kind"][m] == MeldKind.SET and any(card.laid == JOKER for card in cards):
        missing = set(range(SUITS)) - {card.laid // RANKS for card in cards if card.laid != JOKER}
        joker = int(record["meld_base"][m]), missing.pop() if len(missing) == 1 else None
    owner = max(range(players), key=seats.count)
    return ShownMeld(m, owner, bool(record["meld_this_turn"][m]), cards, joker)


def _player(record: Any, seat: int, place: int, moves: bool, hand: Any) -> ShownPlayer:
    """Return a player of a record: ``place`` is the seat as counted from the observer."""
    return ShownPlayer(
        seat=seat,
        moves=moves,
        size=int(record["hand_size"][place]),
        laid=int(record["laid"][place]),
        total=int(wide(record, "total")[place]),
        opened_turn=int(wide(record, "opened_turn")[place]),
        hand=None if hand is None else listed(hand),
        known=listed(record["known"][place]),
    )
