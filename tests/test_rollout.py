"""The rollout buffer: every reward reaches the decision of the seat that earned it. Traces worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from gymnasium import spaces

from jolly_env.features import FEATURES
from train.rollout import LAST, OPEN, SeatRolloutBuffer


def make_buffer(steps: int, games: int, players: int, gamma: float = 1.0, decay: float = 0.5) -> SeatRolloutBuffer:
    """Return a buffer for observations of one number and the 839 actions."""
    box = spaces.Box(-1e9, 1e9, (1,), np.float32)
    options = {"gae_lambda": decay, "gamma": gamma, "n_envs": games, "players": players, "seed": 0}
    return SeatRolloutBuffer(steps, box, spaces.Discrete(839), "cpu", **options)


def play(
    buffer: SeatRolloutBuffer, seat: int, value: float, rewards: list[float] | None = None, done: bool = False
) -> None:
    """Note one decision of the only game, and what every seat earned by it."""
    empty = np.zeros((1, 839), dtype=np.int8)
    number = np.array([buffer.count])
    values = np.array([value], dtype=np.float32)
    nothing = np.zeros((1, 0), dtype=np.float32)
    buffer.note(number.reshape(1, 1).astype(np.float32), nothing, empty, np.array([seat]), number, values, values)
    earned = np.zeros((1, buffer.players), dtype=np.float32)
    if rewards is not None:
        earned[0] = rewards
    buffer.earn(earned, np.array([done]))


def test_two_seats_with_turns_of_many_decisions() -> None:
    """Seat 0 decides twice, seat 1 twice, seat 0 closes: +1 for it reaches its last decision, -1 seat 1's."""
    buffer = make_buffer(5, 1, 2)
    play(buffer, 0, 0.1)
    play(buffer, 0, 0.2)
    play(buffer, 1, -0.3)
    play(buffer, 1, -0.4)
    play(buffer, 0, 0.5, [1.0, -1.0], done=True)
    buffer.compute()
    assert buffer.next[:5].tolist() == [1, 4, 3, LAST, LAST]
    assert buffer.rewards[:5].tolist() == [0, 0, 0, -1, 1]
    last0, last1 = 1.0 - 0.5, -1.0 + 0.4
    middle0 = 0.5 - 0.2 + 0.5 * last0
    expected = [0.2 - 0.1 + 0.5 * middle0, middle0, -0.4 + 0.3 + 0.5 * last1, last1, last0]
    assert buffer.advantages[:5] == pytest.approx(expected)
    assert buffer.returns[:5] == pytest.approx(np.add(expected, [0.1, 0.2, -0.3, -0.4, 0.5]))


def test_four_seats_one_of_which_never_decided() -> None:
    """Seat 2 closes a round before seat 3's first turn: seat 3's share of the payoff reaches no decision."""
    buffer = make_buffer(3, 1, 4)
    play(buffer, 0, 0.0)
    play(buffer, 1, 0.0)
    play(buffer, 2, 0.0, [-1.0, -2.0, 6.0, -3.0], done=True)
    buffer.compute()
    assert buffer.rewards[:3].tolist() == [-1, -2, 6]
    assert buffer.advantages[:3].tolist() == [-1, -2, 6]


def test_rounds_of_one_game_go_on() -> None:
    """A reward at a round's end is paid in the middle of a seat's chain; the next round's decisions follow it."""
    buffer = make_buffer(4, 1, 2, gamma=0.9)
    play(buffer, 0, 0.0)
    play(buffer, 1, 0.0, [0.5, -0.5])
    play(buffer, 1, 0.3)
    play(buffer, 0, 0.2, [2.0, -2.0], done=True)
    buffer.compute()
    assert buffer.next[:4].tolist() == [3, 2, LAST, LAST]
    assert buffer.rewards[:4] == pytest.approx([0.5, -0.5, -2.0, 2.0])
    assert buffer.advantages[0] == pytest.approx(0.5 + 0.9 * 0.2 + 0.9 * 0.5 * (2.0 - 0.2))


def test_open_decisions_are_carried_over() -> None:
    """What has no successor yet is not trained on, but in the next rollout, linked across the border."""
    buffer = make_buffer(3, 1, 2)
    play(buffer, 0, 0.1)
    play(buffer, 0, 0.2)
    play(buffer, 1, 0.3)
    buffer.compute()
    assert buffer.next[:3].tolist() == [1, OPEN, OPEN]
    assert [int(row) for batch in buffer.get(1) for row in batch.obs] == [0]
    assert buffer.advantages[0] == pytest.approx(0.2 - 0.1)  # beyond an open decision nothing but its value counts

    buffer.reset()
    assert buffer.count == 2
    play(buffer, 1, 0.6)
    play(buffer, 0, 0.7, [1.0, -1.0], done=True)
    play(buffer, 0, 0.0)
    buffer.compute()
    assert buffer.next[:5].tolist() == [3, 2, LAST, LAST, OPEN]
    assert buffer.rewards[:5].tolist() == [0, 0, -1, 1, 0]
    assert buffer.advantages[0] == pytest.approx(0.7 - 0.2 + 0.5 * (1.0 - 0.7))
    seen = sorted(float(row) for batch in buffer.get(2) for row in batch.values)
    assert seen == pytest.approx([0.2, 0.3, 0.6, 0.7])


def test_every_decision_is_trained_on_once() -> None:
    """Over many rollouts of random games, each decision is given exactly once, but those still open."""
    random = np.random.default_rng(3)
    games, players = 5, 3
    buffer = make_buffer(7, games, players)
    noted, given, number = 0, [], 0
    for _ in range(30):
        buffer.reset()
        for _ in range(7):
            obs = np.arange(number, number + games, dtype=np.float32).reshape(games, 1)
            number += games
            zeros = np.zeros(games, dtype=np.float32)
            masks = np.zeros((games, 839), dtype=np.int8)
            nothing = np.zeros((games, 0), dtype=np.float32)
            buffer.note(
                obs, nothing, masks, random.integers(players, size=games), np.zeros(games, np.int64), zeros, zeros
            )
            noted += games
            buffer.earn(np.zeros((games, players), dtype=np.float32), random.random(games) < 0.1)
        buffer.compute()
        given += [int(row) for batch in buffer.get(1) for row in batch.obs]
    still_open = int((buffer.next[: buffer.count] == OPEN).sum())
    assert len(given) == len(set(given)) == noted - still_open
    assert 0 < still_open <= games * players


def test_shaping_adds_up_to_what_the_first_decision_was_worth() -> None:
    """With decay 1 an episode's first advantage gains minus the potential there, whatever lies between."""
    box = spaces.Box(-1e9, 1e9, (FEATURES + 2,), np.float32)
    options = {"gae_lambda": 1.0, "gamma": 1.0, "n_envs": 1, "players": 2, "seed": 0}
    found = []
    for weight in (0.0, 0.5):
        buffer = SeatRolloutBuffer(4, box, spaces.Discrete(839), "cpu", **options)  # type: ignore[arg-type]
        buffer.shaping = weight
        for number, fewest in enumerate((1.3, 0.9, 0.4, 0.1)):
            obs = np.full((1, FEATURES + 2), fewest, dtype=np.float32)
            nothing, empty = np.zeros((1, 0), dtype=np.float32), np.zeros((1, 839), dtype=np.int8)
            value = np.zeros(1, dtype=np.float32)
            buffer.note(obs, nothing, empty, np.array([0]), np.array([number]), value, value)
            buffer.earn(np.array([[1.0 if number == 3 else 0.0, 0.0]], dtype=np.float32), np.array([number == 3]))
        buffer.compute()
        found.append(buffer.advantages[:4].copy())
    assert found[0].tolist() == [1, 1, 1, 1]
    assert found[1] == pytest.approx([1 + 0.5 * fewest for fewest in (1.3, 0.9, 0.4, 0.1)])
