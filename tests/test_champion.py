"""The networks that come with the project: small, at home at all tables, and made in a way that is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.champion import FOLDERS
from jolly_env import Rules
from jolly_env.batch import Batch

MOST_BYTES = 10_000_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_is_known_how_they_were_made(folder: Path) -> None:
    made = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    agent = json.loads((folder / "agent.json").read_text(encoding="utf-8"))
    sealed = json.loads((folder / "sealed.json").read_text(encoding="utf-8"))
    players = made["config"]["players"]
    assert made["command"].startswith("python -m train run") and made["commit"] and not made["changed"]
    assert Rules.from_json(agent["rules"]).players == players == sealed["players"]
    assert sealed["deals"] >= 1000 and "planner" in sealed["agents"]
    config = made["config"]
    assert agent["decisions"] < config["decisions"] + config["games"] * config["steps"]  # whole updates
    assert (folder / "curve.csv").read_text(encoding="utf-8").startswith("decisions,")


def test_they_are_small() -> None:
    weights = FOLDERS[0].parent
    assert sum(path.stat().st_size for path in weights.rglob("*") if path.is_file()) <= MOST_BYTES


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_choice_does_not_depend_on_the_batch(players: int) -> None:
    agent, batch = agents.make("champion"), Batch(24, Rules(players=players), seed=players)
    for _ in range(30):
        seen = batch.observations, batch.masks, batch.keys
        actions = agent.act(*seen)
        for row in range(0, len(batch), 7):
            assert agent.act(*(array[row : row + 1] for array in seen))[0] == actions[row]
        assert batch.masks[np.arange(len(batch)), actions].all()
        batch.step(actions)


def test_a_search_takes_it_as_its_first_thought() -> None:
    """With one world, which is never sure of a gain, the search plays what the champion likes best."""
    champion, searching = agents.make("champion"), agents.make("search:policy=champion,worlds=1")
    for players in (2, 3):
        batch = Batch(6, Rules(players=players), seed=4)
        for _ in range(12):
            liked = champion.act(batch.observations, batch.masks, batch.keys)
            assert searching.act(batch.observations, batch.masks, batch.keys).tolist() == liked.tolist()
            batch.step(liked)
