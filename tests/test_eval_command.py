"""``python -m eval run`` as a user meets it: files, exit codes, stops."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents import make
from eval.__main__ import main
from eval.arena import play
from eval.cli import Interrupts, main_guard, parse_rules
from eval.files import write_json, write_text, writing
from jolly_env import Rules

ROOT = Path(__file__).parent.parent
QUICK = ["--rules", "max_turns=12,opening_points=10"]


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    """Compile what the commands use, which would announce it on stderr."""
    play({"random": make("random"), "greedy": make("greedy")}, 1, 0, rules=Rules(max_turns=12))


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the real command."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(cwd)}
    return subprocess.run(
        [sys.executable, "-m", "eval", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_run(tmp_path):
    out = tmp_path / "new" / "folder"
    arguments = ["run", "random", "greedy", "random", "--deals", "5", "--seed", "7", "--out", str(out), *QUICK]
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in out.iterdir()) == [".lock", "result.json", "result.png", "rounds.parquet", "run.json"]
    assert (out / "result.png").read_bytes().startswith(b"\x89PNG")
    result = json.loads((out / "result.json").read_text())
    assert {key: result[key] for key in ("deals", "rounds", "seed", "players", "rules", "interrupted")} == {
        "deals": 5,
        "rounds": 30,
        "seed": 7,
        "players": 2,
        "rules": {"max_turns": 12, "opening_points": 10},
        "interrupted": False,
    }
    assert list(result["agents"]) == ["random", "greedy", "random#2"]
    for figures in result["agents"].values():
        for name in ("points", "win_share", "score", "closings", "hand_jollys", "exhausted", "cut_off"):
            low, high = figures[f"{name}_ci"]
            assert low <= figures[name] <= high
    assert [(pair["a"], pair["b"]) for pair in result["pairs"]] == [
        ("random", "greedy"),
        ("random", "random#2"),
        ("greedy", "random#2"),
    ]
    assert result["pairs"][1]["points"] == 0
    assert result["arguments"]["deals"] == 5 and result["arguments"]["agents"] == ["random", "greedy", "random"]
    assert result["command"].startswith("python -m eval run random greedy random --deals 5")
    assert "numpy" in result["versions"] and "commit" in result and result["seconds"] > 0
    for word in ("greedy", "random#2", "points", "win share", "cut off", "Fewer than 30", str(out / "result.png")):
        assert word in done.stdout.replace("\n", "")


@pytest.mark.slow
def test_the_default_folder_is_new_and_the_default_seed_is_recorded(tmp_path):
    for _ in range(2):
        done = command("run", "random", "random", "--deals", "2", "--players", "3", *QUICK, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    one, other = (json.loads(path.read_text()) for path in tmp_path.glob("runs/*/result.json"))
    assert one["seed"] != other["seed"]
    assert one["players"] == 3 and one["seatings"] == 3 and list(one["agents"]) == ["random", "random#2"]


def test_help_is_quick_and_has_an_example(tmp_path):
    code = (
        "import sys; from eval.__main__ import main\n"
        "try: main(['run', '--help'])\n"
        "except SystemExit as stop: assert not stop.code\n"
        "assert not {'numba', 'torch', 'matplotlib'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "python -m eval run greedy random" in done.stdout and "--deals" in done.stdout


BAD = {
    "nothing": ([], "run"),
    "no command": (["rum"], "rum"),
    "one agent": (["run", "random"], "at least two"),
    "unknown agent": (["run", "random", "greedie"], "greedy"),
    "unknown folder": (["run", "random", "runs/nowhere/best"], "runs/nowhere/best"),
    "unknown option": (["run", "random", "greedy", "--dels", "3"], "--deals"),
    "no number": (["run", "random", "greedy", "--deals", "many"], "--deals"),
    "no deals": (["run", "random", "greedy", "--deals", "0"], "--deals 0"),
    "too many deals": (["run", "random", "greedy", "--deals", "9999999999"], "--deals 9999999999"),
    "one player": (["run", "random", "greedy", "--players", "1"], "--players 1"),
    "five players": (["run", "random", "greedy", "--players", "5"], "--players 5"),
    "three for four": (["run", "random", "greedy", "random", "--players", "4"], "4 seats"),
    "negative seed": (["run", "random", "greedy", "--seed", "-1"], "--seed -1"),
    "unknown rule": (["run", "random", "greedy", "--rules", "jockers=3"], "jockers"),
    "rule out of range": (["run", "random", "greedy", "--rules", "jokers=7"], "jokers=7"),
    "no rule": (["run", "random", "greedy", "--rules", "jokers"], "field=value"),
    "other players": (["run", "random", "greedy", "--rules", "players=3"], "--players"),
    "not JSON": (["run", "random", "greedy", "--rules", "{"], "JSON"),
    "half a list": (
        ["run", "random", "greedy", "--rules", "pack=[1,2]"],
        "pack: expected 52 counts from 0 to 2, got 2",
    ),
    "no folder": (["run", "random", "greedy", "--out", "file"], "file"),
    "no name": (["run", "random", "greedy", "--out", ""], "--out: expected a folder"),
    "no name after =": (["run", "random", "greedy", "--out="], "--out: expected a folder"),
    "a result already": (["run", "random", "greedy", "--out", "full"], "--overwrite"),
    "unwritable": (["run", "random", "greedy", "--out", "/proc/nothing/here"], "/proc/nothing"),
    "too long": (["run", "random", "greedy", "--out", "x" * 300], "too long"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_2(name, tmp_path, monkeypatch, capsys):
    arguments, message = BAD[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("kept")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "result.json").write_text("kept")
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and message in printed.err and printed.err.count("\n") == 1
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "full", "result.json"]
    assert (tmp_path / "full" / "result.json").read_text() == (tmp_path / "file").read_text() == "kept"


def test_bad_input_to_the_real_command(tmp_path):
    done = command("run", "random", "greedie", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "greedy" in done.stderr


def test_overwrite(tmp_path):
    arguments = ["run", "random", "greedy", "--deals", "2", "--out", str(tmp_path), *QUICK]
    (tmp_path / "result.json").write_text("old")
    assert main([*arguments, "--overwrite"]) == 0
    assert json.loads((tmp_path / "result.json").read_text())["deals"] == 2


def test_a_full_disk(tmp_path, monkeypatch, capsys):
    (tmp_path / "result.json").write_text("old")
    calls = []

    def fsync(number):  # the first file is the try, before anything is played
        calls.append(number)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    assert main(["run", "random", "greedy", "--deals", "2", "--out", str(tmp_path), "--overwrite", *QUICK]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path / 'run.json'}: No space left on device\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".lock", "result.json"]
    assert (tmp_path / "result.json").read_text() == "old"


PRESSING = """
import os, signal
import numpy as np
from jolly_env.agent import RandomAgent

class Bot(RandomAgent):
    calls = 0
    def act(self, observations, masks, keys):
        self.calls += 1
        for _ in range({times} if self.calls == {call} else 0):
            os.kill(os.getpid(), signal.SIGINT)
        return super().act(observations, masks, keys)
"""


def press(tmp_path: Path, call: int, times: int = 1) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run a long evaluation in which Ctrl-C is pressed at this call of an agent, so many times within one step."""
    (tmp_path / "bots.py").write_text(PRESSING.format(call=call, times=times))
    out = tmp_path / "out"
    done = command(
        "run", "bots.py:Bot", "random", "--deals", "100000", "--workers", "1", "--out", str(out), *QUICK, cwd=tmp_path
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 130, done.stderr
    return done, out


@pytest.mark.slow
def test_ctrl_c_saves_what_is_whole(tmp_path):
    done, out = press(tmp_path, 200)
    result = json.loads((out / "result.json").read_text())
    assert result["interrupted"] and 0 < result["deals"] < 100000 and result["rounds"] == 2 * result["deals"]
    assert result["arguments"]["deals"] == 100000
    assert (out / "result.png").exists() and "interrupted" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("call", "times"), [(2, 1), (5, 2)], ids=["before a unit is over", "twice"])
def test_ctrl_c_leaves_no_empty_folder(tmp_path, call, times):
    done, out = press(tmp_path, call, times)
    assert not out.exists() and done.stderr.count("\n") <= 1


# --- what the commands share


def test_interrupts():
    interrupts = Interrupts()
    assert not interrupts
    interrupts.press()
    assert interrupts
    with pytest.raises(KeyboardInterrupt):
        interrupts.press()


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("a\n  b"), 2, "error: a b\n"),
        (FileNotFoundError(2, "No such file", "x/y"), 2, "error: x/y: No such file\n"),
        (ModuleNotFoundError("No module named 'torch'", name="torch"), 2, "torch"),
        (MemoryError("for 7 TiB"), 2, "error: not enough memory: for 7 TiB\n"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), 2, "error: not enough memory: ["),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_main_guard(error, code, line, capsys):
    @main_guard
    def fails():
        raise error

    assert fails() == code
    assert line in capsys.readouterr().err


def test_main_guard_lets_faults_through_and_shows_more_on_request(monkeypatch):
    @main_guard
    def fails(error):
        raise error

    for fault in (KeyError("a fault of ours"), RuntimeError("another one")):
        with pytest.raises(type(fault)):
            fails(fault)
    monkeypatch.setenv("JOLLY_DEBUG", "1")
    with pytest.raises(ValueError, match="wrong"):
        fails(ValueError("wrong"))


@pytest.mark.parametrize("folder", ["eval", "train"])
@pytest.mark.parametrize(
    ("fault", "code", "line"),
    [
        ("ModuleNotFoundError('no', name='tyro')", 2, "error: the module 'tyro' is missing"),
        ("KeyboardInterrupt", 130, ""),
    ],
)
def test_a_command_that_cannot_import_shows_no_traceback(folder, fault, code, line):
    """Without the extras, before .venv is activated say, and when Ctrl-C comes while modules load."""
    program = (
        "import runpy, sys\n"
        "class Finder:\n"
        f"    def find_spec(self, name, *_):\n        if name == 'tyro': raise {fault}\n"
        "sys.meta_path.insert(0, Finder())\n"
        f"runpy.run_module('{folder}', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == code and line in done.stderr
    assert done.stderr.count("\n") == (1 if line else 0) and "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_under_standard_output_is_named():
    program = "import sys\nfrom eval.cli import main_guard\nsys.exit(main_guard(lambda: print('a table'))())"
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=buffered, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (2, "error: standard output: No space left on device\n")


def test_notes_are_told_in_the_same_line(capsys):
    @main_guard
    def fails(error):
        error.add_note("saved")
        raise error

    assert fails(ValueError("wrong")) == 2 and capsys.readouterr().err == "error: wrong; saved\n"
    assert fails(KeyboardInterrupt()) == 130 and capsys.readouterr().err == "saved\n"


def test_parse_rules():
    rules = parse_rules("opening-points=30, target=500", 3)
    assert (rules.players, rules.opening_points, rules.target) == (3, 30, 500)
    assert parse_rules("target=none", 2) == parse_rules("", 2) == parse_rules("{}", 2)
    assert parse_rules(json.dumps({"pack": [1] * 52, "players": 2}), 2).cards == 58
    assert parse_rules(f"jokers=2,pack={[1] * 52},target=500", 2) == Rules(jokers=2, pack=(1,) * 52, target=500)


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"b": tmp_path})
    assert json.loads(path.read_text()) == {"b": str(tmp_path)}
    with pytest.raises(RuntimeError), writing(path) as beside:
        assert beside.suffix == ".json" and beside.parent == tmp_path
        beside.write_text("half")
        raise RuntimeError
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, float("nan"))
    assert json.loads(path.read_text()) == {"b": str(tmp_path)} and list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError, match="missing") as raised:
        write_text(tmp_path / "missing" / "a.txt", "b")
    assert raised.value.filename == str(tmp_path / "missing" / "a.txt")
