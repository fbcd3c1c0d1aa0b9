"""Whether the parts of a position agree with each other and with the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env.cards import CARD_KINDS, format_card
from jolly_env.rules import Rules
from jolly_env.state import Ending, Phase


def check_position(state: Any, rules: Rules) -> None:
    """Make sure that play can go on from a state; ``ValueError`` names the first part that does not agree."""
    over = state["phase"] in (Phase.ROUND_OVER, Phase.GAME_OVER)
    _check_hands(state, rules)
    if not over:
        _check_turn(state, rules)
    _check_opened(state, rules, over=over)
    _check_knowledge(state, rules)
    _check_game(state, rules, over=over)
    if state["phase"] == Phase.DRAW and state["stock_size"] == 0 and state["row_size"] > rules.recycle_keep:
        raise ValueError("stock: it is empty as a turn begins, so the row would have been recycled (R12)")


def _check_hands(state: Any, rules: Rules) -> None:
    """Nobody's hand is empty but that of whoever closed the round (R11, R13)."""
    over = state["phase"] in (Phase.ROUND_OVER, Phase.GAME_OVER)
    closer = int(state["closer"]) if over and state["ending"] == Ending.CLOSED else -1
    if over and state["ending"] == Ending.CLOSED and closer < 0:
        raise ValueError("last_round.closer: the round was closed, so somebody closed it (R13)")
    for seat in range(rules.players):
        if (state["hand_size"][seat] == 0) != (seat == closer):
            what = (
                "is empty, though the seat has not closed" if seat != closer else "holds cards, though the seat closed"
            )
            raise ValueError(f"hands[{seat}]: it {what} the round (R13)")


def _check_turn(state: Any, rules: Rules) -> None:
    """What was laid in this turn is of the seat to move, after its draw, and fitted its hand (R6, R7)."""
    mover, turn = int(state["seat"]), int(state["turn"])
    fresh = 0
    for m in range(int(state["meld_count"])):
        if state["meld_turn"][m] != turn:
            continue
        if state["phase"] == Phase.DRAW:
            raise ValueError(f"melds[{m}].turn: nothing is laid in turn {turn} before its draw (R6)")
        seats = {int(seat) for seat in state["meld_seats"][m] if seat >= 0}
        if seats != {mover}:
            raise ValueError(f"melds[{m}].seats: it was laid in this turn, so seat {mover} laid all of it")
        fresh += int(state["meld_size"][m])
    if fresh + state["hand_size"][mover] > rules.hand_limit:
        total = fresh + int(state["hand_size"][mover])
        raise ValueError(
            f"melds: seat {mover} would have held {total} cards in this turn, and the limit is {rules.hand_limit} (R7)"
        )


def _check_opened(state: Any, rules: Rules, *, over: bool) -> None:
    """Who has opened has something on the table; who has not, only the melds of an opening begun (R8)."""
    mover, turn = int(state["seat"]), int(state["turn"])
    for seat in range(rules.players):
        path = f"opened[{seat}]"
        melds = [m for m in range(int(state["meld_count"])) if (state["meld_seats"][m] == seat).any()]
        opened = int(state["opened_turn"][seat])
        if opened >= 0:
            if not melds:
                raise ValueError(f"{path}: the seat has opened, but nothing of it lies on the table (R8)")
            if opened == turn and state["phase"] == Phase.DRAW:
                raise ValueError(f"{path}: nobody opens in turn {turn} before its draw (R6, R8)")
        elif melds:
            if over or seat != mover or any(state["meld_turn"][m] != turn for m in melds):
                raise ValueError(f"{path}: cards of the seat lie on the table, so it has opened (R8)")
            if state["laid"][seat] >= rules.opening_points:
                laid = int(state["laid"][seat])
                raise ValueError(f"{path}: {laid} points lie, so the seat opened in this turn, {turn} (R8)")


def _check_knowledge(state: Any, rules: Rules) -> None:
    """Public knowledge is true, and the counts of drawn cards fit the stock."""
    for seat in range(rules.players):
        false = np.flatnonzero(state["known"][seat] > state["hands"][seat])
        if len(false):
            raise ValueError(f"known[{seat}]: {format_card(int(false[0]))} is not that often in the hand")
    for name, most in (("discarded", np.where(rules.counts() > 0, 2**15, 0)), ("recycled", rules.counts())):
        strange = np.argwhere(state[name][: rules.players] > most)
        if len(strange):
            seat, card = (int(n) for n in strange[0])
            path = f"{name}[{seat}]" if name == "discarded" else f"recycled.left[{seat}]"
            raise ValueError(f"{path}: {format_card(card)} is here more often than the pack has it (R1)")
    drawn, size = int(state["draws"].sum()), int(state["stock_size"])
    if state["recycles"] == 0:
        if drawn + size > rules.cards:
            raise ValueError(f"draws: {drawn} cards drawn and {size} in the stock are more than the pack has")
        return
    if drawn + size != state["recycled_size"]:
        raise ValueError(
            f"draws: {drawn} cards drawn and {size} in the stock are not the {state['recycled_size']} recycled"
        )
    top = int(state["stock_top"])
    stock = np.bincount(state["stock"][top : top + size], minlength=CARD_KINDS)
    for seat in range(rules.players):
        false = np.flatnonzero(stock > state["recycled"][seat])
        if len(false):
            raise ValueError(f"recycled.left[{seat}]: {format_card(int(false[0]))} is more often in the stock (R12)")


def _check_game(state: Any, rules: Rules, *, over: bool) -> None:
    """Totals and the number of rounds agree with whether the game goes on (R18)."""
    best = max(int(n) for n in state["totals"][: rules.players])
    out_of_rounds = state["round"] + 1 >= rules.max_rounds
    if not over:
        if state["truncated"]:
            raise ValueError("truncated: only a game that is over is cut off (R17)")
        if rules.target is None and state["round"] > 0:
            raise ValueError("round: without a target one round is the whole game (R18)")
        if rules.target is not None and best >= rules.target:
            raise ValueError(f"totals: the target of {rules.target} is reached, so the game is over (R18)")
        return
    reached = rules.target is None or best >= rules.target
    if (state["phase"] == Phase.GAME_OVER) != (reached or out_of_rounds):
        whether = "is" if reached or out_of_rounds else "is not"
        raise ValueError(f"phase: by totals and rounds the game {whether} over (R18)")
