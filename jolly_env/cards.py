"""Cards as small integers (contract, "Cards"): ``13 * suit + rank``, and 52 for a joker.

A *place* is where a card lies in a run (R4): 0 the ace before the 2, 1..12 the ranks 2..K, 13 the ace after
the king. The rank of place ``p`` is ``p % 13``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

Card: TypeAlias = int

SUITS = 4
RANKS = 13
PLACES = 14
JOKER = 52
CARD_KINDS = 53
"""Different cards: 52 naturals and the joker."""

SUIT_CHARS = "cdhs"
RANK_CHARS = "A23456789TJQK"
SUIT_SYMBOLS = "♣♦♥♠"
JOKER_CHAR = "*"

SET_VALUE = np.array([25, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10], dtype=np.int64)
"""Points of a card in a set, by rank (R14)."""
PLACE_VALUE = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10], dtype=np.int64)
"""Points of a card in a run, by place (R14)."""
HAND_VALUE = np.append(np.tile(SET_VALUE, SUITS), 50).astype(np.int64)
"""Points that a card in hand costs at the end, by card (R15)."""


def card(suit: int, rank: int) -> Card:
    """Return the card of ``suit`` (0..3) and ``rank`` (0..12)."""
    return RANKS * suit + rank


def format_card(number: Card) -> str:
    """Return the card's name, such as ``Th`` or ``*``; ``ValueError`` if there is no such card."""
    if not isinstance(number, int | np.integer) or not 0 <= number <= JOKER:
        raise ValueError(f"card {number!r}: a card is a number from 0 to {JOKER}")
    if number == JOKER:
        return JOKER_CHAR
    return RANK_CHARS[number % RANKS] + SUIT_CHARS[number // RANKS]


def parse_card(text: str) -> Card:
    """Return the card with this name; ``ValueError`` for any other text."""
    if text == JOKER_CHAR:
        return JOKER
    if isinstance(text, str) and len(text) == 2 and text[0] in RANK_CHARS and text[1] in SUIT_CHARS:
        return card(SUIT_CHARS.index(text[1]), RANK_CHARS.index(text[0]))
    raise ValueError(f"card {text!r}: expected a rank of {RANK_CHARS} and a suit of {SUIT_CHARS}, as in 'Th', or '*'")


def format_cards(cards: Iterable[Card]) -> str:
    """Return the names of the cards, separated by blanks; ``ValueError`` if there is no such card."""
    if not isinstance(cards, Iterable):
        raise ValueError(f"cards {cards!r}: expected a list of cards")
    return " ".join(format_card(c) for c in cards)


def parse_cards(text: str) -> list[Card]:
    """Return the cards of a text with blanks between their names."""
    return [parse_card(word) for word in split_words("cards", text)]


def split_words(name: str, text: Any) -> list[str]:
    """Return the words of a text in notation; ``ValueError`` that begins with ``name`` if it is no text."""
    if not isinstance(text, str):
        raise ValueError(f"{name} {text!r}: expected a text")
    return text.split()
