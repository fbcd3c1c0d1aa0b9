"""Who plays: bots and policies, made by name with :func:`make`. Importing this package imports no torch."""

from __future__ import annotations

from agents.registry import LEVELS, NAMES, make

__all__ = ["LEVELS", "NAMES", "make"]
