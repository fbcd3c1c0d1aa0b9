"""Self-play for stable-baselines3: a ``VecEnv`` over the batch.

Letters: ``N`` games, ``P`` players, ``F`` features.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from agents.network import INPUTS
from agents.options import Views
from jolly_env.actions import ACTIONS
from jolly_env.agent import Agent, ask
from jolly_env.batch import Batch
from jolly_env.observation import OBSERVATION
from jolly_env.rules import Rules
from train.privileged import HIDDEN, Privileged

LEARNER = -1
"""Number of the learner among the players of a table; snapshots count from 0 up, bots from FIRST_BOT down."""
FIRST_BOT = -2
FORCED = np.iinfo(np.int64).min
"""In place of a player, where only one action is legal."""


class SelfPlayVecEnv(VecEnv):
    """``N`` games in which the learner plays some or all seats, and opponents the others.

    Every step shows each game at a decision of the learner that is a choice: where one action alone is legal, as at
    most draws, it is played at once. The reward that ``step`` returns is that of the seat that decided, since its last
    decision; what the other seats earned stands in ``seat_rewards``. Who learns from many
    seats needs ``seats`` and ``seat_rewards``: see :class:`train.rollout.SeatRolloutBuffer`.

    Attributes: ``seats`` int64[N], the seat to decide; ``seat_rewards`` float32[N, P], what each seat earned by the
    last step; ``controllers`` int64[N, P], who plays each seat; ``hidden`` float32[N, H], what a critic may see beside
    the observations and no player ever (:mod:`train.privileged`), or float32[N, 0].
    """

    def __init__(
        self,
        n: int,
        rules: Rules | None = None,
        *,
        seed: int | None = None,
        opponents: Mapping[int, Agent] | None = None,
        opponent_share: float = 0.0,
        bots: Sequence[Agent] = (),
        bot_share: float = 0.0,
        network: str = "suits",
        privileged: bool = False,
        threads: int = 1,
    ) -> None:
        """Deal ``n`` games; in shares of them all seats but one are played by an opponent or a bot drawn at random.

        ``opponents`` are numbered from 0 on; :meth:`set_opponents` changes them. Bots stay. The observations are what
        the ``network`` of that name sees; they and ``hidden`` are written by so many threads.
        """
        self.render_mode = None
        self._views = [Views() for _ in range(threads if network == "options" else 0)]
        self._privileged = [Privileged() for _ in range(threads if privileged else 0)]
        self._threads = ThreadPoolExecutor(threads)
        self._shares = np.linspace(0, n, threads + 1).astype(np.int64)
        """Where the games of each thread begin and end."""
        self.batch = Batch(n, rules, seed=seed, view="record" if self._views else "features")
        self._seen = np.zeros((n, INPUTS[network]), dtype=np.float32)
        self.hidden = np.zeros((n, HIDDEN if privileged else 0), dtype=np.float32)
        self.players = self.batch.rules.players
        self.opponents: dict[int, Agent] = {}
        self.pool = np.zeros(0, dtype=np.int64)
        """Numbers of the opponents that may be drawn."""
        self.opponent: int | None = None
        """Number of the opponent that new games are dealt to."""
        self.opponent_share = opponent_share
        self.bots = {FIRST_BOT - i: bot for i, bot in enumerate(bots)}
        self.bot_share = bot_share if bots else 0.0
        self.random = np.random.default_rng(seed)
        box = spaces.Box(-np.inf, np.inf, (INPUTS[network],), np.float32)
        super().__init__(n, box, spaces.Discrete(ACTIONS))
        self.controllers = np.full((n, self.players), LEARNER, dtype=np.int64)
        self.seat_rewards = np.zeros((n, self.players), dtype=np.float32)
        self._records = np.zeros(n, dtype=OBSERVATION)
        self._actions = np.zeros(n, dtype=np.int64)
        self.set_opponents(opponents or {})
        self._infos: list[dict[str, Any]] = [{} for _ in range(n)]

    @property
    def seats(self) -> np.ndarray:
        """The seat to decide: int64[N]."""
        return self.batch.seats

    def action_masks(self) -> np.ndarray:
        """Return the legal actions: int8[N, 839]."""
        return self.batch.masks

    def set_opponents(self, opponents: Mapping[int, Agent]) -> None:
        """Draw from these opponents from now on; those that are still in play stay until their games end."""
        playing = {int(number): self.opponents[number] for number in np.unique(self.controllers) if number >= 0}
        self.opponents = playing | dict(opponents)
        self.pool = np.array(sorted(opponents), dtype=np.int64)
        self.draw_opponent()

    def draw_opponent(self) -> None:
        """Draw who plays the games that are dealt from now on.

        One at a time, since every opponent in play costs a pass through its network, however few its decisions are.
        """
        self.opponent = int(self.random.choice(self.pool)) if len(self.pool) else None

    def reset(self) -> np.ndarray:
        """Deal new games from the env's own stream and return the first observations: float32[N, F]."""
        self.batch.reset(int(self.random.integers(2**63)))
        self.seat_rewards[:] = 0
        self._seat_players(np.arange(self.num_envs))
        self._play_opponents(np.zeros(self.num_envs, dtype=np.bool_))
        return self.look()

    def step_async(self, actions: np.ndarray) -> None:
        """Take the learner's actions: int64[N]."""
        self._actions = np.asarray(actions).reshape(-1)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play them and the opponents' until each game is at a decision of the learner again."""
        deciders = self.batch.seats.copy()
        step = self.batch.step(self._actions)
        self.seat_rewards[:] = step.rewards
        dones = step.terminated | step.truncated
        self._play_opponents(dones)
        rewards = self.seat_rewards[np.arange(self.num_envs), deciders]
        return self.look(), rewards, dones, self._infos

    def look(self) -> np.ndarray:
        """Return the observations of the games as they are, and renew ``hidden``."""
        list(self._threads.map(self._write, range(len(self._shares) - 1)))
        return self._seen if self._views else self.batch.observations

    def _write(self, thread: int) -> None:
        """Write what the learner and its critic see of a thread's share of the games."""
        mine = slice(*self._shares[thread : thread + 2])
        if self._views:
            self._views[thread].write(self.batch.observations[mine], self.batch.masks[mine], self._seen[mine])
        if self._privileged:
            self._privileged[thread].write(self.batch.states[mine], self.hidden[mine])

    def ask(self, agent: Agent) -> np.ndarray:
        """Return what an agent would do in each game: int64[N]."""
        rows = np.arange(self.num_envs)
        return ask(agent, self.batch.observe(rows, self._records), self.batch.masks, self.batch.keys)

    def _play_opponents(self, dones: np.ndarray) -> None:
        """Play on until each game is at a choice of the learner; adds rewards, marks games that ended."""
        batch, rows = self.batch, np.flatnonzero(dones)
        if len(rows):
            self._seat_players(rows)
        while True:
            controllers = self.controllers[np.arange(self.num_envs), batch.seats]
            controllers[np.count_nonzero(batch.masks, axis=1) == 1] = FORCED
            rows = np.flatnonzero(controllers != LEARNER)
            if not len(rows):
                return
            actions = batch.masks[rows].argmax(axis=1)
            for number in np.unique(controllers[rows]):
                if number == FORCED:
                    continue
                mine = np.flatnonzero(controllers[rows] == number)
                chosen = rows[mine]
                records = batch.observe(chosen, self._records[: len(chosen)])
                player = self.opponents[number] if number >= 0 else self.bots[number]
                try:
                    actions[mine] = ask(player, records, batch.masks[chosen], batch.keys[chosen])
                except Exception as error:
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    raise ValueError(
                        f"opponent {type(player).__name__}: act failed: {type(error).__name__}: {error} "
                        f"({where.filename}, line {where.lineno})"
                    ) from error
            step = batch.step(actions, rows)
            same = rows[~dones[rows]]  # a new game has no decision yet that earned anything
            self.seat_rewards[same] += step.rewards[same]
            ended = rows[(step.terminated | step.truncated)[rows]]
            dones[ended] = True
            self._seat_players(ended)

    def _seat_players(self, rows: np.ndarray) -> None:
        """Draw who plays the new games of ``rows``."""
        self.controllers[rows] = LEARNER
        drawn = self.random.random(len(rows))
        snapshot = [] if self.opponent is None else [self.opponent]
        shares = (self.bot_share, self.bot_share + (self.opponent_share if snapshot else 0.0))
        for among, numbers in (
            (drawn < shares[0], list(self.bots)),
            ((drawn >= shares[0]) & (drawn < shares[1]), snapshot),
        ):
            mine = rows[among]
            if len(mine):
                self.controllers[mine] = self.random.choice(numbers, size=(len(mine), 1))
                self.controllers[mine, self.random.integers(self.players, size=len(mine))] = LEARNER

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the env, once for each game that is asked for."""
        return [getattr(self, attr_name)] * self._games(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the env."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Call a method of the env once; ``action_masks`` answers with one array: int8[N, 839]."""
        result = getattr(self, method_name)(*args, **kwargs)
        return result if method_name == "action_masks" else [result] * self._games(indices)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Tell that no game is wrapped."""
        return [False] * self._games(indices)

    def _games(self, indices: Any) -> int:
        """Return how many games are asked for."""
        return len(list(self._get_indices(indices)))
