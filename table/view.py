"""What is shown of a game as JSON: what everybody may see, and what one seat or a watcher sees besides.

The form is that of docs/table-protocol.md. Nothing here decides who may see what is not his own: :func:`frame` and
``open_hands`` are for positions without a person at the table.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jolly_env.cards import RANKS, card
from jolly_env.game import Game
from jolly_env.state import Ending, MeldKind, Phase

PHASES = {Phase.DRAW: "draw", Phase.PLAY: "play", Phase.ROUND_OVER: "round over", Phase.GAME_OVER: "game over"}
ENDINGS = {Ending.CLOSED: "closed", Ending.EXHAUSTED: "exhausted", Ending.CUT_OFF: "cut off"}


def public(game: Game) -> dict[str, Any]:
    """Return what everybody at a table may see of its game."""
    state = game.state
    phase = game.phase
    return {
        "round": int(state["round"]),
        "turn": int(state["turn"]),
        "seat": game.seat,
        "phase": PHASES[phase],
        "stock": int(state["stock_size"]),
        "row": state["row_cards"][: int(state["row_size"])].tolist(),
        "hand_limit": game.rules.hand_limit,
        "opening_points": game.rules.opening_points,
        "opening_laid": int(state["opening_laid"]),
        "melds": _melds(state),
        "outcome": _outcome(game) if phase in (Phase.ROUND_OVER, Phase.GAME_OVER) else None,
    }


def hand(game: Game, seat: int) -> list[int]:
    """Return the cards of a hand, by suit."""
    return [number for number, count in enumerate(game.state["hands"][seat].tolist()) for _ in range(count)]


def players(game: Game, shown: bool) -> list[dict[str, Any]]:
    """Return what is seen of each player, with all hands or none."""
    state, totals = game.state, game.totals
    sizes, laid, opened = (state[name].tolist() for name in ("hand_size", "laid", "opened_turn"))
    over = game.phase in (Phase.ROUND_OVER, Phase.GAME_OVER)
    scores: list[int | None] = [*game.scores] if over else [None] * game.players
    return [
        {
            "total": totals[seat],
            "hand_size": sizes[seat],
            "laid": laid[seat],
            "opened": opened[seat] >= 0,
            "hand": hand(game, seat) if shown else None,
            "score": scores[seat],
        }
        for seat in range(game.players)
    ]


def open_view(game: Game, names: Sequence[str]) -> dict[str, Any]:
    """Return the view of somebody who sees all hands, of a game that nobody else plays."""
    seen = players(game, True)
    for seat, player in enumerate(seen):
        player |= {"seat": seat, "name": names[seat], "kind": "agent", "player": None, "here": True, "ready": False}
    state = {Phase.ROUND_OVER: "round over", Phase.GAME_OVER: "finished"}.get(game.phase, "playing")
    return {
        "type": "view",
        "state": state,
        "you": None,
        "watch": True,
        "target": game.rules.target,
        "seconds": None,
        "left": None,
        "paused": False,
        **public(game),
        "players": seen,
        "legal": [int(action) for action in game.legal_actions()],
        "last": None,
    }


def frame(game: Game, names: Sequence[str], n: int, text: str | None, seat: int | None) -> dict[str, Any]:
    """Return a position with what was played to get there."""
    return {"n": n, "text": text, "seat": seat, "view": open_view(game, names), "position": game.to_json()}


def _melds(state: Any) -> list[dict[str, Any]]:
    """Return the melds of a state."""
    count, turn = int(state["meld_count"]), int(state["turn"])
    facts = [state[name][:count].tolist() for name in ("meld_kind", "meld_base", "meld_low", "meld_turn")]
    laid = [cards.tobytes() for cards in state["meld_cards"][:count]]
    by = [seats.tobytes() for seats in state["meld_seats"][:count]]
    return [
        _meld(kind == MeldKind.RUN, base, low, laid_in == turn, cards, seats)
        for kind, base, low, laid_in, cards, seats in zip(*facts, laid, by, strict=True)
    ]


@functools.lru_cache(maxsize=1 << 14)
def _meld(run: bool, base: int, low: int, fresh: bool, laid: bytes, by: bytes) -> dict[str, Any]:
    """Return a meld, which most moves at a table leave as it was; ``laid`` and ``by`` are bytes of its slots."""
    cards, seats = np.frombuffer(laid, dtype=np.int16).tolist(), np.frombuffer(by, dtype=np.int16).tolist()
    return {
        "set": not run,
        "base": base,
        "low": low if run else 0,
        "fresh": fresh,
        "cards": [
            [number, card(base, slot % RANKS) if run else number, seats[slot]]
            for slot, number in enumerate(cards)
            if number >= 0
        ],
    }


def _outcome(game: Game) -> dict[str, Any]:
    """Return how a round, and perhaps the game, ended."""
    totals = game.totals
    return {
        "closer": game.closer,
        "hand_jolly": game.hand_jolly,
        "ending": ENDINGS.get(game.ending, "closed"),
        "scores": game.scores,
        "totals": totals,
        "winners": [seat for seat, total in enumerate(totals) if total == max(totals)] if game.over else [],
    }
