"""What is known of the other players: how near they are to closing, what they hold, what a thrown card gives them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from jolly_env._jit import kernel
from jolly_env.cards import JOKER, PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.rules import PLAYERS

JOKER_POINTS: Final = 40.0
"""What a joker is reckoned to bring to whoever may take it."""
CAUGHT: Final = 6.0
"""Points that a card in another hand is reckoned to cost at the end."""


@kernel
def nearness(obs: Any) -> float:
    """Return how near another player is to closing: 0 while none has opened, 1 with one card in hand."""
    near = 0.0
    for i in range(1, np.int64(obs["rules"][PLAYERS])):
        if obs["opened"][i] == 1:
            near = max(near, (8.0 - obs["hand_size"][i]) / 7.0)
    return near


@kernel
def caught(obs: Any) -> float:
    """Return the points that the others are reckoned to be caught with, on average."""
    cards, others = 0.0, np.int64(obs["rules"][PLAYERS]) - 1
    for i in range(1, others + 1):
        cards += obs["hand_size"][i]
    return CAUGHT * cards / others


@kernel
def holding(obs: Any, player: int, card: int, share: float) -> float:
    """Return how many copies of a card a player probably holds, at most 1.

    Known ones, and a ``share`` of the unseen ones.
    """
    return min(1.0, obs["known"][player, card] + share * obs["unseen"][card])


@kernel
def unknown_share(obs: Any, player: int) -> float:
    """Return which share of the unseen cards is in a player's hand."""
    hidden, unknown = 0.0, np.float64(obs["hand_size"][player])
    for card in range(JOKER + 1):
        hidden += obs["unseen"][card]
        unknown -= obs["known"][player, card]
    return unknown / hidden if hidden > 0 else 0.0


@kernel
def meld_points(obs: Any, player: int, card: int, share: float) -> float:
    """Return the points that a player is expected to make with a card and two that it probably holds."""
    suit, rank = card // RANKS, card % RANKS
    total, held, pairs = 0.0, 0.0, 0.0
    for other in range(SUITS):
        if other != suit:
            p = holding(obs, player, RANKS * other + rank, share)
            pairs += held * p
            held += p
    total += pairs * 3 * SET_VALUE[rank]
    for place in range(rank, PLACES, RANKS):
        for low in range(max(place - 2, 0), min(place, PLACES - 3) + 1):
            p = 1.0
            for at in range(low, low + 3):
                if at != place:
                    p *= holding(obs, player, RANKS * suit + at % RANKS, share)
            total += p * (PLACE_VALUE[low] + PLACE_VALUE[low + 1] + PLACE_VALUE[low + 2])
    return total


@kernel
def danger(obs: Any, card: int, table: np.ndarray, fit: float, meld: float, closed: float) -> float:
    """Return what throwing a card gives to the next player, in points.

    ``fit`` counts each point that it makes on the table (``table`` as of :func:`agents.outs.table_points`), ``meld``
    each that it probably makes with cards of that hand; ``closed`` is the factor while that player has not opened and
    may not take yet.
    """
    factor = 1.0 if obs["opened"][1] == 1 else closed
    if factor == 0 or obs["rules"][PLAYERS] < 2:
        return 0.0
    if card == JOKER:
        return factor * meld * JOKER_POINTS
    return factor * (fit * table[card] + meld * meld_points(obs, 1, card, unknown_share(obs, 1)))
