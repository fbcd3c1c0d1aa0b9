"""The distance of a hand from closing and its outs, against themselves and against the exact lay-down solver."""

from __future__ import annotations

import numpy as np
import pytest

import agents
from agents.distance import FAR, distances
from agents.solver import ends
from jolly_env import Rules
from jolly_env.actions import DISCARD
from jolly_env.batch import Batch
from jolly_env.cards import JOKER


def hands(seed: int, games: int = 200) -> np.ndarray:
    """Return observations of seats that hold a whole hand and are about to discard, in play of two."""
    batch, agent, seen = Batch(games, Rules(), seed=seed), agents.make("racer"), []
    for _ in range(40):
        actions = agent.act(batch.observations, batch.masks, batch.keys)
        closed = (batch.observations["opened"].sum(axis=1) == 0) & (actions >= DISCARD)
        seen.append(batch.observations[closed].copy())
        batch.step(actions)
    return np.concatenate(seen)


def cards_of(bits: int) -> list[int]:
    """Return the cards among bits."""
    return [card for card in range(JOKER) if bits >> card & 1]


def exchanged(observation: np.ndarray, thrown: int, drawn: int) -> np.ndarray:
    """Return an observation with another card in hand."""
    other = observation.copy()
    other["hand"][thrown] -= 1
    other["hand"][drawn] += 1
    return other


@pytest.mark.parametrize("seed", [1, 2])
def test_an_out_brings_the_hand_one_nearer_and_another_card_does_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    seen = hands(seed)
    seen = seen[rng.choice(len(seen), 25, replace=False)]
    missed = nearer = farther = 0
    for observation, distance, outs in zip(seen, *distances(seen), strict=True):
        if not 0 < distance <= FAR:
            continue
        for thrown in np.flatnonzero(outs[:JOKER]):
            drawn = np.flatnonzero(observation["hand"][:JOKER] < 2)
            after, _ = distances(np.stack([exchanged(observation, thrown, card) for card in drawn]))
            listed = set(cards_of(int(outs[thrown])))
            for card, now in zip(drawn, after, strict=True):
                if card in listed:
                    nearer += now == distance - 1
                    farther += now != distance - 1
                else:
                    missed += now < distance
        for thrown in set(np.flatnonzero(observation["hand"][:JOKER])) - set(np.flatnonzero(outs[:JOKER])):
            same, _ = distances(exchanged(observation, thrown, JOKER)[None])
            assert same[0] >= distance  # a joker in place of a card that is needed only makes up for it
    assert nearer > 500
    # Cards that go with a lone card are not counted; and copies are not told apart everywhere.
    assert farther < 0.05 * nearer and missed < 0.3 * nearer


def test_a_hand_at_distance_one_has_the_outs_that_the_solver_finds() -> None:
    seen = hands(3)
    found, outs = distances(seen)
    rows = np.flatnonzero(found == 1)[:30]
    same = asked = 0
    for row in rows:
        observation = seen[row]
        for thrown in np.flatnonzero(observation["hand"][:JOKER]):
            drawn = np.flatnonzero(observation["unseen"][:JOKER] > 0)
            after = np.stack([exchanged(observation, thrown, card) for card in drawn])
            closing = {int(card) for card, fewest in zip(drawn, fewest_left(after), strict=True) if fewest <= 1}
            same += closing == set(cards_of(int(outs[row, thrown]))) & set(map(int, drawn))
            asked += 1
    assert asked > 300 and same > 0.9 * asked


def test_distance_none_is_where_the_solver_closes() -> None:
    batch = Batch(64, Rules(), seed=9)
    agent = agents.make("racer")
    closes = reckoned = 0
    for _ in range(60):
        actions = agent.act(batch.observations, batch.masks, batch.keys)
        playing = batch.observations[(batch.observations["phase"] == 1) & (batch.observations["opened"][:, 0] == 0)]
        found, _ = distances(playing)
        fewest = fewest_left(playing)
        closes += int((fewest <= 1).sum())
        reckoned += int(((found == 0) & (fewest <= 1)).sum())
        batch.step(actions)
    assert closes > 50 and reckoned > 0.95 * closes


def fewest_left(observations: np.ndarray) -> np.ndarray:
    """Return the fewest cards that each hand can be left with: int64[B]."""
    return np.array([min((end.cards for end in ends(one).found), default=20) for one in observations])
