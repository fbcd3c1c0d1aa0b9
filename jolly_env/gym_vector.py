"""Jolly for one learner in N games at once, as a native Gymnasium vector environment over :class:`Batch`.

Letters: ``N`` games, ``S`` = 2403 numbers of an observation, ``F`` features.
"""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from jolly_env.actions import ACTIONS, IllegalAction
from jolly_env.adapter import DEFAULT_RULES, View, check_arguments, checked_options, next_seed, show
from jolly_env.agent import ask
from jolly_env.batch import Batch
from jolly_env.game import observe_seat
from jolly_env.gym_env import MOST_DEALS, NO_DECISION, Opponents, Seating
from jolly_env.observation import OBSERVATION, as_flat, as_record
from jolly_env.rules import Rules

VECTOR_RENDER_MODES: Final = ("ansi", "rgb_array")
NEWS: Final = {"score": np.int64, "total": np.int64, "hand_jolly": np.bool_, "closer": np.int64}
"""What ``infos`` tell of a finished round; ``_NAME`` says in which games there is something to tell."""


class JollyVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """N games for one learner: ``gymnasium.make_vec("jolly_env/Jolly-v0", num_envs=N, opponents=…, seat=…)``.

    Arguments, rewards and infos are those of :class:`jolly_env.gym_env.JollyEnv`, as arrays, without given decks; game
    by game it does what that does with the seeds ``seed``, ``seed + 1``, … Render modes are "ansi" and "rgb_array".

    A game that ends is followed by a new one in the same step: ``infos["final_obs"]`` (objects, with the mask
    ``_final_obs``) and ``infos["final_info"]`` are then the old game's last, all else is the new game's. All arrays are
    new with each step. If any action is not legal, ``IllegalAction`` names its row and nothing is played.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's way)
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": list(VECTOR_RENDER_MODES),
        "render_fps": 4,
    }

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Opponents = "random",
        seat: int | str = 0,
        rules: Rules = DEFAULT_RULES,
        *,
        reward: str = "margin",
        observation: str = "features",
        render_mode: str | None = None,
    ) -> None:
        check_arguments(rules, reward, render_mode, VECTOR_RENDER_MODES)
        self.rules = rules
        self.render_mode = render_mode
        self.num_envs = num_envs
        self.seating = Seating(rules.players, opponents, seat)
        self._view = View(observation)
        self.single_observation_space = self._view.space()
        self.single_action_space = spaces.Discrete(ACTIONS)
        self.batch = Batch(num_envs, rules, seed=0, reward=reward, auto_reset=False)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.seats = np.zeros(num_envs, dtype=np.int64)
        """The learner's seats: int64[N]."""
        self._groups = self.seating.groups()
        self._streams: list[np.random.Generator | None] = [None] * num_envs
        self._games = np.zeros(num_envs, dtype=np.int64)
        self._earned = np.zeros(num_envs, dtype=np.float64)
        self._told = np.zeros(num_envs, dtype=np.bool_)
        self._news: dict[str, np.ndarray] = {name: np.zeros(num_envs, dtype=NEWS[name]) for name in NEWS}
        self._ready = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal new games and play them up to the learner's first decisions; row i is seeded with ``seed + i``."""
        super().reset(seed=seed)
        given = checked_options(options)
        for name in ("deck", "reshuffles"):
            if given.get(name) is not None:
                raise ValueError(f"{name}: the vector environment deals its own cards; gymnasium.make takes others")
        seeds = None if seed is None else [int(seed) + row for row in range(self.num_envs)]
        if seeds is not None and seeds[-1] >= 2**64:
            raise ValueError(f"seed={seed}: expected a whole number from 0 to {2**64 - self.num_envs}")
        for row in range(self.num_envs):
            if seeds is not None:
                self._streams[row] = seeding.np_random(seeds[row])[0]
            elif self._streams[row] is None:
                self._streams[row] = seeding.np_random()[0]
        if seed is not None:
            self._games[:] = 0
        self._ready = False
        self._deal(np.arange(self.num_envs), seeds)
        self._ready = True
        return self._view.of_records(self.batch.observations), self._infos()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play the learner's actions, int[N], then the others up to the learner's next decisions."""
        if not self._ready:
            raise gymnasium.error.ResetNeeded("there are no games, or the last step broke off: call reset() first")
        self.batch.step(actions)
        self._ready = False
        finished = self._play_others(np.arange(self.num_envs))
        rewards, self._earned = self._earned, np.zeros(self.num_envs, dtype=np.float64)
        terminated, truncated = self.batch.terminated.copy(), self.batch.truncated.copy()
        infos = self._final_infos(finished) if finished.size else {}
        self._deal(finished, None)
        infos.update(self._infos())
        self._ready = True
        return self._view.of_records(self.batch.observations), rewards, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """Return the learner's legal actions as ones: int8[N, 839]."""
        return self.batch.masks.copy()

    def render(self) -> tuple[Any, ...] | None:
        """Show what the learner may know in each game: N texts in mode "ansi", N pictures in mode "rgb_array"."""
        if not self._ready:
            raise gymnasium.error.ResetNeeded("there are no games, or the last step broke off: call reset() first")
        if self.render_mode is None:
            show(None, self.batch.observations)
            return None
        return tuple(show(self.render_mode, observation) for observation in self.batch.observations)

    def _deal(self, rows: np.ndarray, seeds: list[int] | None) -> None:
        """Deal new games in ``rows`` and play them up to the learner's first decisions."""
        for _ in range(MOST_DEALS):
            if not rows.size:
                return
            numbers = []
            for i, row in enumerate(rows):
                stream = self._streams[row]
                assert stream is not None
                self.seats[row] = self.seating.learner_seat(int(self._games[row]), stream)
                numbers.append(next_seed(stream) if seeds is None else seeds[i])
            self.batch.reset(np.array(numbers, dtype=np.uint64), rows)
            self._games[rows] += 1
            self._earned[rows] = 0
            self._told[rows] = False
            rows, seeds = self._play_others(rows), None
        raise ValueError(NO_DECISION)

    def _play_others(self, rows: np.ndarray) -> np.ndarray:
        """Play ``rows``, just dealt or played in, up to the learner's next decisions; return those that are over."""
        batch, finished = self.batch, []
        while True:
            self._note_rounds(rows[batch.round_over[rows]])
            over = batch.terminated[rows] | batch.truncated[rows]
            finished.append(rows[over])
            rows = rows[~over]
            rows = rows[batch.seats[rows] != self.seats[rows]]
            if not rows.size:
                return np.concatenate(finished)
            try:
                batch.step(self._choose(rows), rows)
            except IllegalAction as error:
                raise IllegalAction(f"the opponents: {error}") from None

    def _choose(self, rows: np.ndarray) -> np.ndarray:
        """Return the opponents' actions in ``rows``, each agent being asked once: int64[len(rows)]."""
        batch = self.batch
        actions = np.empty(len(rows), dtype=np.int64)
        places = (batch.seats[rows] - self.seats[rows] - 1) % self.seating.players
        for agent, own in self._groups:
            at = np.flatnonzero(own[places])
            if at.size:
                asked = rows[at]
                # Flat rows are copied whole, records field by field.
                observations = as_record(as_flat(batch.observations)[asked])
                actions[at] = ask(agent, observations, batch.masks[asked], batch.keys[asked])
        return actions

    def _note_rounds(self, rows: np.ndarray) -> None:
        """Note what the learner earned in ``rows``, in which a round has just ended, and what it is told."""
        batch, seats = self.batch, self.seats[rows]
        self._earned[rows] += batch.rewards[rows, seats]
        self._told[rows] = True
        self._news["score"][rows] = batch.scores[rows, seats]
        self._news["total"][rows] = batch.totals[rows, seats]
        self._news["hand_jolly"][rows] = batch.hand_jolly[rows]
        self._news["closer"][rows] = batch.closers[rows]

    def _infos(self) -> dict[str, Any]:
        """Return the infos of all games, and forget what they tell of rounds."""
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        infos = self._told_infos(self._told)
        infos.update(action_mask=self.batch.masks.copy(), _action_mask=everywhere)
        infos.update(seat=self.seats.copy(), _seat=everywhere.copy())
        self._told[:] = False
        return infos

    def _told_infos(self, told: np.ndarray) -> dict[str, Any]:
        """Return what is told of rounds in the games that the mask ``told`` names; nothing if there are none."""
        infos: dict[str, Any] = {}
        if told.any():
            for name, values in self._news.items():
                infos[name] = np.where(told, values, np.zeros_like(values))
                infos[f"_{name}"] = told.copy()
        return infos

    def _final_infos(self, rows: np.ndarray) -> dict[str, Any]:
        """Return the last observations and infos of the games of ``rows``, which are over."""
        room = np.zeros(len(rows), dtype=OBSERVATION)
        for i, row in enumerate(rows):
            observe_seat(self.batch.states[row : row + 1], int(self.seats[row]), room[i : i + 1])
        final = np.full(self.num_envs, None, dtype=object)
        for row, observation in zip(rows, self._view.of_records(room), strict=True):
            final[row] = observation
        over = np.zeros(self.num_envs, dtype=np.bool_)
        over[rows] = True
        info = self._told_infos(over)
        info.update(action_mask=np.zeros((self.num_envs, ACTIONS), dtype=np.int8), _action_mask=over.copy())
        info.update(seat=np.where(over, self.seats, 0), _seat=over.copy())
        return {"final_obs": final, "_final_obs": over, "final_info": info, "_final_info": over.copy()}
