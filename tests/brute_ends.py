"""All ends that the laying of a turn can come to, by trying every action in the engine; and positions to try it on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from jolly_env import Rules
from jolly_env.actions import DISCARD, LAY_SET
from jolly_env.batch import Batch
from jolly_env.cards import HAND_VALUE, JOKER
from jolly_env.game import Game
from jolly_env.state import PLAY, copy_states

Vector = tuple[int, int, int, int]
"""Points laid, cards left, cost of the naturals left, jokers left."""


def vector(state: Any, seat: int, laid_before: int) -> Vector:
    """Return the four numbers of a state in which the seat stops laying."""
    hand = state["hands"][seat]
    cost = int((hand[:JOKER] * HAND_VALUE[:JOKER]).sum())
    return int(state["laid"][seat]) - laid_before, int(state["hand_size"][seat]), cost, int(hand[JOKER])


def _key(state: Any, seat: int) -> tuple[Any, ...]:
    count = int(state["meld_count"])
    names = ("meld_kind", "meld_base", "meld_turn")
    melds = sorted(
        (*(int(state[name][m]) for name in names), state["meld_cards"][m].tobytes(), state["meld_seats"][m].tobytes())
        for m in range(count)
    )
    return state["hands"][seat].tobytes(), tuple(melds)


def all_ends(game: Game, most: int) -> set[Vector] | None:
    """Return all ends that can be reached and are legal to stop at; None if there are more than ``most`` states."""
    seat, laid = game.seat, int(game.state["laid"][game.seat])
    work = Game.from_state(game.states)
    seen, found, todo = set(), set(), [copy_states(game.states)]
    while todo:
        work.states[:] = todo.pop()
        key = _key(work.state, seat)
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > most:
            return None
        legal = work.legal_actions()
        if (legal >= DISCARD).any():
            found.add(vector(work.state, seat, laid))
        here = copy_states(work.states)
        for action in legal[(legal >= LAY_SET) & (legal < DISCARD)]:
            work.states[:] = here
            work.step(int(action))
            todo.append(copy_states(work.states))
    return found


def best(ends: set[Vector], nothing: Vector | None) -> set[Vector]:
    """Return the ends that no other beats, and the one of laying nothing."""

    def beats(a: Vector, b: Vector) -> bool:
        return a != b and a[0] >= b[0] and a[1] <= b[1] and a[2] <= b[2] and a[3] >= b[3]

    kept = {end for end in ends if not any(beats(other, end) for other in ends)}
    return kept | ({nothing} if nothing is not None else set())


def stock_up(state: Any, rng: random.Random, changes: int, jokers: int) -> None:
    """Exchange cards of the hand to move for cards of the stock, and naturals for as many jokers as there are."""
    seat, top = int(state["seat"]), int(state["stock_top"])
    stock = state["stock"][top : top + int(state["stock_size"])]
    hand = [card for card in range(53) for _ in range(int(state["hands"][seat, card]))]
    wild = [i for i, card in enumerate(stock) if card == JOKER][:jokers]
    places = wild + [rng.randrange(len(stock)) for _ in range(changes)] if len(stock) else []
    for place in places:
        naturals = [i for i, card in enumerate(hand) if card != JOKER]
        if naturals:
            mine = rng.choice(naturals)
            hand[mine], stock[place] = int(stock[place]), hand[mine]
    counts = np.bincount(hand, minlength=53)
    state["hands"][seat] = counts
    state["known"][seat] = 0
    for suit in range(4):
        state["ones"][seat, suit] = sum(int(counts[13 * suit + rank] > 0) << rank for rank in range(13))
        state["twos"][seat, suit] = sum(int(counts[13 * suit + rank] > 1) << rank for rank in range(13))


def positions(rules: Rules, agent: Any, seed: int, count: int, every: int = 5) -> Iterator[Game]:
    """Give positions of the play phase from games of an agent, hands partly exchanged for others."""
    rng = random.Random(seed)
    batch = Batch(32, rules, seed=seed)
    given = steps = 0
    while given < count:
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
        steps += 1
        if steps % every:
            continue
        for row in np.flatnonzero(batch.states["phase"] == PLAY):
            game = Game.from_state(batch.states[row : row + 1])
            if rng.random() < 0.7 and game.state["opening_laid"][()] == 0:
                stock_up(game.state, rng, rng.choice([0, 2, 5]), rng.choice([0, 0, 1, 2, 3]))
                game.refresh()
            yield game
            given += 1
            if given == count:
                return
