"""The rules that may vary (rules.md): one frozen dataclass, and its form for the kernels."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jolly_env.cards import JOKER, format_card

MAX_PLAYERS = 4
MAX_HAND = 20
OPEN_END = 1_000_000
"""Upper end of the fields for which rules.md names none: scores then fit 64 bits."""

RULE_FIELDS = (
    "players",
    "jokers",
    "hand_size",
    "hand_limit",
    "opening_points",
    "recycle_keep",
    "closing_bonus",
    "hand_jolly_factor",
    "max_turns",
    "target",
    "max_rounds",
)
"""Order of the numbers in a state's and an observation's ``rules``; a target of None is 0."""
(
    PLAYERS,
    JOKERS,
    HAND_SIZE,
    HAND_LIMIT,
    OPENING_POINTS,
    RECYCLE_KEEP,
    CLOSING_BONUS,
    HAND_JOLLY_FACTOR,
    MAX_TURNS,
    TARGET,
    MAX_ROUNDS,
) = range(len(RULE_FIELDS))


@dataclasses.dataclass(frozen=True)
class Rules:
    """The values that the rules leave open; a value out of range raises ``ValueError``.

    Fields for which rules.md gives no upper end take values up to 1,000,000.
    """

    players: int = 2
    """Number of players, 2 to 4 (R1)."""
    jokers: int = 6
    """Number of jokers, 0 to 6 (R1)."""
    pack: tuple[int, ...] | None = None
    """How many of each of the 52 naturals are played with, 0 to 2 each; None: two of each (R1)."""
    hand_size: int = 13
    """Cards dealt to each player, 1 to 19, such that a card is left for the stock (R2)."""
    hand_limit: int = 20
    """Most cards a hand may hold, ``hand_size`` + 1 to 20 (R7)."""
    opening_points: int = 40
    """Points that a player's first melds must reach in one turn, 0 or more (R8)."""
    recycle_keep: int = 3
    """Cards that stay in the row when it becomes the stock, 0 or more (R12)."""
    closing_bonus: int = 30
    """Points for the player who closes, 0 or more (R16)."""
    hand_jolly_factor: int = 2
    """How many times a Hand-Jolly counts, 1 or more (R16)."""
    max_turns: int = 200
    """Turns of all players together after which a round is cut off, 1 or more (R17)."""
    target: int | None = None
    """Points that end the game, 1 or more; None: one round is the game (R18)."""
    max_rounds: int = 100
    """Rounds after which a game is cut off, 1 or more (R18)."""

    def __post_init__(self) -> None:
        """Check every field against its range."""
        self._check("players", 2, MAX_PLAYERS)
        self._check("jokers", 0, 6)
        self._check_pack()
        self._check("hand_size", 1, 19)
        if self.players * self.hand_size >= self.cards:
            raise ValueError(
                f"hand_size={self.hand_size}: {self.players} players need {self.players * self.hand_size} cards and "
                f"one for the stock, but the pack has {self.cards}; "
                f"the range here is 1 to {(self.cards - 1) // self.players}"
            )
        self._check("hand_limit", self.hand_size + 1, MAX_HAND)
        for name in ("opening_points", "recycle_keep", "closing_bonus"):
            self._check(name, 0, OPEN_END)
        for name in ("hand_jolly_factor", "max_turns", "max_rounds"):
            self._check(name, 1, OPEN_END)
        if self.target is not None:
            self._check("target", 1, OPEN_END)

    @property
    def cards(self) -> int:
        """Number of cards in the game, jokers included."""
        return (104 if self.pack is None else sum(self.pack)) + self.jokers

    def counts(self) -> np.ndarray:
        """Return how many of each card are in the game: int16[53]."""
        counts = np.full(JOKER + 1, 2, dtype=np.int16)
        if self.pack is not None:
            counts[:JOKER] = self.pack
        counts[JOKER] = self.jokers
        return counts

    def numbers(self) -> np.ndarray:
        """Return the values in the order of ``RULE_FIELDS``: int64[11]."""
        return np.array([getattr(self, name) or 0 for name in RULE_FIELDS], dtype=np.int64)

    @classmethod
    def from_numbers(cls, numbers: Any, pack: Any) -> Rules:
        """Return the rules of ``numbers`` (as :meth:`numbers` gives them) and ``pack`` (52 counts)."""
        values: dict[str, Any] = {name: int(v) for name, v in zip(RULE_FIELDS, numbers, strict=True)}
        values["target"] = values["target"] or None
        counts = tuple(int(n) for n in pack)
        return cls(**values, pack=None if counts == (2,) * JOKER else counts)

    @classmethod
    def from_json(cls, fields: Any) -> Rules:
        """Return the rules of a mapping of field names; ``ValueError`` for unknown names or bad values."""
        if not isinstance(fields, dict):
            raise ValueError(f"rules: expected a mapping of field names, not {type(fields).__name__}")
        known = {field.name for field in dataclasses.fields(cls)}
        for name in fields:
            if name not in known:
                raise ValueError(f"rules: no field {name!r}; the fields are {', '.join(sorted(known))}")
        return cls(**fields)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that differ from the default."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            name: list(value) if name == "pack" else value
            for name, value in fields.items()
            if value != getattr(_DEFAULT, name)
        }

    def _check(self, name: str, low: int, high: int) -> None:
        """Make sure that a field is a whole number within its range."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
            raise ValueError(f"{name}={value!r}: expected a whole number from {low} to {high}")
        object.__setattr__(self, name, int(value))

    def _check_pack(self) -> None:
        """Make sure that ``pack`` is None or 52 counts of 0 to 2, and keep it as a tuple."""
        if self.pack is None:
            return
        try:
            counts = tuple(self.pack)
        except TypeError:
            raise ValueError(f"pack={self.pack!r}: expected None or 52 counts from 0 to 2") from None
        if len(counts) != JOKER:
            raise ValueError(f"pack: expected 52 counts from 0 to 2, got {len(counts)}")
        for number, count in enumerate(counts):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count <= 2:
                raise ValueError(f"pack[{number}] ({format_card(number)})={count!r}: expected a count from 0 to 2")
        object.__setattr__(self, "pack", None if counts == (2,) * JOKER else tuple(int(n) for n in counts))


_DEFAULT = Rules()
TINY = Rules(
    jokers=1,
    pack=tuple(2 if format_card(card) in ("2c", "3c", "4c", "7d") else 0 for card in range(JOKER)),
    hand_size=4,
    hand_limit=5,
    opening_points=9,
    recycle_keep=0,
    max_turns=3,
)
"""A game so small that it can be solved: 9 cards, three turns, 33,363 decisions (:mod:`eval.exploit`)."""


def checked_rules(rules: Any) -> Rules:
    """Return rules that a caller hands in; ``ValueError`` for anything else."""
    if not isinstance(rules, Rules):
        raise ValueError(f"rules={rules!r}: expected a jolly_env.Rules")
    return rules
