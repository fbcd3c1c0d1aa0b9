"""Checkpoints: folders that are either whole or not there, of tensors (safetensors) and JSON.

``last`` holds all that a run needs to go on bit for bit; ``best`` and the snapshots hold the policy alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
import torch

from agents.network import Actor
from agents.policy import DESCRIPTION, WEIGHTS, describe, weights_of
from eval.files import naming
from jolly_env import document as doc
from train.config import read_json
from train.learner import SelfPlayPPO
from train.rollout import FIELDS, SeatRolloutBuffer
from train.vec_env import SelfPlayVecEnv

TRAINER, COUNTERS = "trainer.safetensors", "trainer.json"
VERSION = 4
KEYS = (
    *("version", "sha256", "decisions", "updates", "gradient_passes", "snapshots", "best", "seconds"),
    *("env_random", "buffer_random"),
)
"""What stands in the JSON of a checkpoint."""


@contextlib.contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``folder`` that takes its place in the end; after an error nothing has changed."""
    new, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    try:
        with naming(folder, new):
            new.mkdir(parents=True)
            yield new
            for path in new.iterdir():
                with path.open("rb+") as file:
                    os.fsync(file.fileno())  # some file systems notice a full disk only now
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def recover(folder: Path) -> Path:
    """Return ``folder``, put back if a run was killed between the two renames of :func:`replacing`."""
    old = folder.with_name(f".{folder.name}.old")
    if not folder.exists() and old.exists():
        old.rename(folder)
    return folder


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """All that a run needs to go on from where it was between two updates, and its policy; shares no memory with it."""

    weights: bytes
    description: dict[str, Any]
    arrays: dict[str, np.ndarray]
    counters: dict[str, Any]

    @classmethod
    def of(cls, learner: SelfPlayPPO, counters: Mapping[str, Any], about: Mapping[str, Any]) -> Checkpoint:
        """Return the state of a learner."""
        weights = weights_of(learner.actor)
        description = describe(learner.actor, weights, about)
        counters = {"version": VERSION, **counters, **random_states(learner)}
        return cls(weights, description, trainer_arrays(learner), counters)

    def save(self, folder: Path) -> None:
        """Save it as a folder, whole or not at all."""
        content = safetensors.numpy.save(self.arrays)
        with replacing(folder) as new:
            write_policy(new, self.weights, self.description)
            (new / TRAINER).write_bytes(content)
            write_json(new / COUNTERS, self.counters | {"sha256": hashlib.sha256(content).hexdigest()})


def write_policy(folder: Path, weights: bytes, description: Mapping[str, Any]) -> None:
    """Write a policy into an existing folder."""
    (folder / WEIGHTS).write_bytes(weights)
    write_json(folder / DESCRIPTION, description)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file of a folder that is not there yet."""
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def save_policy(folder: Path, network: Actor, about: Mapping[str, Any]) -> None:
    """Save a policy as a folder, whole or not at all."""
    weights = weights_of(network)
    with replacing(folder) as new:
        write_policy(new, weights, describe(network, weights, about))


def read_counters(path: Path) -> dict[str, Any]:
    """Return what the JSON of a checkpoint holds, its types checked; ``ValueError`` that names it."""
    counters = read_json(path)
    if not isinstance(counters, dict) or counters.get("version") != VERSION:
        raise ValueError(f"{path}: expected a checkpoint of version {VERSION}")
    doc.members(counters, str(path), KEYS, KEYS)
    for name in ("decisions", "updates", "gradient_passes"):
        doc.whole(counters[name], f"{path}: {name}", 0, 2**53)
    for i, number in enumerate(doc.entries(counters["snapshots"], f"{path}: snapshots")):
        doc.whole(number, f"{path}: snapshots[{i}]", 0, 2**53)
    for name in ("best", "seconds"):
        doc.number(counters[name], f"{path}: {name}")
    return counters


def load_trainer(folder: Path, learner: SelfPlayPPO, counters: Mapping[str, Any]) -> None:
    """Put a learner into the saved state; ``ValueError`` that names a damaged file.

    ``counters`` are those of the folder.
    """
    path = folder / TRAINER
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != counters["sha256"]:
        raise ValueError(f"{path}: damaged: not what {COUNTERS} beside it describes (sha256 differs)")
    try:
        arrays = safetensors.numpy.load(content)
        for name, array in arrays.items():
            if name.startswith(("policy.", "average.", "held.", "optimizer.")) and not (
                array.dtype == np.float32 and np.isfinite(array).all()
            ):
                raise ValueError(f"{name} is not of finite float32 numbers")
        restore_arrays(learner, arrays)
    except (KeyError, TypeError, RuntimeError, ValueError, safetensors.SafetensorError) as error:
        raise ValueError(f"{path}: does not fit this run: {' '.join(str(error).split())}") from None


def trainer_arrays(learner: SelfPlayPPO) -> dict[str, np.ndarray]:
    """Return copies of weights, optimiser, games and open decisions as arrays by name."""
    env, buffer = learner.env, learner.rollout_buffer
    assert isinstance(env, SelfPlayVecEnv) and isinstance(buffer, SeatRolloutBuffer)
    arrays = {f"policy.{k}": v.detach().cpu().numpy() for k, v in learner.policy.state_dict().items()}
    arrays |= {f"average.{k}": v.detach().cpu().numpy() for k, v in learner.average.state_dict().items()}
    arrays |= {f"held.{k}": v.detach().cpu().numpy() for k, v in learner.held.state_dict().items()}
    for number, moments in learner.policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{number}.{name}": value.detach().cpu().numpy() for name, value in moments.items()}
    arrays["torch_random"] = torch.get_rng_state().numpy()
    if learner.device.type == "cuda":
        arrays["cuda_random"] = torch.cuda.get_rng_state().numpy()
    arrays["states"] = env.batch.states.view(np.uint8).reshape(len(env.batch), -1)
    arrays["controllers"] = env.controllers
    held = np.flatnonzero(buffer.next[: buffer.count] == -2)
    place = np.full(buffer.count + 1, -2, dtype=np.int64)
    place[held] = np.arange(len(held))
    arrays["open"] = np.where(buffer.open >= 0, place[np.maximum(buffer.open, 0)], -2)
    arrays |= {f"buffer.{name}": getattr(buffer, name)[held] for name in FIELDS}
    return {name: np.array(array, order="C") for name, array in arrays.items()}


def restore_arrays(learner: SelfPlayPPO, arrays: Mapping[str, np.ndarray]) -> None:
    """Put back what :func:`trainer_arrays` returned."""
    env, buffer = learner.env, learner.rollout_buffer
    assert isinstance(env, SelfPlayVecEnv) and isinstance(buffer, SeatRolloutBuffer)
    policy = {k.removeprefix("policy."): torch.from_numpy(v) for k, v in arrays.items() if k.startswith("policy.")}
    learner.policy.load_state_dict(policy)
    average = {k.removeprefix("average."): torch.from_numpy(v) for k, v in arrays.items() if k.startswith("average.")}
    learner.average.load_state_dict(average)
    held = {k.removeprefix("held."): torch.from_numpy(v) for k, v in arrays.items() if k.startswith("held.")}
    learner.held.load_state_dict(held)
    optimizer = learner.policy.optimizer.state_dict()
    for name, array in arrays.items():
        if name.startswith("optimizer."):
            _, number, moment = name.split(".")
            optimizer["state"].setdefault(int(number), {})[moment] = torch.from_numpy(array.copy())
    learner.policy.optimizer.load_state_dict(optimizer)
    torch.set_rng_state(torch.from_numpy(arrays["torch_random"].copy()))
    if learner.device.type == "cuda" and "cuda_random" in arrays:
        torch.cuda.set_rng_state(torch.from_numpy(arrays["cuda_random"].copy()))
    states = arrays["states"].reshape(-1).view(env.batch.states.dtype)
    env.batch.states[:] = states
    env.batch.refresh()
    env.controllers[:] = arrays["controllers"]
    count = len(arrays["buffer.next"])
    for name in FIELDS:
        getattr(buffer, name)[:count] = arrays[f"buffer.{name}"]
    buffer.open[:] = arrays["open"]
    buffer.count = count
    learner._last_obs = env.look()


def random_states(learner: SelfPlayPPO) -> dict[str, Any]:
    """Return the states of NumPy's generators."""
    return {
        "env_random": learner.env.random.bit_generator.state,  # type: ignore[union-attr]
        "buffer_random": learner.rollout_buffer.random.bit_generator.state,  # type: ignore[attr-defined]
    }


def restore_random(folder: Path, learner: SelfPlayPPO, counters: Mapping[str, Any]) -> None:
    """Put back the states of NumPy's generators, which come last, as what is put back before may draw from them.

    ``counters`` are those of the folder; ``ValueError`` that names the file if they hold no such states.
    """
    try:
        learner.env.random.bit_generator.state = counters["env_random"]  # type: ignore[union-attr]
        learner.rollout_buffer.random.bit_generator.state = counters["buffer_random"]  # type: ignore[attr-defined]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{folder / COUNTERS}: no state of a random generator: {error}") from None
