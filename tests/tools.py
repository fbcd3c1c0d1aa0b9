"""Set up games in notation, play them in notation, and look at them from outside; agents to play against.

Cards are written ``Ac 2d Th Ks``, jokers ``*``; actions ``draw``, ``lay Kc Kd *``, ``discard Th``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from jolly_env.actions import ACTIONS, parse_action
from jolly_env.cards import JOKER, PLACE_VALUE, SET_VALUE, parse_cards
from jolly_env.game import Game
from jolly_env.observation import OBSERVATION
from jolly_env.rules import Rules
from jolly_env.state import JOKER_SLOT, RUN, SET, Phase

MeldText = tuple[str, int] | tuple[str, str]
"""A meld as its cards and who laid it: one seat, or one digit a card."""


def dealt(*hands: str, stock: str = "", reshuffles: Sequence[Sequence[int]] = (), **rules: Any) -> Game:
    """Return a game with these first cards in each hand and on the stock, the rest from the low end of the pack.

    The hand size is that of the first hand unless the rules say otherwise.
    """
    named = [parse_cards(hand) for hand in hands]
    top = parse_cards(stock)
    table = Rules(**{"players": len(hands), "hand_size": len(named[0]), **rules})
    rest = sorted(_rest(table, top + [card for hand in named for card in hand]).elements())
    for hand in named:
        while len(hand) < table.hand_size:
            hand.append(rest.pop(0))
    return Game(table, deck=[card for hand in named for card in hand] + top + rest, reshuffles=reshuffles)


def position(
    *hands: str,
    melds: Sequence[MeldText] = (),
    row: str = "",
    stock: str | None = None,
    opened: Sequence[int] | None = None,
    seat: int = 0,
    drawn: bool = True,
    turn: int = 20,
    this_turn: Sequence[int] = (),
    **rules: Any,
) -> Game:
    """Return a game in the midst of a round, all its fields filled by hand.

    All seats have opened unless ``opened`` gives their turns (-1: not). The row's cards come from the seats in turn.
    ``stock`` None is all that is left of the pack, otherwise the pack is cut down to the cards that are named.
    ``this_turn`` are the melds of the turn at hand.
    """
    named = [parse_cards(hand) for hand in hands]
    thrown = parse_cards(row)
    used = [card for hand in named for card in hand] + thrown + [c for text, _ in melds for c in parse_cards(text)]
    if stock is not None:
        counts = Counter(used + parse_cards(stock))
        rules = {"pack": [counts[card] for card in range(JOKER)], "jokers": counts[JOKER], "hand_size": 1, **rules}
    game = Game(Rules(**{"players": len(hands), **rules}), seed=0)
    state = game.state
    left = sorted(_rest(game.rules, used).elements()) if stock is None else parse_cards(stock)
    for name in ("hands", "hand_size", "ones", "twos", "known"):
        state[name][:] = 0
    for owner, hand in enumerate(named):
        for card in hand:
            _hold(state, owner, card)
    state["stock"][: len(left)] = left
    state["stock_top"], state["stock_size"] = 0, len(left)
    for i, card in enumerate(thrown):
        state["row_cards"][i], state["row_seats"][i] = card, i % len(hands)
        state["discarded"][i % len(hands), card] += 1
    state["row_size"] = len(thrown)
    state["hidden"][:] = 0
    np.add.at(state["hidden"], [card for hand in named for card in hand] + left, 1)
    state["seat"], state["turn"] = seat, turn
    state["phase"] = Phase.PLAY if drawn else Phase.DRAW
    state["opened_turn"][: len(hands)] = [0] * len(hands) if opened is None else opened
    for number, (text, seats) in enumerate(melds):
        _lay(state, number, parse_cards(text), seats)
        state["meld_turn"][number] = turn if number in this_turn else 0
    game.refresh()
    return game


def _rest(rules: Rules, used: Sequence[int]) -> Counter[int]:
    """Return the cards of the pack that are not in use."""
    left = Counter({card: int(n) for card, n in enumerate(rules.counts())})
    left.subtract(used)
    assert min(left.values()) >= 0, "a card is used more often than the pack has it"
    return left


def _hold(state: Any, seat: int, card: int) -> None:
    state["hands"][seat, card] += 1
    state["hand_size"][seat] += 1
    if card < JOKER:
        field = "ones" if state["hands"][seat, card] == 1 else "twos"
        state[field][seat, card // 13] |= 1 << card % 13


def _lay(state: Any, number: int, cards: Sequence[int], seats: int | str) -> None:
    naturals = [card for card in cards if card != JOKER]
    run = len({card // 13 for card in naturals}) == 1
    owners = [seats] * len(cards) if isinstance(seats, int) else [int(digit) for digit in seats]
    low = 0
    if run:
        first = next(i for i, card in enumerate(cards) if card != JOKER)
        low = cards[first] % 13 - first
    for i, (card, owner) in enumerate(zip(cards, owners, strict=True)):
        slot = low + i if run else (JOKER_SLOT if card == JOKER else card // 13)
        state["meld_cards"][number, slot], state["meld_seats"][number, slot] = card, owner
        state["laid"][owner] += PLACE_VALUE[slot] if run else SET_VALUE[naturals[0] % 13]
        if card == JOKER:
            state["meld_jokers"][number] |= 1 << slot
    state["meld_kind"][number] = RUN if run else SET
    state["meld_base"][number] = naturals[0] // 13 if run else naturals[0] % 13
    state["meld_low"][number], state["meld_size"][number] = low, len(cards)
    state["meld_count"] = number + 1


def play(game: Game, *actions: str) -> Game:
    """Play actions in notation; several may stand in one text, separated by semicolons. Returns the game."""
    for text in actions:
        for part in text.split(";"):
            game.step(parse_action(part.strip()))
    return game


def legal(game: Game, *verbs: str) -> set[str]:
    """Return the legal actions in notation, those that begin with one of ``verbs`` if any are given."""
    names = {game.format(int(action)) for action in game.legal_actions()}
    return {name for name in names if name.startswith(verbs)} if verbs else names


def hand(game: Game, seat: int) -> Counter[int]:
    """Return a hand as counts of its cards."""
    return Counter({card: int(n) for card, n in enumerate(game.state["hands"][seat]) if n})


def row(game: Game) -> list[int]:
    """Return the cards of the discard row, oldest first."""
    return [int(card) for card in game.state["row_cards"][: game.state["row_size"]]]


def meld_cards(game: Game, meld: int) -> list[int]:
    """Return a meld's cards by place or suit, a set's joker last."""
    return [int(card) for card in game.state["meld_cards"][meld] if card >= 0]


def all_cards(game: Game) -> Counter[int]:
    """Return all cards of hands, stock, row and table."""
    seen = Counter(game.stock()) + Counter(row(game))
    for seat in range(game.players):
        seen += hand(game, seat)
    for meld in range(int(game.state["meld_count"])):
        seen.update(meld_cards(game, meld))
    return seen


def cards(text: str) -> Counter[int]:
    """Return the cards of a text as counts."""
    return Counter(parse_cards(text))


class Spy:
    """Plays the highest legal action, and keeps what it was shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []
        self.keys: list[int] = []

    def act(self, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        assert observations.dtype == OBSERVATION
        assert masks.shape == (len(observations), ACTIONS) and masks.any(axis=1).all()
        assert keys.dtype == np.uint64 and keys.shape == (len(observations),)
        assert (observations["to_move"] == 0).all()
        self.seen += [(int(record["seat"]), int(record["turn"])) for record in observations]
        self.keys += keys.tolist()
        return ACTIONS - 1 - masks[:, ::-1].argmax(axis=1)


class Cheat:
    """Discards a joker, whatever it holds."""

    def act(self, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return np.full(len(masks), 838)


def choose(rng: np.random.Generator, mask: np.ndarray) -> int:
    """Return a legal action at random."""
    return int(rng.choice(np.flatnonzero(mask)))
