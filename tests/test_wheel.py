"""The wheel holds ``jolly_env`` alone, and plays a round where nothing but its own needs is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "runs", "build", "dist", "__pycache__")

ROUND = """
import importlib.util
import json
import sys

from jolly_env import jolly_v0

env = jolly_v0.env()
env.reset(seed=7)
for agent in env.agents:
    env.action_space(agent).seed(7)
scores = {}
steps = 0
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    if termination or truncation:
        scores[agent] = int(info["score"])
        env.step(None)
    else:
        env.step(env.action_space(agent).sample(observation["action_mask"]))
        steps += 1

names = ["torch", "stable_baselines3", "agents", "train", "eval", "benchmarks", "tests"]
found = [name for name in names if importlib.util.find_spec(name)]
print(json.dumps({"scores": scores, "steps": steps, "found": found, "torch": "torch" in sys.modules}))
"""


def _run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a command and return its stdout; a failure shows all that it printed."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the tree, so that nothing is left in the clone."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "tree", ignore=LEFT_OUT)
    build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", folder / "tree")
    _run(sys.executable, *build, cwd=folder)
    (path,) = (folder / "dist").glob("*.whl")
    return path


def test_wheel_holds_jolly_env_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        fields = Parser().parsestr(archive.read(metadata).decode())
    folders = {name.split("/")[0] for name in names}
    assert folders == {"jolly_env", metadata.split("/")[0]}
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "jolly_env").rglob("*.py")}
    assert sources | {"jolly_env/py.typed"} <= set(names)
    assert any(name.endswith("/LICENSE") for name in names)

    needs = [line for line in fields.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert {re.split(r"[^\w-]", line)[0] for line in needs} == {"numpy", "numba", "gymnasium", "pettingzoo"}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_wheel_alone_plays_a_round(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=True)
    scripts = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin")
    _run(scripts / "python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)

    # As a user has it: an empty cache of kernels, bounds unchecked, no path to the clone (-I).
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
    env["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    result = json.loads(_run(scripts / "python", "-I", "-c", ROUND, cwd=tmp_path, env=env).splitlines()[-1])

    assert set(result["scores"]) == {"player_0", "player_1"}
    assert result["steps"] >= 2
    assert result["found"] == []
    assert not result["torch"]
