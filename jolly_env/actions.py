"""The 839 actions (contract, "Actions"): bases and counts, ``encode``/``decode``, notation.

::

    0        draw from the stock                        draw
    1..19    take k cards from the row                  take 3
    20..149  lay a base set    20 + 10*rank + j         lay Kc Kd *
    150..389 lay a base run    150 + 60*suit + 5*low+j  lay 4h * 6h
    390..785 at table meld m   390 + 11*m + k           attach 7h m2 high, attach Kd m0, swap 6h m2 #1
    786..838 discard card c    786 + c                  discard Th

At a set: attach suit k (0..3), attach a joker (4), swap its joker (5). At a run: natural below, joker below,
natural above, joker above (0..3), swap its first to sixth joker from the low end (5..10).
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Final, TypeAlias

import numpy as np

from jolly_env.cards import JOKER, PLACES, RANKS, SUITS, card, format_card, parse_card, split_words

Action: TypeAlias = int

DRAW_STOCK: Final = 0
TAKE: Final = 0
"""``TAKE + k`` takes k cards."""
MAX_TAKE: Final = 19
LAY_SET: Final = 20
SET_FORMS: Final = 10
LAY_RUN: Final = LAY_SET + RANKS * SET_FORMS
RUN_FORMS: Final = 5
RUN_STARTS: Final = PLACES - 2
MELD: Final = LAY_RUN + SUITS * RUN_STARTS * RUN_FORMS
MELD_FORMS: Final = 11
MELDS: Final = 36
DISCARD: Final = MELD + MELDS * MELD_FORMS
ACTIONS: Final = DISCARD + JOKER + 1

SET_SUITS = np.array([0b1110, 0b1101, 0b1011, 0b0111, 0b0011, 0b0101, 0b1001, 0b0110, 0b1010, 0b1100], dtype=np.int64)
"""Suits of the naturals of each form of a base set, as bits; two naturals go with a joker."""
RUN_JOKERS = np.array([0b000, 0b001, 0b010, 0b100, 0b101], dtype=np.int64)
"""Places of the jokers of each form of a base run, as bits counted from its low end."""

ATTACH_SET_JOKER: Final = 4
SWAP_SET_JOKER: Final = 5
NATURAL_BELOW: Final = 0
JOKER_BELOW: Final = 1
NATURAL_ABOVE: Final = 2
JOKER_ABOVE: Final = 3
SWAP_RUN: Final = 5
"""``SWAP_RUN + i`` swaps the run's joker i, counted from the low end from 0."""
SWAP_RUN_COUNT: Final = 6


class Kind(enum.IntEnum):
    """The kinds of action."""

    DRAW = 0
    TAKE = 1
    LAY_SET = 2
    LAY_RUN = 3
    MELD = 4
    DISCARD = 5


@dataclasses.dataclass(frozen=True)
class Decoded:
    """An action taken apart: ``target`` is k of a take, rank of a set, suit of a run, meld, or card.

    ``low`` is the lowest place of a base run, ``form`` the j or k of the contract's table; 0 where they say nothing.
    """

    kind: Kind
    target: int = 0
    low: int = 0
    form: int = 0


def encode(action: Decoded) -> Action:
    """Return the number of an action."""
    kind, target = action.kind, action.target
    if kind is Kind.DRAW:
        return DRAW_STOCK
    if kind is Kind.TAKE:
        return TAKE + target
    if kind is Kind.LAY_SET:
        return LAY_SET + SET_FORMS * target + action.form
    if kind is Kind.LAY_RUN:
        return LAY_RUN + RUN_FORMS * (RUN_STARTS * target + action.low) + action.form
    if kind is Kind.MELD:
        return MELD + MELD_FORMS * target + action.form
    return DISCARD + target


def decode(action: Action) -> Decoded:
    """Take the number of an action apart; ``ValueError`` if there is no such action."""
    if not isinstance(action, int | np.integer) or not 0 <= action < ACTIONS:
        raise ValueError(f"action {action!r}: an action is a whole number from 0 to {ACTIONS - 1}")
    if action == DRAW_STOCK:
        return Decoded(Kind.DRAW)
    if action < LAY_SET:
        return Decoded(Kind.TAKE, action - TAKE)
    if action < LAY_RUN:
        rank, form = divmod(action - LAY_SET, SET_FORMS)
        return Decoded(Kind.LAY_SET, rank, form=form)
    if action < MELD:
        base, form = divmod(action - LAY_RUN, RUN_FORMS)
        suit, low = divmod(base, RUN_STARTS)
        return Decoded(Kind.LAY_RUN, suit, low, form)
    if action < DISCARD:
        meld, form = divmod(action - MELD, MELD_FORMS)
        return Decoded(Kind.MELD, meld, form=form)
    return Decoded(Kind.DISCARD, action - DISCARD)


def base_cards(action: Action) -> list[int]:
    """Return the three cards of a base meld in order, 52 where a joker lies."""
    move = decode(action)
    if move.kind is Kind.LAY_SET:
        naturals = [card(suit, move.target) for suit in range(SUITS) if SET_SUITS[move.form] >> suit & 1]
        return naturals + [JOKER] * (3 - len(naturals))
    if move.kind is Kind.LAY_RUN:
        jokers = int(RUN_JOKERS[move.form])
        return [JOKER if jokers >> i & 1 else card(move.target, (move.low + i) % RANKS) for i in range(3)]
    raise ValueError(f"action {action} lays no base meld")


_LAYS: dict[tuple[int, ...], Action] = {tuple(base_cards(a)): a for a in range(LAY_SET, MELD)}
_SET_KIND = 1


def meld_action_card(action: Action, table: Any) -> int:
    """Return the card that an action at a table meld plays from the hand.

    ``table`` is a record with the fields ``meld_kind``, ``meld_base``, ``meld_low``, ``meld_size``, ``meld_jokers``
    and ``meld_cards``: a state or an observation. ``ValueError`` if the meld has no such place.
    """
    move = decode(action)
    m, k = move.target, move.form
    kind, base, jokers = (int(table[name][m]) for name in ("meld_kind", "meld_base", "meld_jokers"))
    low, size = int(table["meld_low"][m]), int(table["meld_size"][m])
    if kind == _SET_KIND:
        if k < SUITS:
            return card(k, base)
        missing = [suit for suit in range(SUITS) if table["meld_cards"][m][suit] < 0]
        if k == ATTACH_SET_JOKER or (k == SWAP_SET_JOKER and len(missing) == 1):
            return JOKER if k == ATTACH_SET_JOKER else card(missing[0], base)
    elif kind != 0:
        if k in (JOKER_BELOW, JOKER_ABOVE):
            return JOKER
        places = [place for place in range(PLACES) if jokers >> place & 1]
        if k in (NATURAL_BELOW, NATURAL_ABOVE):
            place = low - 1 if k == NATURAL_BELOW else low + size
        else:
            place = places[k - SWAP_RUN] if 0 <= k - SWAP_RUN < len(places) else -1
        if 0 <= place < PLACES:
            return card(base, place % RANKS)
    raise ValueError(f"action {action}: meld m{m} has no such place")


def format_action(action: Action, table: Any) -> str:
    """Return an action in notation; ``table`` as in :func:`meld_action_card`."""
    move = decode(action)
    if move.kind is Kind.DRAW:
        return "draw"
    if move.kind is Kind.TAKE:
        return f"take {move.target}"
    if move.kind in (Kind.LAY_SET, Kind.LAY_RUN):
        return "lay " + " ".join(format_card(c) for c in base_cards(action))
    if move.kind is Kind.DISCARD:
        return f"discard {format_card(move.target)}"
    m, k = move.target, move.form
    name = format_card(meld_action_card(action, table))
    if table["meld_kind"][m] == _SET_KIND:
        return f"attach {name} m{m}" if k < SWAP_SET_JOKER else f"swap {name} m{m}"
    if k >= SWAP_RUN:
        return f"swap {name} m{m} #{k - SWAP_RUN + 1}"
    return f"attach {name} m{m} " + ("low" if k < NATURAL_ABOVE else "high")


def parse_action(text: str) -> Action:
    """Return the number of an action in notation; ``ValueError`` for any other text.

    The card that an attach or a swap at a run names is not looked at: the place tells which it must be.
    """
    words = split_words("action", text)
    try:
        match words:
            case ["draw"]:
                return DRAW_STOCK
            case ["take", number] if 1 <= int(number) <= MAX_TAKE:
                return TAKE + int(number)
            case ["lay", *names]:
                return _LAYS[tuple(parse_card(name) for name in names)]
            case ["discard", name]:
                return DISCARD + parse_card(name)
            case ["attach" | "swap", name, meld, *place] if meld[0] == "m" and 0 <= int(meld[1:]) < MELDS:
                form = _parse_place(words[0], parse_card(name), place)
                return MELD + MELD_FORMS * int(meld[1:]) + form
    except (ValueError, KeyError):
        pass
    raise ValueError(
        f"action {text!r}: expected one like 'draw', 'take 3', 'lay Kc Kd *', 'attach Kh m0', "
        "'attach 7h m2 high', 'swap 6h m2 #1' or 'discard Th'"
    )


def _parse_place(verb: str, played: int, place: list[str]) -> int:
    """Return the form k of an attach or swap; ``ValueError`` or ``KeyError`` if there is none."""
    if verb == "swap":
        if not place:
            return SWAP_SET_JOKER
        number = int(place[0].removeprefix("#"))
        if len(place) != 1 or not place[0].startswith("#") or not 1 <= number <= SWAP_RUN_COUNT:
            raise ValueError(place)
        return SWAP_RUN + number - 1
    if not place:
        return ATTACH_SET_JOKER if played == JOKER else played // RANKS
    (side,) = place
    return {"low": NATURAL_BELOW, "high": NATURAL_ABOVE}[side] + (played == JOKER)


class IllegalAction(ValueError):  # noqa: N818 - the contract gives the name
    """An action that the rules do not allow now, or that does not exist; the message says why."""
