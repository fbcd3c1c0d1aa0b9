"""Games of a run as records that replay: played once more, which comes to the same, and written down."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np

from eval.arena import UNIT, deal_seeds
from eval.store import RECORDS
from eval.workers import Task
from jolly_env import record
from jolly_env.agent import Agent
from jolly_env.game import Game
from jolly_env.rules import Rules


def write_records(task: Task, agents: dict[str, Agent], rows: np.ndarray, count: int, folder: Path) -> list[Path]:
    """Write the first ``count`` games, by deal and seating, into ``records/``; return their paths.

    ``rows`` are the rounds of the run. An agent that does not play the same again is told of on stderr.
    """
    names, seatings = list(agents), task.seatings()
    G = len(seatings)
    deals = min(-(-count // G), int(rows["deal"].max()) + 1)
    log: dict[tuple[int, int], list[int]] = {}
    floor = dataclasses.replace(task, deals=deals).floor(agents, log)
    again = np.concatenate([played.rows for played in sorted(floor.play(range(-(-deals // UNIT))))])
    before = rows[rows["deal"] < deals]
    if len(again) != len(before) or (again["score"] != before["score"]).any():
        print("warning: played once more, agents did otherwise; the records are not of the run", file=sys.stderr)
    seeds = deal_seeds(task.seed, deals)
    (folder / RECORDS).mkdir(exist_ok=True)
    paths = []
    for number in range(min(count, deals * G)):
        deal, seating = divmod(number, G)
        game = _played(task.rules, int(seeds[deal]), log[deal, seating])
        paths.append(folder / RECORDS / f"deal-{deal:06}-seating-{seating}.json")
        record.save(record.of(game, [names[agent] for agent in seatings[seating]]), paths[-1])
    return paths


def _played(rules: Rules, seed: int, actions: list[int]) -> Game:
    """Return a game in which these actions were played."""
    game = Game(rules, seed=seed)
    for i, action in enumerate(actions):
        if i and not game.legal_actions().size:
            game.next_round()
        game.step(action)
    return game
