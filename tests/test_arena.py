"""Tournaments: the same whatever the number of workers, gone on with after any end, and narrow enough in the end."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow.parquet as pq
import pytest

from eval import workers
from eval.__main__ import main
from eval.arena import UNIT, Floor, Played
from eval.parquet import read_rows, write_rows
from eval.rounds import ROUND_FIELDS, SEAT_FIELDS, round_dtype
from eval.run import describe
from eval.statistics import bootstrap
from eval.stopping import level, schedule
from eval.store import Store, locked
from eval.workers import Task, named_agents
from jolly_env import Game, Rules
from jolly_env.cards import HAND_VALUE
from jolly_env.state import Ending

ROOT = Path(__file__).parent.parent
SHORT = Rules(max_turns=12, opening_points=10)
QUICK = ["--rules", "max_turns=12,opening_points=10"]
DEALS = 3 * UNIT + 7


def timeless(rows: np.ndarray) -> np.ndarray:
    """Return rows without the only column that differs from run to run."""
    rows = rows.copy()
    rows["seconds"] = 0
    return rows


def run(out: Path, *arguments: str, agents: tuple[str, ...] = ("greedy", "random"), deals: int = DEALS) -> int:
    """Run the command in this process."""
    return main(["run", *agents, "--deals", str(deals), "--seed", "9", "--out", str(out), *QUICK, *arguments])


def rows_of(out: Path) -> np.ndarray:
    """Return the rows of a run that has ended."""
    return timeless(read_rows(out / "rounds.parquet")[0])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    """Return the folder of a run by one worker."""
    out = tmp_path_factory.mktemp("undisturbed")
    assert run(out, "--workers", "1") == 0
    return out


# --- rows


def test_rows_say_what_happened():
    rules = Rules(players=3, target=400, opening_points=10, max_turns=60)
    agents = named_agents(("greedy", "random"))
    floor = Floor(agents, 8, 4, rules)
    (played,) = floor.play([0])
    rows = played.rows
    assert set(rows["deal"]) == set(range(8)) and rows["round"].max() > 0 and not played.faults
    assert (np.diff(rows["deal"] * 10**6 + rows["seating"] * 1000 + rows["round"]) > 0).all()
    assert np.array_equal(rows["agent"], floor.seatings[rows["seating"]])
    assert (rows["begins"] == rows["round"] % 3).all()
    seat = rows["closer"][:, None] == np.arange(3)
    factor = np.where(rows["hand_jolly"], 2, 1)[:, None]
    score = np.where(seat, (rows["laid"] + 30) * factor, rows["laid"] - rows["hand"] * factor)
    assert np.array_equal(score, rows["score"])
    assert (rows["hand"][seat] == 0).all() and (rows["hand"][~seat] > 0).all()
    assert ((rows["ending"] == Ending.CLOSED) == (rows["closer"] >= 0)).all()
    # every turn draws once, by one way or the other
    assert np.array_equal((rows["draws"] + rows["takes"]).sum(axis=1), rows["turns"])
    assert (rows["taken"] >= rows["takes"]).all() and (rows["decisions"] >= 2 * (rows["draws"] + rows["takes"])).all()
    opened = rows["opened"] > 0
    assert np.array_equal(opened, rows["laid"] > 0) or opened.sum() > 0
    assert (rows["opened"][~opened] == -1).all() and (rows["opened"][opened] <= (rows["turns"].max() + 2) // 3).all()
    assert (rows["laid"][~opened & (rows["ending"] != Ending.CUT_OFF)[:, None]] == 0).all()


def test_a_row_is_that_of_the_same_game_played_alone():
    rules = Rules(opening_points=20, max_turns=60)
    agents = named_agents(("greedy", "random"))
    rows = next(Floor(agents, 5, 11, rules).play([0])).rows
    for row in rows:
        game = Game(rules, seed=int(row["seed"]))
        opened, counts = [-1, -1], np.zeros((2, 5), dtype=int)  # draws, takes, taken, swaps, decisions
        while not game.over:
            seat, turn = game.seat, int(game.state["turn"])
            agent = list(agents.values())[row["agent"][seat]]
            keys = np.array([game.decision_key(seat)], dtype=np.uint64)
            action = int(agent.act(game.observe(seat), game.mask()[None], keys)[0])
            words = game.format(action).split()
            counts[seat] += [words[0] == "draw", words[0] == "take", 0, words[0] == "swap", 1]
            counts[seat, 2] += int(words[1]) if words[0] == "take" else 0
            game.step(action)
            if opened[seat] < 0 <= game.state["opened_turn"][seat]:
                opened[seat] = turn // 2 + 1
        assert row["score"].tolist() == game.scores and row["closer"] == (-1 if game.closer is None else game.closer)
        assert row["hand"].tolist() == (game.state["hands"][:2] @ HAND_VALUE).tolist()
        assert row["laid"].tolist() == game.state["laid"][:2].tolist()
        assert row["opened"].tolist() == opened
        names = ("draws", "takes", "taken", "swaps", "decisions")
        assert [row[name].tolist() for name in names] == counts.T.tolist()


@pytest.mark.parametrize("players", [2, 4])
def test_rows_come_back_from_a_file(tmp_path, players):
    rng = np.random.default_rng(1)
    rows = np.zeros(20, dtype=round_dtype(players))
    for name, kind in (*ROUND_FIELDS, *SEAT_FIELDS):
        rows[name] = rng.integers(0, 2 if kind == "?" else 100, rows[name].shape)
    write_rows(tmp_path / "a.parquet", rows, {"seed": 3})
    again, about = read_rows(tmp_path / "a.parquet")
    assert np.array_equal(rows, again) and about == {"seed": 3}


# --- workers


def test_the_rows_do_not_depend_on_the_workers(undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr("eval.workers.ALONE", 0)  # not even a unit is played before other processes start
    assert run(tmp_path, "--workers", "2") == 0
    assert np.array_equal(rows_of(tmp_path), rows_of(undisturbed))
    one, other = (json.loads((folder / "result.json").read_text()) for folder in (undisturbed, tmp_path))
    assert one["agents"] == other["agents"] and one["pairs"] == other["pairs"] and one["deals"] == DEALS


def test_a_unit_does_not_depend_on_the_units_beside_it():
    agents = named_agents(("greedy", "random"))
    forward = {p.unit: p.rows for p in Floor(agents, DEALS, 9, SHORT).play(range(4))}
    backward = {p.unit: p.rows for p in Floor(agents, DEALS, 9, SHORT, rows=9).play([3, 1])}
    assert len(forward) == 4 and len(forward[3]) == 2 * 7
    for unit, rows in backward.items():
        assert np.array_equal(timeless(rows), timeless(forward[unit]))


def test_a_slow_agent_ends_a_unit_before_it_begins_another(monkeypatch):
    monkeypatch.setattr("eval.arena.QUICK", 0)
    agents = named_agents(("greedy", "random"))
    asked = []
    for played in Floor(agents, DEALS, 9, SHORT).play(asked.append(unit) or unit for unit in range(4)):
        assert asked == list(range(played.unit + 1))
    monkeypatch.setattr("eval.arena.QUICK", 1000)
    asked = []
    next(Floor(agents, DEALS, 9, SHORT).play(asked.append(unit) or unit for unit in range(4)))
    assert asked == [0, 1, 2, 3]


FAILING_IN_WORKERS = """
import multiprocessing, os
from jolly_env.agent import RandomAgent

class Bot(RandomAgent):
    def act(self, observations, masks, keys):
        if multiprocessing.parent_process() is not None:
            os._exit(3)
        return super().act(observations, masks, keys)
"""


def test_a_worker_that_dies_is_one_line(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr("eval.workers.ALONE", 0)
    (tmp_path / "bots.py").write_text(FAILING_IN_WORKERS)
    assert run(tmp_path / "out", "--workers", "2", agents=(f"{tmp_path / 'bots.py'}:Bot", "random")) == 2
    err = capfd.readouterr().err
    assert "a worker process ended with code 3" in err and err.count("\n") == 1


def test_the_first_units_are_played_here_and_the_rest_by_others(undisturbed, tmp_path, monkeypatch):
    started = []
    one = workers._started

    def counted(task, count):
        started.append(count)
        return one(task, count)

    monkeypatch.setattr("eval.workers._started", counted)
    assert run(tmp_path / "short", "--workers", "2") == 0
    assert not started and np.array_equal(rows_of(tmp_path / "short"), rows_of(undisturbed))
    monkeypatch.setattr("eval.workers.Deadline.__bool__", lambda _: bool(list(tmp_path.glob("long/parts/*"))))
    assert run(tmp_path / "long", "--workers", "2") == 0
    assert started == [2] and np.array_equal(rows_of(tmp_path / "long"), rows_of(undisturbed))


# --- going on


def test_a_finished_run_is_shown_again_and_extended(undisturbed, tmp_path, capsys):
    assert run(tmp_path, "--workers", "1", deals=UNIT + 3) == 0
    before = (tmp_path / "rounds.parquet").read_bytes()
    made = json.loads((tmp_path / "result.json").read_text())["command"]
    assert main(["run", "greedy", "random", "--deals", str(UNIT + 3), "--out", str(tmp_path), *QUICK]) == 0
    assert (tmp_path / "rounds.parquet").read_bytes() == before
    assert json.loads((tmp_path / "result.json").read_text())["command"] == made
    assert pq.read_schema(tmp_path / "rounds.parquet").metadata[b"names"] == b'["greedy", "random"]'
    assert run(tmp_path, "--workers", "1") == 0
    assert np.array_equal(rows_of(tmp_path), rows_of(undisturbed))
    assert not (tmp_path / "parts").exists()


OTHERS = {
    "agents": ({"agents": ("random", "greedy")}, [], "agents"),
    "seed": ({}, ["--seed", "10"], "seed"),
    "rules": ({}, ["--rules", "max_turns=13,opening_points=10"], "rules"),
    "fewer deals": ({"deals": DEALS - 1}, [], "deals"),
    "half-width": ({}, ["--half-width", "3"], "half_width"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_arguments_are_refused(name, undisturbed, capsys):
    keywords, arguments, word = OTHERS[name]
    before = {path.name: path.read_bytes() for path in undisturbed.iterdir()}
    assert run(undisturbed, *arguments, **keywords) == 2
    err = capsys.readouterr().err
    assert word in err and "--overwrite" in err and err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in undisturbed.iterdir()} == before


def test_an_agent_whose_file_has_changed_is_another(tmp_path, capsys):
    bots = tmp_path / "bots.py"
    bots.write_text("from jolly_env.agent import RandomAgent as Bot")
    agents = (f"{bots}:Bot", "random")
    assert run(tmp_path / "out", agents=agents, deals=2) == 0
    assert run(tmp_path / "out", agents=agents, deals=2) == 0
    bots.write_text("from jolly_env.agent import RandomAgent\nclass Bot(RandomAgent): pass")
    assert run(tmp_path / "out", agents=agents, deals=2) == 2
    assert "files" in capsys.readouterr().err


def test_overwrite_begins_anew(tmp_path):
    assert run(tmp_path, "--records", "4", deals=2) == 0
    assert main(["report", str(tmp_path), "--no-audit"]) == 0
    assert run(tmp_path, "--overwrite", "--records", "1", agents=("random", "greedy"), deals=3) == 0
    assert len(rows_of(tmp_path)) == 6 and len(list((tmp_path / "records").iterdir())) == 1
    assert not (tmp_path / "report.html").exists()


def test_two_runs_in_one_folder(tmp_path, capsys):
    with locked(tmp_path):
        assert run(tmp_path) == 2
    err = capsys.readouterr().err
    assert "another process is writing there" in err and err.count("\n") == 1
    assert run(tmp_path, deals=1) == 0


def store_with_parts(folder: Path, units: list[int]) -> Store:
    """Return the store of a run that was stopped after some units."""
    task = Task(("greedy", "random"), DEALS, 9, SHORT)
    folder.mkdir(exist_ok=True)
    store = Store(folder, describe(task, None))
    for played in Floor(named_agents(task.agents), DEALS, 9, SHORT).play(units):
        store.add(played)
    return store


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def of_another_seed(path: Path) -> None:
    rows, about = read_rows(path)
    rows["seed"] += 1
    write_rows(path, rows, about)


def of_another_unit(path: Path) -> None:
    path.write_bytes((path.parent / "000000.parquet").read_bytes())


@pytest.mark.parametrize(
    "damage", [half, flipped, of_another_seed, of_another_unit, lambda path: path.write_bytes(b"")]
)
def test_a_damaged_part_is_played_again(damage, undisturbed, tmp_path, capsys):
    out = tmp_path / "out"
    assert store_with_parts(out, [0, 2]).units == {0, 2}
    damage(out / "parts" / "000002.parquet")
    assert run(out, "--workers", "1") == 0
    assert "000002.parquet is damaged; what it held is played again" in capsys.readouterr().err
    assert np.array_equal(rows_of(out), rows_of(undisturbed))


def test_a_disk_that_is_full_in_the_midst(undisturbed, tmp_path, monkeypatch, capsys):
    write, calls = pq.write_table, []

    def full(*arguments):
        calls.append(arguments)
        if len(calls) > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.parquet.write_table", full)
        assert run(tmp_path, "--workers", "1") == 2
    err = capsys.readouterr().err
    assert "parts" in err and "No space left on device" in err and err.count("\n") == 1
    assert len(list((tmp_path / "parts").iterdir())) == 2
    assert run(tmp_path, "--workers", "1") == 0
    assert np.array_equal(rows_of(tmp_path), rows_of(undisturbed))


def test_what_is_left_of_a_write_does_no_harm(undisturbed, tmp_path):
    # Killed between writing the whole and removing the parts; and a part of a run that had fewer deals.
    store = store_with_parts(tmp_path / "out", [0, 1, 2, 3])
    store.finish(4, {})
    for unit in (1, 3):
        store.add(Played(unit, store.rows(4)[store.rows(4)["deal"] // UNIT == unit], []))
    assert run(tmp_path / "out", "--workers", "1") == 0
    assert np.array_equal(rows_of(tmp_path / "out"), rows_of(undisturbed))


@pytest.mark.slow
def test_kill_three_times(tmp_path):
    deals = 24 * UNIT
    arguments = ["run", "greedy", "random", "--deals", str(deals), "--seed", "9"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(tmp_path)}
    for count in ("2", "1", "1"):
        command = [*arguments, "--workers", count, "--out", str(tmp_path / "killed")]
        code = f"import eval.workers as w; w.ALONE = 0; from eval.__main__ import main; main({command!r})"
        line = [sys.executable, "-c", code]
        process = subprocess.Popen(line, env=environment, stderr=subprocess.PIPE)
        parts = tmp_path / "killed" / "parts"
        before = len(list(parts.glob("0*.parquet")))
        while process.poll() is None and len(list(parts.glob("0*.parquet"))) < before + 2:
            time.sleep(0.005)
        assert process.poll() is None, "it was over before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert 6 <= len(list(parts.glob("0*.parquet"))) < 24
    assert main([*arguments, "--workers", "2", "--out", str(tmp_path / "killed")]) == 0
    assert main([*arguments, "--workers", "1", "--out", str(tmp_path / "whole")]) == 0
    killed, whole = rows_of(tmp_path / "killed"), rows_of(tmp_path / "whole")
    assert len(whole) == 2 * deals and np.array_equal(killed, whole)


@pytest.mark.slow
def test_ctrl_c_with_workers(tmp_path):
    deals = 200 * UNIT
    arguments = ["run", "greedy", "random", "--deals", str(deals), "--seed", "9", "--out", str(tmp_path / "out")]
    code = f"import eval.workers as w, sys; w.ALONE = 0; from eval.__main__ import main; sys.exit(main({arguments!r}))"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "out" / "parts" / "000000.parquet").exists():
        assert process.poll() is None
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    shown, told = process.communicate(timeout=120)
    assert process.returncode == 130 and told == ""
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["interrupted"] and 0 < result["deals"] < deals and "interrupted" in shown
    assert result["rounds"] == 2 * result["deals"]


# --- stopping


def test_looks():
    assert schedule(500, 2.0) == [500] and schedule(1000, 2.0) == [1000] and schedule(5000, None) == [5000]
    assert schedule(5000, 2.0) == [1000, 2000, 4000, 5000]
    assert level(1) == 0.95 and level(4) == pytest.approx(0.9875)


@pytest.mark.parametrize(("half_width", "deals"), [(100, 100), (9, 200), (0.01, 205)])
def test_half_width(half_width, deals, tmp_path, monkeypatch):
    monkeypatch.setattr("eval.stopping.FIRST_LOOK", 100)
    arguments = ["run", "greedy", "random", "--deals", "205", "--workers", "1", "--seed", "1", "--out", str(tmp_path)]
    assert main([*arguments, "--half-width", str(half_width), *QUICK]) == 0
    result = json.loads((tmp_path / "result.json").read_text())
    low, high = result["pairs"][0]["points_ci"]
    assert result["deals"] == deals and result["looks"] == [100, 200, 205] and not result["interrupted"]
    assert result["level"] == pytest.approx(1 - 0.05 / 3)
    assert deals == 205 or (high - low) / 2 <= half_width
    rows = read_rows(tmp_path / "rounds.parquet")[0]
    assert len(rows) == 2 * deals
    margin = (rows["score"] @ [1, -1]) * np.where(rows["agent"][:, 0] == 0, 1, -1)
    sums = np.bincount(rows["deal"], margin)[:, None]
    narrow = bootstrap(sums, np.full_like(sums, 2.0), seed=1)[0]
    assert low < narrow[0] < narrow[1] < high  # wider than for a number of deals that was fixed before


def test_looking_is_paid_for():
    # Margins without an edge, looked at four times: an interval that misses at any look is one too many.
    trials, looks = 4000, [100, 200, 400, 800]
    totals = np.random.default_rng(5).normal(size=(trials, looks[-1])).cumsum(axis=1)
    z = np.abs([totals[:, n - 1] / np.sqrt(n) for n in looks]).max(axis=0)
    plain, corrected = ((z > NormalDist().inv_cdf(0.5 + width / 2)).mean() for width in (0.95, level(len(looks))))
    assert plain > 0.1 and 0.02 < corrected <= 0.05
