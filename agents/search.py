"""The search: the planner's few best turns, each tried in the same worlds, and left only for a sure gain.

What the others hold is drawn by :mod:`agents.beliefs`. In each world every candidate is played, and then the round to
its end with the planner in all seats. Candidates that fall behind are dropped early. The worlds of a turn are the same
at each of its decisions, so what was found out after the draw holds until the discard.
"""

from __future__ import annotations

import functools
import hashlib
import time
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from agents.beliefs import sample_worlds
from agents.covers import DistanceRoom, new_distance_room
from agents.planner import (
    DRAWN,
    HAND,
    LOWEST,
    TARGET,
    THROWN,
    Room,
    best_turn,
    choose_draw,
    end_value,
    new_room,
    planner_action,
    planner_weights,
    prepare,
    weights_for,
)
from agents.racer import racer_action
from agents.solver import solve
from agents.solver_ends import CARDS, FIRST, POINTS
from agents.solver_ends import LEFT as LEFT_HAND
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.arrays import check_chosen, check_decisions, check_observations
from jolly_env.bits import copy_array, lowest_bit
from jolly_env.cards import CARD_KINDS, JOKER, RANKS, SUITS
from jolly_env.engine import apply, decision_key
from jolly_env.hand import HAND_WORDS, ONES, read_hand
from jolly_env.legal import refresh_legal, write_mask
from jolly_env.observation import OBSERVATION, observe
from jolly_env.packing import new_scratch as new_engine_scratch
from jolly_env.rules import PLAYERS
from jolly_env.state import DRAW, ROUND_OVER, STATE

CANDIDATES: Final = 8
"""Turns that are tried."""
CHUNK: Final = 8
"""Worlds between two looks at what has fallen behind."""
LEAST: Final = 16
"""Worlds before a candidate may be dropped."""
ERRORS: Final = 2.0
"""Standard errors by which a gain must differ from nothing."""
LIKED: Final = float(np.log(1000))
"""How far the logarithm of a policy's candidate may be below the best."""
FEW: Final = 64
"""Worlds below which their own spread is not to be trusted: a gain may then come from a rare Hand-Jolly left out."""
DOUBT: Final = 250.0
"""Points by which two turns differ from world to world, in such a case."""
LONGEST: Final = 64
"""Room for the actions of a turn."""


class SearchAgent:
    """Tries the planner's few best turns in sampled worlds, and leaves the planner's choice only for a sure gain.

    It knows what the planner knows, and what the others probably hold. With 256 worlds a decision takes about
    180 ms; ``milliseconds`` ends a decision earlier (and then the choice depends on the speed of the machine).
    With a ``policy`` it tries the actions that a trained network likes best, and leaves the first of them only for a
    sure gain; the racer plays on from there.
    """

    def __init__(self, worlds: float = 256, milliseconds: float = 0, policy: str = "", **weights: float) -> None:
        """Take the most worlds and time (0: any) of a decision, a policy's name, and weights in the planner's place."""
        if not (worlds >= 1 and float(worlds).is_integer()):
            raise ValueError(f"worlds={worlds:g}: expected a whole number of at least 1")
        if not milliseconds >= 0:
            raise ValueError(f"milliseconds={milliseconds:g}: expected at least 0")
        self.worlds, self.milliseconds = int(worlds), float(milliseconds)
        self.weights = planner_weights(weights)
        self._parts = new_trial(), new_room(), new_distance_room()
        self._policy = named_policy(policy) if policy else None
        _warm_up()

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return legal actions: int64[B]; ``ValueError`` where there is none, or for other arrays."""
        masks, keys = check_decisions(masks, keys)
        records = check_observations(observations, len(masks))
        actions = np.empty(len(masks), dtype=np.int64)
        for i in range(len(masks)):
            actions[i] = self._choose(np.asarray(records[i]).reshape(1), masks[i], keys[i])
        return check_chosen(actions)

    def _choose(self, record: np.ndarray, mask: np.ndarray, key: np.uint64) -> int:
        """Return the action of one decision: OBSERVATION[1], int8[839], a key."""
        legal = np.flatnonzero(mask)
        if len(legal) < 2:
            return int(legal[0]) if len(legal) else -1
        start = time.perf_counter()
        turns = self.turns(record, mask, key)
        if (turns[:, 1] == turns[0, 1]).all():
            return int(turns[0, 1])
        return int(turns[self._compare(record, mask, key, turns, start), 1])

    def turns(self, record: np.ndarray, mask: np.ndarray, key: np.uint64) -> np.ndarray:
        """Return the turns to try, first the one that is played unless another is better: int64[C, LONGEST].

        Of OBSERVATION[1], int8[839], a key. Each turn: how many actions, and the actions; a policy's have one.
        """
        if self._policy is not None:
            return liked(self._policy.scores(record, mask[None])[0])
        turns, world = np.zeros((CANDIDATES, LONGEST), dtype=np.int64), sample_worlds(record[0], turn_key(record), 1)
        none = np.zeros(0, dtype=np.bool_), np.zeros((0, 0))
        return turns[: think(record, mask, key, self.weights, world, 0, 0, turns, *none, False, *self._parts)]

    def play_out(
        self,
        record: np.ndarray,
        mask: np.ndarray,
        key: np.uint64,
        turns: np.ndarray,
        worlds: np.ndarray,
        span: tuple[int, int],
        alive: np.ndarray,
        margins: np.ndarray,
    ) -> None:
        """Play the turns that are ``alive`` (bool[C]) in a span of worlds, and fill in the margins: float64[C, W]."""
        race = self._policy is not None
        think(record, mask, key, self.weights, worlds, *span, turns, alive, margins, race, *self._parts)

    def _compare(self, record: np.ndarray, mask: np.ndarray, key: np.uint64, turns: np.ndarray, start: float) -> int:
        """Return which of the turns to play: the first, unless another is surely better."""
        worlds = sample_worlds(record[0], turn_key(record), self.worlds)
        margins = np.zeros((len(turns), self.worlds))
        alive = np.ones(len(turns), dtype=np.bool_)
        gains, errors = np.zeros(len(turns)), np.zeros(len(turns))
        for first in range(0, self.worlds, CHUNK):
            last = min(first + CHUNK, self.worlds)
            self.play_out(record, mask, key, turns, worlds, (first, last), alive, margins)
            gains, errors = paired(margins[:, :last], 0)
            if last >= LEAST:
                for rival in (0, int(np.argmax(np.where(alive, gains, -np.inf)))):
                    behind, error = paired(margins[:, :last], rival)
                    alive &= behind + ERRORS * error >= 0
                alive[0] = True
                if alive.sum() == 1:
                    break
            if self.milliseconds and 1000 * (time.perf_counter() - start) > self.milliseconds:
                break
        if last < FEW:
            errors = np.maximum(errors, DOUBT / np.sqrt(last))
        sure = alive & (gains > ERRORS * errors) & (last >= 2)
        return int(np.argmax(np.where(sure, gains, 0.0)))


class Liking(Protocol):
    """A trained policy: it tells how much it likes each action."""

    def scores(self, records: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return that as logarithms: OBSERVATION[B], int8[B, 839] -> float64[B, 839]."""
        ...


def named_policy(name: str) -> Liking:
    """Return the policy of a name; ``ValueError`` if that is an agent without :meth:`Liking.scores`."""
    from agents.registry import make

    agent: Any = make(name)
    if not hasattr(agent, "scores"):
        raise ValueError(f"policy={name}: not a trained policy")
    return agent


def liked(scores: np.ndarray) -> np.ndarray:
    """Return the actions that are liked best as turns of one action: float64[839] -> int64[C, LONGEST].

    Those that are a thousand times less likely than the best are left out.
    """
    order = np.argsort(-scores, kind="stable")[:CANDIDATES]
    order = order[scores[order] > scores[order[0]] - LIKED]
    turns = np.zeros((len(order), LONGEST), dtype=np.int64)
    turns[:, 0], turns[:, 1] = 1, order
    return turns


def paired(margins: np.ndarray, rival: int) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much turns gain on a rival in the same worlds, and the standard errors: float64[C] each."""
    gains = margins - margins[rival]
    return gains.mean(axis=1), gains.std(axis=1) / np.sqrt(max(gains.shape[1] - 1, 1))


class Trial(NamedTuple):
    """Room to play a round to its end."""

    state: np.ndarray
    """The game: STATE[1]."""
    seen: np.ndarray
    """What the seat to move may know: OBSERVATION[1]."""
    legal: np.ndarray
    """What it may do: int8[839]."""
    scratch: np.ndarray
    """The engine's own."""


def new_trial() -> Trial:
    """Return room to play a round."""
    legal = np.zeros(act.ACTIONS, dtype=np.int8)
    return Trial(np.zeros(1, dtype=STATE), np.zeros(1, dtype=OBSERVATION), legal, new_engine_scratch())


def turn_key(record: np.ndarray) -> int:
    """Return the key of a turn's worlds: of what the observer sees and does not change until the discard."""
    seen = record[0]
    parts = (seen["unseen"], seen["discarded"], seen["turn"], seen["round"], seen["seat"])
    digest = hashlib.blake2b(b"".join(np.asarray(part).tobytes() for part in parts), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


@functools.cache
def _warm_up() -> None:
    """Compile the kernels, unless the cache on disk has them."""
    warm_up("agents.search", Path(__file__).parent, _compile)


def _compile() -> None:
    """Choose a first action."""
    from jolly_env.batch import Batch

    batch = Batch(1, seed=0)
    batch.step(np.zeros(1, dtype=np.int64))
    SearchAgent(worlds=1).act(batch.observations, batch.masks, batch.keys)


@entry
def think(
    record: np.ndarray,
    mask: np.ndarray,
    key: np.uint64,
    weights: np.ndarray,
    worlds: np.ndarray,
    first: int,
    last: int,
    turns: np.ndarray,
    alive: np.ndarray,
    margins: np.ndarray,
    race: bool,
    trial: Trial,
    room: Room,
    far: DistanceRoom,
) -> int:
    """List the turns to try, if there are no worlds to try them in; else try those that are ``alive`` there.

    One entry for both, as each compiles the engine and the planner anew.
    """
    w = weights_for(record[0], weights)
    if first == last:
        return list_turns(record, mask, key, w, worlds, trial, room, turns)
    for i in range(first, last):
        try_turns(worlds, i, turns, alive, w, race, trial, room, far, margins)
    return np.int64(0)


@kernel
def list_turns(
    record: np.ndarray,
    mask: np.ndarray,
    key: np.uint64,
    w: np.ndarray,
    world: np.ndarray,
    trial: Trial,
    room: Room,
    turns: np.ndarray,
) -> int:
    """Write the turns to try, the planner's first: int64[C, LONGEST]; return how many there are.

    At a draw a turn is the draw alone; the planner goes on with it.
    """
    obs = record[0]
    choice = planner_action(obs, mask, key, w, room)
    turns[0, 0], turns[0, 1] = 1, choice
    read_hand(obs, room.hands[HAND])
    if obs["phase"] == DRAW:
        prepare(obs, w, room.values)
        choose_draw(obs, mask, w, room)
        return rank_draws(room.values[DRAWN], turns)
    prepare(obs, w, room.values)
    count = rank_ends(obs, w, room, turns)
    refresh_legal(world[0], trial.scratch)
    count = find_actions(world, trial, room, turns, count)
    if count == 0:  # a search of the solver that was cut off may have promised what it doesn't find again
        turns[0, 0], turns[0, 1] = 1, choice
    return max(count, 1)


@kernel
def rank_draws(drawn: np.ndarray, turns: np.ndarray) -> int:
    """Write the draws that are worth most; the first is there already. Return how many there are."""
    count = 1
    drawn[turns[0, 1]] = LOWEST
    while count < turns.shape[0]:
        best = np.argmax(drawn)
        if drawn[best] <= LOWEST:
            break
        drawn[best] = LOWEST
        turns[count, 0], turns[count, 1] = 1, best
        count += 1
    return count


@kernel
def rank_ends(obs: Any, w: np.ndarray, room: Room, turns: np.ndarray) -> int:
    """Write the ends of the turn that are worth most, each with a card to throw; return how many there are.

    In place of actions each has the hand that it leaves, and the discard. Every end with its best discard counts, and
    the best end with every other discard.
    """
    hand, plans, thrown = room.hands[HAND], room.plans, room.values[THROWN]
    number = solve(obs, hand, plans, room.solver)
    best, _ = best_turn(obs, hand, w, room)
    most, fewest = np.int64(0), np.int64(CARD_KINDS)
    for i in range(number):
        most = max(most, plans[i, POINTS])
        fewest = min(fewest, plans[i, CARDS])
    count, last = 0, -LOWEST
    while count < turns.shape[0]:
        # The next one in the order of worth: the highest below the last.
        chosen, discard, value = np.int64(-1), np.int64(-1), LOWEST
        for i in range(number):
            worth = end_value(obs, plans[i], most, fewest, w, room.values)
            if plans[i, CARDS] <= 1:
                if LOWEST < worth < last and worth > value:
                    chosen, discard, value = i, only_card(plans[i]), worth
                continue
            top = np.int64(np.argmax(thrown))
            for card in range(CARD_KINDS):
                if thrown[card] <= LOWEST or (card != top and i != best):
                    continue
                other = worth - thrown[top] + thrown[card]
                if other < last and other > value:
                    chosen, discard, value = i, np.int64(act.DISCARD + card), other
        if chosen < 0:
            break
        last = value
        turns[count, 0] = discard
        for j in range(HAND_WORDS):
            turns[count, 1 + j] = plans[chosen, LEFT_HAND + j]
        count += 1
    return count


@kernel
def only_card(plan: np.ndarray) -> int:
    """Return the discard of an end that leaves one card."""
    for suit in range(SUITS):
        if plan[LEFT_HAND + ONES + suit]:
            return act.DISCARD + RANKS * suit + lowest_bit(plan[LEFT_HAND + ONES + suit])
    return np.int64(act.DISCARD + JOKER)


@kernel
def find_actions(
    world: np.ndarray,
    trial: Trial,
    room: Room,
    turns: np.ndarray,
    count: int,
) -> int:
    """Put actions in place of ends, by playing each in a world; an end that is not reached is left out."""
    state, seen, target, kept = trial.state, trial.seen[0], room.hands[TARGET], 0
    for i in range(count):
        copy_record(state, 0, world, 0)
        actions = 0
        seat = np.int64(world[0]["seat"])
        discard = turns[i, 0]
        for j in range(HAND_WORDS):
            target[j] = turns[i, 1 + j]
        while actions < LONGEST - 2:
            observe(state[0], seat, seen)
            read_hand(seen, room.hands[HAND])
            action = discard if same_hand(room.hands[HAND], target) else step_towards(seen, target, room)
            if action < 0:
                break
            actions += 1
            turns[kept, actions] = action
            if action == discard:
                break
            apply(state[0], action, trial.scratch)
        if actions > 0 and turns[kept, actions] == discard:
            turns[kept, 0] = actions
            kept += 1
    return kept


@kernel
def same_hand(hand: np.ndarray, other: np.ndarray) -> bool:
    """Tell whether two hands are the same cards."""
    differing = 0
    for i in range(HAND_WORDS):
        differing |= hand[i] ^ other[i]
    return differing == 0


@kernel
def step_towards(obs: Any, target: np.ndarray, room: Room) -> int:
    """Return an action that leads to the end that leaves the hand ``target``; -1 if there is none."""
    best, points, plans = np.int64(-1), np.int64(-1), room.plans
    for i in range(solve(obs, room.hands[HAND], plans, room.solver)):
        if same_hand(plans[i, LEFT_HAND : LEFT_HAND + HAND_WORDS], target) and plans[i, POINTS] > points:
            best, points = plans[i, FIRST], plans[i, POINTS]
    return best


@kernel
def try_turns(
    worlds: np.ndarray,
    i: int,
    turns: np.ndarray,
    alive: np.ndarray,
    w: np.ndarray,
    race: bool,
    trial: Trial,
    room: Room,
    far: DistanceRoom,
    margins: np.ndarray,
) -> None:
    """Play the turns that are ``alive`` in a world, and the round to its end: float64[C, W] points of the margin.

    From there the planner plays on in all seats, or the racer.
    """
    state, seen, legal, scratch = trial.state, trial.seen[0], trial.legal, trial.scratch
    refresh_legal(worlds[i], scratch)
    seat = np.int64(worlds[i]["seat"])
    for turn in range(turns.shape[0]):
        if not alive[turn]:
            continue
        copy_record(state, 0, worlds, i)
        for j in range(turns[turn, 0]):
            apply(state[0], turns[turn, 1 + j], scratch)
        while state[0]["phase"] < ROUND_OVER:
            mover = np.int64(state[0]["seat"])
            observe(state[0], mover, seen)
            write_mask(state[0], legal)
            key = decision_key(state[0], mover)
            if race:
                action = racer_action(seen, legal, key, w, room, far)
            else:
                action = planner_action(seen, legal, key, w, room)
            apply(state[0], action, scratch)
        margins[turn, i] = margin(state[0], seat)


@kernel
def margin(state: Any, seat: int) -> float:
    """Return a seat's points of the round less the mean of the others'."""
    total, players = 0.0, np.int64(state["rules"][PLAYERS])
    for other in range(players):
        total += state["scores"][other]
    own = np.float64(state["scores"][seat])
    return own - (total - own) / (players - 1)


@kernel
def copy_record(target: np.ndarray, to: int, source: np.ndarray, of: int) -> None:
    """Copy one record of an array to another array, as one block."""
    copy_array(target[to : to + 1], source[of : of + 1])
