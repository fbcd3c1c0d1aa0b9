"""The careful agent: greedy's choices, each weighed with what may still come and what it gives to others."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.greedy import choose_joker, find_lays, first_legal
from agents.others import danger
from agents.outs import read_reach, table_points, value_runs, value_sets
from agents.weights import Weights, weigh
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.arrays import check_chosen, check_decisions, check_observations
from jolly_env.bits import lowest_bit
from jolly_env.cards import CARD_KINDS, HAND_VALUE, JOKER, RANKS, SUITS
from jolly_env.hand import COUNT, JOKERS, ONES, TWOS, add_card, copy_hand, hand_cost, play_from, read_hand
from jolly_env.laydown import lay_out, may_help, read_fits
from jolly_env.rules import CLOSING_BONUS
from jolly_env.state import DRAW

WEIGHTS: Final[Weights] = {
    "left": (0.5, "each point of the cards left in hand"),
    "joker": (10.0, "a joker kept"),
    "out": (0.08, "each point of a meld that lacks one card, for each copy of it within reach"),
    "complete": (1.0, "each point of a meld in hand, for its cards"),
    "fit": (3.0, "each point of a card that fits the table, before the opening"),
    "idle": (0.2, "each point that a card to be thrown would cost in hand"),
    "second": (0.25, "the second copy of a card, beside the first"),
    "danger_meld": (0.5, "each point that a thrown card probably makes with cards of the next player"),
    "danger_closed": (0.3, "the same, while the next player has not opened"),
}
"""The weights of the choices, in points, with what each is for."""
(
    LEFT,
    JOKER_KEPT,
    OUT,
    COMPLETE,
    FIT,
    IDLE,
    SECOND,
    DANGER_MELD,
    DANGER_CLOSED,
) = range(len(WEIGHTS))

LOWEST: Final = -1e18
HAND, WORK, FITS, FOUND = range(4)
REACH, TABLE, KEEP = range(3)


class CarefulAgent:
    """Plays what greedy might, after a look at what each choice leaves and gives away.

    It knows how many copies of the cards that its melds lack are unseen, what the next player is known to hold or may
    hold, and what a joker is worth that is kept.
    """

    def __init__(self, **weights: float) -> None:
        """Take :data:`WEIGHTS`, or ``weights`` in place of some; ``ValueError`` for a name that is not there."""
        self.weights = weigh("careful", WEIGHTS, weights)
        _warm_up()

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return legal actions: int64[B]; ``ValueError`` where there is none, or for other arrays."""
        masks, keys = check_decisions(masks, keys)
        records = check_observations(observations, len(masks))
        actions = np.empty(len(masks), dtype=np.int64)
        careful_actions(records, masks, keys, self.weights, *new_scratch(), actions)
        return check_chosen(actions)


def new_scratch() -> tuple[np.ndarray, np.ndarray]:
    """Return room for one decision at a time: int64[4, 53], float64[3, 53]."""
    return np.zeros((4, CARD_KINDS), dtype=np.int64), np.zeros((3, CARD_KINDS))


@functools.cache
def _warm_up() -> None:
    """Compile the kernels, unless the cache on disk has them."""
    warm_up("agents.careful", Path(__file__).parent, _compile)


def _compile() -> None:
    """Choose a first action."""
    from jolly_env.batch import Batch

    batch = Batch(1, seed=0)
    CarefulAgent().act(batch.observations, batch.masks, batch.keys)


@entry
def careful_actions(
    observations: np.ndarray,
    masks: np.ndarray,
    keys: np.ndarray,
    weights: np.ndarray,
    hands: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
) -> None:
    """Choose for ``B`` decisions: OBSERVATION[B], int8[B, 839], uint64[B] -> int64[B]."""
    for i in range(masks.shape[0]):
        out[i] = careful_action(observations[i], masks[i], keys[i], weights, hands, values)


@kernel
def careful_action(
    obs: Any, mask: np.ndarray, key: np.uint64, w: np.ndarray, hands: np.ndarray, values: np.ndarray
) -> int:
    """Choose a legal action; -1 if there is none. ``hands`` and ``values`` are room as of :func:`new_scratch`."""
    read_hand(obs, hands[HAND])
    read_reach(obs, values[REACH])
    if obs["phase"] == DRAW:
        return choose_draw(obs, mask, w, hands)
    action = choose_lay(obs, mask, w, hands)
    if action < 0:
        action = choose_joker(obs, mask, hands[HAND])
    if action < 0:
        action = choose_discard(obs, mask, key, w, hands, values)
    return action if action >= 0 else first_legal(mask)


@kernel
def worth(obs: Any, hand: np.ndarray, w: np.ndarray) -> float:
    """Return what a hand is worth now, in points: what it lays, less what is left. Uses it up."""
    points = np.float64(lay_out(obs, hand, w[JOKER_KEPT]))
    if hand[COUNT] <= 1:
        bonus = obs["rules"][CLOSING_BONUS] + np.int64(32768) * obs["rules_high"][CLOSING_BONUS]
        return points + bonus
    return points - w[LEFT] * hand_cost(hand) + w[JOKER_KEPT] * hand[JOKERS]


@kernel
def choose_draw(obs: Any, mask: np.ndarray, w: np.ndarray, hands: np.ndarray) -> int:
    """Take from the row what brings more than a card of the stock; the stock otherwise."""
    if not mask[act.TAKE + 1]:
        return act.DRAW_STOCK if mask[act.DRAW_STOCK] else -1
    hand, work, fits = hands[HAND], hands[WORK], hands[FITS]
    read_fits(obs, fits)
    best_action, best = -1, LOWEST
    if mask[act.DRAW_STOCK]:
        copy_hand(hand, work)
        best_action, best = act.DRAW_STOCK, worth(obs, work, w)
    size: Any = np.int64(obs["row_size"])
    for count in range(1, min(size, act.MAX_TAKE) + 1):
        if not mask[act.TAKE + count]:
            break
        card: Any = np.int64(obs["row_cards"][size - count])
        # A card that serves nothing is not worth a look, but for the last one, which is to be discarded.
        idle = best_action >= 0 and work[COUNT] > 3 and not may_help(card, hand, fits)
        add_card(hand, card)
        if idle:
            continue
        copy_hand(hand, work)
        value = worth(obs, work, w)
        if value > best:
            best_action, best = act.TAKE + count, value
    return best_action


@kernel
def choose_lay(obs: Any, mask: np.ndarray, w: np.ndarray, hands: np.ndarray) -> int:
    """Choose the lay, attach of a natural or swap that leads to most; -1 if there is none that pays for its joker."""
    hand, work, found = hands[HAND], hands[WORK], hands[FOUND]
    count = find_lays(obs, mask, found)
    best_action, best = -1, LOWEST
    for i in range(count):
        copy_hand(hand, work)
        points = play_from(obs, found[i], work)
        spent = hand[JOKERS] - work[JOKERS]
        if obs["opened"][0] == 1 and spent > 0 and points <= w[JOKER_KEPT] * spent:
            continue
        value = points + worth(obs, work, w)
        if value > best:
            best_action, best = found[i], value
    return best_action


@kernel
def choose_discard(
    obs: Any, mask: np.ndarray, key: np.uint64, w: np.ndarray, hands: np.ndarray, values: np.ndarray
) -> int:
    """Throw the card that serves least and gives least away; a joker only if there is nothing else. Ties by the key."""
    hand, keep, table = hands[HAND], values[KEEP], values[TABLE]
    keep[:] = 0
    value_runs(hand, values[REACH], w[COMPLETE], w[OUT], 0.0, keep)
    value_sets(hand, values[REACH], w[COMPLETE], w[OUT], 0.0, keep)
    table_points(obs, table)
    best_action, best = -1, LOWEST
    for suit in range(SUITS):
        ranks = hand[ONES + suit]
        while ranks:
            rank = lowest_bit(ranks)
            ranks &= ranks - 1
            card = RANKS * suit + rank
            if not mask[act.DISCARD + card]:
                continue
            kept = keep[card]
            if obs["opened"][0] == 0:
                kept += w[FIT] * table[card]
            if hand[TWOS + suit] >> rank & 1:
                kept *= w[SECOND]
            value = w[IDLE] * HAND_VALUE[card] - kept
            if hand[COUNT] > 1:
                value -= danger(obs, card, table, 0.0, w[DANGER_MELD], w[DANGER_CLOSED])
            value += 1e-6 * np.float64(np.int64(key * np.uint64(2 * card + 1) >> np.uint64(57)))
            if value > best:
                best_action, best = act.DISCARD + card, value
    if best_action < 0 and mask[act.DISCARD + JOKER]:
        return act.DISCARD + JOKER
    return best_action
