"""What the others probably hold: worlds drawn by ``determinize`` and weighed by how well they agree with what was done.

A world is a state that agrees with an observation. Worlds drawn so agree in all that is certain, and are blind for what
is only likely: that nobody keeps a card that fits the table, or a joker, for long, and that nobody throws a card that
goes with others in hand. The odds are fitted to play of the careful agent, by the log likelihood of the hidden cards.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.cards import JOKER, RANKS, SUITS
from jolly_env.determinize import determinize_into
from jolly_env.engine import mix
from jolly_env.hand import COUNT, HAND_WORDS, JOKERS, ONES, TWOS
from jolly_env.laydown import attach_naturals
from jolly_env.observation import as_record
from jolly_env.rules import PLAYERS
from jolly_env.state import HISTORY, STATE

FITS: Final = 3.7
"""Log odds against a hand, of a player who has opened, with a card that fits the table."""
JOKER_HELD: Final = 1.2
"""Log odds against each joker in hand that is not known to be there."""
MATE: Final = 0.85
"""Log odds against a card in hand that goes with one that its holder has thrown, for the newest discard."""
FADE: Final = 0.85
"""Factor from one discard of a player to the one before."""
DRAWN: Final = 8
"""Worlds drawn for each one that is kept."""


def sample_worlds(observation: Any, key: int, worlds: int) -> np.ndarray:
    """Return ``worlds`` states that agree with an observation, likely ones more often: STATE[W].

    The same observation and key give the same worlds. Their ``legal`` bits are not set.
    """
    record = np.asarray(as_record(observation)).reshape(1)
    _warm_up()
    states = np.zeros(worlds, dtype=STATE)
    room = np.zeros(1, dtype=STATE)
    draw_worlds(record, np.uint64(key % 2**64), np.zeros(worlds * DRAWN), np.zeros(HAND_WORDS, np.int64), room, states)
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
    record: np.ndarray, key: np.uint64, weights: np.ndarray, hand: np.ndarray, room: np.ndarray, states: np.ndarray
) -> None:
    """Fill ``states`` STATE[W] with worlds, by weights float64[M] of ``M`` that are drawn; ``room`` is STATE[1]."""
    obs, state = record[0], room[0]
    drawn, kept = weights.shape[0], states.shape[0]
    highest = -1e300
    for i in range(drawn):
        determinize_into(obs, mix(key + np.uint64(i)), state)
        weights[i] = agreement(obs, state, hand)
        highest = max(highest, weights[i])
    total = 0.0
    for i in range(drawn):
        weights[i] = np.exp(weights[i] - highest)
        total += weights[i]
    # Equal steps through the weights (systematic resampling): each world comes about as often as it should.
    step = total / kept
    at = step * (np.float64(mix(key) >> np.uint64(11)) / 9007199254740992.0)
    sum_, i = weights[0], 0
    for j in range(kept):
        while sum_ < at and i + 1 < drawn:
            i += 1
            sum_ += weights[i]
        determinize_into(obs, mix(key + np.uint64(i)), states[j])
        at += step


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
