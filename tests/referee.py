"""A slow, obvious referee for one round of Jolly: ground truth for the tests of the engine.

Written from rules.md (clauses R1-R17) and contract.md (numbers of cards and actions) alone. It
shares no code with `jolly_env`, and prefers plain lists and exhaustive search to speed. Melds,
their points and the search for an opening (R8) are in referee_melds.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from referee_melds import (
    BASES,
    DISCARD,
    JOKER,
    LAY_SET,
    MELD_ACTIONS,
    STOCK,
    TABLE,
    TAKE,
    Base,
    Extension,
    Form,
    Meld,
    OpeningSearch,
    hand_value,
    has,
    without,
)

DEFAULTS: dict[str, Any] = {
    "players": 2,
    "jokers": 6,
    "pack": None,
    "hand_size": 13,
    "hand_limit": 20,
    "opening_points": 40,
    "recycle_keep": 3,
    "closing_bonus": 30,
    "hand_jolly_factor": 2,
    "max_turns": 200,
}
OF_THE_GAME = {"target", "max_rounds"}  # R18: fields that do not touch a single round


class Referee:
    """One round of Jolly, by the book.

    `deck` and `reshuffles` as in contract.md; `shuffle(cards)` gives the new stock for a recycling
    beyond `reshuffles` (a ValueError without it). `starter` is the seat that begins (R2).
    Turns are counted from 0, all players' together: `turn`, `Meld.turn`, `opened_turn`.
    """

    def __init__(
        self,
        rules: dict[str, Any],
        deck: list[int],
        reshuffles: Sequence[list[int]] = (),
        *,
        starter: int = 0,
        shuffle: Callable[[list[int]], list[int]] | None = None,
    ) -> None:
        unknown = set(rules) - set(DEFAULTS) - OF_THE_GAME
        if unknown:
            raise ValueError(f"no such rules: {sorted(unknown)}")
        self.rules: dict[str, Any] = {**DEFAULTS, **rules}
        self.players = self.rules["players"]
        deck = [int(card) for card in deck]
        self._check_deck(deck)
        size = self.rules["hand_size"]
        self.hands = [deck[size * p : size * (p + 1)] for p in range(self.players)]
        self.stock = deck[size * self.players :]  # drawn from the front
        self.row: list[tuple[int, int]] = []  # (card, who discarded it), oldest first
        self.melds: list[Meld] = []
        self.reshuffles = [list(cards) for cards in reshuffles]
        self.shuffle = shuffle
        self.known: list[Counter[int]] = [Counter() for _ in range(self.players)]
        self.discarded: list[Counter[int]] = [Counter() for _ in range(self.players)]
        self.opened_turn: list[int | None] = [None] * self.players
        self.opening_laid = 0  # points laid in this turn by a player not yet opened (R8)
        self.drawn = False
        self.turn = 0
        self.recycles = 0
        self.seat = starter
        self.ending: str | None = None  # 'closed', 'exhausted' or 'truncated'
        self.closer: int | None = None
        self.hand_jolly = False
        self.scores: list[int] = []  # empty until the round is over
        self._search = OpeningSearch()
        self._legal: list[int] | None = None
        self._begin_turn()

    @property
    def over(self) -> bool:
        return self.ending is not None

    def legal(self) -> list[int]:
        """All legal actions, ascending; none once the round is over."""
        if self._legal is None:
            if self.over:
                found = []
            elif not self.drawn:
                found = self._legal_draws()
            else:
                found = self._legal_lays() + self._legal_table() + self._legal_discards()
            self._legal = sorted(found)
        return list(self._legal)

    def apply(self, action: int) -> None:
        """Play one action, in place; ValueError, and nothing changed, if it is illegal."""
        if action not in self.legal():
            raise ValueError(f"action {action} is illegal for seat {self.seat}: {self.legal()}")
        self._legal = None
        if action < LAY_SET:
            self._draw(action)
        elif action < TABLE:
            self._lay(BASES[action])
        elif action < DISCARD:
            self._attach_or_swap(*divmod(action - TABLE, MELD_ACTIONS))
        else:
            self._discard(action - DISCARD)

    # what is legal

    def _opened(self) -> bool:
        return self.opened_turn[self.seat] is not None

    def _turn_melds(self) -> list[Form]:
        return [meld.form for meld in self.melds if meld.turn == self.turn]

    def _legal_draws(self) -> list[int]:
        """R6, R7: the stock's top, or the newest k of the row for who has opened."""
        draws = [STOCK] if self.stock else []
        if self._opened():
            room = self.rules["hand_limit"] - len(self.hands[self.seat])
            draws += [TAKE + k for k in range(1, min(room, len(self.row)) + 1)]
        return draws

    def _leads_to_opening(self, cards: tuple[int, ...], points: int, melds: list[Form]) -> bool:
        """R8: whether, after this play, the opening is reached or can still be."""
        left = without(tuple(self.hands[self.seat]), cards)
        need = self.rules["opening_points"] - self.opening_laid - points
        return self._search.reachable(left, melds, need)

    def _legal_lays(self) -> list[int]:
        """R3-R5, R8, R9; R11: a card must be left."""
        hand = self.hands[self.seat]
        lays = [b for b in BASES.values() if len(hand) > 3 and has(hand, b.cards)]
        if not self._opened():
            melds = self._turn_melds()
            lays = [b for b in lays if self._leads_to_opening(b.cards, sum(b.values), [*melds, b.form])]
        return [b.action for b in lays]

    def _legal_table(self) -> list[int]:
        """R8-R10: attaches (R11: a card must be left) and swaps."""
        hand = self.hands[self.seat]
        found = []
        for m, meld in enumerate(self.melds):
            first = TABLE + MELD_ACTIONS * m
            for extension in meld.form.extensions():
                if extension.card in hand and len(hand) > 1 and self._may_attach(meld, extension):
                    found.append(first + extension.k)
            if self._opened():
                found += [first + swap.k for swap in meld.swaps() if swap.card in hand]
        return found

    def _may_attach(self, meld: Meld, extension: Extension) -> bool:
        """R8: before the opening, to melds of this turn only and if it still leads there; R9."""
        if self._opened():
            return True
        if meld.turn != self.turn:
            return False
        others = [m.form for m in self.melds if m.turn == self.turn and m is not meld]
        return self._leads_to_opening((extension.card,), extension.value, [*others, extension.after])

    def _legal_discards(self) -> list[int]:
        """R11: any card; R8: not in the midst of an opening."""
        if not self._opened() and self._turn_melds():
            return []
        return [DISCARD + card for card in set(self.hands[self.seat])]

    # what an action does

    def _draw(self, count: int) -> None:
        """R6: 0 draws from the stock, k takes the newest k of the row."""
        hand = self.hands[self.seat]
        if count == STOCK:
            hand.append(self.stock.pop(0))
        else:
            taken = [card for card, _ in self.row[-count:]]
            del self.row[-count:]
            hand += taken
            self.known[self.seat].update(taken)
        self.drawn = True

    def _play(self, card: int) -> None:
        """Take a card out of the hand, and out of what the others know to be there."""
        self.hands[self.seat].remove(card)
        self.known[self.seat] -= Counter([card])  # drops to none at the least

    def _lay(self, base: Base) -> None:
        for card in base.cards:
            self._play(card)
        self.melds.append(Meld(base.form, list(base.cards), [self.seat] * 3, self.turn))
        self._count_opening(sum(base.values))

    def _attach_or_swap(self, m: int, k: int) -> None:
        meld = self.melds[m]
        if any(swap.k == k for swap in meld.swaps()):
            (swap,) = [swap for swap in meld.swaps() if swap.k == k]
            self._play(swap.card)
            meld.swap(swap, self.seat)
            self.hands[self.seat].append(JOKER)
            self.known[self.seat][JOKER] += 1
        else:
            (extension,) = [e for e in meld.form.extensions() if e.k == k]
            self._play(extension.card)
            meld.attach(extension, self.seat)
            self._count_opening(extension.value)

    def _count_opening(self, points: int) -> None:
        """R8: opened = something laid and the number reached."""
        if not self._opened():
            self.opening_laid += points
            if self.opening_laid >= self.rules["opening_points"]:
                self.opened_turn[self.seat] = self.turn

    def _discard(self, card: int) -> None:
        """R11, R13: the turn ends, and with the last card the round."""
        self._play(card)
        self.row.append((card, self.seat))
        self.discarded[self.seat][card] += 1
        if not self.hands[self.seat]:
            self.closer = self.seat
            self.hand_jolly = self.opened_turn[self.seat] == self.turn
            self._end("closed")
            return
        self.seat = (self.seat + 1) % self.players
        self.turn += 1
        self._begin_turn()

    def _begin_turn(self) -> None:
        """R17, then R12: a cut-off comes before a recycling, and before the lack of a draw."""
        self.drawn = False
        self.opening_laid = 0
        self._search = OpeningSearch()
        if self.turn >= self.rules["max_turns"]:
            self._end("truncated")
            return
        if not self.stock and len(self.row) > self.rules["recycle_keep"]:
            self._recycle()
        if not self._legal_draws():
            self._end("exhausted")

    def _recycle(self) -> None:
        """R12: all but the newest `recycle_keep` of the row become the stock."""
        kept = len(self.row) - self.rules["recycle_keep"]
        cards = [card for card, _ in self.row[:kept]]
        if self.recycles < len(self.reshuffles):
            stock = self.reshuffles[self.recycles]
        elif self.shuffle is not None:
            stock = self.shuffle(list(cards))
        else:
            raise ValueError(f"no reshuffle given for recycling {self.recycles}")
        if sorted(stock) != sorted(cards):
            raise ValueError(f"reshuffle {self.recycles} holds other cards than the row")
        del self.row[:kept]
        self.stock = [int(card) for card in stock]
        self.recycles += 1

    # the end

    def laid_points(self, seat: int) -> int:
        """R14: what this player's cards on the table count."""
        return sum(
            value for meld in self.melds for owner, value in zip(meld.seats, meld.values, strict=True) if owner == seat
        )

    def _end(self, ending: str) -> None:
        """R14-R16: count the round."""
        self.ending = ending
        factor = self.rules["hand_jolly_factor"] if self.hand_jolly else 1
        self.scores = []
        for seat, hand in enumerate(self.hands):
            laid = self.laid_points(seat)
            if seat == self.closer:
                self.scores.append(factor * (laid + self.rules["closing_bonus"]))
            else:
                self.scores.append(laid - factor * sum(map(hand_value, hand)))

    def _check_deck(self, deck: list[int]) -> None:
        """R1, R2: the deck is the pack and its jokers, and the deal leaves a card."""
        pack = self.rules["pack"] or [2] * 52
        cards = [card for card, count in enumerate(pack) for _ in range(count)]
        if sorted(deck) != cards + [JOKER] * self.rules["jokers"]:
            raise ValueError("the deck holds other cards than the rules say")
        if len(deck) <= self.players * self.rules["hand_size"]:
            raise ValueError("the deal leaves no card for the stock")
