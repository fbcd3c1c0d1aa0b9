"""A position as a JSON document that a person can read, edit and write by hand; and back.

::

    {"rules": {"opening_points": 30},                 fields of Rules that differ from the default
     "round": 0, "turn": 6, "seat": 0,                rounds and turns finished; seat to move
     "phase": "play",                                 draw, play, round over, game over
     "hands": ["Ac 2d *", "Th 9h Kc Kd"],             the only key that must be there
     "melds": [{"cards": "5h 6h *7h", "seats": 0, "turn": 6}, {"cards": "Kc Kd Kh *", "seats": [1, 1, 1, 0]}],
     "opened": [null, 1],                             turn in which each seat opened
     "row": [["Th", 1], ["2c", 0]],                   oldest first, with who discarded it; or "Th 2c"
     "stock": "Ks 4d ...",                            as it will be drawn; "...": the other cards, shuffled by "seed"
     "seed": 7,
     "known": ["2d", ""], "discarded": ["2c 2c", "Th"],   public knowledge, by seat
     "draws": [3, 3],                                 draws from the stock since it was made
     "recycled": {"times": 1, "size": 20, "left": ["...", "..."]},
     "history": [[0, "draw"], [0, "discard 2c"]],     the last public actions, in notation or as numbers
     "decisions": [9, 8], "totals": [0, 0],
     "last_round": {"ending": "closed", "closer": 0, "hand_jolly": false, "scores": [80, -20]},
     "truncated": false,
     "random": {"rng": "123", "key": "456"},          in place of "seed": the state of the two streams
     "leftovers": {...}}                              what is no longer read, so that every byte comes back

Laid points, the points laid in this turn and unseen counts are derived. A meld without a turn, or with null, was
laid before this turn; a single number for "seats" is one seat for all its cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env import document as doc
from jolly_env.actions import ACTIONS, MELD, format_action
from jolly_env.cards import CARD_KINDS, JOKER, Card, format_cards
from jolly_env.game import Game
from jolly_env.notation import format_meld, meld_slots
from jolly_env.position_check import check_position
from jolly_env.position_read import (
    ENDINGS,
    PHASES,
    Tally,
    empty_state,
    read_hands,
    read_history,
    read_last_round,
    read_leftovers,
    read_melds,
    read_moment,
    read_opened,
    read_public,
    read_random,
    read_recycled,
    read_row,
    read_stock,
)
from jolly_env.rules import MAX_PLAYERS, Rules
from jolly_env.state import HISTORY, MAX_CARDS, STATE, Ending, Phase

FORMAT, VERSION = "jolly position", 1
KEYS = (
    *("format", "version", "rules", "round", "turn", "seat", "phase", "hands", "melds", "opened", "row", "stock"),
    *("seed", "known", "discarded", "draws", "recycled", "history", "decisions", "totals", "last_round", "truncated"),
    *("random", "leftovers"),
)


def from_json(document: Any) -> Game:
    """Return the game that goes on from a position; its log is empty.

    What is left out takes the value of a round in which nothing else has happened. ``ValueError`` names the first
    inconsistency and where it stands.
    """
    fields = doc.members(document, "position", KEYS, ("hands",))
    doc.heading(fields, "position", FORMAT, VERSION)
    rules = doc.rules(fields.get("rules", {}), "rules")
    state = empty_state(rules)
    tally = Tally(rules.counts())
    read_moment(fields, rules, state[0])
    read_hands(fields, rules, state[0], tally)
    read_melds(fields, rules, state[0], tally)
    read_row(fields, rules, state[0], tally)
    read_opened(fields, rules, state[0])
    left_over = read_leftovers(fields, rules, state[0])
    read_stock(fields, state[0], tally, left_over)
    read_public(fields, rules, state[0])
    read_recycled(fields, rules, state[0], left_over)
    read_history(fields, rules, state[0], left_over)
    read_last_round(fields, rules, state[0])
    read_random(fields, state[0])
    state["hidden"] = rules.counts() - tally.on_table
    check_position(state[0], rules)
    game = Game.from_state(state)
    if game.phase in (Phase.DRAW, Phase.PLAY) and not game.state["legal"].any():
        raise ValueError(
            "hands: no draw is legal, so the round would have ended (R12)"
            if game.phase is Phase.DRAW
            else "melds: what lies of this turn can no longer become an opening with a card left to discard (R8)"
        )
    return game


def to_json(game: Any) -> dict[str, Any]:
    """Return the position of a game, or of a state (STATE[1] or a record), with every field.

    ``ValueError`` for anything else.
    """
    state = getattr(game, "states", game)
    if getattr(state, "dtype", None) != STATE or np.shape(state) not in ((), (1,)):
        raise ValueError(f"position: expected a jolly_env.Game or one state, got {type(game).__name__}")
    state = state[0] if np.ndim(state) else state
    rules = Rules.from_numbers(state["rules"], state["pack"])
    seats = range(rules.players)
    top, size = int(state["stock_top"]), int(state["stock_size"])
    opened = [int(turn) for turn in state["opened_turn"][seats]]
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": rules.to_json(),
        "round": int(state["round"]),
        "turn": int(state["turn"]),
        "seat": int(state["seat"]),
        "phase": PHASES[Phase(int(state["phase"]))],
        "hands": [_counted(state["hands"][seat]) for seat in seats],
        "melds": [_meld(state, meld) for meld in range(state["meld_count"])],
        "opened": [None if turn < 0 else turn for turn in opened],
        "row": [
            [format_cards([state["row_cards"][i]]), int(state["row_seats"][i])] for i in range(int(state["row_size"]))
        ],
        "stock": format_cards(state["stock"][top : top + size]),
        "known": [_counted(state["known"][seat]) for seat in seats],
        "discarded": [_counted(state["discarded"][seat]) for seat in seats],
        "draws": [int(n) for n in state["draws"][seats]],
        "recycled": _recycled(state, rules.players),
        "history": _history(state, int(state["history_end"]) - HISTORY, int(state["history_end"])),
        "decisions": [int(n) for n in state["decisions"][seats]],
        "totals": [int(n) for n in state["totals"][seats]],
        "last_round": _last_round(state, rules.players),
        "truncated": bool(state["truncated"]),
        "random": {"rng": str(int(state["rng"])), "key": str(int(state["key"]))},
        "leftovers": _leftovers(state, rules.players),
    }


def _counted(counts: Any) -> str:
    """Return cards given as counts."""
    cards: list[Card] = [c for c in range(CARD_KINDS) for _ in range(int(counts[c]))]
    return format_cards(cards)


def _meld(state: Any, meld: int) -> dict[str, Any]:
    """Return a meld with who laid each card and when."""
    turn = int(state["meld_turn"][meld])
    seats = [int(state["meld_seats"][meld][slot]) for slot in meld_slots(state, meld)]
    return {"cards": format_meld(state, meld), "seats": seats, "turn": None if turn < 0 else turn}


def _recycled(state: Any, players: int) -> dict[str, Any] | None:
    """Return what the last recycling put into the stock, less each seat's draws since; None if there was none."""
    if state["recycles"] == 0:
        return None
    left = [_counted(state["recycled"][seat]) for seat in range(players)]
    return {"times": int(state["recycles"]), "size": int(state["recycled_size"]), "left": left}


def _history(state: Any, start: int, end: int) -> list[list[Any]]:
    """Return the actions that the history holds from ``start`` to ``end``; what depends on the melds as a number."""
    found: list[list[Any]] = []
    for i in range(start, end):
        seat, action = int(state["history_seats"][i]), int(state["history_actions"][i])
        if action >= 0:
            at_meld = MELD <= action < ACTIONS - JOKER - 1
            found.append([seat, action if at_meld else format_action(action, state)])
    return found


def _last_round(state: Any, players: int) -> dict[str, Any]:
    """Return the outcome of the last finished round."""
    closer = int(state["closer"])
    return {
        "ending": ENDINGS[Ending(int(state["ending"]))],
        "closer": None if closer < 0 else closer,
        "hand_jolly": bool(state["hand_jolly"]),
        "scores": [int(n) for n in state["scores"][:players]],
    }


def _leftovers(state: Any, players: int) -> dict[str, Any]:
    """Return what is in the state without being read: drawn cards, older actions, absent seats' counts."""
    top, size, end = (int(state[name]) for name in ("stock_top", "stock_size", "history_end"))
    after = [int(c) for c in state["stock"][top + size : MAX_CARDS]]
    while after and after[-1] == 0:
        after.pop()
    pairs = [
        [int(seat), int(action)] if action >= 0 else None
        for seat, action in zip(state["history_seats"], state["history_actions"], strict=True)
    ]
    outside = pairs[: end - HISTORY] + pairs[end:]
    return {
        "stock_before": format_cards(state["stock"][:top]),
        "stock_after": format_cards(after),
        "history_end": end,
        "history": outside if any(outside) else [],
        "recycled": [_counted(state["recycled"][seat]) for seat in range(players, MAX_PLAYERS)],
    }
