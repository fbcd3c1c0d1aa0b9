"""A training run: self-play, snapshots, evaluations, checkpoints, and the folder that holds them."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import Logger, configure

import agents
from agents.policy import PolicyAgent, load
from eval.arena import play
from eval.files import naming, write_json
from eval.origin import origin
from eval.statistics import summarise
from jolly_env.agent import Agent
from train.checkpoint import COUNTERS, Checkpoint, load_trainer, read_counters, recover, restore_random, save_policy
from train.config import Config, read_json
from train.curve import Curve
from train.folder import ARGUMENTS, LAST, check_new, clear, read_config
from train.learner import SelfPlayPPO
from train.policy import JollyPolicy
from train.rollout import SeatRolloutBuffer
from train.vec_env import SelfPlayVecEnv

DEV_SEED = 20_260_101
"""Seed of the deals of all evaluations while training; final figures use others."""
TENSORBOARD = "tensorboard"


class Trainer:
    """One run in one folder. ``advance`` plays and learns one update."""

    def __init__(self, config: Config, folder: Path) -> None:
        """Prepare a learner; nothing is read or written yet."""
        self.config, self.folder = config, folder
        if config.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device=cuda: torch finds no GPU here; use cpu or auto")
        torch.set_num_threads(config.threads)
        self.anchors: dict[str, Agent] = {name: agents.make(name) for name in config.anchors}
        self.env = SelfPlayVecEnv(
            config.games,
            config.table(),
            seed=config.seed,
            opponent_share=config.opponent_share,
            bots=[agents.make(name) for name in config.bots],
            bot_share=config.bot_share,
            network=config.network,
            privileged=config.privileged,
            threads=config.threads,
        )
        self.teacher = agents.make(config.teacher) if config.imitate else None
        self.learner = make_learner(config, self.env)
        self.curve = Curve(folder, config.anchors)
        self.callback = CallbackList([])
        self.callback.init_callback(self.learner)
        self.updates = 0
        self.snapshots: list[int] = []
        self.best = -np.inf
        self.seconds = 0.0
        self.latest: dict[str, float] = {}
        self.saved = 0
        """Decisions of the checkpoint in the folder."""
        self._kept: Checkpoint | None = None

    @property
    def decisions(self) -> int:
        """Decisions learned from so far."""
        return self.learner.num_timesteps

    @property
    def done(self) -> bool:
        """Whether the run has had all its decisions."""
        return self.decisions >= self.config.decisions

    def begin(self) -> None:
        """Deal the first games."""
        self.learner.set_logger(open_logger(self.folder))
        self.learner._last_obs = self.env.reset()
        self._keep()

    def resume(self) -> None:
        """Go on from the last checkpoint; ``ValueError`` if it is damaged, and then nothing is written."""
        last = self.folder / LAST
        counters = read_counters(last / COUNTERS)
        self.snapshots = list(counters["snapshots"])
        for number in self.snapshots:
            self.env.opponents[number] = load(self._snapshot(number), sample=True)
        load_trainer(last, self.learner, counters)
        self.learner.num_timesteps = self.saved = counters["decisions"]
        self.learner._n_updates = counters["gradient_passes"]
        self.updates, self.best, self.seconds = counters["updates"], counters["best"], counters["seconds"]
        self._choose_opponents()
        restore_random(last, self.learner, counters)
        if not self.curve.keep(self.decisions):
            text = (
                f"{self.curve.path}: missing or damaged; going on with the {len(self.curve.rows)} rows that are whole"
            )
            print(text, file=sys.stderr)
        self.latest = self.curve.latest()
        self.learner.set_logger(open_logger(self.folder))
        self._keep()

    def advance(self) -> dict[str, float]:
        """Play and learn one update; take snapshots, evaluate and save when due. Returns the figures of the update."""
        start = time.perf_counter()
        config, learner = self.config, self.learner
        left = max(0.0, 1 - self.decisions / config.decisions)
        learner._current_progress_remaining = left
        learner.ent_coef = config.entropy_end + (config.entropy - config.entropy_end) * left
        taught = self.decisions < config.imitate
        if not taught and self.decisions - config.games * config.steps < config.imitate:
            learner.hold_here()
        learner.teacher = self.teacher if taught else None
        learner.value_clip = config.value_clip
        over = max(config.hold_until * (config.decisions - config.imitate), 1)
        fading = max(0.0, 1 - max(0, self.decisions - config.imitate) / over)
        learner.hold = config.hold * fading if config.imitate else 0.0
        buffer = learner.rollout_buffer
        assert isinstance(buffer, SeatRolloutBuffer)
        buffer.shaping = config.shaping * fading
        self.env.draw_opponent()
        learner.collect_rollouts(self.env, self.callback, learner.rollout_buffer, config.steps)
        learner.train()
        if not all(bool(weights.isfinite().all()) for weights in learner.policy.parameters()):
            raise ValueError("the training has diverged: weights are NaN or infinite; try a lower --learning-rate")
        self.updates += 1
        learner.move_average(max(1 - config.average, 1 / self.updates))
        if self.updates % config.snapshot_every == 0:
            self._take_snapshot()
        figures = {name.removeprefix("train/"): float(v) for name, v in learner.logger.name_to_value.items()}
        if self.updates % config.evaluate_every == 0 or self.done:
            self.latest = self.evaluate()
            figures |= self.latest
        seconds = time.perf_counter() - start
        self.seconds += seconds
        figures |= {"decisions": self.decisions, "seconds": self.seconds}
        figures["decisions_per_second"] = config.games * config.steps / seconds
        for name, value in figures.items():
            learner.logger.record(name if "/" in name else f"run/{name}", value)
        with naming(self.folder / TENSORBOARD):
            learner.logger.dump(self.decisions)
        self.curve.add(figures)
        self._keep()
        if self.updates % config.save_every == 0 or self.done:
            self.save()
        return figures

    def evaluate(self) -> dict[str, float]:
        """Play the fixed deals with the average of the weights; a best result so far is saved as ``best``."""
        policy = PolicyAgent(self.learner.average)
        figures: dict[str, float] = {}
        for name, anchor in self.anchors.items():
            games = play(
                {"policy": policy, name: anchor}, self.config.evaluate_deals, DEV_SEED, rules=self.env.batch.rules
            )
            result = summarise(games, ["policy", f"{name} "], resamples=200)["agents"]["policy"]
            figures[f"{name}/points"] = result["points"]
            figures[f"{name}/points_low"], figures[f"{name}/points_high"] = result["points_ci"]
            figures[f"{name}/win_share"] = result["win_share"]
        points = figures[f"{self.config.anchors[-1]}/points"]
        if points > self.best:
            self.best = points
            save_policy(self.folder / "best", self.learner.average, self._about() | {"dev": figures})
        return figures

    def _keep(self) -> None:
        """Keep in memory what a checkpoint holds: an update that fails leaves nothing that could be saved."""
        counters = {
            "decisions": self.decisions,
            "updates": self.updates,
            "gradient_passes": self.learner._n_updates,
            "snapshots": sorted(set(self.snapshots[-self.config.pool :]) | set(self.env.opponents)),
            "best": self.best if np.isfinite(self.best) else -1e9,
            "seconds": self.seconds,
        }
        self._kept = Checkpoint.of(self.learner, counters, self._about())

    def save(self) -> None:
        """Save ``last`` and the curve as they were after the last whole update."""
        assert self._kept is not None, "begin or resume comes first"
        self.curve.save()  # first: rows beyond a checkpoint are dropped, missing ones can't be made up
        self._kept.save(self.folder / LAST)
        self.saved = self._kept.counters["decisions"]

    def _take_snapshot(self) -> None:
        """Freeze the policy as an opponent for the games to come."""
        self.snapshots.append(self.updates)
        save_policy(self._snapshot(self.updates), self.learner.actor, self._about() | {"sample": True})
        self.env.opponents[self.updates] = load(self._snapshot(self.updates), sample=True)
        self._choose_opponents()

    def _choose_opponents(self) -> None:
        """Let new games be played against the newest snapshots."""
        newest = self.snapshots[-self.config.pool :]
        self.env.set_opponents({number: self.env.opponents[number] for number in newest})

    def _snapshot(self, number: int) -> Path:
        """Return the folder of a snapshot."""
        return self.folder / "snapshots" / f"{number:06d}"

    def _about(self) -> dict[str, Any]:
        """Return what stands beside saved weights."""
        return {"rules": self.env.batch.rules.to_json(), "decisions": self.decisions, "seed": self.config.seed}


def make_learner(config: Config, env: SelfPlayVecEnv) -> SelfPlayPPO:
    """Return a learner with these settings."""
    torch.distributions.Distribution.set_default_validate_args(False)
    return SelfPlayPPO(
        JollyPolicy,
        env,
        learning_rate=_Falling(config.learning_rate, config.learning_rate_end),
        n_steps=config.steps,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        policy_kwargs={
            "network": config.network,
            "hidden": env.hidden.shape[1],
            "widths": config.widths,
            "value_widths": config.value_widths,
            "entropy_draw": config.entropy_draw,
        },
        seed=config.seed,
        device=config.device,
    )


@dataclasses.dataclass(frozen=True)
class _Falling:
    """A value that falls in a straight line with what remains of a run, 1 to 0."""

    start: float
    end: float

    def __call__(self, left: float) -> float:
        """Return the value."""
        return self.end + (self.start - self.end) * left


def start(config: Config, folder: Path, argv: Sequence[str]) -> Trainer:
    """Make a run folder and return its trainer; ``ValueError`` if the folder holds something already."""
    check_new(folder)
    trainer = Trainer(config, folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        write_json(folder / ARGUMENTS, {"config": config.to_json(), **origin("python -m train", argv)})
        trainer.begin()
        trainer.save()  # from here on the run can be resumed
    except BaseException:
        clear(folder)
        raise
    return trainer


def go_on(folder: Path, decisions: int | None) -> Trainer:
    """Return the trainer of a run folder at its last checkpoint; ``decisions`` is a new end of the run."""
    config = read_config(folder)
    recover(folder / LAST)
    changed = decisions is not None and decisions != config.decisions
    if decisions is not None:
        done = read_counters(folder / LAST / COUNTERS)["decisions"]
        if decisions < done:
            raise ValueError(f"--decisions {decisions}: the run in {folder} has had {done} already")
        config = dataclasses.replace(config, decisions=decisions)
    trainer = Trainer(config, folder)
    trainer.resume()
    if changed:
        write_json(folder / ARGUMENTS, read_json(folder / ARGUMENTS) | {"config": config.to_json()})
    return trainer


def open_logger(folder: Path) -> Logger:
    """Return a logger that writes for TensorBoard."""
    with naming(folder / TENSORBOARD):
        return configure(str(folder / TENSORBOARD), ["tensorboard"])
