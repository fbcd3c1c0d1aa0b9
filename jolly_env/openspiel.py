"""Jolly as an OpenSpiel game with explicit chance: once imported, ``pyspiel.load_game("python_jolly(players=3)")``.

Chance deals card by card, each hand in ascending order, so that a hand comes up once however it was dealt; and it
chooses the card of a draw from the stock just before the draw is played. Actions are those of the engine
(:mod:`jolly_env.actions`), chance's are cards. Returns are margins / 100, so the game is zero-sum for 2 to 4 players.

The information state string is all that a seat has seen, in order (perfect recall). The observation tensor is the
record of :data:`jolly_env.observation.OBSERVATION` as float32.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

try:
    import pyspiel
    from open_spiel.python.policy import Policy
except ImportError as error:
    raise ImportError('jolly_env.openspiel needs OpenSpiel: pip install "jolly-env[openspiel]"') from error

from jolly_env.actions import ACTIONS, DRAW_STOCK
from jolly_env.adapter import View
from jolly_env.agent import Agent, probabilities
from jolly_env.cards import CARD_KINDS, HAND_VALUE, JOKER, Card, format_card, parse_card
from jolly_env.game import Game
from jolly_env.observation import OBSERVATION_SIZE
from jolly_env.render import render_game, render_text
from jolly_env.rules import Rules
from jolly_env.state import Phase

NAME = "python_jolly"
CHANCE, OVER = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
MOST_LENGTH = 2**31 - 1
"""OpenSpiel counts the actions of a game in 32 bits."""
_DEFAULTS: Mapping[str, Any] = {
    **{name: value for name, value in vars(Rules()).items() if name not in ("pack", "target")},
    "pack": "",
    "target": 0,
}
"""Parameters: the fields of ``Rules``; ``pack`` lists its cards (``2c2c3d``) or is empty; ``target`` 0 is None."""
_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Jolly",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=4,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=dict(_DEFAULTS),
)


def load(rules: Rules) -> JollyGame:
    """Return the game under some rules."""
    given: dict[str, Any] = rules.to_json()
    if "pack" in given:
        given["pack"] = "".join(format_card(card) * count for card, count in enumerate(given["pack"]))
    return pyspiel.load_game(NAME, given)


class JollyGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel comes without types
    """The game; ``ValueError`` for parameters that :class:`jolly_env.Rules` refuses."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Take the parameters."""
        values = {**_DEFAULTS, **(params or {})}
        values["pack"], values["target"] = _counts(values["pack"]), values["target"] or None
        self.rules = Rules(**values)
        super().__init__(_TYPE, _info(self.rules), dict(params or {}))

    def new_initial_state(self) -> JollyState:
        """Return a state before the deal."""
        return JollyState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> JollyObserver:
        """Return an observer; ``ValueError`` for parameters, of which there are none."""
        return JollyObserver(iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)


class JollyState(pyspiel.State):  # type: ignore[misc]
    """A state: the game as the engine knows it, and what chance has still to choose.

    OpenSpiel clones a state by copying its attributes deeply, so these are few, and cheap to copy.
    """

    def __init__(self, game: JollyGame) -> None:
        """Begin before the deal."""
        super().__init__(game)
        self._table: Game | None = None  # None before the first deal is complete
        self._dealt = b""  # cards dealt so far of a deal that is not complete
        self._dealing, self._drawing = True, False
        self._seen = ("",) * game.rules.players
        self._to_act = CHANCE

    @property
    def table(self) -> Game:
        """The game in progress, hidden cards and all; ``ValueError`` before the first deal is complete."""
        if self._table is None:
            raise ValueError("there is no game yet: chance is dealing")
        return self._table

    def current_player(self) -> int:
        """Return who is to act: a seat, chance, or nobody any more."""
        return self._to_act

    def is_terminal(self) -> bool:
        """Tell whether the game is over."""
        return self._to_act == OVER

    def chance_outcomes(self) -> list[tuple[Card, float]]:
        """Return the cards that may come, and how likely each is."""
        if self._drawing:
            stock = self.table.stock()
            return [(card, stock.count(card) / len(stock)) for card in sorted(set(stock))]
        rules = self.get_game().rules
        begun = len(self._dealt) // rules.hand_size * rules.hand_size
        left = rules.counts() - np.bincount(np.frombuffer(self._dealt[:begun], np.uint8), minlength=CARD_KINDS)
        ways = _ways(left.tolist(), list(self._dealt[begun:]), rules.hand_size)
        total = sum(ways.values())
        return [(card, n / total) for card, n in ways.items()]

    def returns(self) -> list[float]:
        """Return each seat's margin / 100, own points less the mean of the others'; zeros until the game is over."""
        totals = self.table.totals if self.is_terminal() else [0] * self.num_players()
        others = len(totals) - 1
        return [(own - (sum(totals) - own) / others) / 100 for own in totals]

    def information_state_string(self, player: int | None = None) -> str:
        """Return all that a seat has seen, in order: the seat to move unless one is named."""
        return self._seen[self._seat(player)]

    def observation_string(self, player: int | None = None) -> str:
        """Return the table as a seat knows it."""
        return _shown(self, self._seat(player))

    def __str__(self) -> str:
        """Return the table with all hands, or the cards dealt so far."""
        if self._dealing:
            return "dealt: " + " ".join(map(format_card, self._dealt))
        return render_game(self.table, colour=False) + ("\na card is drawn from the stock" if self._drawing else "")

    def _legal_actions(self, player: int) -> list[int]:
        """Return the legal actions, ascending."""
        return self.table.legal_actions().tolist()

    def _apply_action(self, action: int) -> None:
        """Play an action of a seat or of chance."""
        if self._dealing:
            self._deal(action)
        elif self._drawing:
            self._drawing = False
            self.table.put_on_top(action)
            self._play(DRAW_STOCK, "draw", f"draw {format_card(action)}")
        elif action == DRAW_STOCK:
            self._drawing = True
        else:
            text = self.table.format(action)
            self._play(action, text, text)
        if self._dealing or self._drawing:
            self._to_act = CHANCE
        else:
            self._to_act = OVER if self.table.over else self.table.seat

    def _action_to_string(self, player: int, action: int) -> str:
        """Return an action in notation."""
        return format_card(action) if player == CHANCE else self.table.format(action)

    def _deal(self, card: Card) -> None:
        """Deal a card; after the last one play begins."""
        rules: Rules = self.get_game().rules
        self._dealt += bytes([card])
        size = rules.hand_size
        if len(self._dealt) < rules.players * size:
            return
        rest = rules.counts() - np.bincount(np.frombuffer(self._dealt, np.uint8), minlength=CARD_KINDS)
        deck = [*self._dealt, *np.repeat(np.arange(CARD_KINDS), rest).tolist()]
        if self._table is None:
            self._table = Game(rules, seed=0, deck=deck)
        else:
            self._table.next_round(deck=deck)
        hands = (self._dealt[size * seat : size * (seat + 1)] for seat in range(rules.players))
        self._seen = tuple(
            seen + "hand " + " ".join(map(format_card, hand)) for seen, hand in zip(self._seen, hands, strict=True)
        )
        self._dealt, self._dealing = b"", False

    def _play(self, action: int, public: str, own: str) -> None:
        """Let the engine play an action, which the others and the seat itself see as is said."""
        mover = self.table.seat
        self.table.step(action)
        self._seen = tuple(
            f"{seen}; {mover} {own if seat == mover else public}" for seat, seen in enumerate(self._seen)
        )
        if self.table.phase is Phase.ROUND_OVER:
            self._dealing = True
            self._seen = tuple(seen + "\n" for seen in self._seen)

    def _seat(self, player: int | None) -> int:
        """Return a seat that was named, or the one to move."""
        return self.current_player() if player is None else int(player)


class AgentPolicy(Policy):  # type: ignore[misc]
    """An agent as a policy of OpenSpiel (:func:`jolly_env.agent.probabilities`)."""

    def __init__(self, game: JollyGame, agent: Agent) -> None:
        """Let an agent play all seats."""
        super().__init__(game, list(range(game.num_players())))
        self._agent = agent

    def action_probabilities(self, state: JollyState, player_id: int | None = None) -> dict[int, float]:
        """Return how often each legal action is played."""
        table = state.table
        seat = table.seat if player_id is None else player_id
        played = probabilities(self._agent, table.observe(seat), table.mask()[None])[0]
        return {int(action): float(played[action]) for action in table.legal_actions()}


class JollyObserver:
    """Observes a state: ``tensor`` float32[2403], the record that a seat may know; zeros before the first deal."""

    def __init__(self, iig_obs_type: Any, params: Any) -> None:
        """Make room for it."""
        if params:
            raise ValueError(f"observer: expected no parameters, got {params}")
        self.perfect_recall = bool(iig_obs_type.perfect_recall)
        self.tensor = np.zeros(0 if self.perfect_recall else OBSERVATION_SIZE, dtype=np.float32)
        self.dict = {} if self.perfect_recall else {"observation": self.tensor}
        self._view = View("flat")

    def set_from(self, state: JollyState, player: int) -> None:
        """Write what ``player`` may know."""
        if self.perfect_recall:
            return
        try:
            self.tensor[:] = self._view.of(state.table, player)
        except ValueError:
            self.tensor[:] = 0

    def string_from(self, state: JollyState, player: int) -> str:
        """Return the same as text."""
        return state.information_state_string(player) if self.perfect_recall else _shown(state, player)


def _counts(pack: str) -> tuple[int, ...] | None:
    """Return how many of each natural a pack has that is listed as in ``2c2c3d``; None for an empty text."""
    if not pack:
        return None
    cards = [parse_card(pack[i : i + 2]) for i in range(0, len(pack), 2)]
    return tuple(cards.count(card) for card in range(JOKER))


def _shown(state: JollyState, seat: int) -> str:
    """Return the table as a seat knows it."""
    try:
        return render_text(state.table.observe(seat), colour=False)
    except ValueError:
        return "nothing is dealt yet"


def _ways(left: list[int], hand: list[Card], size: int) -> dict[Card, int]:
    """Return in how many ways each card may come next, where a hand of ``size`` is dealt in ascending order.

    ``left`` are counts of the cards that were not dealt before this hand; cards of one kind are told apart, but not
    the order in which they come.
    """
    last = hand[-1] if hand else 0
    ways = {}
    for card in range(last, CARD_KINDS):
        held = hand.count(card) + 1
        above, missing = sum(left[card + 1 :]), size - len(hand) - 1
        more = range(min(missing, left[card] - held) + 1)
        n = sum(math.comb(left[card], held + extra) * math.comb(above, missing - extra) for extra in more)
        if hand and card != last:
            n *= math.comb(left[last], hand.count(last))
        if n:
            ways[card] = n
    return ways


def _info(rules: Rules) -> pyspiel.GameInfo:
    """Return the bounds of the game under some rules."""
    # No score is further from 0 than all cards of the pack at their dearest (R15) and the bonus, doubled or more.
    most = (int(rules.counts() @ HAND_VALUE) + rules.closing_bonus) * rules.hand_jolly_factor
    rounds = 1 if rules.target is None else rules.max_rounds
    turn = 2 * rules.hand_limit + 2  # a card leaves the hand once, and once more what a swap brings; draw and discard
    return pyspiel.GameInfo(
        num_distinct_actions=ACTIONS,
        max_chance_outcomes=CARD_KINDS,
        num_players=rules.players,
        min_utility=-2 * most * rounds / 100,
        max_utility=2 * most * rounds / 100,
        utility_sum=0.0,
        max_game_length=min(rules.max_turns * turn * rounds, MOST_LENGTH),
    )


pyspiel.register_game(_TYPE, JollyGame)
