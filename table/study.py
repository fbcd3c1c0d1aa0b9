"""Positions and records that somebody hands in: looked at, played on, taken apart into frames.

There is no person at such a table, so all hands are open. These functions take a while and run in processes.
"""

from __future__ import annotations

from typing import Any

from jolly_env import record
from jolly_env.actions import IllegalAction
from jolly_env.game import Game
from jolly_env.state import Phase
from table import view
from table.refused import Refused


def read_position(position: Any) -> Game:
    """Return the game of a position; ``Refused`` says what is wrong where."""
    try:
        return Game.from_json(position)
    except (ValueError, RecursionError) as error:
        raise Refused("bad-position", str(error), 400) from None


def position_frame(position: Any) -> dict[str, Any]:
    """Return the frame of a position."""
    game = read_position(position)
    return view.frame(game, _names(game.players), 0, None, None)


def step_frame(position: Any, action: int | None) -> dict[str, Any]:
    """Return the frame after an action, or after the next round is dealt (None)."""
    game = read_position(position)
    seat = game.seat
    try:
        if action is None:
            game.next_round()
            return view.frame(game, _names(game.players), 0, None, None)
        if game.phase not in (Phase.DRAW, Phase.PLAY):
            raise Refused("no-round", "No round is being played in this position.", 400)
        if not game.is_legal(action):
            game.step(action)  # which says why not
        text = game.format(action)
        game.step(action)
    except (IllegalAction, ValueError) as error:
        raise Refused("illegal", str(error), 400) from None
    return view.frame(game, _names(game.players), 0, text, seat)


def record_frames(document: Any, number: int) -> dict[str, Any]:
    """Return the frames of one round of a record, which is replayed and checked up to its end."""
    found: list[dict[str, Any]] = []
    try:
        rounds = record.check_form(document)["rounds"]
        if not 0 <= number < len(rounds):
            raise Refused("no-round", f"round {number}: the record has rounds 0 to {len(rounds) - 1}.", 400)
        names = [str(name) for name in document["agents"]]
        texts = [(k, text) for k, played in enumerate(rounds) for text in (None, *played["actions"])]
        mover: int | None = None
        for (k, text), game in zip(texts, record.replay(document), strict=True):
            if k == number:
                found.append(view.frame(game, names, len(found), text, None if text is None else mover))
            mover = game.seat
    except (ValueError, RecursionError) as error:
        raise Refused("bad-record", str(error), 400) from None
    return {"rounds": len(rounds), "agents": names, "frames": found}


def _names(players: int) -> list[str]:
    """Return names for seats of which nothing is known."""
    return [f"player_{seat}" for seat in range(players)]
