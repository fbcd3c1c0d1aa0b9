"""Training runs: the real command with a tiny budget, resumed bit for bit, stopped, damaged."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import safetensors.numpy
import torch
from stable_baselines3.common.vec_env import VecEnv

import agents
from agents.policy import PolicyAgent
from jolly_env.agent import RandomAgent
from jolly_env.batch import Batch
from jolly_env.determinize import determinize
from jolly_env.rules import Rules
from train.__main__ import main
from train.config import Config
from train.run import Trainer, go_on, make_learner, start
from train.vec_env import LEARNER, SelfPlayVecEnv

TINY = {
    "games": 8,
    "steps": 16,
    "batch_size": 64,
    "widths": (16, 24),
    "value_widths": (16, 24),
    "imitate": 300,
    "opponent_share": 0.5,
    "snapshot_every": 2,
    "evaluate_every": 3,
    "evaluate_deals": 2,
    "save_every": 2,
    "anchors": ("random",),
    "rules": "max_turns=30",
    "threads": 1,
}
FLAGS = [
    word
    for name, value in TINY.items()
    if name != "opponent_share"
    for word in (f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else (value,)))
]


def run_to_end(trainer: Trainer) -> Trainer:
    """Train until all decisions are learned from."""
    while not trainer.done:
        trainer.advance()
    return trainer


def command(*args: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """Run ``python -m train`` with arguments."""
    line = [sys.executable, "-m", "train", *args]
    return subprocess.run(line, capture_output=True, text=True, timeout=timeout, check=False)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of the real command with a tiny budget."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    done = command("run", "--out", str(folder), "--decisions", "800", *FLAGS)
    assert done.returncode == 0, done.stderr
    assert str(folder / "best") in done.stdout
    return folder


def test_a_run_folder_holds_what_it_promises(finished: Path) -> None:
    """Arguments, versions, commit, curve, weights and TensorBoard; nothing is pickled."""
    saved = json.loads((finished / "run.json").read_text())
    assert saved["config"]["decisions"] == 800
    assert {"command", "commit", "versions"} <= set(saved)
    lines = (finished / "curve.csv").read_text().splitlines()
    assert len(lines) == 1 + 7
    assert (finished / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert list((finished / "tensorboard").iterdir())
    suffixes = {path.suffix for path in finished.rglob("*") if path.is_file() and "tensorboard" not in path.parts}
    assert suffixes == {".json", ".csv", ".png", ".safetensors"}


def test_the_trained_agent_plays_by_name_and_is_evaluated(finished: Path, tmp_path: Path) -> None:
    """``runs/x/best``, ``runs/x`` and a snapshot are agents; the evaluation command takes them."""
    for name in (finished, finished / "best", finished / "last", finished / "snapshots" / "000002"):
        assert isinstance(agents.make(str(name)), PolicyAgent)
    line = [sys.executable, "-m", "eval", "run", str(finished / "best"), "random", "--deals", "2"]
    done = subprocess.run([*line, "--out", str(tmp_path / "out")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert str(finished / "best") in json.loads((tmp_path / "out" / "result.json").read_text())["agents"]


def test_resume_equals_an_undisturbed_run_bit_for_bit(tmp_path: Path) -> None:
    """Weights, optimiser, games, open decisions and random states agree after a stop in the middle."""
    config = Config(**TINY, decisions=8 * 16 * 9)
    whole = run_to_end(start(config, tmp_path / "whole", []))
    whole.save()
    stopped = start(config, tmp_path / "stopped", [])
    for _ in range(5):
        stopped.advance()
    assert len(stopped.snapshots) == 2  # so that one is drawn
    stopped.save()
    torch.manual_seed(99)
    resumed = run_to_end(go_on(tmp_path / "stopped", None))
    resumed.save()
    assert resumed.updates == whole.updates == 9
    one, two = (
        safetensors.numpy.load_file(tmp_path / n / "last" / "trainer.safetensors") for n in ("whole", "stopped")
    )
    assert one.keys() == two.keys()
    assert any(name.startswith("optimizer.") for name in one)
    for name, array in one.items():
        assert array.tobytes() == two[name].tobytes(), name
    texts = [json.loads((tmp_path / n / "last" / "trainer.json").read_text()) for n in ("whole", "stopped")]
    for text in texts:
        del text["seconds"]
    assert texts[0] == texts[1]
    rows = [(tmp_path / n / "curve.csv").read_text().splitlines() for n in ("whole", "stopped")]
    assert [row.split(",")[3:] for row in rows[0]] == [row.split(",")[3:] for row in rows[1]]


def test_another_seed_learns_otherwise(tmp_path: Path) -> None:
    """A test that equal seeds agree passes when seeds are ignored."""
    weights = []
    for i, seed in enumerate((1, 1, 2)):
        trainer = run_to_end(start(Config(**TINY, seed=seed, decisions=128), tmp_path / str(i), []))
        weights.append(trainer.learner.policy.state_dict()["actor.head.weight"])
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_the_teacher_is_imitated_and_then_held_to(tmp_path: Path) -> None:
    """What the teacher does becomes likelier; what was learned from it is what the learner is then held near to."""
    settings = TINY | {"network": "suits", "teacher": "greedy", "imitate": 8 * 16 * 60, "hold": 1.0}
    trainer = start(Config(**settings, decisions=8 * 16 * 64), tmp_path / "run", [])
    losses = []
    while not trainer.done:
        figures = trainer.advance()
        losses.append(figures.get("imitation_loss", np.nan))
    assert np.isfinite(losses[:60]).all() and np.isnan(losses[60:]).all()
    assert np.mean(losses[50:60]) < 0.8 * np.mean(losses[:5])
    assert trainer.learner.hold < 1.0
    held, live = (network.state_dict()["head.weight"] for network in (trainer.learner.held, trainer.learner.actor))
    assert not torch.equal(held, live)


def test_the_critic_alone_sees_hidden_cards() -> None:
    """Other hidden cards change what the critic sees and nothing of what is seen to play."""
    env = SelfPlayVecEnv(8, seed=2, network="options", privileged=True)
    seen, hidden = env.reset().copy(), env.hidden.copy()
    other = SelfPlayVecEnv(8, seed=3, network="options", privileged=True)
    worlds = [determinize(env.batch.observe(np.array([row]))[0], row) for row in range(8)]
    other.batch.states[:] = np.concatenate(worlds)
    other.batch.refresh()
    assert (other.look() == seen).all()
    assert (other.hidden != hidden).any(axis=1).all()
    learner = make_learner(Config(**TINY), env)
    assert learner.actor(torch.from_numpy(seen)).shape == (8, 839)


def test_snapshots_stay_as_they_were(tmp_path: Path) -> None:
    """A frozen opponent plays the same after more training, in memory and on disk."""
    trainer = start(Config(**TINY, decisions=8 * 16 * 6), tmp_path / "run", [])
    trainer.advance()
    trainer.advance()
    path = tmp_path / "run" / "snapshots" / "000002" / "weights.safetensors"
    before, opponent = path.read_bytes(), trainer.env.opponents[2]
    held = {k: v.clone() for k, v in opponent.network.state_dict().items()}  # type: ignore[attr-defined]
    run_to_end(trainer)
    assert path.read_bytes() == before
    assert all(torch.equal(v, held[k]) for k, v in opponent.network.state_dict().items())  # type: ignore[attr-defined]
    live = trainer.learner.policy.actor.state_dict()
    assert not torch.equal(live["head.weight"].double(), held["head.weight"])


def test_ctrl_c_saves_and_a_resume_goes_on(tmp_path: Path) -> None:
    """SIGINT ends the update, saves and exits with 130; the resumed run comes to its end."""
    folder = tmp_path / "run"
    line = [sys.executable, "-m", "train", "run", "--out", str(folder), "--decisions", "100000000", *FLAGS]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(1200):
        if (folder / "last").exists():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "resume" in out
    counters = json.loads((folder / "last" / "trainer.json").read_text())
    done = command("resume", str(folder), "--decisions", str(counters["decisions"] + 300))
    assert done.returncode == 0, done.stderr


def one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Check that a command refused its input with one line on stderr that has these words."""
    assert done.returncode == 2, (done.returncode, done.stderr)
    lines = [line for line in done.stderr.splitlines() if "compil" not in line]
    assert len(lines) == 1, done.stderr
    assert all(word in lines[0] for word in words), lines[0]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--games", "0"], ("error: --games 0: expected 1",)),
        (["--decisions", "-1"], ("error: --decisions -1: expected 1",)),
        (["--learning-rate", "nan"], ("error: --learning-rate nan:",)),
        (["--gamma", "2"], ("error: --gamma 2.0: expected 0 to 1",)),
        (["--players", "5"], ("error: --players 5: expected 2 to 4",)),
        (["--seed", "99999999999999"], ("error: --seed 99999999999999: expected 0 to",)),
        (["--rules", "opening_points=-1"], ("error: --rules opening_points=-1:",)),
        (["--anchors", "gredy"], ("gredy", "greedy")),
        (["--anchors", "greedy", "greedy"], ("error: --anchors", "each but once")),
        (["--batch-size", "100000"], ("error: --batch-size 100000:",)),
        (["--batch-size", "1"], ("error: --batch-size 1: expected 2",)),
        (["--bots", "greedy", "--opponent-share", "0.8"], ("error: --opponent-share 0.8", "more than 1 together")),
        (["--widths", "16", "0"], ("error: --widths (16, 0):",)),
        (["--widths", "1000000000000", "10000000000"], ("error: --widths", "65536")),
        (["--threads", "1000000000"], ("error: --threads",)),
        (["--preset", "huge"], ("error: --preset huge: expected quick, laptop, gpu",)),
        (["--network", "mlp"], ("error: --network 'mlp': expected options or suits",)),
        (["--device", "tpu"], ("error: --device 'tpu': expected auto, cpu, cuda",)),
        (["--network", "suits", "--shaping", "1"], ("error: --shaping 1", "options")),
        (["--teacher", "plannr"], ("plannr", "planner")),
        (["--what"], ("--what",)),
        (["--out", ""], ("--out: expected a folder",)),
    ],
)
def test_wrong_settings_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], words: tuple[str, ...]
) -> None:
    """A value that can't be is named by its option, and nothing is written."""
    code = main(["run", "--out", str(tmp_path / "run"), *flags])
    one_line(subprocess.CompletedProcess([], code, *capsys.readouterr()), *words)
    assert not (tmp_path / "run").exists()


def test_folders_that_do_not_fit_are_one_line(finished: Path, tmp_path: Path) -> None:
    """A folder in use, one that is no run, and a file are named, before torch is loaded."""
    one_line(command("run", "--out", str(finished)), str(finished), "resume")
    one_line(command("resume", str(tmp_path)), "run.json")
    (tmp_path / "file").touch()
    one_line(command("run", "--out", str(tmp_path / "file")), "not a folder")
    (tmp_path / "run").mkdir()
    shutil.copy(finished / "run.json", tmp_path / "run")
    one_line(command("run", "--out", str(tmp_path / "run")), "delete it")
    one_line(command("resume", str(tmp_path / "run")), "delete the folder")


@pytest.mark.parametrize("name", ["run.json", "last/trainer.json", "last/trainer.safetensors"])
def test_a_damaged_run_folder_names_the_file(finished: Path, tmp_path: Path, name: str) -> None:
    """Each file cut in half is found out before anything is written."""
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    path = folder / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=path.name):
        go_on(folder, None)


@pytest.mark.parametrize("name", ["weights.safetensors", "agent.json"])
def test_damaged_weights_are_refused(finished: Path, tmp_path: Path, name: str) -> None:
    """Weights whose hash or description does not fit are not loaded."""
    shutil.copytree(finished / "best", tmp_path / "best")
    path = tmp_path / "best" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content[:-3] if name == "agent.json" else content)
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        agents.make(str(tmp_path / "best"))


def hashes(folder: Path) -> dict[str, str]:
    """Return a hash of each file in a folder; short, so that a difference can be shown."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in folder.iterdir()}


@contextlib.contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every write of bytes fail as on a full disk."""

    def fail(*_: object, **__: object) -> int:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fail)
        yield


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkpoint before stays whole, and nothing half-written is beside it."""
    trainer = start(Config(**TINY, decisions=10_000), tmp_path / "run", [])
    trainer.advance()
    trainer.save()
    before = hashes(tmp_path / "run" / "last")
    trainer.learner.num_timesteps += 1
    with full_disk(monkeypatch), pytest.raises(OSError, match="space"):
        trainer.save()
    assert hashes(tmp_path / "run" / "last") == before
    assert not [path for path in (tmp_path / "run").iterdir() if path.name.startswith(".")]


def test_a_kill_between_two_renames_is_recovered(finished: Path, tmp_path: Path) -> None:
    """Where only the old folder is left, it is the last checkpoint."""
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "last").rename(folder / ".last.old")
    assert go_on(folder, 10_000).decisions == 896


@pytest.mark.parametrize(("players", "share"), [(2, 0.0), (2, 1.0), (3, 0.5), (4, 0.5)])
def test_rewards_of_a_seat_add_up_to_its_payoff(players: int, share: float) -> None:
    """What the env pays to each learner seat in a game is its margin, whoever moved last."""
    rules = Rules(players=players, max_turns=20, target=100, max_rounds=2)
    env = SelfPlayVecEnv(6, rules, seed=4, opponents={0: RandomAgent()}, opponent_share=share)
    assert isinstance(env, VecEnv)
    env.reset()
    agent, paid, ended = RandomAgent(), np.zeros((6, players)), 0
    for _ in range(3000):
        seated = env.controllers.copy()
        actions = agent.act(env.batch.observe(np.arange(6)), env.action_masks(), env.batch.keys)
        _, _, dones, _ = env.step(actions)
        paid += env.seat_rewards
        for row in np.flatnonzero(dones):
            total = env.batch.totals[row]
            margin = (total - (total.sum() - total) / (players - 1)) / 100
            mine = seated[row] == LEARNER
            assert paid[row][mine] == pytest.approx(margin[mine], abs=1e-4)
            paid[row] = 0
            ended += 1
    assert ended > 5


def test_masks_come_as_one_array() -> None:
    """sb3-contrib asks by ``env_method``; one answer serves all games."""
    env = SelfPlayVecEnv(3, seed=0)
    env.reset()
    masks = env.env_method("action_masks")
    assert masks.shape == (3, 839)
    assert masks is env.batch.masks


def test_the_policy_agent_does_not_depend_on_the_batch(finished: Path) -> None:
    """The same decisions come to the same actions alone, together, and in another order; keys matter to a sampler."""
    env = SelfPlayVecEnv(64, seed=1)
    env.reset()
    records, masks, keys = env.batch.observe(np.arange(64)), env.batch.masks.copy(), env.batch.keys.copy()
    for sample in (False, True):
        agent = PolicyAgent(agents.make(str(finished)).network, sample=sample)  # type: ignore[attr-defined]
        together = agent.act(records, masks, keys)
        assert (masks[np.arange(64), together] == 1).all()
        alone = [int(agent.act(records[i : i + 1], masks[i : i + 1], keys[i : i + 1])[0]) for i in range(64)]
        assert together.tolist() == alone
        order = np.random.default_rng(0).permutation(64)
        assert agent.act(records[order], masks[order], keys[order]).tolist() == together[order].tolist()


def test_a_search_tries_what_a_policy_likes(finished: Path) -> None:
    """Its choices are legal and, with one world, those of the policy: one world is never sure of a gain."""
    policy, searching = agents.make(str(finished)), agents.make(f"search:policy={finished},worlds=1")
    batch = Batch(6, Rules(max_turns=30), seed=8)
    for _ in range(12):
        liked = policy.act(batch.observations, batch.masks, batch.keys)
        assert searching.act(batch.observations, batch.masks, batch.keys).tolist() == liked.tolist()
        batch.step(liked)
    with pytest.raises(ValueError, match="policy=greedy: not a trained policy"):
        agents.make("search:policy=greedy")
