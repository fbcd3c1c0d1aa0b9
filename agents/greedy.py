"""The greedy agent: opens when it can, lays, attaches and swaps all it can, and sheds the dearest idle card."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.shedding import LOWEST, choose_discard
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.arrays import check_chosen, check_decisions, check_observations
from jolly_env.cards import CARD_KINDS, PLACE_VALUE, SET_VALUE
from jolly_env.hand import COUNT, JOKERS, add_card, copy_hand, hand_cost, play_from, read_hand
from jolly_env.laydown import lay_out, may_help, read_fits
from jolly_env.rules import CLOSING_BONUS, PLAYERS
from jolly_env.state import DRAW, SET

# What the choices are weighed with, in hundredths of a point; tuned in play against variants on duplicate deals.
LEFT: Final = 50
"""Each point that the cards left in hand would cost at the end (R15)."""
JOKER_LEFT: Final = 1000
"""A joker left in hand, which later melds may use."""
STOCK: Final = 400
"""A card of the stock, beyond what the hand can lay without it."""


class GreedyAgent:
    """Plays what lays the most points now.

    It looks at its own cards, the table, the row, which cards are unseen, and how many cards the others hold.
    """

    def __init__(self) -> None:
        """Compile the kernels unless the cache has them."""
        _warm_up()

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return legal actions: int64[B]; ``ValueError`` where there is none, or for other arrays."""
        masks, keys = check_decisions(masks, keys)
        records = check_observations(observations, len(masks))
        actions = np.empty(len(masks), dtype=np.int64)
        greedy_actions(records, masks, keys, new_scratch(), actions)
        return check_chosen(actions)


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
    observations: np.ndarray, masks: np.ndarray, keys: np.ndarray, scratch: np.ndarray, out: np.ndarray
) -> None:
    """Choose for ``B`` decisions: OBSERVATION[B], int8[B, 839], uint64[B] -> int64[B]."""
    for i in range(masks.shape[0]):
        out[i] = greedy_action(observations[i], masks[i], keys[i], scratch)


@kernel
def greedy_action(obs: Any, mask: np.ndarray, key: np.uint64, scratch: np.ndarray) -> int:
    """Choose a legal action; -1 if there is none. ``scratch`` is room as :func:`new_scratch` makes it."""
    hand, work = scratch[0], scratch[1]
    if obs["phase"] == DRAW:
        return choose_draw(obs, mask, hand, work, scratch[2])
    read_hand(obs, hand)
    action = choose_lay(obs, mask, hand, work, scratch[2])
    if action < 0:
        action = choose_joker(obs, mask, hand)
    if action < 0:
        action = choose_discard(obs, mask, key, hand, scratch[2])
    return action if action >= 0 else first_legal(mask)


@kernel
def first_legal(mask: np.ndarray) -> int:
    """Return the lowest legal action, or -1."""
    for action in range(act.ACTIONS):
        if mask[action]:
            return action
    return -1


@kernel
def worth(obs: Any, hand: np.ndarray) -> int:
    """Return what a hand is worth now, in hundredths of a point: what it lays less what is left. Uses it up."""
    points = lay_out(obs, hand, 0.0)
    if hand[COUNT] <= 1:
        points += obs["rules"][CLOSING_BONUS] + np.int64(32768) * obs["rules_high"][CLOSING_BONUS]
    return 100 * points - LEFT * hand_cost(hand) + JOKER_LEFT * hand[JOKERS]


@kernel
def choose_draw(obs: Any, mask: np.ndarray, hand: np.ndarray, work: np.ndarray, fits: np.ndarray) -> int:
    """Take from the row what brings more than a card of the stock; the stock otherwise."""
    if not mask[act.TAKE + 1]:
        return act.DRAW_STOCK if mask[act.DRAW_STOCK] else -1
    read_hand(obs, hand)
    read_fits(obs, fits)
    best_action, best = -1, LOWEST
    if mask[act.DRAW_STOCK]:
        copy_hand(hand, work)
        best_action, best = act.DRAW_STOCK, worth(obs, work) + STOCK
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
        value = worth(obs, work)
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
def find_lays(obs: Any, mask: np.ndarray, found: np.ndarray) -> int:
    """List the legal lays, attaches of naturals and swaps, as many as there is room for; return their number."""
    melds: Any = np.int64(obs["meld_count"])
    count, start, stop = 0, act.LAY_SET, act.MELD + act.MELD_FORMS * melds
    while start < stop:
        # Whole blocks are skipped by their sums, which the processor adds up many at a time.
        block, end = 0, start + 32 if start + 32 < stop else stop
        for action in range(start, end):
            block += mask[action]
        if block:
            for action in range(start, end):
                if mask[action] and count < found.size and not (action >= act.MELD and is_joker_attach(obs, action)):
                    found[count] = action
                    count += 1
        start = end
    return count


@kernel
def choose_lay(obs: Any, mask: np.ndarray, hand: np.ndarray, work: np.ndarray, found: np.ndarray) -> int:
    """Choose the lay, attach of a natural or swap that leads to the most points; -1 if there is none."""
    count = find_lays(obs, mask, found)
    if count < 2:
        return found[0] if count else -1
    best_action, best = -1, LOWEST
    for i in range(count):
        copy_hand(hand, work)
        value = 100 * play_from(obs, found[i], work)
        value += worth(obs, work)
        if value > best:
            best_action, best = found[i], value
    return best_action


@kernel
def choose_joker(obs: Any, mask: np.ndarray, hand: np.ndarray) -> int:
    """Attach a joker where it brings most, if that helps to close or somebody else soon will; or -1."""
    if hand[JOKERS] == 0 or obs["meld_count"] == 0:
        return -1
    wanted = hand[COUNT] - hand[JOKERS] <= 1 or obs["opened"][0] == 0
    for i in range(1, np.int64(obs["rules"][PLAYERS])):
        wanted = wanted or obs["hand_size"][i] == 1
    if not wanted:
        return -1
    best_action, best = -1, 0
    for meld in range(obs["meld_count"]):
        base: Any = np.int64(obs["meld_base"][meld])
        low: Any = np.int64(obs["meld_low"][meld])
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
