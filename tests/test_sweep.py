"""The search for settings: what it chooses from, early stops, an end in the middle, and trials on a Ray cluster."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest

from train import sweep
from train.__main__ import main

TINY = (
    "--rules tiny --imitate 0 --decisions 2048 --games 32 --steps 16 --evaluate-every 2 --evaluate-deals 20 "
    "--anchors greedy --threads 1"
)


class Made:
    """A run that is made up: its points grow by its learning rate."""

    begun: ClassVar[list[str]] = []
    breaks = 10**9

    def __init__(self, words, folder, anchor):
        assert anchor == "greedy"
        self.rate = float(words[words.index("--learning-rate") + 1])
        self.folder, self.looks = folder, 0
        self.stopped = False
        Made.begun.append(folder)

    def look(self):
        if len(Made.begun) >= Made.breaks:
            raise KeyboardInterrupt
        self.looks += 1
        points = [(100 * k, 1000 * self.rate * k) for k in range(1, self.looks + 1)]
        return points, 0 if self.looks == 5 else None, ""

    def stop(self):
        self.stopped = True


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(sweep, "Trial", Made)
    monkeypatch.setattr(sweep, "LOOK", 0)
    Made.begun, Made.breaks = [], 10**9
    return Made


def command(out, *more):
    return ["sweep", "--over", "learning_rate=1e-4..1e-2:log", "--settings", TINY, "--out", str(out), *more]


def test_poor_trials_are_stopped_early_and_the_best_is_found(made, tmp_path, capsys):
    assert main(command(tmp_path, "--trials", "12")) == 0
    result = json.loads((tmp_path / "sweep.json").read_text())
    states = [trial["state"] for trial in result["trials"]]
    assert len(states) == 12 and states[:4] == ["complete"] * 4 and "pruned" in states
    best = max(result["trials"], key=lambda trial: trial["points"] or 0)
    assert result["best"]["trial"] == best["trial"]
    assert f"--learning-rate {best['settings']['learning_rate']}" in result["best"]["command"]
    assert (tmp_path / "sweep.png").stat().st_size > 1000
    assert "trial 11" in capsys.readouterr().out


def test_it_goes_on_after_an_end_in_the_middle(made, tmp_path):
    made.breaks = 5
    assert main(command(tmp_path, "--trials", "8")) == 130
    made.breaks = 10**9
    assert main(command(tmp_path, "--trials", "8")) == 0
    result = json.loads((tmp_path / "sweep.json").read_text())
    assert len(result["trials"]) == 8 and all(t["state"] in ("complete", "pruned") for t in result["trials"])
    # The one that was under way was begun again in its folder, and no other.
    assert len(made.begun) == 9 and len(set(made.begun)) == 8
    assert main(command(tmp_path, "--trials", "8")) == 0  # there is nothing more to do
    assert len(made.begun) == 9


def test_a_folder_of_another_search_is_refused(made, tmp_path, capsys):
    assert main(command(tmp_path, "--trials", "1")) == 0
    assert main([*command(tmp_path, "--trials", "2"), "--over", "entropy=0..1"]) == 2
    assert "search of other settings" in capsys.readouterr().err


@pytest.mark.parametrize(
    "over",
    ["nothing=1..2", "learning_rate", "learning_rate=1", "learning_rate=2..1", "learning_rate=0..1:log", "gamma=a..b"],
)
def test_what_cannot_be_searched(over, tmp_path, capsys):
    assert main(["sweep", "--over", over, "--settings", TINY, "--out", str(tmp_path / "x")]) == 2
    err = capsys.readouterr().err
    assert "--over" in err and err.count("\n") == 1


def test_a_setting_of_all_runs_that_is_wrong_is_one_line(tmp_path, capsys):
    assert main(["sweep", "--over", "gamma=0.9..1", "--settings", "--nonsense 3", "--out", str(tmp_path / "x")]) == 2
    assert main(["sweep", "--out", str(tmp_path / "x")]) == 2
    assert main(["sweep", "--over", "gamma=0.9..1", "--anchor", "search", "--out", str(tmp_path / "x")]) == 2
    assert all(line.startswith("error: ") for line in capsys.readouterr().err.splitlines())


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("where", [[], ["--ray"]])
def test_real_runs(where, tmp_path):
    assert main([*command(tmp_path, "--trials", "2", "--workers", "2"), *where]) == 0
    result = json.loads((tmp_path / "sweep.json").read_text())
    assert [trial["state"] for trial in result["trials"]] == ["complete"] * 2
    assert (tmp_path / "trial-0001" / "best" / "weights.safetensors").exists()
