"""The record of one game: everything that the kernels know, in fixed capacities.

Letters: 4 seats, 53 cards, 36 melds, 14 places. Seats are absolute here; -1 stands for "none".
"""

from __future__ import annotations

import enum

import numpy as np

from jolly_env.cards import CARD_KINDS, JOKER, PLACES, SUITS
from jolly_env.rules import MAX_PLAYERS, RULE_FIELDS

MAX_CARDS = 110
"""Cards of the largest pack (R1)."""
MAX_MELDS = 36
"""Table melds: a lay leaves every player a card, so 110 cards never make more (contract)."""
HISTORY = 128
"""Public actions that an observation shows."""
LEGAL_WORDS = 14
"""64-bit words that hold 839 action bits."""


class Phase(enum.IntEnum):
    """What the seat to move has to do."""

    DRAW = 0
    PLAY = 1
    ROUND_OVER = 2
    GAME_OVER = 3


class Ending(enum.IntEnum):
    """How the last finished round ended."""

    NONE = 0
    CLOSED = 1
    """A player discarded the last card (R13)."""
    EXHAUSTED = 2
    """No draw was left (R12)."""
    CUT_OFF = 3
    """``max_turns`` were played (R17)."""


class MeldKind(enum.IntEnum):
    """What lies in a meld slot of the table."""

    NONE = 0
    SET = 1
    RUN = 2


DRAW, PLAY, ROUND_OVER, GAME_OVER = (int(p) for p in Phase)
CLOSED, EXHAUSTED, CUT_OFF = int(Ending.CLOSED), int(Ending.EXHAUSTED), int(Ending.CUT_OFF)
NO_MELD, SET, RUN = (int(k) for k in MeldKind)
JOKER_SLOT = 4
"""Slot of a set's joker; slots 0..3 hold the naturals of suits 0..3."""

STATE = np.dtype(
    [
        ("rng", "<u8"),  # state of the game's own random stream: shuffles
        ("key", "<u8"),  # state of the stream of decision keys; one draw a round
        ("legal", "<u8", (LEGAL_WORDS,)),  # bit a: action a is legal now
        ("rules", "<i8", (len(RULE_FIELDS),)),  # values in the order of RULE_FIELDS
        ("totals", "<i8", (MAX_PLAYERS,)),  # points of the finished rounds of this game
        ("scores", "<i8", (MAX_PLAYERS,)),  # points of the last finished round
        ("phase", "<i4"),  # Phase
        ("seat", "<i4"),  # seat to move
        ("turn", "<i4"),  # turns finished in this round, of all players
        ("round", "<i4"),  # rounds finished in this game; its first seat is round mod players
        ("ending", "<i4"),  # Ending of the last finished round
        ("closer", "<i4"),  # seat that closed it, or -1
        ("hand_jolly", "<i4"),  # 1 if it was a Hand-Jolly
        ("truncated", "<i4"),  # 1 if the game was cut off (R17, max_rounds)
        ("opening_laid", "<i4"),  # points laid in this turn by a seat that has not opened
        ("stock_top", "<i4"),  # index in stock of the next card
        ("stock_size", "<i4"),
        ("row_size", "<i4"),
        ("meld_count", "<i4"),
        ("recycles", "<i4"),  # recyclings in this round
        ("recycled_size", "<i4"),  # cards that the last of them put into the stock
        ("history_end", "<i4"),  # end of the filled part of the history
        ("opened_turn", "<i4", (MAX_PLAYERS,)),  # turn in which the seat opened, or -1
        ("laid", "<i4", (MAX_PLAYERS,)),  # points on the table (R14)
        ("draws", "<i4", (MAX_PLAYERS,)),  # draws from the stock since it was made (deal or recycling)
        ("decisions", "<i4", (MAX_PLAYERS,)),  # actions in this round
        ("hand_size", "<i4", (MAX_PLAYERS,)),
        ("ones", "<i4", (MAX_PLAYERS, SUITS)),  # bit r: the hand holds rank r of the suit
        ("twos", "<i4", (MAX_PLAYERS, SUITS)),  # bit r: it holds it twice
        ("meld_turn", "<i4", (MAX_MELDS,)),  # turn in which the meld was laid
        ("row_cards", "<i2", (MAX_CARDS,)),  # oldest first
        ("row_seats", "<i2", (MAX_CARDS,)),  # who discarded it
        ("known", "<i2", (MAX_PLAYERS, CARD_KINDS)),  # cards publicly known to be held, by seat
        ("discarded", "<i2", (MAX_PLAYERS, CARD_KINDS)),  # discards of this round, by seat
        ("recycled", "<i2", (MAX_PLAYERS, CARD_KINDS)),  # last recycled stock less what the seat drew since
        ("hidden", "<i2", (CARD_KINDS,)),  # cards in stock and hands
        ("meld_kind", "<i2", (MAX_MELDS,)),  # MeldKind
        ("meld_base", "<i2", (MAX_MELDS,)),  # rank of a set, suit of a run
        ("meld_low", "<i2", (MAX_MELDS,)),  # lowest place of a run; 0 for a set
        ("meld_size", "<i2", (MAX_MELDS,)),  # cards in it
        ("meld_jokers", "<i2", (MAX_MELDS,)),  # bit p: the slot p holds a joker
        ("meld_cards", "<i2", (MAX_MELDS, PLACES)),  # card at slot p: place of a run, suit (4: joker) of a set
        ("meld_seats", "<i2", (MAX_MELDS, PLACES)),  # who laid it
        ("history_actions", "<i2", (2 * HISTORY,)),  # public actions; the last HISTORY of them are shown
        ("history_seats", "<i2", (2 * HISTORY,)),
        ("hands", "i1", (MAX_PLAYERS, CARD_KINDS)),  # counts
        ("stock", "i1", (MAX_CARDS,)),  # drawn from stock_top on
        ("pack", "i1", (JOKER,)),  # counts of the naturals in the game
    ],
    align=True,
)
"""One game. Position-independent bytes: copy it to clone, save it to keep."""


def copy_states(states: np.ndarray) -> np.ndarray:
    """Return a copy of an array of games, as one block of bytes: NumPy copies records field by field."""
    return states.view(_BYTES).copy().view(STATE)


def move_states(states: np.ndarray, source: np.ndarray, target: np.ndarray) -> None:
    """Copy the rows ``source`` of an array of games to its rows ``target``, in place."""
    raw = states.view(_BYTES)
    raw[target] = raw[source]


_BYTES = np.dtype((np.void, STATE.itemsize))
