"""The planner: it compares whole turns, by the ends that the solver finds and the card that each would throw."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from agents.greedy import first_legal
from agents.others import caught, danger, nearness
from agents.outs import read_reach, table_points, value_runs, value_sets
from agents.solver import new_room as new_solver_room
from agents.solver import solve
from agents.solver_ends import CARDS, FIRST, PLAN_WORDS, PLANS, POINTS
from agents.solver_ends import LEFT as LEFT_HAND
from agents.weights import Weights, weigh
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.arrays import check_chosen, check_decisions, check_observations
from jolly_env.bits import lowest_bit
from jolly_env.cards import CARD_KINDS, HAND_VALUE, JOKER, RANKS, SUITS
from jolly_env.hand import COUNT, HAND_WORDS, JOKERS, ONES, TWOS, add_card, copy_hand, hand_cost, read_hand
from jolly_env.laydown import may_help, read_fits
from jolly_env.rules import CLOSING_BONUS, HAND_JOLLY_FACTOR, PLAYERS
from jolly_env.state import DRAW

WEIGHTS: Final[Weights] = {
    "left": (0.5, "each point of the cards left in hand"),
    "left_near": (0.5, "the same, times how near somebody else is to closing"),
    "joker": (12.0, "a joker kept"),
    "potential": (0.5, "melds in hand that lack a card"),
    "out": (0.1, "each point of such a meld, for each copy of the card within reach"),
    "jokered": (0.3, "each point of such a meld, if a joker is in hand"),
    "fit": (0.3, "each point of a card that fits the table, before the opening"),
    "danger_fit": (0.3, "each point that a thrown card makes on the table for the next player"),
    "danger_meld": (0.5, "each point that it probably makes with cards of the next player"),
    "close": (1.0, "each point that the others are reckoned to be caught with"),
    "open": (10.0, "to have opened"),
    "hold": (1.5, "each point that could be laid and is held back, before the opening"),
    "jolly": (0.2, "the chance of a Hand-Jolly, when one card too many is left"),
    "jolly_rate": (0.7, "the same chance for each further card, as a factor"),
}
"""The weights of an end of a turn, in points, with what each is for."""
(
    LEFT,
    LEFT_NEAR,
    JOKER_KEPT,
    POTENTIAL,
    OUT,
    JOKERED,
    FIT,
    DANGER_FIT,
    DANGER_MELD,
    CLOSE,
    OPEN,
    HOLD,
    JOLLY,
    JOLLY_RATE,
) = range(len(WEIGHTS))

LOWEST: Final = -1e18
HAND, WORK, FITS, TARGET = range(4)
REACH, TABLE, KEEP, DANGER, THROWN, DRAWN = range(6)


class Room(NamedTuple):
    """Room that a decision needs; kernels allocate nothing."""

    hands: np.ndarray
    """Hands as bits, a row for each use: int64[4, 53]."""
    values: np.ndarray
    """What cards are worth, a row for each reason: float64[6, 53]."""
    plans: np.ndarray
    """The ends of laying that were found."""
    solver: np.ndarray
    """The solver's own."""


class PlannerAgent:
    """Plays the turn whose end it likes best: what is laid, what is kept, what is thrown.

    It knows the exact ends of laying (:mod:`agents.solver`) for its hand and for every draw that it may choose, weighs
    them by :data:`WEIGHTS`, holds back where that promises more, and takes many cards where they pay.
    """

    def __init__(self, **weights: float) -> None:
        """Take the tuned weights, or ``weights`` in place of some; ``ValueError`` for a name that is not there."""
        self.weights = planner_weights(weights)
        self._room = new_room()
        _warm_up()

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return legal actions: int64[B]; ``ValueError`` where there is none, or for other arrays."""
        masks, keys = check_decisions(masks, keys)
        records = check_observations(observations, len(masks))
        actions = np.empty(len(masks), dtype=np.int64)
        planner_actions(records, masks, keys, self.weights, self._room, actions)
        return check_chosen(actions)


def planner_weights(others: Mapping[str, float]) -> np.ndarray:
    """Return the weights for two players and those for more, with ``others`` in place of some: float64[2, W].

    At a bigger table somebody else is more likely to close first, so less is held back there.
    """
    return np.stack([weigh(name, WEIGHTS, others) for name in ("planner", "planner-many")])


@kernel
def weights_for(obs: Any, weights: np.ndarray) -> np.ndarray:
    """Return the row of weights for the table of an observation."""
    return weights[0 if obs["rules"][PLAYERS] == 2 else 1]


def new_room() -> Room:
    """Return room for decisions."""
    return Room(
        np.zeros((4, CARD_KINDS), dtype=np.int64),
        np.zeros((6, CARD_KINDS)),
        np.zeros((PLANS, PLAN_WORDS), dtype=np.int64),
        new_solver_room(),
    )


@functools.cache
def _warm_up() -> None:
    """Compile the kernels, unless the cache on disk has them."""
    warm_up("agents.planner", Path(__file__).parent, _compile)


def _compile() -> None:
    """Choose a first action."""
    from jolly_env.batch import Batch

    batch = Batch(1, seed=0)
    PlannerAgent().act(batch.observations, batch.masks, batch.keys)


@entry
def planner_actions(
    observations: np.ndarray,
    masks: np.ndarray,
    keys: np.ndarray,
    weights: np.ndarray,
    room: Room,
    out: np.ndarray,
) -> None:
    """Choose for ``B`` decisions: OBSERVATION[B], int8[B, 839], uint64[B] -> int64[B]."""
    for i in range(masks.shape[0]):
        w = weights_for(observations[i], weights)
        out[i] = planner_action(observations[i], masks[i], keys[i], w, room)


@kernel
def planner_action(
    obs: Any,
    mask: np.ndarray,
    key: np.uint64,
    w: np.ndarray,
    room: Room,
) -> int:
    """Choose a legal action; -1 if there is none. ``room`` is as of :func:`new_room`."""
    read_hand(obs, room.hands[HAND])
    if obs["phase"] == DRAW and not mask[act.TAKE + 1]:
        return act.DRAW_STOCK if mask[act.DRAW_STOCK] else -1
    prepare(obs, w, room.values)
    if obs["phase"] == DRAW:
        return choose_draw(obs, mask, w, room)
    best, _ = best_turn(obs, room.hands[HAND], w, room)
    action = room.plans[best, FIRST]
    if action >= 0 and mask[action]:
        return action
    _, action = throw(obs, room.hands[HAND], w, room.values, obs["opened"][0] == 1, key)
    return action if action >= 0 else first_legal(mask)


@kernel
def prepare(obs: Any, w: np.ndarray, values: np.ndarray) -> None:
    """Work out what does not depend on the hand: reach, what fits the table, and the danger of each card."""
    read_reach(obs, values[REACH])
    table_points(obs, values[TABLE])
    for card in range(CARD_KINDS):
        values[DANGER][card] = danger(obs, card, values[TABLE], w[DANGER_FIT], w[DANGER_MELD], 0.0)


@kernel
def best_turn(
    obs: Any,
    hand: np.ndarray,
    w: np.ndarray,
    room: Room,
) -> tuple[int, float]:
    """Return the end of laying that is worth most with such a hand, as a row of the plans, and its worth in points."""
    plans = room.plans
    count = solve(obs, hand, plans, room.solver)
    most, fewest = 0, hand[COUNT]
    for i in range(count):
        most = max(most, plans[i, POINTS])
        fewest = min(fewest, plans[i, CARDS])
    best, best_value = 0, LOWEST
    for i in range(count):
        value = end_value(obs, plans[i], most, fewest, w, room.values)
        if value > best_value:
            best, best_value = i, value
    return best, best_value


@kernel
def end_value(obs: Any, plan: np.ndarray, most: int, fewest: int, w: np.ndarray, values: np.ndarray) -> float:
    """Return what an end is worth in points, with the best card thrown.

    ``most`` points could be laid, and ``fewest`` cards left, by other ends.
    """
    points, left = np.float64(plan[POINTS]), plan[LEFT_HAND : LEFT_HAND + HAND_WORDS]
    bonus = np.float64(obs["rules"][CLOSING_BONUS] + np.int64(32768) * obs["rules_high"][CLOSING_BONUS])
    factor = np.float64(obs["rules"][HAND_JOLLY_FACTOR] + np.int64(32768) * obs["rules_high"][HAND_JOLLY_FACTOR])
    laid = np.float64(obs["laid"][0])
    jolly = obs["opened_before_turn"] == 0
    if plan[CARDS] <= 1:
        gain = bonus + w[CLOSE] * caught(obs)
        return points + gain + ((factor - 1) * (laid + points + gain) if jolly else 0.0)
    opened = obs["opened"][0] == 1 or points > 0
    value = points + throw(obs, left, w, values, opened, np.uint64(0))[0]
    value -= price_of_left(obs, w) * hand_cost(left)
    value += w[JOKER_KEPT] * left[JOKERS]
    if opened:
        return value + (w[OPEN] if jolly else 0.0)
    value += w[HOLD] * (most - points)
    chance = w[JOLLY] * w[JOLLY_RATE] ** (fewest - 2)
    return value + chance * (factor * (most + bonus + w[CLOSE] * caught(obs)))


@kernel
def price_of_left(obs: Any, w: np.ndarray) -> float:
    """Return what each point of the cards left in hand costs."""
    return w[LEFT] + w[LEFT_NEAR] * nearness(obs)


@kernel
def throw(
    obs: Any, hand: np.ndarray, w: np.ndarray, values: np.ndarray, opened: bool, key: np.uint64
) -> tuple[float, int]:
    """Return what the melds that lack a card are worth once the best card is thrown, and the discard. Ties by the key.

    A hand that counts a card more than it holds has a blank, which may be thrown, too, and gives -1. What each card is
    worth to throw goes into the row THROWN.
    """
    keep, thrown = values[KEEP], values[THROWN]
    keep[:] = 0
    thrown[:] = LOWEST
    jokered = w[JOKERED] if hand[JOKERS] > 0 else 0.0
    total = value_runs(hand, values[REACH], 1.0, w[OUT], jokered, keep)
    total += value_sets(hand, values[REACH], 1.0, w[OUT], jokered, keep)
    left = price_of_left(obs, w)
    best_action, best, held, fits = np.int64(-1), LOWEST, hand[JOKERS], 0.0
    for suit in range(SUITS):
        ranks = hand[ONES + suit]
        while ranks:
            rank = lowest_bit(ranks)
            ranks &= ranks - 1
            card = RANKS * suit + rank
            twice = hand[TWOS + suit] >> rank & 1
            held += 1 + twice
            kept = 0.0 if twice else w[POTENTIAL] * keep[card]
            if not opened:
                fits += (1 + twice) * w[FIT] * values[TABLE][card]
                kept += w[FIT] * values[TABLE][card]
            value = left * HAND_VALUE[card] - kept - values[DANGER][card]
            value += 1e-6 * np.float64(np.int64(key * np.uint64(2 * card + 1) >> np.uint64(57)))
            thrown[card] = value
            if value > best:
                best_action, best = act.DISCARD + card, value
    if hand[JOKERS] > 0:
        thrown[JOKER] = -w[JOKER_KEPT] - values[DANGER][JOKER]
        if thrown[JOKER] > best:
            best_action, best = act.DISCARD + JOKER, thrown[JOKER]
    if hand[COUNT] > held and best < 0:
        best_action, best = np.int64(-1), 0.0
    return w[POTENTIAL] * total + fits + best, best_action


@kernel
def choose_draw(
    obs: Any,
    mask: np.ndarray,
    w: np.ndarray,
    room: Room,
) -> int:
    """Choose the draw whose turn is worth most; -1 if there is none.

    What each draw is worth, the stock's on average over the cards that may come, goes into the row DRAWN.
    """
    hand, work, fits, drawn = room.hands[HAND], room.hands[WORK], room.hands[FITS], room.values[DRAWN]
    drawn[:] = LOWEST
    read_fits(obs, fits)
    if mask[act.DRAW_STOCK]:
        drawn[act.DRAW_STOCK] = value_stock(obs, w, room)
    copy_hand(hand, work)
    size: Any = np.int64(obs["row_size"])
    best = np.int64(act.DRAW_STOCK if mask[act.DRAW_STOCK] else -1)
    for count in range(1, min(size, act.MAX_TAKE) + 1):
        if not mask[act.TAKE + count]:
            break
        card: Any = np.int64(obs["row_cards"][size - count])
        # A card that serves nothing is not worth a look: fewer cards do as well without it.
        idle = best >= 0 and not may_help(card, work, fits)
        add_card(work, card)
        if idle:
            continue
        drawn[act.TAKE + count] = best_turn(obs, work, w, room)[1]
        if best < 0 or drawn[act.TAKE + count] > drawn[best]:
            best = np.int64(act.TAKE + count)
    return best


@kernel
def value_stock(obs: Any, w: np.ndarray, room: Room) -> float:
    """Return what a turn is worth on average that draws from the stock."""
    hand, work, fits = room.hands[HAND], room.hands[WORK], room.hands[FITS]
    copy_hand(hand, work)
    work[COUNT] += 1
    _, blank = best_turn(obs, work, w, room)
    total, copies = 0.0, 0
    for card in range(CARD_KINDS):
        unseen: Any = np.int64(obs["unseen"][card])
        if unseen == 0:
            continue
        copies += unseen
        value = blank
        if may_help(card, hand, fits):
            copy_hand(hand, work)
            add_card(work, card)
            value = max(blank, best_turn(obs, work, w, room)[1])
        total += unseen * value
    return total / copies if copies > 0 else blank
