"""The greedy agent: opens when it can, lays, attaches and swaps all it can, and sheds the dearest idle card."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np

from agents.laydown import (
    HAND_WORDS,
    JOKERS,
    ONES,
    TWOS,
    add_card,
    hand_cost,
    lay_out,
    places_held,
    play_from,
    read_hand,
)
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.bits import lowest_bit
from jolly_env.cards import CARD_KINDS, HAND_VALUE, JOKER, PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.rules import CLOSING_BONUS, PLAYERS
from jolly_env.state import DRAW, SET

LEFT, JOKER_LEFT, STOCK, JOKER_PEN, NEAR, COMPLETE, OUT, COST, DUP, FIT, CLOSE, JOKERED, SETBOOST, DANGER = range(14)
W = np.array([50, 0, 800, 1500, 3, 100, 10, 100, 4, 100, 100, 30, 100, 0], dtype=np.int64)


class GreedyAgent:
    """Plays what lays the most points now. Sees its own cards, the table, the row and which cards are unseen."""

    def __init__(self, w=None) -> None:
        """Compile the kernels unless the cache has them."""
        self.w = W if w is None else np.asarray(w, dtype=np.int64)
        _warm_up()

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return legal actions: int64[B]."""
        actions = np.empty(len(masks), dtype=np.int64)
        greedy_actions(observations, masks, keys, new_scratch(), self.w, actions)
        return actions


def new_scratch() -> np.ndarray:
    """Return room for one decision at a time."""
    return np.zeros((3, CARD_KINDS + 1), dtype=np.int64)


@functools.cache
def _warm_up() -> None:
    """Compile the kernels, unless the cache on disk has them."""
    warm_up("agents", Path(__file__).parent, _compile)


def _compile() -> None:
    """Choose a first action."""
    from jolly_env.batch import Batch

    batch = Batch(1, seed=0)
    GreedyAgent().act(batch.observations, batch.masks, batch.keys)


@entry
def greedy_actions(
    observations: np.ndarray, masks: np.ndarray, keys: np.ndarray, scratch: np.ndarray, w: np.ndarray, out: np.ndarray
) -> None:
    """Choose for ``B`` decisions: OBSERVATION[B], int8[B, 839], uint64[B] -> int64[B]."""
    for i in range(masks.shape[0]):
        out[i] = greedy_action(observations[i], masks[i], keys[i], scratch, w)


@kernel
def greedy_action(obs: Any, mask: np.ndarray, key: np.uint64, scratch: np.ndarray, w: np.ndarray) -> int:
    """Choose a legal action; -1 if there is none. ``scratch`` is room as :func:`new_scratch` makes it."""
    hand, work = scratch[0], scratch[1]
    if obs["phase"] == DRAW:
        return choose_draw(obs, mask, hand, work, w)
    read_hand(obs, hand)
    action = choose_lay(obs, mask, hand, work, w)
    if action < 0:
        action = choose_joker(obs, mask, hand, w)
    if action < 0:
        action = choose_discard(obs, mask, key, hand, scratch[2], w)
    return action if action >= 0 else first_legal(mask)


@kernel
def first_legal(mask: np.ndarray) -> int:
    """Return the lowest legal action, or -1."""
    for action in range(act.ACTIONS):
        if mask[action]:
            return action
    return -1


@kernel
def worth(obs: Any, hand: np.ndarray, w: np.ndarray) -> int:
    """Return what a hand is worth now, in hundredths of a point: what it lays less what is left. Uses it up."""
    points = 100 * lay_out(obs, hand)
    count, cost = hand_cost(hand)
    count += hand[JOKERS]
    if count <= 1:
        points += w[CLOSE] * (obs["rules"][CLOSING_BONUS] + np.int64(32768) * obs["rules_high"][CLOSING_BONUS])
    return points - w[LEFT] * cost - w[JOKER_LEFT] * hand[JOKERS]


@kernel
def choose_draw(obs: Any, mask: np.ndarray, hand: np.ndarray, work: np.ndarray, w: np.ndarray) -> int:
    """Take from the row what brings more than a card of the stock; the stock otherwise."""
    if not mask[act.TAKE + 1]:
        return act.DRAW_STOCK if mask[act.DRAW_STOCK] else -1
    read_hand(obs, hand)
    best_action, best = -1, -(1 << 60)
    if mask[act.DRAW_STOCK]:
        work[:HAND_WORDS] = hand[:HAND_WORDS]
        best_action, best = act.DRAW_STOCK, worth(obs, work, w) + w[STOCK]
    size = np.int64(obs["row_size"])
    for count in range(1, min(size, act.MAX_TAKE) + 1):
        if not mask[act.TAKE + count]:
            break
        add_card(hand, np.int64(obs["row_cards"][size - count]))
        work[:HAND_WORDS] = hand[:HAND_WORDS]
        value = worth(obs, work, w)
        if value > best:
            best_action, best = act.TAKE + count, value
    return best_action


@kernel
def is_joker_attach(obs: Any, action: int) -> bool:
    """Tell whether an action at a table meld attaches a joker."""
    form = (action - act.MELD) % act.MELD_FORMS
    if obs["meld_kind"][(action - act.MELD) // act.MELD_FORMS] == SET:
        return form == act.ATTACH_SET_JOKER
    return form == act.JOKER_BELOW or form == act.JOKER_ABOVE


@kernel
def choose_lay(obs: Any, mask: np.ndarray, hand: np.ndarray, work: np.ndarray, w: np.ndarray) -> int:
    """Choose the lay, attach of a natural or swap that leads to the most points; -1 if there is none."""
    best_action, best = -1, -(1 << 60)
    stop = act.MELD + act.MELD_FORMS * np.int64(obs["meld_count"])
    start = act.LAY_SET
    while start < stop:
        block = 0
        end = min(start + 32, stop)
        for action in range(start, end):
            block += mask[action]
        if block:
            for action in range(start, end):
                if mask[action] and not (action >= act.MELD and is_joker_attach(obs, action)):
                    work[:HAND_WORDS] = hand[:HAND_WORDS]
                    points, jokers = play_from(obs, action, work)
                    value = 100 * points - w[JOKER_PEN] * jokers + worth(obs, work, w)
                    if value > best:
                        best_action, best = action, value
        start = end
    return best_action


@kernel
def choose_joker(obs: Any, mask: np.ndarray, hand: np.ndarray, w: np.ndarray) -> int:
    """Attach a joker where it brings most, if that helps to close or somebody else soon will; or -1."""
    if hand[JOKERS] == 0 or obs["meld_count"] == 0:
        return -1
    count, _ = hand_cost(hand)
    near = count <= 1 or (obs["opened"][0] == 0)
    for i in range(1, np.int64(obs["rules"][PLAYERS])):
        near = near or obs["hand_size"][i] <= w[NEAR]
    if not near:
        return -1
    best_action, best = -1, 0
    for meld in range(obs["meld_count"]):
        base, low = np.int64(obs["meld_base"][meld]), np.int64(obs["meld_low"][meld])
        first = act.MELD + act.MELD_FORMS * meld
        if obs["meld_kind"][meld] == SET:
            if mask[first + act.ATTACH_SET_JOKER] and SET_VALUE[base] > best:
                best_action, best = first + act.ATTACH_SET_JOKER, SET_VALUE[base]
            continue
        if mask[first + act.JOKER_BELOW] and PLACE_VALUE[low - 1] > best:
            best_action, best = first + act.JOKER_BELOW, PLACE_VALUE[low - 1]
        high = low + np.int64(obs["meld_size"][meld])
        if mask[first + act.JOKER_ABOVE] and PLACE_VALUE[high] > best:
            best_action, best = first + act.JOKER_ABOVE, PLACE_VALUE[high]
    return best_action


@kernel
def choose_discard(
    obs: Any, mask: np.ndarray, key: np.uint64, hand: np.ndarray, keep: np.ndarray, w: np.ndarray
) -> int:
    """Shed the dearest card that serves no meld; a joker only if there is nothing else. Ties go by the key."""
    keep[:JOKER] = 0
    value_runs(obs, hand, keep, w)
    value_sets(obs, hand, keep, w)
    if obs["opened"][0] == 0:
        value_fits(obs, keep, w)
    best_action, best = -1, -(1 << 60)
    for suit in range(SUITS):
        ranks = hand[ONES + suit]
        while ranks:
            rank = lowest_bit(ranks)
            ranks &= ranks - 1
            card = RANKS * suit + rank
            if not mask[act.DISCARD + card]:
                continue
            kept = keep[card]
            if hand[TWOS + suit] >> rank & 1:
                kept //= w[DUP]
            value = w[COST] * HAND_VALUE[card] - kept
            tie = np.int64(key * np.uint64(2 * card + 1) >> np.uint64(57))
            if 128 * value + tie > best:
                best_action, best = act.DISCARD + card, 128 * value + tie
    if best_action < 0 and mask[act.DISCARD + JOKER]:
        return act.DISCARD + JOKER
    return best_action


@kernel
def value_runs(obs: Any, hand: np.ndarray, keep: np.ndarray, w: np.ndarray) -> None:
    """Add to each card what it is worth for runs."""
    jokered = w[JOKERED] if hand[JOKERS] > 0 else 0
    for suit in range(SUITS):
        held = places_held(hand, suit)
        a, b, c = held, held >> 1, held >> 2
        lows = ((a & b) | (a & c) | (b & c)) & ((1 << act.RUN_STARTS) - 1)
        while lows:
            low = lowest_bit(lows)
            lows &= lows - 1
            part = held >> low & 7
            points = PLACE_VALUE[low] + PLACE_VALUE[low + 1] + PLACE_VALUE[low + 2]
            value = w[COMPLETE] * points
            if part != 7:
                missing = RANKS * suit + (low + lowest_bit(~part & 7)) % RANKS
                value = (w[OUT] * np.int64(obs["unseen"][missing]) + jokered) * points
            for i in range(3):
                if part >> i & 1:
                    keep[RANKS * suit + (low + i) % RANKS] += value


@kernel
def value_sets(obs: Any, hand: np.ndarray, keep: np.ndarray, w: np.ndarray) -> None:
    """Add to each card what it is worth for sets."""
    jokered = w[JOKERED] if hand[JOKERS] > 0 else 0
    c, d, h, s = hand[ONES], hand[ONES + 1], hand[ONES + 2], hand[ONES + 3]
    ranks = (c & d) | (h & s) | ((c | d) & (h | s))
    while ranks:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        size, outs = 0, 0
        for suit in range(SUITS):
            if hand[ONES + suit] >> rank & 1:
                size += 1
            else:
                outs += np.int64(obs["unseen"][RANKS * suit + rank])
        points = 3 * SET_VALUE[rank]
        value = w[COMPLETE] * points if size > 2 else (w[OUT] * outs + jokered) * points
        value = value * w[SETBOOST] // 100
        for suit in range(SUITS):
            if hand[ONES + suit] >> rank & 1:
                keep[RANKS * suit + rank] += value


@kernel
def value_fits(obs: Any, keep: np.ndarray, w: np.ndarray) -> None:
    """Add to each card what it is worth because it fits a table meld, for an observer who has not opened yet."""
    for meld in range(obs["meld_count"]):
        base, size = np.int64(obs["meld_base"][meld]), np.int64(obs["meld_size"][meld])
        if obs["meld_kind"][meld] == SET:
            for suit in range(SUITS):
                if obs["meld_cards"][meld, suit] < 0:
                    keep[RANKS * suit + base] += w[FIT] * SET_VALUE[base]
            continue
        low = np.int64(obs["meld_low"][meld])
        if low > 0:
            keep[RANKS * base + low - 1] += w[FIT] * PLACE_VALUE[low - 1]
        if low + size < PLACES:
            keep[RANKS * base + (low + size) % RANKS] += w[FIT] * PLACE_VALUE[low + size]
