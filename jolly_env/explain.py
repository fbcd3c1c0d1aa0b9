"""Why an action is not legal, in words."""

from __future__ import annotations

from typing import Any

from jolly_env.actions import ACTIONS


def why_not(state: Any, action: int) -> str:
    """Return why ``action`` is not legal in ``state``, citing the clause."""
    if not 0 <= action < ACTIONS:
        return f"action {action}: an action is a number from 0 to {ACTIONS - 1}"
    return f"action {action} is not legal"
