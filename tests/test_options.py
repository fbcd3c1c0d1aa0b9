"""The options of a decision: what they list, what the planner reckons of them, and that they hide what is hidden."""

from __future__ import annotations

import numpy as np
import pytest

import agents
from agents.options import FROM_PLAN, NUMBERS_AT, OPTION, OPTIONS, RECKONED, ROWS_AT, VIEW, WORTH, Views
from jolly_env import Rules
from jolly_env import actions as act
from jolly_env.batch import Batch
from jolly_env.determinize import determinize
from jolly_env.features import ACTION_FEATURES, FEATURES, action_features, features


def positions(players: int, steps: int, games: int = 48) -> Batch:
    """Return games that the planner has played on for some decisions."""
    batch, agent = Batch(games, Rules(players=players), seed=6), agents.make("planner")
    for _ in range(steps):
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
    return batch


def write(batch: Batch) -> np.ndarray:
    """Return the views of a batch."""
    return Views().write(batch.observations, batch.masks, np.empty((len(batch), VIEW), dtype=np.float32))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_options_are_legal_and_the_planner_s_choice_is_the_best_of_them(players: int) -> None:
    same = asked = 0
    agent, batch = agents.make("planner"), positions(players, 5)
    for _ in range(40):
        views = write(batch)
        numbers = views[:, NUMBERS_AT:ROWS_AT].astype(int)
        rows = views[:, ROWS_AT:].reshape(len(views), OPTIONS, OPTION)
        chosen = agent.act(batch.observations, batch.masks, batch.keys)
        for game, mask in enumerate(batch.masks):
            listed = numbers[game][numbers[game] >= 0]
            assert len(set(listed)) == len(listed) == min(OPTIONS, mask.sum()) and mask[listed].all()
            assert chosen[game] in listed
            place = int(np.flatnonzero(listed == chosen[game])[0])
            # Ties are broken by the key: the choice is as good as the best.
            same += int(rows[game, place, WORTH] > -1e-4)
            asked += 1
            assert rows[game, : len(listed), WORTH].max() <= 0
            assert (rows[game, len(listed) :] == 0).all() and (numbers[game][len(listed) :] == -1).all()
        batch.step(chosen)
    assert same > 0.995 * asked


def test_a_view_is_features_then_ends_then_described_options() -> None:
    batch = positions(2, 60)
    views = write(batch)
    assert (views[:, :FEATURES] == features(batch.observations)).all()
    _, described = action_features(batch.observations, batch.masks, most=200)
    numbers = views[:, NUMBERS_AT:ROWS_AT].astype(int)
    rows = views[:, ROWS_AT:].reshape(len(views), OPTIONS, OPTION)
    for game, mask in enumerate(batch.masks):
        order = {int(action): place for place, action in enumerate(np.flatnonzero(mask))}
        for place, action in enumerate(numbers[game][numbers[game] >= 0]):
            assert (rows[game, place, :ACTION_FEATURES] == described[game, order[int(action)]]).all()
            if action >= act.DISCARD:
                assert rows[game, place, FROM_PLAN] == 0
                assert rows[game, place, RECKONED] == 1


def test_a_view_says_nothing_of_what_is_hidden() -> None:
    batch, changed = positions(3, 70), 0
    views = write(batch)
    for game in range(0, 48, 4):
        other = Batch.from_states(determinize(batch.observations[game], 9 + game))
        changed += int((other.states["hands"][0] != batch.states["hands"][game]).any())
        assert (write(other)[0] == views[game]).all()
    assert changed > 8
