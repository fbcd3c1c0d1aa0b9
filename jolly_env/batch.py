"""``Batch``: N games side by side, arrays in, arrays out.

Letters: ``N`` games, ``P`` players, ``S`` = 2403 numbers of an observation, ``F`` features.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from jolly_env import engine
from jolly_env._jit import entry, kernel
from jolly_env.actions import ACTIONS, IllegalAction
from jolly_env.arrays import as_rows, to_fill, to_read
from jolly_env.bits import has_bit
from jolly_env.explain import why_not
from jolly_env.features import FEATURES, new_hands, write_features
from jolly_env.legal import random_legal, write_mask
from jolly_env.moves import State
from jolly_env.observation import OBSERVATION, observe
from jolly_env.packing import new_scratch
from jolly_env.rules import PLAYERS, Rules, checked_rules
from jolly_env.seeding import seed_streams
from jolly_env.state import GAME_OVER, ROUND_OVER, STATE, move_states
from jolly_env.warmup import warm_up_features, warm_up_kernels

VIEWS: Final = ("record", "features", "none")
REWARDS: Final = ("margin", "score", "win")


class Step(NamedTuple):
    """What a step returns: views of the batch's own arrays (or the caller's), overwritten by the next step."""

    observations: np.ndarray
    """OBSERVATION[N] or float32[N, F]: what the seat to move may know."""
    masks: np.ndarray
    """int8[N, 839]: its legal actions; all zeros where the game is over."""
    seats: np.ndarray
    """int64[N]: the seat to move."""
    rewards: np.ndarray
    """float32[N, P]: what each seat earned by this step."""
    terminated: np.ndarray
    """bool[N]: the game is over."""
    truncated: np.ndarray
    """bool[N]: it was cut off (R17, max_rounds); its score is paid all the same."""


class Batch:
    """N games of one set of rules; every step plays one action in each of them, or in the rows named.

    With ``auto_reset`` a game that ends is followed by a new one in the same step: the arrays then show the new
    game's first decision, and ``scores``, ``closers`` and the rest what the old one ended with.

    Attributes beside those of :class:`Step`: ``states`` STATE[N]; ``keys`` uint64[N], the random key of each
    decision; ``round_over`` bool[N]; and of the last finished round ``scores`` int64[N, P], ``totals`` int64[N, P],
    ``closers`` int64[N] (-1: nobody), ``hand_jolly`` bool[N], ``endings`` int64[N] (:class:`jolly_env.state.Ending`).
    """

    def __init__(
        self,
        n: int,
        rules: Rules | None = None,
        *,
        seed: int | np.ndarray | None = None,
        view: str = "record",
        reward: str = "margin",
        auto_reset: bool = True,
        observations: np.ndarray | None = None,
        masks: np.ndarray | None = None,
        rewards: np.ndarray | None = None,
    ) -> None:
        """Deal ``n`` games.

        ``view`` is "record", "features" or "none"; ``reward`` as in the contract: "margin", "score" or "win".
        ``observations``, ``masks`` and ``rewards`` may be arrays of the caller to write into.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n={n!r}: expected a whole number of at least 1")
        for name, value, allowed in (("view", view, VIEWS), ("reward", reward, REWARDS)):
            if value not in allowed:
                raise ValueError(f"{name}={value!r}: expected one of {', '.join(allowed)}")
        self.rules = Rules() if rules is None else checked_rules(rules)
        self.view, self.reward, self.auto_reset = view, reward, auto_reset
        players = self.rules.players
        self.states = np.zeros(n, dtype=STATE)
        self.masks = to_fill("masks", masks, (n, ACTIONS), np.dtype(np.int8))
        self.rewards = to_fill("rewards", rewards, (n, players), np.dtype(np.float32))
        self._records = np.zeros(n if view == "record" else 0, dtype=OBSERVATION)
        self._room = np.zeros(1, dtype=OBSERVATION)
        self._hands = new_hands()
        self._features = np.zeros((n if view == "features" else 0, FEATURES), dtype=np.float32)
        if view == "record":
            self._records = to_fill("observations", observations, (n,), OBSERVATION)
        elif view == "features":
            self._features = to_fill("observations", observations, (n, FEATURES), np.dtype(np.float32))
        elif observations is not None:
            raise ValueError("observations: none are written with view='none'")
        self.seats = np.zeros(n, dtype=np.int64)
        self.keys = np.zeros(n, dtype=np.uint64)
        self.terminated = np.zeros(n, dtype=np.bool_)
        self.truncated = np.zeros(n, dtype=np.bool_)
        self.round_over = np.zeros(n, dtype=np.bool_)
        self.scores = np.zeros((n, players), dtype=np.int64)
        self.totals = np.zeros((n, players), dtype=np.int64)
        self.closers = np.full(n, -1, dtype=np.int64)
        self.hand_jolly = np.zeros(n, dtype=np.bool_)
        self.endings = np.zeros(n, dtype=np.int64)
        self._scratch = new_scratch()
        self._all_rows = np.arange(n)
        warm_up_kernels()
        if view == "features":
            warm_up_features()
        self.states["rules"] = self.rules.numbers()
        self.states["pack"] = self.rules.counts()[:-1]
        self.reset(seed)

    @classmethod
    def from_states(cls, states: np.ndarray, **options: Any) -> Batch:
        """Return a batch that goes on from copies of ``states``, which share one set of rules.

        ``options`` are those of the constructor but ``n``, ``rules`` and ``seed``.
        """
        states = to_read("states", as_rows(states), (None,), STATE)
        if not len(states):
            raise ValueError("states: expected at least one")
        if (states["rules"] != states["rules"][0]).any() or (states["pack"] != states["pack"][0]).any():
            raise ValueError("states: all must have the same rules")
        batch = cls(len(states), Rules.from_numbers(states["rules"][0], states["pack"][0]), seed=0, **options)
        batch.states[:] = states
        batch.refresh()
        return batch

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.states)

    @property
    def observations(self) -> np.ndarray:
        """What the seats to move may know: OBSERVATION[N] or float32[N, F]."""
        return self._features if self.view == "features" else self._records

    def reset(self, seed: int | np.ndarray | None = None, rows: np.ndarray | None = None) -> Step:
        """Deal new games, in all rows or those named.

        An int seeds all rows, each with a stream of its own; an array seeds row by row, and rows with equal seeds get
        equal cards; None takes a seed from the operating system.
        """
        rows = self._rows(rows)
        rng, keys = seed_streams(seed, len(rows))
        self.states["rng"][rows] = rng
        self.states["key"][rows] = keys
        engine.run(self.states, rows, engine.NEW_GAME, rows, self._scratch)
        self.rewards[rows] = 0
        for flags in (self.terminated, self.truncated, self.round_over):
            flags[rows] = False
        self._write(rows)
        return self._step()

    def step(self, actions: np.ndarray, rows: np.ndarray | None = None) -> Step:
        """Play one action in each game, or in each of ``rows``; the other rows keep what they show.

        Raises :class:`IllegalAction` before anything is played if any action is not legal in its row.
        """
        rows = self._rows(rows)
        actions = np.asarray(actions)
        if actions.shape != rows.shape or not np.issubdtype(actions.dtype, np.integer):
            raise IllegalAction(
                f"actions: expected whole numbers[{len(rows)}], got {actions.dtype}{list(actions.shape)}"
            )
        actions = actions.astype(np.int64, copy=False)
        bad = _first_illegal(self.states, rows, actions)
        if bad >= 0:
            row = int(rows[bad])
            if (rows[:bad] == row).any():
                raise ValueError(f"rows: row {row} is named twice")
            raise IllegalAction(f"row {row}: {why_not(self.states[row], int(actions[bad]))}")
        engine.run(self.states, rows, engine.APPLY, actions, self._scratch)
        ended = _collect(
            self.states,
            rows,
            REWARDS.index(self.reward),
            self.rewards,
            self.terminated,
            self.truncated,
            self.round_over,
            self.scores,
            self.totals,
            self.closers,
            self.hand_jolly,
            self.endings,
        )
        if ended:
            engine.run(self.states, rows, engine.GO_ON, np.full(len(rows), self.auto_reset, np.int64), self._scratch)
        self._write(rows)
        return self._step()

    def random_actions(self) -> np.ndarray:
        """Return a random legal action for each game, -1 where it is over: int64[N].

        The same that :class:`jolly_env.agent.RandomAgent` chooses, three times as fast.
        """
        actions = np.empty(len(self), dtype=np.int64)
        _random_rows(self.states, self.keys, actions)
        return actions

    def copy_rows(self, source: np.ndarray, target: np.ndarray) -> None:
        """Make the rows ``target`` clones of the rows ``source``."""
        source, target = self._rows(source), self._rows(target)
        if source.shape != target.shape:
            raise ValueError(f"copy_rows: {len(source)} rows to copy, but {len(target)} to copy to")
        move_states(self.states, source, target)
        self._write(target)

    def observe(self, rows: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return what the seats to move in ``rows`` may know, whatever the batch's own view: OBSERVATION[len(rows)]."""
        rows = self._rows(rows)
        out = to_fill("out", out, (len(rows),), OBSERVATION)
        observe_rows(self.states, rows, out)
        return out

    def refresh(self) -> None:
        """Work out anew what is legal and what is shown, after ``states`` were changed from outside."""
        engine.run(self.states, self._all_rows, engine.REFRESH, self._all_rows, self._scratch)
        self._write(self._all_rows)

    def _rows(self, rows: np.ndarray | None) -> np.ndarray:
        """Return the rows as int64, all of them for None; ``ValueError`` if there are no such rows."""
        if rows is None:
            return self._all_rows
        rows = np.atleast_1d(np.asarray(rows))
        if rows.dtype == np.bool_ and rows.shape == self.seats.shape:
            return np.flatnonzero(rows)
        if rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
            raise ValueError(f"rows: expected numbers of rows or bool[{len(self)}]")
        if rows.size and not (rows.min() >= 0 and rows.max() < len(self)):
            raise ValueError(f"rows: expected numbers from 0 to {len(self) - 1}")
        return rows.astype(np.int64, copy=False)

    def _write(self, rows: np.ndarray) -> None:
        """Write masks, seats, keys and observations of the rows."""
        show_records(self.states, rows, self._records, self.masks, self.seats, self.keys)
        if self.view == "features":
            show_features(self.states, rows, self._room, self._hands, self._features)

    def _step(self) -> Step:
        """Return the arrays of a step."""
        return Step(self.observations, self.masks, self.seats, self.rewards, self.terminated, self.truncated)


@entry
def _first_illegal(states: np.ndarray, rows: np.ndarray, actions: np.ndarray) -> int:
    """Return the index of the first action that is not legal in its row, or that a row names twice; or -1."""
    for i in range(rows.shape[0]):
        action = actions[i]
        if action < 0 or action >= ACTIONS or not has_bit(states[rows[i]]["legal"], action):
            return i
        if i > 0 and rows[i] <= rows[i - 1]:  # never so in rows that ascend
            for j in range(i):
                if rows[j] == rows[i]:
                    return i
    return -1


@entry
def _random_rows(states: np.ndarray, keys: np.ndarray, out: np.ndarray) -> None:
    """Choose a random legal action of each state by its key."""
    for i in range(states.shape[0]):
        out[i] = random_legal(states[i], keys[i])


@kernel
def write_rewards(state: State, kind: int, rewards: np.ndarray) -> None:
    """Write what each seat earns by the round that has just ended: float32[P] (contract, "Rewards")."""
    players = np.int64(state["rules"][PLAYERS])
    if kind == 2:  # win
        best, winners = state["totals"][0], 0
        for seat in range(players):
            best = max(best, state["totals"][seat])
        for seat in range(players):
            winners += 1 if state["totals"][seat] == best else 0
        for seat in range(players):
            won = state["phase"] == GAME_OVER and state["totals"][seat] == best
            rewards[seat] = np.float32(1) / np.float32(winners) if won else np.float32(0)
        return
    total = np.int64(0)
    for seat in range(players):
        total += state["scores"][seat]
    for seat in range(players):
        own = np.float64(state["scores"][seat])
        others = (np.float64(total) - own) / (players - 1) if kind == 0 else 0.0
        rewards[seat] = np.float32((own - others) / 100)


@entry
def _collect(
    states: np.ndarray,
    rows: np.ndarray,
    reward: int,
    rewards: np.ndarray,
    terminated: np.ndarray,
    truncated: np.ndarray,
    round_over: np.ndarray,
    scores: np.ndarray,
    totals: np.ndarray,
    closers: np.ndarray,
    hand_jolly: np.ndarray,
    endings: np.ndarray,
) -> int:
    """Write what the last action of each row brought; return how many rounds ended."""
    ended = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        state = states[row]
        over = state["phase"] >= ROUND_OVER
        round_over[row] = over
        terminated[row] = False
        truncated[row] = False
        for seat in range(rewards.shape[1]):
            rewards[row, seat] = 0
        if not over:
            continue
        ended += 1
        write_rewards(state, reward, rewards[row])
        for seat in range(rewards.shape[1]):
            scores[row, seat] = state["scores"][seat]
            totals[row, seat] = state["totals"][seat]
        closers[row] = state["closer"]
        hand_jolly[row] = state["hand_jolly"] != 0
        endings[row] = state["ending"]
        if state["phase"] == GAME_OVER:
            truncated[row] = state["truncated"] != 0
            terminated[row] = state["truncated"] == 0
    return ended


@entry
def show_records(
    states: np.ndarray, rows: np.ndarray, records: np.ndarray, masks: np.ndarray, seats: np.ndarray, keys: np.ndarray
) -> None:
    """Write what the seat to move of each row may do and know; no records are written if there is no room for any."""
    for i in range(rows.shape[0]):
        row = rows[i]
        state = states[row]
        seat = np.int64(state["seat"])
        seats[row] = seat
        keys[row] = engine.decision_key(state, seat)
        write_mask(state, masks[row])
        if records.shape[0] > 0:
            observe(state, seat, records[row])


@entry
def observe_rows(states: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Write what the seat to move of each row may know into consecutive records."""
    for i in range(rows.shape[0]):
        observe(states[rows[i]], np.int64(states[rows[i]]["seat"]), out[i])


@entry
def show_features(
    states: np.ndarray, rows: np.ndarray, record: np.ndarray, hands: np.ndarray, features: np.ndarray
) -> None:
    """Write the features of the seat to move of each row; ``record`` and ``hands`` are room."""
    for i in range(rows.shape[0]):
        state = states[rows[i]]
        observe(state, np.int64(state["seat"]), record[0])
        write_features(record[0], features[rows[i]], hands)
