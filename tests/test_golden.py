"""The golden rounds of an independent referee, replayed through the PettingZoo environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jolly_env import Rules, jolly_v0

ROUNDS = [json.loads(line) for line in (Path(__file__).parent / "data" / "rounds.jsonl").read_text().splitlines()]


def _name(case: dict[str, Any]) -> str:
    return f"{case['kind']}-{case['seed']}-{case['players']}"


def test_all_rounds_are_here() -> None:
    assert len(ROUNDS) == 74
    assert {case["players"] for case in ROUNDS} == {2, 3, 4}


@pytest.mark.parametrize("case", ROUNDS, ids=_name)
def test_every_mask_seat_and_score_agrees(case: dict[str, Any]) -> None:
    env = jolly_v0.raw_env(rules=Rules.from_json({"players": case["players"], **case["rules"]}))
    env.reset(options={"deck": case["deck"], "reshuffles": case["reshuffles"]})
    for step, (seat, action, legal) in enumerate(zip(case["seats"], case["actions"], case["legal"], strict=True)):
        assert env.agent_selection == f"player_{seat}", step
        observation, _, termination, truncation, _ = env.last()
        assert not (termination or truncation), step
        assert np.flatnonzero(observation["action_mask"]).tolist() == legal, step
        env.step(action)

    cut_off = "truncated" in case["events"]
    assert set(env.truncations.values()) == {cut_off}
    assert set(env.terminations.values()) == {not cut_off}
    closer = None if case["closer"] is None else f"player_{case['closer']}"
    for seat, agent in enumerate(env.possible_agents):
        info = env.infos[agent]
        assert info == {
            "score": case["scores"][seat],
            "total": case["scores"][seat],
            "closer": closer,
            "hand_jolly": case["hand_jolly"],
        }
        assert type(info["score"]) is int
        assert not env.observe(agent)["action_mask"].any()
