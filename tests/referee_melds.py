"""The referee's melds, their numbers and points, and its search for an opening (R3-R5, R8, R14).

Written from rules.md and contract.md alone; see referee.py. Nothing here knows of a round.

Words: a *place* is one of the fourteen places of a run, 0 (ace) 1 (two) ... 12 (king) 13 (ace).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

JOKER = 52
SUITS = range(4)
PLACES = range(14)

# Bases of the action numbers (contract.md, "Actions").
STOCK, TAKE, LAY_SET, LAY_RUN, TABLE, DISCARD, ACTIONS = 0, 0, 20, 150, 390, 786, 839
TABLE_MELDS, MELD_ACTIONS = 36, 11
SET_JOKER, SET_SWAP = 4, 5
RUN_BELOW, RUN_JOKER_BELOW, RUN_ABOVE, RUN_JOKER_ABOVE, RUN_SWAP = 0, 1, 2, 3, 5


def card_at(suit: int, place: int) -> int:
    """The natural card of a suit that belongs at a place of a run (R4)."""
    return 13 * suit + place % 13


def set_value(rank: int) -> int:
    """What a card or joker counts in a set of this rank (R14): aces 25."""
    return 25 if rank == 0 else min(rank + 1, 10)


def run_value(place: int) -> int:
    """What a card or joker counts at a place of a run (R14): ace 1 below, 10 above."""
    return min(place + 1, 10)


def hand_value(card: int) -> int:
    """What a card left in the hand counts against its holder (R15)."""
    return 50 if card == JOKER else set_value(card % 13)


# --- melds -------------------------------------------------------------------------------------


class Extension(NamedTuple):
    """One way to attach a card to a meld: the action's k, the card, its points, the meld after."""

    k: int
    card: int
    value: int
    after: Form


class Swap(NamedTuple):
    """One joker that can be taken: the action's k, where in the meld it lies, the card to put in."""

    k: int
    at: int
    card: int


@dataclass(frozen=True, order=True)
class SetMeld:
    """R3: three or four cards of one rank and different suits, at most one of them a joker."""

    rank: int
    suits: tuple[int, ...]  # of the naturals, ascending
    joker: bool

    def extensions(self) -> Iterator[Extension]:
        """R3, R9: what may be attached; R5: a fourth natural is never attached beside a joker."""
        if len(self.suits) + self.joker == 4:
            return
        value = set_value(self.rank)
        for suit in SUITS:
            if suit not in self.suits:
                after = replace(self, suits=tuple(sorted((*self.suits, suit))))
                yield Extension(suit, 13 * suit + self.rank, value, after)
        if not self.joker:
            yield Extension(SET_JOKER, JOKER, value, replace(self, joker=True))

    def kin(self, card: int) -> bool:
        """Whether this natural could conceivably still be attached, now or later."""
        return card % 13 == self.rank and card // 13 not in self.suits


@dataclass(frozen=True, order=True)
class RunMeld:
    """R4, R5: neighbours of one suit, from place `low` to `high`; what lies within never matters."""

    suit: int
    low: int
    high: int
    joker_low: bool
    joker_high: bool

    def extensions(self) -> Iterator[Extension]:
        """R4, R9: one card below or above, within the fourteen places; R5: no two jokers touch."""
        below, above = self.low - 1, self.high + 1
        if below in PLACES:
            after = replace(self, low=below, joker_low=False)
            yield Extension(RUN_BELOW, card_at(self.suit, below), run_value(below), after)
            if not self.joker_low:
                after = replace(self, low=below, joker_low=True)
                yield Extension(RUN_JOKER_BELOW, JOKER, run_value(below), after)
        if above in PLACES:
            after = replace(self, high=above, joker_high=False)
            yield Extension(RUN_ABOVE, card_at(self.suit, above), run_value(above), after)
            if not self.joker_high:
                after = replace(self, high=above, joker_high=True)
                yield Extension(RUN_JOKER_ABOVE, JOKER, run_value(above), after)

    def kin(self, card: int) -> bool:
        """Whether this natural could conceivably still be attached, now or later."""
        return card // 13 == self.suit


class Base(NamedTuple):
    """A base meld of three: its action, its cards with the points of each, and its form."""

    action: int
    cards: tuple[int, ...]
    values: tuple[int, ...]
    form: Form


def base_sets() -> Iterator[Base]:
    """All 130 base sets, in the order of contract.md."""
    triples: list[tuple[int, ...]] = [tuple(s for s in SUITS if s != missing) for missing in SUITS]
    pairs: list[tuple[int, ...]] = [(a, b) for a in SUITS for b in SUITS if a < b]
    for rank in range(13):
        for j, suits in enumerate(triples + pairs):
            cards = tuple(13 * s + rank for s in suits) + (JOKER,) * (3 - len(suits))
            form = SetMeld(rank, suits, len(suits) == 2)
            yield Base(LAY_SET + 10 * rank + j, cards, (set_value(rank),) * 3, form)


def base_runs() -> Iterator[Base]:
    """All 240 base runs, in the order of contract.md."""
    jokers_at = [(), (0,), (1,), (2,), (0, 2)]
    for suit in SUITS:
        for start in range(12):
            for j, jokers in enumerate(jokers_at):
                cards = tuple(JOKER if i in jokers else card_at(suit, start + i) for i in range(3))
                values = tuple(run_value(start + i) for i in range(3))
                form = RunMeld(suit, start, start + 2, 0 in jokers, 2 in jokers)
                yield Base(LAY_RUN + 60 * suit + 5 * start + j, cards, values, form)


Form = SetMeld | RunMeld
BASES = {base.action: base for base in (*base_sets(), *base_runs())}


@dataclass
class Meld:
    """A meld on the table: its cards in order, who laid each, the turn in which it was begun.

    A run's cards stand from low to high; a set's in the order in which they were laid.
    """

    form: Form
    cards: list[int]
    seats: list[int]
    turn: int

    @property
    def jokers(self) -> list[int]:
        """The indices of its jokers, ascending."""
        return [i for i, card in enumerate(self.cards) if card == JOKER]

    @property
    def values(self) -> list[int]:
        """What each card counts for the one who laid it (R14)."""
        if isinstance(self.form, SetMeld):
            return [set_value(self.form.rank)] * len(self.cards)
        low = self.form.low
        return [run_value(low + i) for i in range(len(self.cards))]

    def attach(self, extension: Extension, seat: int) -> None:
        """R9: add a card, in place."""
        below = isinstance(self.form, RunMeld) and extension.k in (RUN_BELOW, RUN_JOKER_BELOW)
        at = 0 if below else len(self.cards)
        self.cards.insert(at, extension.card)
        self.seats.insert(at, seat)
        self.form = extension.after

    def swaps(self) -> Iterator[Swap]:
        """R10: the jokers that can be taken, and the very card that each stands for."""
        for count, index in enumerate(self.jokers):
            if isinstance(self.form, RunMeld):
                place = self.form.low + index
                yield Swap(RUN_SWAP + count, index, card_at(self.form.suit, place))
            elif len(self.form.suits) == 3:
                (missing,) = set(SUITS) - set(self.form.suits)
                yield Swap(SET_SWAP, index, 13 * missing + self.form.rank)

    def swap(self, swap: Swap, seat: int) -> None:
        """R10: put the natural in the joker's place, in place; R14: it counts for the swapper."""
        self.cards[swap.at] = swap.card
        self.seats[swap.at] = seat
        if isinstance(self.form, SetMeld):
            self.form = SetMeld(self.form.rank, tuple(SUITS), False)
        else:
            ends = self.cards[0] == JOKER, self.cards[-1] == JOKER
            self.form = replace(self.form, joker_low=ends[0], joker_high=ends[1])


# --- R8: can the opening still be reached? -----------------------------------------------------


Hand = tuple[int, ...]


def has(hand: Sequence[int], cards: Hand) -> bool:
    """Whether the hand holds all these cards, each as often as it is named."""
    return all(hand.count(card) >= cards.count(card) for card in cards)


def without(hand: Hand, cards: Hand) -> Hand:
    """The hand after these cards have left it."""
    left = list(hand)
    for card in cards:
        left.remove(card)
    return tuple(left)


class OpeningSearch:
    """R8, exactly: try every lay and every attach to the turn's melds, remembering positions.

    A position is the hand, the turn's melds and the points still needed. Nothing else matters:
    until the opening is done, no other meld may be touched and no joker swapped.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[Hand, tuple[Form, ...], int], bool] = {}

    def reachable(
        self, hand: Sequence[int], melds: Sequence[Form], need: int, bases: Iterable[Base] | None = None
    ) -> bool:
        """Whether `need` more points can be laid from `hand` (at least one card) with one left.

        `melds` are the forms of the turn's melds. `bases` are the base melds that are worth a
        look: those that a larger hand, of which this is what is left, could lay.
        """
        if need <= 0:
            return True
        hand = tuple(sorted(hand))
        larger = BASES.values() if bases is None else bases
        bases = [base for base in larger if has(hand, base.cards)]
        # A meld that takes no card of this hand now never will: the hand only shrinks.
        melds = [m for m in melds if any(extension.card in hand for extension in m.extensions())]
        if self.at_most(hand, melds, bases) < need:
            return False
        position = (hand, tuple(sorted(melds, key=repr)), need)
        if position not in self.known:
            self.known[position] = any(
                self.reachable(left, after, need - points, bases)
                for points, left, after in self.plays(hand, melds, bases)
            )
        return self.known[position]

    @staticmethod
    def plays(hand: Hand, melds: list[Form], bases: list[Base]) -> list[tuple[int, Hand, list[Form]]]:
        """Every lay and attach that leaves a card (R11): points, hand left, melds after."""
        found: list[tuple[int, Hand, list[Form]]] = []
        if len(hand) > 3:
            for base in bases:
                found.append((sum(base.values), without(hand, base.cards), [*melds, base.form]))
        if len(hand) > 1:
            for i, meld in enumerate(melds):
                for extension in meld.extensions():
                    if extension.card in hand:
                        after = [*melds[:i], extension.after, *melds[i + 1 :]]
                        found.append((extension.value, without(hand, (extension.card,)), after))
        return sorted(found, key=lambda play: -play[0])

    @staticmethod
    def at_most(hand: Hand, melds: list[Form], bases: list[Base]) -> int:
        """No more points than these can come from the hand: each card at its best, one kept.

        A card that is laid ends up either on one of `melds`, or in a meld still to be begun, all
        of it from this hand; and there any card stands in some three that are a base meld.
        """
        best = dict.fromkeys(hand, 0)
        for base in bases:
            for card, value in zip(base.cards, base.values, strict=True):
                best[card] = max(best[card], value)
        for meld in melds:
            value = set_value(meld.rank) if isinstance(meld, SetMeld) else 10
            for card in best:
                if card == JOKER:
                    best[card] = max(best[card], value)
                elif meld.kin(card):
                    best[card] = max(best[card], min(value, set_value(card % 13)))
        values = [best[card] for card in hand]
        return sum(values) - min(values)
