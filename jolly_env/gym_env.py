"""Jolly for one learner as a Gymnasium environment: the other seats are played by agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from jolly_env.actions import ACTIONS, IllegalAction
from jolly_env.adapter import (
    DEFAULT_RULES,
    RENDER_MODES,
    View,
    check_arguments,
    new_game,
    round_info,
    round_rewards,
    show,
)
from jolly_env.agent import Agent, RandomAgent, ask
from jolly_env.game import Game
from jolly_env.rules import Rules
from jolly_env.state import ROUND_OVER

Opponents = str | Agent | Sequence[str | Agent]
"""One agent for every other seat, or one for each of them from the learner's left; "random" names one."""
MOST_DEALS = 1000
"""Games dealt in search of one in which the learner has something to decide."""
NO_DECISION = f"{MOST_DEALS} games were over before the learner could act; look at the rules and the seat"


class Seating:
    """Who sits where: the learner's seat, game by game, and the agents in the other seats."""

    def __init__(self, players: int, opponents: Opponents, seat: int | str) -> None:
        """Check the arguments of an environment; ``ValueError`` names what is wrong."""
        self.players = players
        self.seat = seat
        named = isinstance(seat, str) and seat in ("rotate", "random")
        numbered = isinstance(seat, int | np.integer) and not isinstance(seat, bool) and 0 <= seat < players
        if not (named or numbered):
            raise ValueError(f'seat={seat!r}: expected a number from 0 to {players - 1}, "rotate" or "random"')
        if isinstance(opponents, Sequence) and not isinstance(opponents, str):
            if len(opponents) != players - 1:
                raise ValueError(f"opponents: expected {players - 1} from the learner's left, got {len(opponents)}")
            self.opponents = [_agent(opponent) for opponent in opponents]
        else:
            self.opponents = [_agent(opponents)] * (players - 1)

    def learner_seat(self, games: int, stream: np.random.Generator) -> int:
        """Return the learner's seat in a game, ``games`` having been dealt since the last seed."""
        if self.seat == "rotate":
            return games % self.players
        return int(stream.integers(self.players)) if self.seat == "random" else int(self.seat)

    def opponent(self, seat: int, learner: int) -> Agent:
        """Return who plays ``seat``."""
        return self.opponents[(seat - learner - 1) % self.players]

    def groups(self) -> list[tuple[Agent, np.ndarray]]:
        """Return each opponent once, with the places from the learner's left that it plays: bool[players - 1]."""
        different = {id(agent): agent for agent in self.opponents}
        return [(agent, np.array([other is agent for other in self.opponents])) for agent in different.values()]


class JollyEnv(gymnasium.Env[np.ndarray, Any]):
    """Jolly for one learner: ``gymnasium.make("jolly_env/Jolly-v0", opponents=…, seat=…)``.

    | Action       | ``Discrete(839)``; the mask of the legal ones is ``info["action_mask"]`` and ``action_masks()``  |
    |--------------|---------------------------------------------------------------------------------------------------|
    | Observation  | "features": float32[F], or "flat": int16[2403] (``jolly_env.observation.as_record``)             |
    | Reward       | the learner's at the end of a round, also where somebody else's action ends it                    |
    | Episode      | a game; truncated where it is cut off. The score is paid in full: don't bootstrap over the end    |
    | Render modes | None, "ansi" (returns text), "human" (prints), "rgb_array" (returns uint8[720, 900, 3], needs     |
    |              | the extra "render"): what the learner sees                                                        |

    **Arguments.** ``opponents``: an agent (an object with ``act``, see ``jolly_env.agent``) for all other seats, a
    list with one for each of them from the learner's left, or "random". ``seat``: a number; "rotate", from seat 0 on by
    one with each game since the last seed; or "random". ``rules``; ``reward``: "margin", "score" or "win", as in
    ``jolly_v0``; ``observation``; ``render_mode``.

    **Steps.** ``step`` plays the learner's action and then the others up to the learner's next decision. An action
    that is not legal raises ``IllegalAction`` and leaves the game as it was. ``info`` has the ``seat`` of the learner,
    and if a round ended in this step ``score``, ``total``, ``hand_jolly`` and ``closer`` (a seat, or -1 for nobody).

    **Reset.** ``reset(seed=s)`` deals what ``Game(seed=s)`` deals. ``options={"deck": […], "reshuffles": [[…], …]}``
    fixes the cards of the first round. A game that is over before the learner can act is dealt again.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012 (Gymnasium's way)

    def __init__(
        self,
        opponents: Opponents = "random",
        seat: int | str = 0,
        rules: Rules = DEFAULT_RULES,
        *,
        reward: str = "margin",
        observation: str = "features",
        render_mode: str | None = None,
    ) -> None:
        check_arguments(rules, reward, render_mode)
        self.rules = rules
        self.reward = reward
        self.render_mode = render_mode
        self.seating = Seating(rules.players, opponents, seat)
        self.seat = -1
        """The learner's seat in the game in progress."""
        self._view = View(observation)
        self.observation_space = self._view.space()
        self.action_space = spaces.Discrete(ACTIONS)
        self._game: Game | None = None
        self._games = 0
        self._ready = False
        self._earned = 0.0
        self._news: dict[str, Any] = {}

    @property
    def game(self) -> Game:
        """The game in progress, hidden cards and all: for records and tests, not for agents."""
        if self._game is None:
            raise gymnasium.error.ResetNeeded("there is no game: call reset() first")
        return self._game

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a game and play it up to the learner's first decision."""
        super().reset(seed=seed)
        games = 0 if seed is not None else self._games
        self._ready = False
        for _ in range(MOST_DEALS):
            seat = self.seating.learner_seat(games, self.np_random)
            self._game = new_game(self.rules, self.np_random, seed, options)
            self.seat, self._earned, self._news = seat, 0.0, {}
            games, seed = games + 1, None
            self._games = games
            self._play_others()
            if not self._game.over:
                break
            if options and options.get("deck") is not None:
                raise ValueError(f"deck: the game is over before the learner in seat {seat} can act")
        else:
            raise ValueError(NO_DECISION)
        self._ready = True
        return self._show()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play the learner's action, then the others up to the learner's next decision or the end."""
        game = self.game
        if not self._ready:
            raise gymnasium.error.ResetNeeded("the last step or reset broke off: call reset() first")
        game.step(action)
        self._ready = False
        self._play_others()
        self._ready = True
        observation, info = self._show()
        earned, self._earned = self._earned, 0.0
        return observation, earned, game.over and not game.truncated, game.over and game.truncated, info

    def action_masks(self) -> np.ndarray:
        """Return the learner's legal actions as ones: int8[839]; all zeros once the game is over."""
        return self.game.mask()

    def render(self) -> str | np.ndarray | None:  # type: ignore[override]
        """Show what the learner may know, in the way of the render mode."""
        return show(self.render_mode, self.game.observe(self.seat))

    def _show(self) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the learner's observation and info."""
        info = {"action_mask": self.game.mask(), "seat": self.seat, **self._news}
        self._news = {}
        if self.render_mode == "human":
            self.render()
        return self._view.of(self.game, self.seat), info

    def _play_others(self) -> None:
        """Play on up to the learner's next decision or the end of the game; note what is earned on the way."""
        game = self.game
        while True:
            if game.states["phase"][0] >= ROUND_OVER:
                self._earned += round_rewards(game, self.reward)[self.seat]
                closer = -1 if game.closer is None else game.closer
                self._news = {**round_info(game, self.seat), "closer": closer}
                if game.over:
                    return
                game.next_round()
            seat = game.seat
            if seat == self.seat:
                return
            keys = np.array([game.decision_key(seat)], dtype=np.uint64)
            opponent = self.seating.opponent(seat, self.seat)
            try:
                game.step(ask(opponent, game.observe(seat), game.mask()[None], keys)[0])
            except IllegalAction as error:
                raise IllegalAction(f"the opponent in seat {seat}: {error}") from None


def _agent(given: Any) -> Agent:
    """Return an opponent; ``ValueError`` if it is neither an agent nor "random"."""
    if isinstance(given, str) and given == "random":
        return RandomAgent()
    if isinstance(given, str | type) or not callable(getattr(given, "act", None)):
        raise ValueError(
            f'opponents: expected agents or "random", got {given!r}; pass an object, such as agents.make("greedy")'
        )
    agent: Agent = given
    return agent
