"""Rows of results: one a round, with what each seat did in it.

Letters: ``P`` seats, ``R`` rounds, ``D`` deals, ``G`` seatings.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from jolly_env.batch import Batch
from jolly_env.state import Ending

ROUND_FIELDS: Final = (
    ("deal", "<i4"),  # number of the deal
    ("seed", "<u8"),  # what it was dealt by
    ("table", "<i2"),  # number of the choice of agents that sat down
    ("seating", "<i2"),  # number of the seating, of those of all tables
    ("round", "<i4"),  # number of the round in its game
    ("begins", "i1"),  # seat that began
    ("ending", "i1"),  # jolly_env.state.Ending
    ("closer", "i1"),  # seat, or -1
    ("hand_jolly", "?"),  # whether it was closed with a Hand-Jolly
    ("turns", "<i4"),  # turns of all seats
)
SEAT_FIELDS: Final = (
    ("agent", "<i2"),  # number of the agent
    ("score", "<i8"),  # points of the round (R14 to R16)
    ("laid", "<i4"),  # points on the table (R14)
    ("hand", "<i4"),  # points caught in hand (R15), before any factor
    ("opened", "<i4"),  # own turn in which it opened, from 1; -1: it did not
    ("takes", "<i4"),  # takes from the row
    ("taken", "<i4"),  # cards so taken
    ("swaps", "<i4"),  # jokers swapped out
    ("draws", "<i4"),  # draws from the stock
    ("decisions", "<i4"),  # actions
    ("luck", "<f4"),  # of its draws, in points (eval.luck)
    ("fault", "?"),  # whether its agent failed in this round
    ("seconds", "<f4"),  # time that its agent took: differs from run to run
)
"""Columns of a row, and those that each seat has. What is counted does not depend on the machine, but ``seconds``."""
COUNTED: Final = ("laid", "hand", "takes", "taken", "swaps", "draws", "decisions", "luck", "seconds")


@functools.cache
def round_dtype(players: int) -> np.dtype:
    """Return the type of a row for ``P`` seats; a column of the seats is an array of P."""
    return np.dtype([*ROUND_FIELDS, *((name, kind, (players,)) for name, kind in SEAT_FIELDS)])


def tables(seatings: np.ndarray) -> np.ndarray:
    """Return the number of the choice of agents of each seating: int64[G, P] -> int64[G]."""
    numbers: dict[tuple[int, ...], int] = {}
    return np.array([numbers.setdefault(tuple(sorted({*order})), len(numbers)) for order in seatings.tolist()])


def make_rows(
    batch: Batch,
    ended: np.ndarray,
    tallies: np.ndarray,
    deal: np.ndarray,
    seed: np.ndarray,
    seating: np.ndarray,
    table: np.ndarray,
    agent: np.ndarray,
) -> np.ndarray:
    """Return a row for each of the rows ``ended`` of a batch, whose rounds have just ended.

    ``tallies`` TALLY, ``deal``, ``seed``, ``seating``, ``table`` and ``agent`` [P] are those of ``ended``.
    """
    players = agent.shape[1]
    rows = np.zeros(len(ended), dtype=round_dtype(players))
    rows["deal"], rows["seed"], rows["seating"] = deal, seed, seating
    rows["table"], rows["agent"] = table, agent
    rows["round"], rows["turns"] = tallies["round"], tallies["turns"]
    rows["begins"] = tallies["round"] % players
    rows["ending"], rows["closer"] = batch.endings[ended], batch.closers[ended]
    rows["hand_jolly"] = batch.hand_jolly[ended]
    rows["score"] = batch.scores[ended]
    for name in COUNTED:
        rows[name] = tallies[name][:, :players]
    opened = tallies["opened"][:, :players]
    rows["opened"] = np.where(opened > 0, opened, -1)
    rows["fault"] = tallies["fault"][:, :players] != 0
    return rows


def in_order(rows: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Return rows, or parts of them put together, by deal, seating and round."""
    whole = rows if isinstance(rows, np.ndarray) else join(rows)
    order = np.lexsort((whole["round"], whole["seating"], whole["deal"]))
    return pick(whole, order)


def join(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Put parts of rows, at least one, together; as blocks of bytes, since NumPy copies records field by field."""
    dtype = parts[0].dtype
    return np.concatenate([part.view(np.dtype((np.void, dtype.itemsize))) for part in parts]).view(dtype)


def pick(rows: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return some of the rows, by number or by truth, copied as blocks of bytes."""
    return rows.view(np.dtype((np.void, rows.dtype.itemsize)))[which].view(rows.dtype)


@dataclasses.dataclass
class Games:
    """What the rounds of ``D`` deals in ``G`` seatings came to: sums over the rounds of each game."""

    seatings: np.ndarray
    """int64[G, P]: the number of the agent in each seat."""
    rounds: np.ndarray
    """int64[D, G]: rounds played; 1 in all games without a ``target``."""
    exhausted: np.ndarray
    """int64[D, G]: rounds that ended since no draw was left (R12)."""
    cut_off: np.ndarray
    """int64[D, G]: rounds that were cut off at ``max_turns`` (R17)."""
    scores: np.ndarray
    """int64[D, G, P]: points."""
    wins: np.ndarray
    """float64[D, G, P]: rounds won; a round goes to the highest score, shared among equals."""
    games_won: np.ndarray
    """float64[D, G, P]: 1 for the highest total of the game's rounds, shared among equals (R18)."""
    closings: np.ndarray
    """int64[D, G, P]: rounds that the seat closed."""
    hand_jollys: np.ndarray
    """int64[D, G, P]: rounds that the seat closed with a Hand-Jolly."""
    differences: np.ndarray
    """int64[D, G, P, P]: points of one seat less those of another."""
    above: np.ndarray
    """float64[D, G, P, P]: rounds in which one seat scored more than another; equals count a half."""
    decisions: int = 0
    """Actions played in all games."""

    @classmethod
    def of(cls, rows: np.ndarray, deals: int, seatings: np.ndarray) -> Games:
        """Return the sums of the rows of the deals 0 to ``deals`` - 1."""
        G, P = seatings.shape
        at = rows["deal"].astype(np.int64) * G + rows["seating"]

        def add(values: np.ndarray) -> np.ndarray:
            flat = values.reshape(len(rows), math.prod(values.shape[1:]))
            sums = np.stack([np.bincount(at, column, minlength=deals * G) for column in flat.T], axis=-1)
            return sums.reshape(deals, G, *values.shape[1:])

        def whole(values: np.ndarray) -> np.ndarray:
            return np.rint(add(values)).astype(np.int64)

        scores = rows["score"]
        totals = whole(scores)
        differences = scores[:, :, None] - scores[:, None, :]
        closed = rows["closer"][:, None] == np.arange(P)
        return cls(
            seatings=seatings,
            rounds=whole(np.ones(len(rows))),
            exhausted=whole(rows["ending"] == Ending.EXHAUSTED),
            cut_off=whole(rows["ending"] == Ending.CUT_OFF),
            scores=totals,
            wins=add(shares(scores)),
            games_won=shares(totals),
            closings=whole(closed),
            hand_jollys=whole(closed & rows["hand_jolly"][:, None]),
            differences=whole(differences),
            above=add((differences > 0) + 0.5 * (differences == 0)),
            decisions=int(rows["decisions"].sum()),
        )

    @property
    def deals(self) -> int:
        """Number of deals, D."""
        return len(self.rounds)

    @property
    def margins(self) -> np.ndarray:
        """Points of each seat less the mean of the others' in the same round: float64[D, G, P]."""
        return self.differences.sum(axis=-1) / (self.seatings.shape[1] - 1)


def shares(scores: np.ndarray) -> np.ndarray:
    """Return what each seat gets of a win: 1 for the highest score, shared among equals: [..., P] -> float64."""
    best = scores == scores.max(axis=-1, keepdims=True)
    return best / best.sum(axis=-1, keepdims=True)
