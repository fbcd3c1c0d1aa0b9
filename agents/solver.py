"""The lay-down solver: the best ends that laying, attaching and swapping in one turn can come to.

An end is what stands when the player stops laying and goes on to the discard. Ends are compared by four numbers: points
laid from now on (more is better; R14: a joker of one's own that is swapped out counts no longer), cards left in hand
(fewer), what the naturals among them cost (R15, less), and jokers left in hand (more). :func:`solve` finds all that no
other end beats in these four together, and laying nothing wherever that is legal; of ends that are equal in them it
keeps the one that it finds first, always the same.

That is exact unless the search takes too many steps, which takes some 20 cards with many jokers at a full table, or
finds more than ``PLANS`` ends. Then ``room[GAVE_UP]`` is set, and the ends are the best of those found so far: all can
be reached, and among them, or beaten by one of them, is what laying the dearest item again and again comes to, items
without a joker first. A hand that has not opened may then be left without an end that opens.

A planner calls the kernels; :func:`ends` is the same for people.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.solver_ends import CARDS, COST, FIRST, KEPT, LEFT, PLAN_WORDS, PLANS, POINTS
from agents.solver_items import (
    ALL_COST,
    ALL_JOKERS,
    FEW_STEPS,
    GAVE_UP,
    ITEM_END,
    ITEMS_AT,
    LONE_END,
    LONES_AT,
    MOST_STEPS,
    NEED,
    OPENED,
    OPENS,
    PLAN_COUNT,
    ROOM_WORDS,
    STEPS,
    TOTAL,
    list_new_runs,
    list_new_sets,
    start_items,
)
from agents.solver_opening import may_open, opening_need
from agents.solver_search import close_heads, dive, search
from agents.solver_table import count_swaps, list_table
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.cards import CARD_KINDS, JOKER, RANKS, Card, format_cards
from jolly_env.hand import COUNT, HAND_WORDS, JOKERS, ONES, TWOS
from jolly_env.observation import as_record
from jolly_env.state import PLAY

__all__ = [
    *("CARDS", "COST", "FIRST", "GAVE_UP", "KEPT", "LEFT", "MOST_STEPS", "PLANS", "PLAN_WORDS", "POINTS", "STEPS"),
    *("End", "Ends", "ends", "hand_cards", "hand_row", "may_open", "new_plans", "new_room", "solve", "solve_rows"),
]

STEP_LIMIT: Final = 50_000
"""Steps after which a search is cut off: some 1.5 ms, and up to 2.5 on a busy machine."""
STEPS_BEFORE_MEMORY: Final = 300
"""Steps before a search begins to remember what it has seen, which ordinary hands never need."""
MAX_HAND: Final = 20
MAX_JOKERS: Final = 6


def new_room() -> np.ndarray:
    """Return room for one solver at a time: int64[ROOM_WORDS], 0.8 MB.

    ``room[GAVE_UP]`` is 1 after a call that was cut off, ``room[STEPS]`` tells how many steps it took;
    ``room[MOST_STEPS]`` may be set.
    """
    room = np.zeros(ROOM_WORDS, dtype=np.int64)
    room[MOST_STEPS], room[FEW_STEPS] = STEP_LIMIT, STEPS_BEFORE_MEMORY
    return room


def new_plans() -> np.ndarray:
    """Return room for the ends of one call: int64[PLANS, PLAN_WORDS]."""
    return np.zeros((PLANS, PLAN_WORDS), dtype=np.int64)


@kernel
def solve(obs: Any, hand: np.ndarray, plans: np.ndarray, room: np.ndarray) -> int:
    """Write the best ends for a hand at the table of an observation; return their number.

    ``plans``: int64[PLANS, PLAN_WORDS]; laying nothing is the first of them where it is legal. ``hand`` (as in
    :mod:`jolly_env.hand`) may be another than the observer's, as after a take. 0 if nothing is legal.
    """
    room[STEPS], room[GAVE_UP], room[PLAN_COUNT] = 0, 0, 0
    need = opening_need(obs)
    start_items(hand, room)
    if need <= 0 or obs["opening_laid"] == 0:
        room[PLAN_COUNT] = 1
        plans[0, POINTS], plans[0, CARDS], plans[0, COST] = 0, room[TOTAL], room[ALL_COST]
        plans[0, KEPT], plans[0, FIRST] = room[ALL_JOKERS], -1
        for i in range(HAND_WORDS):
            plans[0, LEFT + i] = hand[i]
    if not may_open(obs, hand):
        return 1
    room[NEED], room[OPENED] = need, 1 if need <= 0 else 0
    if need > 0 and obs["opening_laid"] == 0:
        list_new(hand, room)
        close_heads(room)
        if not search(room, plans, 1):
            return 1
        start_items(hand, room)
    count_swaps(obs, room)
    list_table(obs, room)
    list_new(hand, room)
    if room[ITEM_END] > ITEMS_AT or (room[LONE_END] > LONES_AT and room[ALL_JOKERS] > 0):
        close_heads(room)
        if search(room, plans, 0):
            dive(room, plans)
    return room[PLAN_COUNT]


@kernel
def list_new(hand: np.ndarray, room: np.ndarray) -> None:
    """Add all new melds that the hand can make with the usable jokers."""
    if hand[COUNT] > 3:
        room[OPENS] = 1 - room[OPENED]
        list_new_sets(room)
        list_new_runs(room)


@entry
def solve_rows(
    observations: np.ndarray,
    rows: np.ndarray,
    hands: np.ndarray,
    plans: np.ndarray,
    room: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Solve rows of observations and hands: ``counts[i]`` ends for ``rows[i]``; those of the last stay in ``plans``."""
    for i in range(rows.size):
        counts[i] = solve(observations[rows[i]], hands[rows[i]], plans, room)


def hand_row(cards: Sequence[int]) -> np.ndarray:
    """Return the counts of a hand, int[53], in the layout of :mod:`jolly_env.hand`."""
    hand = np.zeros(HAND_WORDS, dtype=np.int64)
    for card in range(JOKER):
        bit = 1 << card % RANKS
        hand[ONES + card // RANKS] |= bit if cards[card] > 0 else 0
        hand[TWOS + card // RANKS] |= bit if cards[card] > 1 else 0
    hand[JOKERS], hand[COUNT] = cards[JOKER], sum(cards)
    return hand


def hand_cards(hand: np.ndarray) -> tuple[Card, ...]:
    """Return the cards of a hand in the layout of :mod:`jolly_env.hand`, ascending."""
    cards: list[Card] = []
    for card in range(JOKER):
        suit, rank = divmod(card, RANKS)
        cards += [card] * (int(hand[ONES + suit] >> rank & 1) + int(hand[TWOS + suit] >> rank & 1))
    return tuple(cards + [JOKER] * int(hand[JOKERS]))


@dataclasses.dataclass(frozen=True)
class End:
    """What the laying of a turn can come to."""

    points: int
    """Points laid from now on (R14)."""
    cards: int
    """Cards left in hand."""
    cost: int
    """What the naturals among them cost (R15)."""
    jokers: int
    """Jokers among them."""
    first: int | None
    """An action to begin with, None if nothing is laid."""
    left: tuple[Card, ...]
    """The cards left, ascending."""

    def __str__(self) -> str:
        """Return the end in one line."""
        return f"{self.points} points laid, left {format_cards(self.left)}"


@dataclasses.dataclass(frozen=True)
class Ends:
    """All that :func:`ends` found."""

    found: tuple[End, ...]
    """The best ends, the most points first."""
    exact: bool
    """Whether the search came to its end."""


def ends(observation: Any, hand: Sequence[Card] | None = None, *, steps: int = STEP_LIMIT) -> Ends:
    """Return the best ends for an observation of its seat to move, or for other cards in hand at the same table.

    ``ValueError`` for an observation that is not of the play phase, if no hand is given, and for impossible hands.
    """
    record = np.array(as_record(observation)).reshape(1)
    if hand is None:
        if record["phase"][0] != PLAY or record["to_move"][0] != 0:
            raise ValueError("ends: the observer has nothing to lay now; give a hand to ask about another moment")
        counts = record["hand"][0].astype(np.int64)
    else:
        if any(not 0 <= card < CARD_KINDS for card in hand):
            raise ValueError(f"ends: a card is a number from 0 to {JOKER}")
        counts = np.bincount(np.array(hand, dtype=np.int64), minlength=CARD_KINDS)
        if not 0 < len(hand) <= MAX_HAND or counts[JOKER] > MAX_JOKERS or counts[:JOKER].max() > 2:
            limits = f"1 to {MAX_HAND} cards, at most two of each and {MAX_JOKERS} jokers"
            raise ValueError(f"ends: expected {limits}, got {format_cards(hand)}")
    _warm_up()
    plans, room, count = new_plans(), new_room(), np.zeros(1, dtype=np.int64)
    room[MOST_STEPS] = steps
    solve_rows(record, np.zeros(1, dtype=np.int64), hand_row(counts.tolist())[np.newaxis], plans, room, count)
    found = [_end(plan) for plan in plans[: count[0]]]
    found.sort(key=lambda end: (-end.points, end.cards, end.cost, -end.jokers))
    return Ends(tuple(found), bool(room[GAVE_UP] == 0))


def _end(plan: np.ndarray) -> End:
    """Return a row of numbers as an end."""
    points, cards, cost, kept, first = (int(number) for number in plan[:LEFT])
    return End(points, cards, cost, kept, None if first < 0 else first, hand_cards(plan[LEFT:]))


@functools.cache
def _warm_up() -> None:
    """Compile the kernels, unless the cache on disk has them."""
    warm_up("solver", Path(__file__).parent, _compile)


def _compile() -> None:
    """Solve a first position."""
    from jolly_env.batch import Batch

    record = as_record(Batch(1, seed=0).observations)
    none = np.zeros(0, dtype=np.int64)
    solve_rows(record, none, np.zeros((1, HAND_WORDS), dtype=np.int64), new_plans(), new_room(), none)
