"""What the others probably hold: worlds drawn by ``determinize``, played on a little, and weighed by what was done.

A world is a state that agrees with an observation. Worlds drawn so agree in all that is certain, and are blind for what
is only likely. A hand that has drawn for ten turns is no random hand: so each hand of a player who has not opened takes
cards from the stock and gives back the worst, as the planner reckons them. Then worlds are weighed: nobody throws a
card that goes with others in hand, or keeps one for long that fits the table. How often, and how much, is fitted to
play of the planner.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.outs import read_reach
from agents.planner import DANGER, HAND, REACH, TABLE, THROWN, new_room, planner_weights, throw, weights_for
from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.cards import CARD_KINDS, JOKER, RANKS, SUITS
from jolly_env.determinize import determinize_into
from jolly_env.engine import mix
from jolly_env.hand import COUNT, JOKERS, ONES, TWOS
from jolly_env.laydown import attach_naturals
from jolly_env.moves import hold, release
from jolly_env.observation import as_record
from jolly_env.rules import PLAYERS
from jolly_env.state import HISTORY, STATE

FITS: Final = 3.7
"""Log odds against a hand, of a player who has opened, with a card that fits the table."""
JOKER_HELD: Final = 0.4
"""Log odds against each joker in hand that is not known to be there."""
MATE: Final = 0.4
"""Log odds against a card in hand that goes with one that its holder has thrown, for the newest discard."""
FADE: Final = 0.95
"""Factor from one discard of a player to the one before."""
PICKED: Final = (2.0, 0.5, 2.0)
"""How often a hand that is not opened was bettered: at first, for each draw, and at most for each draw."""
DRAWN: Final = 8
"""Worlds drawn for each one that is kept."""


def sample_worlds(observation: Any, key: int, worlds: int) -> np.ndarray:
    """Return ``worlds`` states that agree with an observation, likely ones more often: STATE[W].

    The same observation and key give the same worlds. Their ``legal`` bits are not set.
    """
    record = np.asarray(as_record(observation)).reshape(1)
    _warm_up()
    states = np.zeros(worlds, dtype=STATE)
    hands, values = new_room()[:2]
    room = np.zeros(1, dtype=STATE)
    likely = np.zeros(worlds * DRAWN)
    draw_worlds(record, np.uint64(key % 2**64), planner_weights({}), likely, hands, values, room, states)
    return states


@functools.cache
def _warm_up() -> None:
    """Compile the kernels, unless the cache on disk has them."""
    warm_up("agents.beliefs", Path(__file__).parent, _compile)


def _compile() -> None:
    """Draw a first world."""
    from jolly_env.batch import Batch

    sample_worlds(Batch(1, seed=0).observations[0], 0, 1)


@entry
def draw_worlds(
    record: np.ndarray,
    key: np.uint64,
    weights: np.ndarray,
    likely: np.ndarray,
    hands: np.ndarray,
    values: np.ndarray,
    room: np.ndarray,
    states: np.ndarray,
) -> None:
    """Fill ``states`` STATE[W] with worlds out of ``M`` that are drawn: ``likely`` is float64[M], ``room`` STATE[1].

    The rest is weights and room of the planner.
    """
    obs, state = record[0], room[0]
    w = weights_for(obs, weights)
    read_reach(obs, values[REACH])
    values[TABLE][:] = 0
    values[DANGER][:] = 0
    drawn, kept = likely.shape[0], states.shape[0]
    highest = -1e300
    for i in range(drawn):
        draw_world(obs, mix(key + np.uint64(i)), w, hands, values, state)
        likely[i] = agreement(obs, state, hands[HAND])
        highest = max(highest, likely[i])
    total = 0.0
    for i in range(drawn):
        likely[i] = np.exp(likely[i] - highest)
        total += likely[i]
    # Equal steps through the weights (systematic resampling): each world comes about as often as it should.
    step = total / kept
    at = step * (np.float64(mix(key) >> np.uint64(11)) / 9007199254740992.0)
    sum_, i = likely[0], 0
    for j in range(kept):
        while sum_ < at and i + 1 < drawn:
            i += 1
            sum_ += likely[i]
        draw_world(obs, mix(key + np.uint64(i)), w, hands, values, states[j])
        at += step


@kernel
def draw_world(obs: Any, key: np.uint64, w: np.ndarray, hands: np.ndarray, values: np.ndarray, state: Any) -> None:
    """Draw one world, and better the hands that are not opened.

    After a recycling most of what the others hold is certain, and hands stay as they are drawn.
    """
    determinize_into(obs, key, state)
    players, me = np.int64(obs["rules"][PLAYERS]), np.int64(obs["seat"])
    for i in range(1, players):
        if obs["opened"][i] == 1 or obs["recycled_size"] > 0:
            continue
        draws = np.float64(obs["draws"][i])
        times = np.int64(min(PICKED[0] + PICKED[1] * draws, PICKED[2] * draws) + 0.5)
        better(obs, state, (me + i) % players, times, w, hands[HAND], values)


@kernel
def better(obs: Any, state: Any, seat: int, times: int, w: np.ndarray, hand: np.ndarray, values: np.ndarray) -> None:
    """Let a hand take a card of the stock and give back the worst that it is not known to hold, ``times`` times."""
    thrown, size = values[THROWN], np.int64(state["stock_size"])
    for _ in range(times if size > 0 else 0):
        state["rng"] += np.uint64(0x9E3779B97F4A7C15)
        random = mix(state["rng"])
        place = np.int64((random >> np.uint64(32)) * np.uint64(size) >> np.uint64(32))
        hold(state, seat, np.int64(state["stock"][place]))
        read_held(state, seat, hand)
        throw(obs, hand, w, values, False, random)
        worst = np.int64(state["stock"][place])
        for card in range(CARD_KINDS):
            if state["hands"][seat, card] > state["known"][seat, card] and thrown[card] > thrown[worst]:
                worst = np.int64(card)
        known = state["known"][seat, worst]
        release(state, seat, worst)
        state["known"][seat, worst] = known
        state["stock"][place] = worst


@kernel
def agreement(obs: Any, state: Any, hand: np.ndarray) -> float:
    """Return how well a world agrees with what the others did, as a logarithm; ``hand`` is room for one."""
    players, me = np.int64(obs["rules"][PLAYERS]), np.int64(obs["seat"])
    total = 0.0
    for i in range(1, players):
        seat = (me + i) % players
        total -= mates(obs, state, i, seat)
        total -= JOKER_HELD * (state["hands"][seat, JOKER] - obs["known"][i, JOKER])
        if obs["opened"][i] == 1:
            read_held(state, seat, hand)
            total -= FITS if attach_naturals(obs, hand, True) > 0 else 0.0
    return total


@kernel
def read_held(state: Any, seat: int, hand: np.ndarray) -> None:
    """Write a seat's cards as a hand of :mod:`jolly_env.hand`."""
    for suit in range(SUITS):
        hand[ONES + suit] = state["ones"][seat, suit]
        twos = 0
        for rank in range(RANKS):
            twos |= (1 if state["hands"][seat, RANKS * suit + rank] > 1 else 0) << rank
        hand[TWOS + suit] = twos
    hand[JOKERS] = state["hands"][seat, JOKER]
    hand[COUNT] = state["hand_size"][seat]


@kernel
def mates(obs: Any, state: Any, player: int, seat: int) -> float:
    """Return how much a seat holds that goes with what it has thrown: newest discards first."""
    total, weight = 0.0, MATE
    for at in range(HISTORY - 1, -1, -1):
        if obs["history_seats"][at] != player or obs["history_actions"][at] < act.DISCARD:
            continue
        card = np.int64(obs["history_actions"][at]) - act.DISCARD
        if card == JOKER:
            continue
        suit, rank = card // RANKS, card % RANKS
        held = 0
        for other in range(SUITS):
            if other != suit:
                held += min(1, state["hands"][seat, RANKS * other + rank] - obs["known"][player, RANKS * other + rank])
        for near in (-2, -1, 1, 2):
            place = rank + near
            if 0 <= place < RANKS or (rank > 1 and place == RANKS):
                mate = RANKS * suit + place % RANKS
                held += min(1, state["hands"][seat, mate] - obs["known"][player, mate])
        total += weight * held
        weight *= FADE
        if weight < 0.05 * MATE:
            break
    return total
