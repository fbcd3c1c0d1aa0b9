"""Named weights of the bots: defaults with what each is for, and others in place of some."""

from __future__ import annotations

import difflib
import importlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias, cast

import numpy as np

Weights: TypeAlias = Mapping[str, tuple[float, str]]
"""By name: the value, and what it weighs."""


FOLDER: Final = Path(__file__).parent / "weights"
"""Tuned weights, one JSON file a bot, as ``python -m train tune`` writes them."""


def weigh(agent: str, weights: Weights, others: Mapping[str, float]) -> np.ndarray:
    """Return the values in order, tuned ones where there are any, with ``others`` in place of some: float64[W].

    ``ValueError`` for an unknown name, and for what is not a finite number.
    """
    values = {name: value for name, (value, _) in weights.items()} | tuned(agent)
    for name, value in others.items():
        if name not in weights:
            near = difflib.get_close_matches(name, weights, n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise ValueError(f"no weight {name!r}{hint} (it has {', '.join(weights)})")
        if not math.isfinite(value):
            raise ValueError(f"{name}={value}: expected a finite number")
        values[name] = value
    return np.array([values[name] for name in weights])


def tuned(agent: str) -> dict[str, float]:
    """Return the tuned weights of a bot; none if there is no file of them."""
    path = FOLDER / f"{agent}.json"
    if not path.exists():
        return {}
    return dict(json.loads(path.read_text(encoding="utf-8"))["weights"])


def weights_of(agent: str) -> Weights:
    """Return the weights of a bot; ``ValueError`` if it has none."""
    modules = {"careful": "agents.careful", "planner": "agents.planner"}
    if agent not in modules:
        raise ValueError(f"agent {agent!r}: has no weights (expected {', '.join(modules)})")
    return cast(Weights, importlib.import_module(modules[agent]).WEIGHTS)
