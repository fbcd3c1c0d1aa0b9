"""Jolly as a PettingZoo AEC environment: ``jolly_v0.env()``, and ``jolly_v0.raw_env()`` without wrappers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

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
from jolly_env.game import Game
from jolly_env.rules import Rules
from jolly_env.seeding import whole_seed
from jolly_env.state import ROUND_OVER

__all__ = ["env", "raw_env"]


def env(rules: Rules = DEFAULT_RULES, render_mode: str | None = None, **options: Any) -> AECEnv[str, Any, Any]:
    """Return :class:`raw_env` in the wrapper that names calls in a wrong order; the arguments are the same.

    PettingZoo's wrappers for bad actions are not among them: such an action raises :class:`IllegalAction` and leaves
    the game as it was.
    """
    return OrderEnforcingWrapper(raw_env(rules, render_mode, **options))


class raw_env(AECEnv[str, Any, Any]):  # type: ignore[misc]  # noqa: N801 (PettingZoo is untyped; its name)
    """Jolly, a rummy for two to four players, of which every turn is several steps of one agent.

    | Created by    | ``from jolly_env import Rules, jolly_v0; env = jolly_v0.env(rules=Rules(players=3))`` |
    |---------------|----------------------------------------------------------------------------------------|
    | Agents        | ``player_0`` … ``player_3``, 2 to 4 of them in turn order; ``player_0`` begins         |
    | Actions       | ``Discrete(839)``, whatever the rules: see ``jolly_env.actions``                       |
    | Observation   | ``{"observation": int16[2403] or float32[F], "action_mask": int8[839]}``               |
    | Rewards       | at a round's end                                                                       |
    | Parallel API  | no: players take turns                                                                 |
    | ``state()``   | no: it would show every hand; whoever wants that takes ``env.unwrapped.game``          |
    | Render modes  | None; the whole table as text, ``"ansi"``; printed after each step, ``"human"``;       |
    |               | or as a picture, uint8[720, 900, 3], ``"rgb_array"``, which needs the extra "render"   |

    **Arguments.** ``rules``: :class:`jolly_env.Rules`. ``render_mode``: see above. ``reward``: "margin" (own score
    less the mean of the others', / 100), "score" (/ 100) or "win" (1 at the game's end, shared among the highest
    totals). ``observation``: "flat", the exact record of what the agent may know, whose fields
    ``jolly_env.observation.as_record`` names without a copy, or "features", the same made for a network.

    **Turns.** The selected agent stays the same until its discard. The mask is all zeros for any other agent. An
    action that is not legal raises ``IllegalAction``, which says why, and leaves the game as it was.

    **Rounds and rewards.** With ``Rules.target`` a game has several rounds, each dealt in the step that ends the one
    before. In that step ``rewards`` pays every agent, and ``infos[agent]`` holds ``score`` and ``total`` (points of
    the round and of the game), ``closer`` (an agent's name or None) and ``hand_jolly``. An agent's info stays until it
    acts, as its cumulative reward does, so that ``last()`` shows both to everybody. A game ends for all agents at
    once: by ``truncations`` where it was cut off (``max_turns``, ``max_rounds``), else by ``terminations``. Either way
    the score is paid in full, so a learner must not bootstrap over the end.

    **Reset.** ``reset(seed=s)`` deals what ``Game(seed=s)`` deals; ``reset()`` goes on with the random stream that the
    last seed began. ``options={"deck": […], "reshuffles": [[…], …]}`` fixes the cards of the first round; other keys
    are ignored.

    **Copies.** ``copy.deepcopy`` and ``pickle`` keep the game in progress.

    **Version history.** v0: the first.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo's way)
        "name": "jolly_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(
        self,
        rules: Rules = DEFAULT_RULES,
        render_mode: str | None = None,
        *,
        reward: str = "margin",
        observation: str = "flat",
    ) -> None:
        super().__init__()
        check_arguments(rules, reward, render_mode)
        self.rules = rules
        self.render_mode = render_mode
        self.reward = reward
        self._view = View(observation)
        self.possible_agents = [f"player_{seat}" for seat in range(rules.players)]
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: spaces.Dict(
                {"observation": self._view.space(), "action_mask": spaces.Box(0, 1, (ACTIONS,), np.int8)}
            )
            for agent in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(ACTIONS) for agent in self.possible_agents
        }
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._stream = np.random.default_rng()
        self._game: Game | None = None
        self._paid = False

    @property
    def game(self) -> Game:
        """The game in progress, hidden cards and all: for searches, records and tests, not for agents."""
        if self._game is None:
            raise ValueError("there is no game yet: call reset() first")
        return self._game

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of the agent's observations, always the same object."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of the agent's actions, always the same object."""
        return self.action_spaces[self._known(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game; see the class for ``seed`` and ``options``. ``ValueError`` for a deck of other cards."""
        stream = self._stream if seed is None else np.random.default_rng(whole_seed(seed))
        self._game = new_game(self.rules, stream, seed, options)
        self._stream = stream
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._paid = False
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.possible_agents[self._game.seat]
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Play an action of the selected agent, or None for one whose game is over."""
        if not self.agents:
            raise IllegalAction("there is no game to play in: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise IllegalAction(f"action {action!r}: the game is over for {agent}, whose only step is None")
            self._was_dead_step(None)
            return
        game = self.game
        game.step(action)
        self._cumulative_rewards[agent] = 0.0
        if self.infos[agent]:
            self.infos[agent] = {}
        if self._paid:
            self._clear_rewards()
            self._paid = False
        if game.states["phase"][0] >= ROUND_OVER:
            self._end_round(game)
        self.agent_selection = self.possible_agents[game.seat]
        if self.render_mode == "human":
            self.render()

    def last(self, observe: bool = True) -> tuple[dict[str, np.ndarray] | None, float, bool, bool, dict[str, Any]]:
        """Return observation, cumulative reward, termination, truncation and info of the selected agent."""
        if not self.agents:
            raise ValueError("there is no agent to act: call reset() first")
        agent = self.agent_selection
        observation = self.observe(agent) if observe else None
        reward, info = self._cumulative_rewards[agent], self.infos[agent]
        return observation, reward, self.terminations[agent], self.truncations[agent], info

    def agent_iter(self, max_iter: int = 2**63) -> Iterable[str]:
        """Return the selected agents, one for each step, until nobody is left to act."""
        if self._game is None:
            raise ValueError("there is no game yet: call reset() first")
        return super().agent_iter(max_iter)

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return what an agent may know and do: new arrays, the mask all zeros if it is not to act."""
        game, seat = self.game, self._seats[self._known(agent)]
        mask = game.mask() if seat == game.seat else np.zeros(ACTIONS, dtype=np.int8)
        return {"observation": self._view.of(game, seat), "action_mask": mask}

    def render(self) -> str | np.ndarray | None:
        """Show the whole table, hidden cards too, in the way of the render mode."""
        return show(self.render_mode, self.game)

    def close(self) -> None:
        """Do nothing, as there is nothing to release."""

    def _known(self, agent: Any) -> str:
        """Return the name of an agent; ``ValueError`` for anything else."""
        if not isinstance(agent, str) or agent not in self._seats:
            raise ValueError(f"agent {agent!r}: expected one of {', '.join(self.possible_agents)}")
        return agent

    def _end_round(self, game: Game) -> None:
        """Pay and tell everybody, and deal the next round or end the game."""
        closer = None if game.closer is None else self.possible_agents[game.closer]
        for seat, reward in enumerate(round_rewards(game, self.reward)):
            agent = self.possible_agents[seat]
            self.rewards[agent] = reward
            self.infos[agent] = {**round_info(game, seat), "closer": closer}
        self._accumulate_rewards()
        self._paid = True
        if not game.over:
            game.next_round()
            return
        ends = self.truncations if game.truncated else self.terminations
        for agent in self.agents:
            ends[agent] = True
