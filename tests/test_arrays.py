"""Arrays of callers are looked at before a kernel writes or reads where there may be nothing: see ``arrays``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agents.greedy import GreedyAgent
from jolly_env.actions import ACTIONS
from jolly_env.agent import Agent, RandomAgent, ask
from jolly_env.batch import Batch
from jolly_env.determinize import determinize
from jolly_env.features import FEATURES, action_features, features
from jolly_env.game import Game
from jolly_env.observation import OBSERVATION, as_flat
from jolly_env.state import STATE

GAME, BATCH = Game(seed=1), Batch(3, seed=1)
SEEN, MASKS, KEYS = BATCH.observations.copy(), BATCH.masks.copy(), BATCH.keys.copy()

# What fills an array of the caller, the dtype and shape that it wants, and their name in the error.
FILLED: dict[str, tuple[Callable[[Any], Any], Any, tuple[int, ...], str]] = {
    "Game.observe": (lambda out: GAME.observe(0, out), OBSERVATION, (1,), "OBSERVATION[1]"),
    "Game.mask": (GAME.mask, np.int8, (ACTIONS,), "int8[839]"),
    "Batch.observe": (lambda out: BATCH.observe(np.arange(3), out), OBSERVATION, (3,), "OBSERVATION[3]"),
    "features": (lambda out: features(SEEN, out), np.float32, (3, FEATURES), f"float32[3, {FEATURES}]"),
    "determinize": (lambda out: determinize(SEEN[0], 0, out), STATE, (1,), "STATE[1]"),
    "Batch masks": (lambda out: Batch(2, masks=out), np.int8, (2, ACTIONS), "int8[2, 839]"),
    "Batch rewards": (lambda out: Batch(2, rewards=out), np.float32, (2, 2), "float32[2, 2]"),
    "Batch records": (lambda out: Batch(2, observations=out), OBSERVATION, (2,), "OBSERVATION[2]"),
}


@pytest.mark.parametrize("name", FILLED)
def test_an_array_to_fill_has_the_dtype_and_shape_that_are_wanted(name: str) -> None:
    fill, dtype, shape, wanted = FILLED[name]
    locked = np.zeros(shape, dtype)
    locked.flags.writeable = False
    wrong = {
        "too short": np.zeros((shape[0] - 1, *shape[1:]), dtype),
        "empty": np.zeros(0, dtype),
        "one dimension more": np.zeros((1, *shape), dtype),
        "other dtype": np.zeros(shape, np.float64),
        "a list": [0] * shape[0],
        "read-only": locked,
    }
    if shape[-1] > 1:
        wrong["not contiguous"] = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
    for what, given in wrong.items():
        with pytest.raises(ValueError) as raised:
            fill(given)
        assert wanted in str(raised.value), (what, raised.value)
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 200
    good = np.zeros(shape, dtype)
    fill(good)
    assert any(good.tobytes()) or name == "Batch rewards"


@pytest.mark.parametrize("agent", [RandomAgent(), GreedyAgent()], ids=["random", "greedy"])
def test_an_agent_looks_at_what_it_is_given(agent: Agent) -> None:
    wrong = {
        "fewer masks": (SEEN, MASKS[:2], KEYS, "uint64[2]"),
        "fewer keys": (SEEN, MASKS, KEYS[:1], "uint64[3]"),
        "one mask": (SEEN, MASKS[0], KEYS, "int8[B, 839]"),
        "short masks": (SEEN, MASKS[:, :5], KEYS, "int8[B, 839]"),
        "floats": (SEEN, MASKS.astype(float), KEYS, "int8[B, 839]"),
        "signed keys": (SEEN, MASKS, KEYS.astype(np.int64), "uint64[3]"),
        "a list": (SEEN, MASKS, list(KEYS), "uint64[3]"),
        "none": (SEEN, None, KEYS, "int8[B, 839]"),
    }
    if not isinstance(agent, RandomAgent):  # which does not look at observations
        wrong |= {
            "one observation": (SEEN[:1], MASKS, KEYS, "OBSERVATION[3]"),
            "features": (np.zeros((3, FEATURES), np.float32), MASKS, KEYS, "int16[..., 2403]"),
            "no observations": (None, MASKS, KEYS, "int16[..., 2403]"),
        }
    for what, (observations, masks, keys, wanted) in wrong.items():
        with pytest.raises(ValueError) as raised:
            agent.act(observations, masks, keys)
        assert wanted in str(raised.value), (what, raised.value)
    nothing = MASKS.copy()
    nothing[1] = 0
    with pytest.raises(ValueError, match="row 1 has no legal action"):
        agent.act(SEEN, nothing, KEYS)


@pytest.mark.parametrize("agent", [RandomAgent(), GreedyAgent()], ids=["random", "greedy"])
def test_read_only_and_strided_arrays_are_read_all_the_same(agent: Agent) -> None:
    expected = agent.act(SEEN, MASKS, KEYS)
    masks, keys, seen = np.repeat(MASKS, 2, axis=0)[::2], KEYS.copy(), np.repeat(SEEN, 2)[::2]
    keys.flags.writeable = False
    assert agent.act(seen, masks, keys).tolist() == expected.tolist()


def test_masks_of_other_positions_are_not_described() -> None:
    for masks in (np.zeros((5, ACTIONS), np.int8), MASKS[:, :5], MASKS.astype(bool)):
        with pytest.raises(ValueError, match=r"int8\[3, 839\]"):
            action_features(SEEN, masks)
    for most in (0, None, True):
        with pytest.raises(ValueError, match=f"most={most}"):
            action_features(SEEN, MASKS, most)
    assert action_features(SEEN[0], MASKS[0])[0].shape == (1, 64)


def test_one_observation_may_lie_in_an_array() -> None:
    assert determinize(SEEN[:1], 5).tobytes() == determinize(SEEN[0], 5).tobytes()
    for wrong, key in ((SEEN, 5), (SEEN[:0], 5), (SEEN[0], "x"), (SEEN[0], 0.5)):
        with pytest.raises(ValueError, match=r"OBSERVATION\[1\]|key="):
            determinize(wrong, key)


def test_only_records_have_a_flat_view() -> None:
    for wrong in ("x", np.zeros(4), SEEN["hand"]):
        with pytest.raises(ValueError, match="expected records"):
            as_flat(wrong)


def test_rows_are_copied_to_as_many() -> None:
    with pytest.raises(ValueError, match="2 rows to copy, but 1"):
        BATCH.copy_rows(np.array([0, 1]), np.array([2]))


@pytest.mark.parametrize("answer", [None, 5, [1.5], [1, 2], ["draw"]])
def test_an_answer_that_is_no_action_is_named(answer: Any) -> None:
    class Bot:
        def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> Any:
            return answer

    with pytest.raises(ValueError, match=r"act returned .*expected whole numbers\[1\]"):
        ask(Bot(), SEEN[:1], MASKS[:1], KEYS[:1])
