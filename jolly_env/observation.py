"""What a seat may know: one record of int16, the same memory as a flat vector (contract, "The observation").

Other players are counted from the observer's left: 0 is the observer, 1 the next to play, and so on; -1 pads. A
number that may outgrow int16 has a second field ``NAME_high``: its value is ``NAME + 32768 * NAME_high``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env._jit import kernel
from jolly_env.bits import copy_array
from jolly_env.cards import CARD_KINDS, JOKER, PLACES
from jolly_env.moves import State
from jolly_env.rules import MAX_PLAYERS, PLAYERS, RULE_FIELDS, Rules
from jolly_env.state import HISTORY, MAX_CARDS, MAX_MELDS

MOST_TOTAL = (1 << 30) - 1
"""Totals beyond this are shown as this: the most that two fields of int16 hold."""

OBSERVATION = np.dtype(
    [
        # the moment
        ("phase", "<i2"),  # Phase
        ("to_move", "<i2"),  # seat to move, from the observer's left
        ("seat", "<i2"),  # the observer's own seat, absolute
        ("starter", "<i2"),  # seat that began the round
        ("turn", "<i2"),  # turns finished in this round
        ("turn_high", "<i2"),
        ("round", "<i2"),  # rounds finished in this game
        ("round_high", "<i2"),
        ("opening_laid", "<i2"),  # points laid in this turn by a seat to move that has not opened
        ("opened_before_turn", "<i2"),  # 1: the observer had opened before this turn
        ("stock_size", "<i2"),
        ("row_size", "<i2"),
        ("meld_count", "<i2"),
        ("recycled_size", "<i2"),  # cards that the last recycling put into the stock; 0: none yet
        # cards, as counts by card
        ("hand", "<i2", (CARD_KINDS,)),  # own hand
        ("unseen", "<i2", (CARD_KINDS,)),  # in the stock or in another hand and not known to be there
        ("recycled", "<i2", (CARD_KINDS,)),  # last recycled stock less what the observer drew since
        # players, from the observer on
        ("hand_size", "<i2", (MAX_PLAYERS,)),
        ("opened", "<i2", (MAX_PLAYERS,)),  # 1: has opened
        ("opened_turn", "<i2", (MAX_PLAYERS,)),  # in which turn, or -1
        ("opened_turn_high", "<i2", (MAX_PLAYERS,)),
        ("laid", "<i2", (MAX_PLAYERS,)),  # points on the table (R14)
        ("total", "<i2", (MAX_PLAYERS,)),  # points of the game so far, clipped to +-MOST_TOTAL
        ("total_high", "<i2", (MAX_PLAYERS,)),
        ("draws", "<i2", (MAX_PLAYERS,)),  # draws from the stock since it was made
        ("known", "<i2", (MAX_PLAYERS, CARD_KINDS)),  # cards publicly known to be held
        ("discarded", "<i2", (MAX_PLAYERS, CARD_KINDS)),  # discards of this round
        # the rules, in the order of RULE_FIELDS
        ("rules", "<i2", (len(RULE_FIELDS),)),
        ("rules_high", "<i2", (len(RULE_FIELDS),)),
        ("pack", "<i2", (JOKER,)),  # counts of the naturals in the game
        # the table
        ("meld_kind", "<i2", (MAX_MELDS,)),  # MeldKind
        ("meld_base", "<i2", (MAX_MELDS,)),  # rank of a set, suit of a run
        ("meld_low", "<i2", (MAX_MELDS,)),  # lowest place of a run; 0 for a set
        ("meld_size", "<i2", (MAX_MELDS,)),  # cards in it
        ("meld_jokers", "<i2", (MAX_MELDS,)),  # bit p: the slot p holds a joker
        ("meld_this_turn", "<i2", (MAX_MELDS,)),  # 1: laid in this turn
        ("meld_cards", "<i2", (MAX_MELDS, PLACES)),  # by slot: place of a run; suit of a set, 4 its joker
        ("meld_seats", "<i2", (MAX_MELDS, PLACES)),  # who laid it
        # the row, oldest first, and the past, newest last
        ("row_cards", "<i2", (MAX_CARDS,)),
        ("row_seats", "<i2", (MAX_CARDS,)),  # who discarded it
        ("history_actions", "<i2", (HISTORY,)),  # public actions; a draw from the stock without its card
        ("history_seats", "<i2", (HISTORY,)),
    ]
)
"""What one seat may know."""

OBSERVATION_SIZE = OBSERVATION.itemsize // 2
"""Length of the flat vector of int16."""


def _slices() -> dict[str, slice]:
    """Return where each field lies in the flat vector."""
    fields = OBSERVATION.fields
    assert fields is not None
    return {name: slice(f[1] // 2, f[1] // 2 + f[0].itemsize // 2) for name, f in fields.items()}


SLICES: dict[str, slice] = _slices()
"""Where each field lies in the flat vector: ``flat[SLICES["hand"]]``."""


def as_record(flat: np.ndarray) -> Any:
    """Return the record over the memory of a flat observation, or an array of them: int16[..., S] -> OBSERVATION[...].

    A record or an array of records is returned as it is. ``ValueError`` for anything else.
    """
    if getattr(flat, "dtype", None) == OBSERVATION:
        return flat
    array = np.ascontiguousarray(flat)
    if array.dtype != np.int16 or array.shape[-1:] != (OBSERVATION_SIZE,):
        raise ValueError(
            f"observation: expected int16[..., {OBSERVATION_SIZE}] or records, got {array.dtype}{list(array.shape)}"
        )
    records = array.view(OBSERVATION)[..., 0]
    return records[()] if records.ndim == 0 else records


def as_flat(records: Any) -> np.ndarray:
    """Return the flat view of a record or an array of records: OBSERVATION[...] -> int16[..., S].

    ``ValueError`` for anything else.
    """
    array = np.asarray(records)
    if array.dtype != OBSERVATION:
        raise ValueError(f"observation: expected records, got {array.dtype}{list(array.shape)}")
    return array[..., np.newaxis].view(np.int16)


def wide(record: Any, name: str) -> Any:
    """Return a number in full: the field ``name`` plus 32768 times its ``_high`` part, as int64."""
    return record[name].astype(np.int64) + 32768 * record[name + "_high"].astype(np.int64)


def rules_of(record: Any) -> Rules:
    """Return the rules that an observation was made under."""
    return Rules.from_numbers(wide(record, "rules"), record["pack"])


@kernel
def low_part(value: int) -> int:
    """Return the part of a number that the field itself holds."""
    return value - 32768 * high_part(value)


@kernel
def high_part(value: int) -> int:
    """Return the part of a number that the ``_high`` field holds; zero for -32767 to 32767."""
    return value // 32768 if value >= 0 else -(-value // 32768)


@kernel
def observe(state: State, seat: int, out: Any) -> None:
    """Write what ``seat`` may know into the record ``out``."""
    observe_moment(state, seat, out)
    observe_players(state, seat, out)
    observe_table(state, seat, out)
    observe_row_and_past(state, seat, out)


@kernel
def observe_moment(state: State, seat: int, out: Any) -> None:
    """Write the fields of the moment, the own cards and the rules."""
    players = np.int64(state["rules"][PLAYERS])
    out["phase"] = state["phase"]
    out["to_move"] = (state["seat"] - seat + players) % players
    out["seat"] = seat
    out["starter"] = (state["round"] % players - seat + players) % players
    out["turn"] = low_part(np.int64(state["turn"]))
    out["turn_high"] = high_part(np.int64(state["turn"]))
    out["round"] = low_part(np.int64(state["round"]))
    out["round_high"] = high_part(np.int64(state["round"]))
    out["opening_laid"] = state["opening_laid"]
    out["opened_before_turn"] = 1 if 0 <= state["opened_turn"][seat] < state["turn"] else 0
    out["stock_size"] = state["stock_size"]
    out["row_size"] = state["row_size"]
    out["meld_count"] = state["meld_count"]
    out["recycled_size"] = state["recycled_size"]
    copy_array(out["recycled"], state["recycled"][seat])
    hidden, known = state["hidden"], state["known"]
    hand, unseen = state["hands"][seat], out["unseen"]
    for card in range(CARD_KINDS):
        out["hand"][card] = hand[card]
        unseen[card] = np.int16(hidden[card] - hand[card])
    for other in range(players):
        if other != seat:
            held = known[other]
            for card in range(CARD_KINDS):
                unseen[card] -= held[card]
    for i in range(len(RULE_FIELDS)):
        out["rules"][i] = low_part(np.int64(state["rules"][i]))
        out["rules_high"][i] = high_part(np.int64(state["rules"][i]))
    for card in range(JOKER):
        out["pack"][card] = state["pack"][card]


@kernel
def observe_players(state: State, seat: int, out: Any) -> None:
    """Write the fields of the players, from the observer on."""
    players = np.int64(state["rules"][PLAYERS])
    for i in range(MAX_PLAYERS):
        # An absent player's fields are those of an absent seat: empty.
        other = (seat + i) % players if i < players else i
        opened = np.int64(state["opened_turn"][other])
        total = min(max(np.int64(state["totals"][other]), -MOST_TOTAL), MOST_TOTAL)
        out["hand_size"][i] = state["hand_size"][other]
        out["opened"][i] = 1 if opened >= 0 else 0
        out["opened_turn"][i] = low_part(opened)
        out["opened_turn_high"][i] = high_part(opened)
        out["laid"][i] = state["laid"][other]
        out["total"][i] = low_part(total)
        out["total_high"][i] = high_part(total)
        out["draws"][i] = state["draws"][other]
        copy_array(out["known"][i], state["known"][other])
        copy_array(out["discarded"][i], state["discarded"][other])


@kernel
def turn_seats(seats: np.ndarray, count: int, observer: int, players: int) -> None:
    """Count the first ``count`` seats from the observer's left, in place; -1 stays."""
    back, around = np.int16(observer), np.int16(players)
    for i in range(count):
        seat = seats[i]
        turned = np.int16(seat - back)
        turned = np.int16(turned + (around if turned < 0 else np.int16(0)))
        seats[i] = np.int16(-1) if seat < 0 else turned


@kernel
def observe_table(state: State, seat: int, out: Any) -> None:
    """Write the melds."""
    players = np.int64(state["rules"][PLAYERS])
    copy_array(out["meld_kind"], state["meld_kind"])
    copy_array(out["meld_base"], state["meld_base"])
    copy_array(out["meld_low"], state["meld_low"])
    copy_array(out["meld_size"], state["meld_size"])
    copy_array(out["meld_jokers"], state["meld_jokers"])
    copy_array(out["meld_cards"], state["meld_cards"])
    copy_array(out["meld_seats"], state["meld_seats"])
    this_turn, turns, turn = out["meld_this_turn"], state["meld_turn"], state["turn"]
    for meld in range(MAX_MELDS):
        this_turn[meld] = 1 if turns[meld] == turn else 0
    for meld in range(state["meld_count"]):
        turn_seats(out["meld_seats"][meld], np.int64(PLACES), seat, players)


@kernel
def observe_row_and_past(state: State, seat: int, out: Any) -> None:
    """Write the row and the last public actions."""
    players = np.int64(state["rules"][PLAYERS])
    copy_array(out["row_cards"], state["row_cards"])
    copy_array(out["row_seats"], state["row_seats"])
    turn_seats(out["row_seats"], np.int64(state["row_size"]), seat, players)
    end = np.int64(state["history_end"])
    copy_array(out["history_actions"], state["history_actions"][end - HISTORY : end])
    copy_array(out["history_seats"], state["history_seats"][end - HISTORY : end])
    turn_seats(out["history_seats"], np.int64(HISTORY), seat, players)
