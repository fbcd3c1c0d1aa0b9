"""What the adapters to PettingZoo and Gymnasium share: views, rewards, infos, the checks of their arguments."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from gymnasium import logger, spaces

from jolly_env.batch import REWARDS
from jolly_env.features import FEATURES, features
from jolly_env.game import Game, observe_seat
from jolly_env.observation import OBSERVATION, OBSERVATION_SIZE, as_flat
from jolly_env.rules import Rules, checked_rules

OBSERVATIONS: Final = ("flat", "features")
"""Views of an observation that an environment can give."""
FEATURE_BOUND: Final = 64
"""No feature is further from 0 under any rules."""
RENDER_MODES: Final = ("human", "ansi", "rgb_array")
DEFAULT_RULES: Final = Rules()


class View:
    """What an adapter shows of an observation: "flat", its record as int16[S], or "features", float32[F].

    Holds nothing but room to write into, so that every copy of it is a new one.
    """

    def __init__(self, kind: str) -> None:
        if kind not in OBSERVATIONS:
            raise ValueError(f"observation={kind!r}: expected one of {', '.join(OBSERVATIONS)}")
        self.kind = kind
        self._record = np.zeros(1, dtype=OBSERVATION)
        self._flat = as_flat(self._record)[0]

    def space(self) -> spaces.Box:
        """Return a new space of what is shown."""
        if self.kind == "flat":
            limits = np.iinfo(np.int16)
            return spaces.Box(limits.min, limits.max, (OBSERVATION_SIZE,), np.int16)
        return spaces.Box(-FEATURE_BOUND, FEATURE_BOUND, (FEATURES,), np.float32)

    def of(self, game: Game, seat: int) -> np.ndarray:
        """Return what ``seat`` may know, a new array."""
        observe_seat(game.states, seat, self._record)
        return self._flat.copy() if self.kind == "flat" else features(self._record)[0]

    def of_records(self, records: np.ndarray) -> np.ndarray:
        """Return what is shown of N observations, a new array: OBSERVATION[N] -> int16[N, S] or float32[N, F]."""
        return as_flat(records).copy() if self.kind == "flat" else features(records)

    def __reduce__(self) -> tuple[type[View], tuple[str]]:
        return View, (self.kind,)


def check_arguments(rules: Any, reward: Any, render_mode: Any, modes: Sequence[str] = RENDER_MODES) -> None:
    """Make sure that an environment's arguments are what they should be; ``ValueError`` names the first fault."""
    checked_rules(rules)
    if reward not in REWARDS:
        raise ValueError(f"reward={reward!r}: expected one of {', '.join(REWARDS)}")
    if render_mode is not None and render_mode not in modes:
        raise ValueError(f"render_mode={render_mode!r}: expected None or one of {', '.join(modes)}")


def new_game(rules: Rules, stream: np.random.Generator, seed: int | None, options: dict[str, Any] | None) -> Game:
    """Deal a game by ``seed``, or by the next number of ``stream``; ``options`` may fix the cards (contract)."""
    given = checked_options(options)
    number = next_seed(stream) if seed is None else seed
    return Game(rules, seed=number, deck=given.get("deck"), reshuffles=given.get("reshuffles"))


def checked_options(options: Any) -> Mapping[str, Any]:
    """Return the options of a reset, none for None; ``ValueError`` if they are no mapping."""
    given: Any = {} if options is None else options
    if not isinstance(given, Mapping):
        raise ValueError(f"options={given!r}: expected a mapping such as {{'deck': […]}}, or None")
    return given


def next_seed(stream: np.random.Generator) -> int:
    """Return the seed of the next game in a stream of games."""
    return int(stream.integers(2**63))


def round_rewards(game: Game, kind: str) -> list[float]:
    """Return what each seat earns by the round that has just ended.

    "margin": own score less the mean of the others', / 100; "score": own score / 100; "win": 1 shared among the
    highest totals at the game's end, else 0.
    """
    if kind == "win":
        totals, best = game.totals, max(game.totals)
        return [1 / totals.count(best) if game.over and total == best else 0.0 for total in totals]
    scores = game.scores
    if kind == "score":
        return [score / 100 for score in scores]
    total, others = sum(scores), len(scores) - 1
    return [(score - (total - score) / others) / 100 for score in scores]


def show(mode: str | None, source: Any) -> str | np.ndarray | None:
    """Render a game, or the table as an observation knows it.

    As text in mode "ansi", printed in mode "human", as a picture, uint8[720, 900, 3], in mode "rgb_array", which needs
    the extra ``render``.
    """
    if mode is None:
        logger.warn("render() shows nothing without a render mode: make the environment with render_mode='ansi'")
        return None
    if mode == "rgb_array":
        from jolly_env.drawing import draw_table
        from jolly_env.film import framed

        return framed(draw_table(source))
    from jolly_env.render import render_game, render_text

    draw = render_game if isinstance(source, Game) else render_text
    if mode == "ansi":
        return draw(source, True)
    print(draw(source, sys.stdout.isatty()), flush=True)
    return None


def round_info(game: Game, seat: int) -> dict[str, Any]:
    """Return what a seat is told of the round that has just ended, but the closer."""
    return {"score": game.scores[seat], "hand_jolly": game.hand_jolly, "total": game.totals[seat]}
