"""The luck of a draw: what the card from the stock is worth to the hand, less the mean over the whole stock.

Before a draw every card of the stock is equally likely to lie on top, whatever has been played so far, so the luck of
each draw has the mean 0. It may therefore be taken out of a result without moving its mean (:mod:`eval.adjust`).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from jolly_env._jit import kernel
from jolly_env.cards import CARD_KINDS, HAND_VALUE, JOKER, RANKS, SUITS
from jolly_env.moves import State, places_of
from jolly_env.state import SET

# Points that a card is worth to a hand. Any numbers leave the mean at 0; these take out much of the luck: they were
# fitted to the margins of 1,500 deals between greedy and a greedy that now and then plays at random.
WORTH_JOKER: Final = 55.0
WORTH_MELD: Final = 40.0
"""It makes a set or a run of three with cards of the hand."""
WORTH_FIT: Final = 26.0
"""It fits a meld of the table, or swaps a joker there, and the seat has opened."""
WORTH_NEAR: Final = 8.0
"""It makes a pair, or stands next to a card of its suit or next but one."""
WORTH_POINT: Final = 0.25
"""Each of its points: once laid they count."""


@kernel
def read_fits(state: State, seat: int, fits: np.ndarray) -> None:
    """Write which ranks of each suit fit the table, as bits: int64[4]; none before the seat has opened (R9, R10)."""
    for suit in range(SUITS):
        fits[suit] = 0
    if state["opened_turn"][seat] < 0:
        return
    for meld in range(state["meld_count"]):
        base = np.int64(state["meld_base"][meld])
        if state["meld_kind"][meld] == SET:
            for suit in range(SUITS):
                if state["meld_cards"][meld, suit] < 0:
                    fits[suit] |= 1 << base
            continue
        low = np.int64(state["meld_low"][meld])
        places = np.int64(state["meld_jokers"][meld]) | 1 << (low + np.int64(state["meld_size"][meld]))
        if low > 0:
            places |= 1 << (low - 1)
        fits[base] |= (places | places >> RANKS) & ((1 << RANKS) - 1)


@kernel
def card_worth(state: State, seat: int, card: int, fits: np.ndarray) -> float:
    """Return what one more card is worth to a hand, in points."""
    if card == JOKER:
        return WORTH_JOKER
    suit, rank = card // RANKS, card % RANKS
    points = WORTH_POINT * HAND_VALUE[card]
    if fits[suit] >> rank & 1:
        return points + WORTH_FIT
    if state["ones"][seat, suit] >> rank & 1:  # a second copy seldom helps
        return points
    others = 0
    for other in range(SUITS):
        others += np.int64(state["ones"][seat, other]) >> rank & 1
    places = places_of(state, seat, suit) << 2  # so that two places below the ace are there to be looked at
    window = places >> rank & 0b11011
    if rank == 0:
        window |= places >> RANKS & 0b11011
    run = window & 0b00011 == 0b00011 or window & 0b01010 == 0b01010 or window & 0b11000 == 0b11000
    if run or others > 1:
        return points + WORTH_MELD
    return points + WORTH_NEAR if window != 0 or others > 0 else points


@kernel
def draw_luck(state: State, seat: int, fits: np.ndarray, worths: np.ndarray) -> float:
    """Return the luck of drawing the top card of the stock now; ``fits`` int64[4], ``worths`` float64[53] are room."""
    read_fits(state, seat, fits)
    for card in range(CARD_KINDS):
        worths[card] = card_worth(state, seat, card, fits)
    top, size = np.int64(state["stock_top"]), np.int64(state["stock_size"])
    total = 0.0
    for i in range(top, top + size):
        total += worths[state["stock"][i]]
    return worths[state["stock"][top]] - total / size
