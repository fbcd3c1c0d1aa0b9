"""Other libraries on Jolly: the two programs of docs/howto/libraries.md, in small."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HOWTO = Path(__file__).resolve().parent.parent / "docs" / "howto"


def run(program: str, *words: str) -> str:
    """Run a program and return what it prints."""
    done = subprocess.run([sys.executable, HOWTO / program, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def points(shown: str, agent: str) -> float:
    """Return an agent's points a round from the table."""
    found = re.search(rf"│ {agent} +│ +([+-][\d.]+) \(", shown)
    assert found, shown
    return float(found[1])


@pytest.mark.slow
def test_a_loop_in_the_manner_of_cleanrl_learns():
    sizes = ["--total-timesteps", "32768", "--hidden", "128", "--eval-deals", "50"]
    shown = run("cleanrl_ppo.py", "--opponent", "random", *sizes)
    assert "32,768 decisions" in shown
    assert points(shown, "ppo") > 0, "it does not beat random"


@pytest.mark.slow
def test_tianshou_trains_on_masks():
    sizes = ["--epochs", "1", "--steps-per-epoch", "512", "--envs", "4", "--max-turns", "20", "--eval-deals", "20"]
    shown = run("tianshou_dqn.py", "--opponent", "random", *sizes)
    assert points(shown, "dqn") == -points(shown, "random")


@pytest.mark.parametrize("program", ["cleanrl_ppo.py", "tianshou_dqn.py"])
def test_it_has_help_with_an_example(program: str):
    assert f"Example: python docs/howto/{program}" in " ".join(run(program, "--help").split())
