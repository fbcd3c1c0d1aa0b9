"""The champion: the trained networks that come with the project, one for two players and one for more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.policy import PolicyAgent, load
from jolly_env.arrays import check_decisions, check_observations
from jolly_env.rules import PLAYERS

FOLDERS: Final = tuple(Path(__file__).parent / "weights" / name for name in ("champion-two", "champion-many"))
"""Where the networks for two players and for more lie: weights.safetensors and agent.json, and how they were made."""


class ChampionAgent:
    """Plays the action that a trained network likes best. It knows the options of its decision, no more."""

    def __init__(self) -> None:
        """Load both networks; ``ValueError`` if one is damaged or does not fit."""
        self._two, self._many = (load(folder) for folder in FOLDERS)

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return legal actions: int64[B]; ``ValueError`` where there is none, or for other arrays."""
        masks, keys = check_decisions(masks, keys)
        records = check_observations(observations, len(masks))
        actions = np.zeros(len(masks), dtype=np.int64)
        for agent, rows in self._shared(records):
            actions[rows] = agent.act(records[rows], masks[rows], keys[rows])
        return actions

    def scores(self, records: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return how much each action is liked, as logarithms: OBSERVATION[B], int8[B, 839] -> float64[B, 839]."""
        scores = np.zeros(masks.shape)
        for agent, rows in self._shared(records):
            scores[rows] = agent.scores(records[rows], masks[rows])
        return scores

    def _shared(self, records: np.ndarray) -> Iterator[tuple[PolicyAgent, np.ndarray]]:
        """Yield each network that is needed, with its rows of OBSERVATION[B]."""
        two = records["rules"][:, PLAYERS] == 2
        for agent, rows in ((self._two, np.flatnonzero(two)), (self._many, np.flatnonzero(~two))):
            if len(rows):
                yield agent, rows
