"""The Gymnasium environment for N games at once: game by game what the single one does, seeds, bad input."""

from __future__ import annotations

import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from jolly_env import IllegalAction, Rules
from jolly_env.actions import ACTIONS
from jolly_env.features import FEATURES
from jolly_env.gym_vector import JollyVectorEnv
from tests.tools import Cheat, Spy, choose

ID = "jolly_env/Jolly-v0"
QUICK = Rules(opening_points=0, hand_size=4, hand_limit=7)
SHORT = Rules(players=3, opening_points=0, hand_size=4, hand_limit=7, target=60, max_turns=30, max_rounds=3)


def vector_pair(n: int, **options: Any) -> tuple[Any, Any]:
    native = gymnasium.make_vec(ID, num_envs=n, vectorization_mode="vector_entry_point", **options)
    same_step = {"autoreset_mode": AutoresetMode.SAME_STEP}
    sync = gymnasium.make_vec(ID, num_envs=n, vectorization_mode="sync", vector_kwargs=same_step, **options)
    assert isinstance(native, JollyVectorEnv)
    assert isinstance(sync, SyncVectorEnv)
    return native, sync


def assert_same(native: Any, sync: Any) -> None:
    """Compare two infos, or parts of them: where a mask says that nothing is told, values may differ."""
    assert set(native) == set(sync)
    for name, told in native.items():
        if not name.startswith("_"):
            where = native[f"_{name}"]
            assert np.array_equal(where, sync[f"_{name}"]), name
            if isinstance(told, dict):
                assert_same(told, sync[name])
            else:
                for row in np.flatnonzero(where):
                    assert np.array_equal(told[row], sync[name][row]), name


@pytest.mark.parametrize(
    "options",
    [
        {"rules": QUICK},
        {"rules": SHORT, "seat": "random", "reward": "win", "observation": "flat"},
        {"rules": Rules(players=4, max_turns=9), "seat": "rotate", "reward": "score"},
        {"rules": Rules(hand_size=3, hand_limit=5, opening_points=0, target=60), "seat": 1},
    ],
)
def test_the_vector_environment_is_n_single_ones(options: dict[str, Any]) -> None:
    native, sync = vector_pair(4, opponents=Spy(), **options)
    rng = np.random.default_rng(0)
    finished = 0
    for seed in (11, None):
        (observations, infos), (others, other_infos) = native.reset(seed=seed), sync.reset(seed=seed)
        assert np.array_equal(observations, others)
        assert_same(infos, other_infos)
        for _ in range(250):
            assert observations in native.observation_space
            actions = np.array([choose(rng, mask) for mask in infos["action_mask"]])
            assert np.array_equal(native.action_masks(), infos["action_mask"])
            observations, rewards, terminated, truncated, infos = native.step(actions)
            others, other_rewards, other_terminated, other_truncated, other_infos = sync.step(actions)
            assert np.array_equal(observations, others)
            assert rewards == pytest.approx(other_rewards)
            assert np.array_equal(terminated, other_terminated)
            assert np.array_equal(truncated, other_truncated)
            assert_same(infos, other_infos)
            finished += (terminated | truncated).sum()
    assert finished > 4


def test_vector_metadata_spaces_and_shapes() -> None:
    env = gymnasium.make_vec(ID, num_envs=3, opponents=["random", Spy()], rules=Rules(players=3), seat=2)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.single_action_space == spaces.Discrete(ACTIONS)
    assert env.action_space == spaces.MultiDiscrete([ACTIONS] * 3)
    assert env.observation_space.shape == (3, FEATURES)
    observations, infos = env.reset(seed=1)
    assert observations.dtype == np.float32
    assert infos["action_mask"].dtype == np.int8
    assert infos["seat"].tolist() == [2, 2, 2]
    kept = observations.copy()
    env.step(np.zeros(3, dtype=np.int64))
    assert np.array_equal(observations, kept)  # what is returned is not written over
    env.close()


def test_vector_seeds_differ_by_row_and_by_seed() -> None:
    env = JollyVectorEnv(4, observation="flat")
    first = env.reset(seed=1)[0]
    assert len({row.tobytes() for row in first}) == 4
    assert np.array_equal(env.reset(seed=1)[0], first)
    assert np.array_equal(env.reset(seed=2)[0][:3], first[1:])
    assert not np.array_equal(env.reset()[0], first)


def test_a_bad_action_in_one_row_plays_in_none() -> None:
    env = JollyVectorEnv(3)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(3, dtype=np.int64))
    env.reset(seed=1)
    before = env.batch.states.tobytes()
    for actions in ([0, 1, 0], [0, 0, -1], [0, 0], [0.0, 0.5, 0.0], [np.nan] * 3):
        with pytest.raises(IllegalAction):
            env.step(np.array(actions))
        assert env.batch.states.tobytes() == before
    env.step(np.array([0, 0, 0], dtype=np.int32))
    with pytest.raises(ValueError, match="deck"):
        env.reset(options={"deck": [0]})
    env.reset(options={"colour": "blue"})


@pytest.mark.parametrize("options", [0, 5, "deck", ["deck"]])
def test_options_are_a_mapping(options: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"options={options!r}: expected a mapping")):
        JollyVectorEnv(2).reset(seed=1, options=options)


def test_a_seed_leaves_room_for_those_of_the_other_rows() -> None:
    env = JollyVectorEnv(2)
    env.reset(seed=2**64 - 2)
    with pytest.raises(ValueError, match=f"seed={2**64 - 1}: expected a whole number from 0 to {2**64 - 2}"):
        env.reset(seed=2**64 - 1)


def test_a_cheating_opponent_in_the_vector_environment() -> None:
    env = JollyVectorEnv(2, Cheat(), 1)
    with pytest.raises(IllegalAction, match="opponents: row 0"):
        env.reset(seed=1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros(2, dtype=np.int64))
