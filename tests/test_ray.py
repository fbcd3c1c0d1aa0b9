"""Tournaments on a Ray cluster: three nodes on this machine, one of which is killed in the middle."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from eval import remote
from eval.__main__ import main
from eval.cli import with_address

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray"), pytest.mark.timeout(900)]
RUN = ["run", "planner", "greedy", "--deals", "600", "--seed", "5"]


@pytest.fixture(scope="module")
def cluster():
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.others = [made.add_node(num_cpus=1) for _ in range(2)]
    yield made
    ray.shutdown()
    made.shutdown()


def rows(folder: Path) -> list[dict]:
    """Return the rounds of a run, but for the seconds that agents took."""
    table = pq.read_table(folder / "rounds.parquet")
    return table.select([name for name in table.column_names if not name.startswith("seconds")]).to_pylist()


def test_a_node_is_killed_in_the_middle_and_each_round_counts_once(cluster, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    killed = []

    def kill() -> None:
        for _ in range(600):
            if len(list((there / "parts").glob("*.parquet"))) >= 2:
                cluster.remove_node(cluster.others.pop(), allow_graceful=False)
                killed.append(len(list((there / "parts").glob("*.parquet"))))
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    assert main([*RUN, "--ray", cluster.address, "--out", str(there)]) == 0
    killer.join()
    assert killed and killed[0] < 12, "it was over before a node could be killed"
    assert main([*RUN, "--workers", "1", "--out", str(here)]) == 0
    assert rows(there) == rows(here)
    result, same = (json.loads((folder / "result.json").read_text()) for folder in (there, here))
    assert result["pairs"] == same["pairs"] and result["rounds"] == 1200


def test_a_run_that_was_begun_here_goes_on_there(cluster, tmp_path):
    few = ["run", "greedy", "random", "--seed", "2", "--out", str(tmp_path / "mixed")]
    assert main([*few, "--deals", "100", "--workers", "1"]) == 0
    assert main([*few, "--deals", "200", "--ray", cluster.address]) == 0
    assert main([*few[:-1], str(tmp_path / "here"), "--deals", "200", "--workers", "1"]) == 0
    assert rows(tmp_path / "mixed") == rows(tmp_path / "here")


def test_no_more_is_asked_for_than_the_cluster_soon_plays(cluster, tmp_path):
    """Back-pressure: of a million rounds only a few tasks are under way, and what stops in the middle stops at once."""
    from eval.workers import Task, named_agents
    from jolly_env import Rules

    task = Task(("greedy", "random"), 500_000, 1, Rules())
    named_agents(task.agents)
    handed = []

    def units():
        for unit in range(10_000):
            handed.append(unit)
            yield unit

    with (
        remote.connected(cluster.address) as ray,
        contextlib.closing(remote.play_units(ray, task, units(), stop=False)) as played,
    ):
        first = next(played)
        assert isinstance(first.rows, np.ndarray)
        assert len(handed) <= remote.AHEAD * 3 * 2


def test_faults_of_an_agent_are_the_same_there(cluster, tmp_path):
    bots = tmp_path / "bots.py"
    bots.write_text("class Bad:\n    def act(self, observations, masks, keys):\n        raise ValueError('no')\n")
    run = ["run", f"{bots}:Bad", "random", "--deals", "20", "--seed", "1"]
    assert main([*run, "--ray", cluster.address, "--out", str(tmp_path / "there")]) == 0
    assert main([*run, "--workers", "1", "--out", str(tmp_path / "here")]) == 0
    assert rows(tmp_path / "there") == rows(tmp_path / "here")
    faults = [(tmp_path / where / "faults.jsonl").read_text() for where in ("there", "here")]
    assert faults[0] == faults[1] and faults[0]


def test_the_command_line(monkeypatch, capsys, tmp_path):
    assert with_address(["run", "a", "--ray"]) == ["run", "a", "--ray", "local"]
    assert with_address(["run", "--ray", "--deals", "5"]) == ["run", "--ray", "local", "--deals", "5"]
    assert with_address(["run", "--ray", "auto", "a"]) == ["run", "--ray", "auto", "a"]
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["run", "greedy", "random", "--deals", "2", "--ray", "--out", str(tmp_path / "x")]) == 2
    err = capsys.readouterr().err
    assert "pip install -e '.[ray]'" in err and err.count("\n") == 1
