"""The search for weights: it goes on where it was, refuses another search's file, and finds better weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from agents.careful import WEIGHTS
from agents.weights import weigh
from train.__main__ import main
from train.tune import measure

SMALL = ["tune", "careful", "--against", "greedy", "--deals", "10", "--population", "4", "--workers", "1"]


@pytest.mark.slow
def test_a_search_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole.json", tmp_path / "parts.json"
    assert main([*SMALL, "--generations", "3", "--out", str(whole)]) == 0
    for generations in ("1", "3"):
        assert main([*SMALL, "--generations", generations, "--out", str(parts)]) == 0
    one, other = json.loads(whole.read_text()), json.loads(parts.read_text())
    assert one["weights"] == other["weights"] and set(one["weights"]) == set(WEIGHTS)
    assert [g["values"] for g in one["generations"]] == [g["values"] for g in other["generations"]]
    assert len(one["generations"]) == 3 and len(one["generations"][0]["values"]) == 4
    # No deal is used twice: the same candidate fares otherwise in the next generation.
    assert one["generations"][0]["values"] != one["generations"][1]["values"]


def test_what_cannot_be_searched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.json"
    out.write_text('{"search": {"agent": "planner"}, "generations": []}')
    for argv, told in (
        ([*SMALL, "--out", str(out)], "of another search"),
        (["tune", "greedy", "--out", str(tmp_path / "y.json")], "'greedy': has no weights"),
        (["tune", "careful", "--against", "gredy", "--out", str(tmp_path / "y.json")], "did you mean greedy?"),
    ):
        assert main(argv) == 2
        assert told in capsys.readouterr().err
    out.write_text("{")
    assert main([*SMALL, "--out", str(out)]) == 2
    assert "not the file of a search" in capsys.readouterr().err


def test_a_candidate_is_measured_against_all_others() -> None:
    alone = [measure("careful", [other], 2, "", 20, [1, 2]) for other in ("random", "greedy")]
    both = measure("careful", ["random", "greedy"], 2, "", 20, [1, 2])
    assert both == pytest.approx(np.mean(alone)) and alone[0] > alone[1]


def test_weights_are_finite_numbers_of_known_names() -> None:
    values = weigh("careful", WEIGHTS, {"joker": 3.0})
    assert values[list(WEIGHTS).index("joker")] == 3.0 and np.isfinite(values).all()
    with pytest.raises(ValueError, match="no weight 'jokr'; did you mean joker"):
        weigh("careful", WEIGHTS, {"jokr": 1.0})
    with pytest.raises(ValueError, match="finite"):
        weigh("careful", WEIGHTS, {"joker": float("inf")})
