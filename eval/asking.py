"""Asking agents: what they return is checked, and an agent that fails costs only itself.

Letters: ``B`` decisions asked at once.
"""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np

from jolly_env.actions import ACTIONS, DISCARD, DRAW_STOCK, IllegalAction
from jolly_env.agent import Agent
from jolly_env.batch import Batch
from jolly_env.state import Phase


def ask(name: str, agent: Agent, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """Return an agent's actions in ``rows``: int64[B]; ``ValueError`` that names it if they can't be played."""
    actions = _answer(name, agent, batch, rows)
    bad = np.flatnonzero(~_legal(actions, batch, rows))
    if bad.size:
        raise IllegalAction(_not_legal(name, actions[bad[0]]))
    return actions


def ask_kindly(name: str, agent: Agent, batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
    """Return actions, and what is wrong by index for those that can't be played: int64[B], 0 where there is none.

    An agent that fails on several decisions at once is asked for each alone; if it fails on none of them alone, it
    is not to be relied on, and fails in all.
    """
    try:
        actions = _answer(name, agent, batch, rows)
    except ValueError as error:
        if len(rows) == 1:
            return np.zeros(1, dtype=np.int64), {0: str(error)}
        alone = [ask_kindly(name, agent, batch, rows[i : i + 1]) for i in range(len(rows))]
        faults = {i: told[0] for i, (_, told) in enumerate(alone) if told}
        if not faults:
            text = f"{error} (on {len(rows)} decisions together, and on none of them alone)"
            faults = dict.fromkeys(range(len(rows)), text)
        return np.concatenate([action for action, _ in alone]), faults
    bad = np.flatnonzero(~_legal(actions, batch, rows))
    faults = {int(i): _not_legal(name, actions[i]) for i in bad}
    actions[bad] = 0
    return actions, faults


def forfeit(state: Any, mask: np.ndarray, drawn: int) -> int:
    """Return what a seat plays that has lost its say: int8[839] -> action.

    It draws from the stock, or by the lowest legal draw, and discards what it drew, ``drawn`` (-1: not known), or by
    the lowest legal discard; where an opening has to be gone on with (R8), it plays the lowest legal action.
    """
    legal = np.flatnonzero(mask)
    if state["phase"] == Phase.DRAW:
        return DRAW_STOCK if mask[DRAW_STOCK] else int(legal[0])
    if drawn >= 0 and mask[DISCARD + drawn]:
        return DISCARD + drawn
    discards = legal[legal >= DISCARD]
    return int(discards[0]) if discards.size else int(legal[0])


def _answer(name: str, agent: Agent, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """Return whole numbers[B] as an agent gives them; ``ValueError`` if it fails or gives something else."""
    # Copies, which an agent may keep; `take` copies records six times as fast as an index does.
    views = batch.observations.take(rows), batch.masks.take(rows, axis=0), batch.keys[rows]
    try:
        actions = np.asarray(agent.act(*views))
    except (Exception, SystemExit) as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise ValueError(
            f"agent {name}: act failed: {type(error).__name__}: {error} ({where.filename}, line {where.lineno})"
        ) from error
    if actions.shape != rows.shape or not np.issubdtype(actions.dtype, np.integer):
        raise IllegalAction(
            f"agent {name}: act returned {actions.dtype}{list(actions.shape)}, expected whole numbers[{len(rows)}]"
        )
    if actions.dtype == np.uint64:  # what does not fit int64 is not legal either
        actions = np.minimum(actions, np.uint64(ACTIONS))
    return actions.astype(np.int64)


def _legal(actions: np.ndarray, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """Tell which actions are legal in their rows: bool[B]."""
    legal = (actions >= 0) & (actions < ACTIONS)
    legal[legal] = batch.masks[rows[legal], actions[legal]] != 0
    return legal


def _not_legal(name: str, action: Any) -> str:
    """Return the message for an action that is not legal."""
    return f"agent {name}: act returned {action}, which is not legal there"
