"""Melds in notation: ``5h 6h *7h 8h`` is a run whose joker stands for the 7h, ``Kc Kd *`` a set with a joker."""

from __future__ import annotations

import dataclasses
from typing import Any

from jolly_env.cards import JOKER, JOKER_CHAR, PLACES, RANKS, Card, card, format_card, parse_card, split_words
from jolly_env.state import JOKER_SLOT, MeldKind


@dataclasses.dataclass(frozen=True)
class Meld:
    """A meld apart from who laid it: ``cards[i]`` lies at ``slots[i]``, in the order in which it was written.

    ``base`` is the rank of a set or the suit of a run, ``low`` the lowest place of a run and 0 for a set, a slot
    the place in a run, or the suit in a set with 4 for its joker: as in the fields of a state.
    """

    kind: MeldKind
    base: int
    low: int
    cards: tuple[Card, ...]
    slots: tuple[int, ...]


def meld_slots(table: Any, meld: int) -> list[int]:
    """Return the slots of a table meld that hold a card, in order; ``table`` is a state or an observation."""
    return [slot for slot in range(PLACES) if table["meld_cards"][meld][slot] >= 0]


def meld_words(table: Any, meld: int) -> list[tuple[Card, Card]]:
    """Return for each card of a table meld the card and what it stands for; a set's joker stands for itself."""
    run = table["meld_kind"][meld] == MeldKind.RUN
    base = int(table["meld_base"][meld])
    words = []
    for slot in meld_slots(table, meld):
        laid = int(table["meld_cards"][meld][slot])
        words.append((laid, card(base, slot % RANKS) if run else laid))
    return words


def format_meld(table: Any, meld: int) -> str:
    """Return a table meld in notation; ``table`` is a state or an observation."""
    return " ".join(
        JOKER_CHAR + format_card(meant) if laid == JOKER != meant else format_card(laid)
        for laid, meant in meld_words(table, meld)
    )


def parse_meld(text: str) -> Meld:
    """Return the meld of a text; ``ValueError`` cites the clause (R3 to R5) that it breaks.

    A run is written from its low end; its jokers may also be written without what they stand for, ``5h * 7h``.
    """
    words = split_words("meld", text)
    laid = [JOKER if word.startswith(JOKER_CHAR) else parse_card(word) for word in words]
    meant = [parse_card(w[1:]) if w.startswith(JOKER_CHAR) and w != JOKER_CHAR else None for w in words]
    naturals = [c for c in laid if c != JOKER]
    if not 3 <= len(laid) <= PLACES:
        raise ValueError(f"meld {text!r}: {len(laid)} cards, but a meld has 3 to {PLACES} (R3, R4)")
    if not naturals:
        raise ValueError(f"meld {text!r}: jokers alone are no meld (R5)")
    if len(naturals) > 1 and len({c % RANKS for c in naturals}) == 1:
        if any(c is not None for c in meant):
            raise ValueError(f"meld {text!r}: the joker of a set is written '*'")
        return _set(text, laid, naturals)
    return _run(text, laid, meant, naturals)


def _set(text: str, laid: list[Card], naturals: list[Card]) -> Meld:
    """Return the set of these cards (R3)."""
    if len(laid) > 4:
        raise ValueError(f"meld {text!r}: {len(laid)} cards, but a set has 3 or 4 (R3)")
    if len(laid) - len(naturals) > 1:
        raise ValueError(f"meld {text!r}: more than one joker in a set (R3)")
    if len(set(naturals)) < len(naturals):
        raise ValueError(f"meld {text!r}: the same suit twice in a set (R3)")
    slots = tuple(JOKER_SLOT if c == JOKER else c // RANKS for c in laid)
    return Meld(MeldKind.SET, naturals[0] % RANKS, 0, tuple(laid), slots)


def _run(text: str, laid: list[Card], meant: list[Card | None], naturals: list[Card]) -> Meld:
    """Return the run of these cards (R4, R5)."""
    suit = naturals[0] // RANKS
    if any(c // RANKS != suit for c in naturals):
        raise ValueError(f"meld {text!r}: neither of one rank (R3) nor of one suit (R4)")
    first = laid.index(naturals[0])
    rank = naturals[0] % RANKS
    low = (RANKS if rank == 0 and first > 0 else rank) - first
    if low < 0 or low + len(laid) > PLACES:
        raise ValueError(f"meld {text!r}: goes beyond the ace (R4)")
    for i, (there, stands_for) in enumerate(zip(laid, meant, strict=True)):
        due = card(suit, (low + i) % RANKS)
        wrong = stands_for not in (None, due) if there == JOKER else there != due
        if wrong:
            raise ValueError(f"meld {text!r}: card {i} should be {format_card(due)}, so this is no run (R4)")
        if there == JOKER and i > 0 and laid[i - 1] == JOKER:
            raise ValueError(f"meld {text!r}: two jokers are neighbours (R5)")
    return Meld(MeldKind.RUN, suit, low, tuple(laid), tuple(range(low, low + len(laid))))
