"""All ends that the laying of a turn can come to, by trying every action in the engine; and positions to try it on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from tools import position

from jolly_env import Rules
from jolly_env.actions import DISCARD, LAY_SET
from jolly_env.batch import Batch
from jolly_env.cards import HAND_VALUE, JOKER, format_cards
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
    seen: set[Any] = set()
    found: set[Vector] = set()
    todo = [copy_states(game.states)]
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


def made_positions(seed: int, count: int) -> Iterator[Game]:
    """Give positions made up at random: tables with many jokers, and hands of cards that have to do with them."""
    rng = random.Random(seed)
    for _ in range(count):
        pool = Counter(dict.fromkeys(range(JOKER), 2))
        pool[JOKER] = 6
        melds: list[tuple[str, str]] = []
        wanted: list[int] = []
        for _ in range(rng.randint(1, 3)):
            cards = _random_meld(rng)
            stands = [JOKER if played == JOKER else card for card, played in cards]
            if Counter(stands) <= pool:
                pool -= Counter(stands)
                melds.append((format_cards(stands), "".join(rng.choice("01") for _ in stands)))
                wanted += [card for card, _ in cards] + [card + rng.choice([-1, 1, 13]) for card, _ in cards[:2]]
        hand: list[int] = []
        for card in rng.sample(wanted, min(len(wanted), rng.randint(1, 4))) + _random_cards(rng):
            if 0 <= card <= JOKER and pool[card] > 0:
                pool[card] -= 1
                hand.append(card)
        opened = [rng.choice([-1, -1, 0]), 0]
        points = rng.choice([1, 15, 30, 40])
        other = format_cards([next(card for card in range(JOKER) if pool[card] > 0)])
        yield position(format_cards(hand), other, melds=melds, opened=opened, opening_points=points)


def _random_meld(rng: random.Random) -> list[tuple[int, int]]:
    """Return a meld as pairs of the card of the place and the card that is played there."""
    if rng.random() < 0.4:
        rank, suits = rng.randrange(13), rng.sample(range(4), rng.choice([3, 4]))
        cards = [13 * suit + rank for suit in suits]
        wild = {len(cards) - 1} if rng.random() < 0.8 else set()
    else:
        size, suit = rng.randint(3, 5), rng.randrange(4)
        low = rng.randrange(13 - size + 1)
        cards = [13 * suit + low + i for i in range(size)]
        wild = {i for i in range(rng.choice([0, 1]), size, 2) if rng.random() < 0.7}
    return [(card, JOKER if i in wild else card) for i, card in enumerate(cards)]


def _random_cards(rng: random.Random) -> list[int]:
    """Return a few cards of one or two suits, near each other, and jokers."""
    suits, low = rng.sample(range(4), 2), rng.randrange(13)
    near = [13 * rng.choice(suits) + (low + rng.randrange(5)) % 13 for _ in range(rng.randint(1, 5))]
    return near + [JOKER] * rng.choice([0, 0, 0, 1, 1, 2])
