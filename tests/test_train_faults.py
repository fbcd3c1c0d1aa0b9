"""Training runs that meet an error, a second training, or files that are not what they were."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import safetensors.torch
import torch

import agents
from agents.policy import WEIGHTS, describe
from eval.cli import Interrupts
from jolly_env.agent import RandomAgent
from train import progress
from train.__main__ import main
from train.config import Config
from train.folder import LOCK, held
from train.progress import follow, quiet_threads
from train.run import Trainer, go_on, start

SMALL = Config(
    games=8,
    steps=16,
    batch_size=64,
    widths=(16, 24),
    value_widths=(16, 24),
    imitate=200,
    opponent_share=0.5,
    snapshot_every=2,
    evaluate_every=1,
    evaluate_deals=2,
    save_every=100,
    anchors=("random",),
    rules="max_turns=30",
    threads=1,
    decisions=8 * 16 * 4,
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert follow(start(SMALL, folder, []), Interrupts())
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of it."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """Return the one line with which the command refuses its input."""
    assert main(argv) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and err.count("\n") == 1, err
    return err


def content(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# A second training


def test_one_training_at_a_time_writes_in_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with held(folder):
        before = content(folder)
        assert "another training" in refused(capsys, "resume", str(folder))
        assert content(folder) == before
    assert not (folder / LOCK).exists()
    (folder / LOCK).touch()  # left by a process that was killed
    assert main(["resume", str(folder)]) == 0
    assert not (folder / LOCK).exists()


def test_a_folder_that_is_held_for_nothing_is_as_before(tmp_path: Path) -> None:
    with pytest.raises(KeyError), held(tmp_path / "run"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with held(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == [LOCK]
    assert tmp_path.is_dir() and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("made", [False, True])
def test_a_run_that_fails_at_its_start_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], made: bool
) -> None:
    if made:
        (tmp_path / "run").mkdir()
    monkeypatch.setattr(Path, "write_bytes", no_space)
    assert "run.json: No space" in refused(capsys, "run", "--out", str(tmp_path / "run"))
    monkeypatch.undo()
    monkeypatch.setattr(Trainer, "save", no_space)
    assert "No space" in refused(capsys, "run", "--out", str(tmp_path / "run"))
    assert [path.name for path in tmp_path.rglob("*")] == (["run"] if made else [])


def no_space(*_: Any, **__: Any) -> Any:
    """Fail as a write on a full disk."""
    raise OSError(28, "No space left on device")


# Errors in the middle


class Failing(RandomAgent):
    """Fails when it is told to."""

    fails = False

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        if self.fails:
            raise RuntimeError("I give up")
        return super().act(observations, masks, keys)


def after(trainer: Trainer, updates: int, fault: Callable[[], Any]) -> None:
    """Let ``fault`` be called in the update after so many."""
    learn = trainer.learner.train

    def train() -> None:
        learn()
        if trainer.updates == updates:
            fault()

    trainer.learner.train = train  # type: ignore[method-assign]


def test_an_agent_that_fails_does_not_cost_the_run(tmp_path: Path) -> None:
    """An anchor of the evaluations, then a bot of the games: the updates before are saved, and the run goes on."""
    trainer, bot = start(SMALL, tmp_path / "run", []), Failing()
    trainer.anchors["random"] = bot
    after(trainer, 2, lambda: setattr(bot, "fails", True))
    with pytest.raises(ValueError, match="I give up") as raised:
        follow(trainer, Interrupts())
    assert raised.value.__notes__ == [f"saved at 256 decisions; to go on: python -m train resume {tmp_path / 'run'}"]
    again = go_on(tmp_path / "run", None)
    assert (again.decisions, again.updates) == (256, 2)
    again.env.bots, again.env.bot_share = {-2: bot}, 1.0
    again.env.controllers[:] = -2
    again.env.controllers[:, 0] = -1
    with pytest.raises(ValueError, match=r"opponent Failing: act failed: RuntimeError: I give up \(.*line \d+\)"):
        follow(again, Interrupts())
    assert follow(go_on(tmp_path / "run", None), Interrupts())


def test_what_is_saved_after_an_error_is_the_last_whole_update(tmp_path: Path) -> None:
    """Resumed after an error in the midst of an update, a run equals an undisturbed one."""
    follow(start(SMALL, tmp_path / "whole", []), Interrupts())
    broken = start(SMALL, tmp_path / "broken", [])
    after(broken, 2, lambda: no_memory(broken))
    with pytest.raises(RuntimeError, match="allocate"):
        follow(broken, Interrupts())
    follow(go_on(tmp_path / "broken", None), Interrupts())
    one, two = (content(tmp_path / name / "last") for name in ("whole", "broken"))
    assert one["trainer.safetensors"] == two["trainer.safetensors"]
    assert one[WEIGHTS] == two[WEIGHTS]


def no_memory(trainer: Trainer) -> None:
    """Spoil the weights and fail as torch does for lack of memory."""
    with torch.no_grad():
        trainer.learner.actor.head.weight.zero_()
    raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes")


def test_a_full_disk_in_the_middle_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = start(SMALL, tmp_path / "run", [])
    after(trainer, 1, lambda: monkeypatch.setattr(Path, "write_bytes", no_space))
    with pytest.raises(OSError, match="space") as raised:
        follow(trainer, Interrupts())
    monkeypatch.undo()
    assert Path(raised.value.filename).relative_to(tmp_path / "run") == Path("snapshots/000002")
    assert "saved at 0 decisions" in raised.value.__notes__[0]
    assert go_on(tmp_path / "run", None).decisions == 0


def test_weights_that_are_no_longer_finite_are_not_saved(tmp_path: Path) -> None:
    trainer = start(SMALL, tmp_path / "run", [])
    after(trainer, 1, lambda: trainer.learner.policy.state_dict()["actor.head.weight"].fill_(np.nan))
    with pytest.raises(ValueError, match="diverged"):
        follow(trainer, Interrupts())
    assert go_on(tmp_path / "run", None).decisions == 128


def test_a_second_ctrl_c_saves_too(tmp_path: Path) -> None:
    trainer, interrupts = start(SMALL, tmp_path / "run", []), Interrupts()
    after(trainer, 1, lambda: (interrupts.press(), interrupts.press()))
    with pytest.raises(KeyboardInterrupt):
        follow(trainer, interrupts)
    assert go_on(tmp_path / "run", None).decisions == 128


def test_threads_show_errors_but_not_those_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: shown.append(args.exc_type))
    for fault in (no_space, lambda: 1 // 0):
        with quiet_threads():
            thread = threading.Thread(target=fault)
            thread.start()
            thread.join()
    assert shown == [ZeroDivisionError]


def test_without_a_terminal_a_line_tells_how_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "TOLD_EVERY", 0.0)
    follow(start(SMALL, tmp_path / "run", []), Interrupts())
    lines = [line for line in capsys.readouterr().err.splitlines() if "of 512 decisions" in line]
    assert len(lines) == 4 and "random" in lines[-1]


# Files that are not what they were

COUNTERS: list[tuple[Any, str]] = [
    ([], "expected a checkpoint"),
    ({"version": 9}, "expected a checkpoint"),
    ({"decisions": None}, "decisions: expected a whole number"),
    ({"decisions": "x"}, "decisions: expected a whole number"),
    ({"updates": -1}, "updates: expected a whole number"),
    ({"best": None}, "best: expected a number"),
    ({"seconds": True}, "seconds: expected a number"),
    ({"snapshots": None}, "snapshots: expected a list"),
    ({"snapshots": [2, "x"]}, r"snapshots\[1\]: expected a whole number"),
    ({"sha256": 5}, "trainer.safetensors: damaged"),
    ({"env_random": []}, "no state of a random generator"),
    ({"buffer_random": {"bit_generator": "PCG64", "state": 5}}, "no state of a random generator"),
]
SETTINGS: list[tuple[Any, str]] = [
    ([], "expected an object"),
    ({"config": None}, "config: expected an object"),
    ({"config": {"gamess": 3}}, "config: no key 'gamess'"),
    ({"config": {"rules": 5}}, "rules=5: expected a text"),
    ({"config": {"games": "32"}}, "games='32': expected a whole number"),
    ({"config": {"games": 32.0}}, "games=32.0: expected a whole number"),
    ({"config": {"games": True}}, "games=True: expected a whole number"),
    ({"config": {"anchors": ["random", 7]}}, r"anchors=\('random', 7\): expected texts"),
    ({"config": {"widths": [1, 2, 3]}}, r"widths=\(1, 2, 3\): expected two whole numbers"),
    ({"config": {"gamma": "1"}}, "gamma='1': expected a number"),
]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [("last/trainer.json", *case) for case in COUNTERS] + [("run.json", *case) for case in SETTINGS],
)
def test_json_of_another_shape_is_named(folder: Path, name: str, change: Any, message: str) -> None:
    path = folder / name
    held_before = json.loads(path.read_text())
    path.write_text(json.dumps(held_before | change if isinstance(change, dict) else change))
    before = content(folder)
    with pytest.raises(ValueError, match=message) as raised:
        go_on(folder, 10_000)
    assert str(folder) in str(raised.value) and "\n" not in str(raised.value)
    assert content(folder) == before


def test_a_key_of_a_checkpoint_that_is_missing_is_named(folder: Path) -> None:
    path = folder / "last" / "trainer.json"
    counters = json.loads(path.read_text())
    for key in counters:
        path.write_text(json.dumps({name: value for name, value in counters.items() if name != key}))
        with pytest.raises(ValueError, match=r"trainer\.json: "):
            go_on(folder, None)


def test_a_run_has_no_fewer_decisions_than_it_had(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = content(folder)
    assert "--decisions 100: " in refused(capsys, "resume", str(folder), "--decisions", "100")
    assert content(folder) == before
    assert main(["resume", str(folder), "--decisions", "600"]) == 0
    assert json.loads((folder / "run.json").read_text())["config"]["decisions"] == 600


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "binary", "a row of words"])
def test_a_run_goes_on_without_its_curve(folder: Path, capsys: pytest.CaptureFixture[str], damage: str) -> None:
    path = folder / "curve.csv"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    if damage == "missing":
        path.unlink()
    else:
        held_rows = {"empty": b"", "cut": whole[:-20], "binary": bytes(range(256)) * 9}
        path.write_bytes(held_rows.get(damage, b"".join([*lines[:2], b"a,b,c\n", *lines[2:]])))
    assert main(["resume", str(folder), "--decisions", "600"]) == 0
    assert f"{path}: missing or damaged" in capsys.readouterr().err
    kept = {"cut": lines[:4], "a row of words": lines}.get(damage, lines[:1])
    assert path.read_bytes().splitlines(keepends=True)[:-1] == kept


@pytest.mark.parametrize("fault", ["NaN", "infinity", "torch.int8"])
def test_weights_that_are_no_finite_float32_are_refused(finished: Path, tmp_path: Path, fault: str) -> None:
    network = agents.make(str(finished / "last")).network.float()  # type: ignore[attr-defined]
    tensors = {name: value.clone() for name, value in network.state_dict().items()}
    if fault == "torch.int8":
        tensors["second.bias"] = tensors["second.bias"].to(torch.int8)
    else:
        tensors["second.bias"][0] = float("nan" if fault == "NaN" else "inf")
    weights = safetensors.torch.save(tensors)
    (tmp_path / WEIGHTS).write_bytes(weights)
    (tmp_path / "agent.json").write_text(json.dumps(describe(network, weights, {})))
    with pytest.raises(ValueError, match=rf"{WEIGHTS}: second.bias: expected finite .*{fault.split()[-1]}"):
        agents.make(str(tmp_path))
