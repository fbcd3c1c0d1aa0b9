"""Why an action is not legal, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env import actions as act
from jolly_env.actions import ACTIONS, Kind, base_cards, decode, format_action, meld_action_card
from jolly_env.cards import JOKER, PLACES, SUIT_CHARS, SUITS, format_cards
from jolly_env.rules import HAND_LIMIT, OPENING_POINTS
from jolly_env.state import DRAW, GAME_OVER, ROUND_OVER, SET


def why_not(state: Any, action: int) -> str:
    """Return why ``action``, which is not legal in ``state``, is not: one sentence that cites the clause."""
    if not isinstance(action, int | np.integer) or not 0 <= action < ACTIONS:
        return f"action {action!r}: an action is a number from 0 to {ACTIONS - 1}"
    return f"{_name(state, action)}: {_reason(state, action)}"


def _name(state: Any, action: int) -> str:
    """Return the action in notation, or its number where the table has no such place."""
    try:
        return format_action(action, state)
    except ValueError:
        return f"action {action}"


def _reason(state: Any, action: int) -> str:
    """Return the first obstacle that stands in the action's way."""
    if state["phase"] == GAME_OVER:
        return "the game is over (R18)"
    if state["phase"] == ROUND_OVER:
        return "the round is over (R13)"
    kind = decode(action).kind
    if state["phase"] == DRAW:
        if kind not in (Kind.DRAW, Kind.TAKE):
            return "a turn begins with a draw (R6)"
        found = _draw_reason(state, action)
    elif kind in (Kind.DRAW, Kind.TAKE):
        return "there is one draw a turn, and it is made (R6)"
    elif kind is Kind.DISCARD:
        found = _discard_reason(state, action)
    elif kind is Kind.MELD:
        found = _meld_reason(state, action)
    else:
        lacking = _missing(state, base_cards(action), "R3" if kind is Kind.LAY_SET else "R4")
        found = lacking or _too_few(state, 3) or _opening_reason(state)
    return found or "it is not legal here"


def _draw_reason(state: Any, action: int) -> str:
    """Return why a draw is not legal (R6, R7)."""
    seat, count = int(state["seat"]), action - act.TAKE
    hand, limit = int(state["hand_size"][seat]), int(state["rules"][HAND_LIMIT])
    if action == act.DRAW_STOCK:
        return "the stock is empty (R12)" if state["stock_size"] == 0 else ""
    if state["opened_turn"][seat] < 0:
        return "only a player who had opened before this turn takes from the row (R6)"
    if count > state["row_size"]:
        return f"the row has {_count(int(state['row_size']))} (R6)"
    if hand + count > limit:
        return f"{_count(hand)} in hand and {count} more exceed the hand limit of {limit} (R7)"
    return ""


def _discard_reason(state: Any, action: int) -> str:
    """Return why a discard is not legal (R8, R11)."""
    card = action - act.DISCARD
    missing = _missing(state, [card], "R11")
    if missing:
        return missing
    if state["opened_turn"][int(state["seat"])] < 0 and state["opening_laid"] > 0:
        need = int(state["rules"][OPENING_POINTS])
        return f"{int(state['opening_laid'])} of the {need} points to open lie, and no discard before they do (R8)"
    return ""


def _meld_reason(state: Any, action: int) -> str:
    """Return why an attach or a swap is not legal (R3 to R5, R8 to R11)."""
    move = decode(action)
    meld, form = move.target, move.form
    count = int(state["meld_count"])
    if meld >= count:
        return f"there is no meld m{meld}: {count or 'no'} meld{'' if count == 1 else 's'} on the table (R9)"
    is_set = state["meld_kind"][meld] == SET
    found = _set_place_reason(state, meld, form) if is_set else _run_place_reason(state, meld, form)
    if found:
        return found
    swap = form == act.SWAP_SET_JOKER if is_set else form >= act.SWAP_RUN
    if state["opened_turn"][int(state["seat"])] < 0:
        if swap:
            return "only a player who has opened swaps a joker (R8, R10)"
        if state["meld_turn"][meld] != state["turn"]:
            return f"a player who has not opened attaches to melds of this turn only, and m{meld} is older (R8)"
    found = _missing(state, [meld_action_card(action, state)], "R10" if swap else "R9")
    if found or swap:
        return found
    return _too_few(state, 1) or _opening_reason(state)


def _set_place_reason(state: Any, meld: int, form: int) -> str:
    """Return why a set has no place for this, whoever asks (R3, R5, R10)."""
    suits = [suit for suit in range(SUITS) if state["meld_cards"][meld][suit] >= 0]
    joker = state["meld_jokers"][meld] != 0
    if form > act.SWAP_SET_JOKER:
        return f"a set, as m{meld} is, has no such place (R3)"
    if form == act.SWAP_SET_JOKER:
        if not joker:
            return f"m{meld} has no joker (R10)"
        lying = "".join(SUIT_CHARS[suit] for suit in suits)
        return "" if len(suits) == 3 else f"the other three suits must lie in m{meld}, and only {lying} do (R10)"
    if form < SUITS and form in suits:
        return f"this suit lies in m{meld} already (R3)"
    if len(suits) + joker == 4:
        if joker and form < SUITS:
            return f"the card that the joker of m{meld} stands for is swapped in, not attached (R5)"
        return f"m{meld} is a complete set of four (R3)"
    if form == act.ATTACH_SET_JOKER and joker:
        return f"m{meld} has a joker, and a set takes one (R3)"
    return ""


def _run_place_reason(state: Any, meld: int, form: int) -> str:
    """Return why a run has no place for this, whoever asks (R4, R5, R10)."""
    low, jokers = int(state["meld_low"][meld]), int(state["meld_jokers"][meld])
    high = low + int(state["meld_size"][meld]) - 1
    if form >= act.SWAP_RUN:
        index = form - act.SWAP_RUN
        if jokers.bit_count() <= index:
            return f"m{meld} has {jokers.bit_count() or 'no'} joker{'s' if jokers.bit_count() != 1 else ''} (R10)"
        return ""
    if form > act.JOKER_ABOVE:
        return f"a run, as m{meld} is, has no such place (R4)"
    below = form in (act.NATURAL_BELOW, act.JOKER_BELOW)
    end = low if below else high
    if end == (0 if below else PLACES - 1):
        return f"nothing goes {'below' if below else 'above'} the ace of m{meld} (R4)"
    if form in (act.JOKER_BELOW, act.JOKER_ABOVE) and jokers >> end & 1:
        return f"there is a joker at this end of m{meld}, and no two are neighbours in a run (R5)"
    return ""


def _missing(state: Any, cards: list[int], clause: str) -> str:
    """Return which of the cards the hand lacks, if any."""
    hand = state["hands"][int(state["seat"])]
    lacking = [card for card in sorted(set(cards)) if hand[card] < cards.count(card)]
    if lacking == [JOKER] and cards.count(JOKER) > 1 and hand[JOKER] > 0:
        return f"it takes {cards.count(JOKER)} jokers, and the hand has {int(hand[JOKER])} (R5)"
    if not lacking:
        return ""
    return f"{format_cards(lacking)} {'is' if len(lacking) == 1 else 'are'} not in the hand ({clause})"


def _too_few(state: Any, count: int) -> str:
    """Return that a play of ``count`` cards would leave none to discard, if so (R11)."""
    hand = int(state["hand_size"][int(state["seat"])])
    return f"with {_count(hand)} in hand it would leave none to discard (R11)" if hand <= count else ""


def _opening_reason(state: Any) -> str:
    """Return that the opening could no longer succeed: what is left where a seat has not opened (R8)."""
    if state["opened_turn"][int(state["seat"])] >= 0:
        return ""
    need, laid = int(state["rules"][OPENING_POINTS]), int(state["opening_laid"])
    so_far = f", of which {laid} lie," if laid else ""
    return f"after it the {need} points to open{so_far} could not be reached in this turn with a card left (R8)"


def _count(cards: int) -> str:
    """Return a number of cards in words."""
    return "no card" if cards == 0 else "1 card" if cards == 1 else f"{cards} cards"
