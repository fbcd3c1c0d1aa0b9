"""``Batch``: rows that know nothing of each other, in the caller's own arrays if given."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jolly_env import IllegalAction, Rules
from jolly_env.actions import ACTIONS
from jolly_env.agent import RandomAgent
from jolly_env.batch import Batch
from jolly_env.features import FEATURES, features
from jolly_env.game import Game
from jolly_env.observation import OBSERVATION, as_flat
from jolly_env.state import Ending, Phase

AGENT = RandomAgent()
SHORT = Rules(hand_size=5, opening_points=0, max_turns=25)
SHOWN = ("observations", "masks", "seats", "keys", "rewards", "terminated", "truncated", "round_over")
RESULTS = ("scores", "totals", "closers", "hand_jolly", "endings")


def random_actions(batch: Batch) -> np.ndarray:
    """Return random legal actions; 0 where a game is over."""
    return np.maximum(AGENT.act(batch.observations, batch.masks, batch.keys), 0)


def everything(batch: Batch, row: int) -> list[bytes]:
    """Return all that a row is and shows, as bytes."""
    return [batch.states[row].tobytes(), *(getattr(batch, name)[row].tobytes() for name in SHOWN + RESULTS)]


@settings(max_examples=10)
@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=6, unique=True), st.sampled_from([2, 3, 4]), st.randoms())
def test_rows_do_not_depend_on_size_and_order(seeds: list[int], players: int, rng: object) -> None:
    rules = Rules(players=players, hand_size=7, opening_points=15, max_turns=40, target=60)
    together = Batch(len(seeds), rules, seed=np.array(seeds))
    order = list(range(len(seeds)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    shuffled = Batch(len(seeds), rules, seed=np.array([seeds[i] for i in order]))
    alone = [Batch(1, rules, seed=np.array([seed])) for seed in seeds]
    for _ in range(150):
        for batch in (together, shuffled, *alone):
            batch.step(random_actions(batch))
        for row, single in enumerate(alone):
            assert everything(together, row) == everything(single, 0) == everything(shuffled, order.index(row))


def test_rows_of_equal_seeds_are_equal_and_others_differ() -> None:
    batch = Batch(3, seed=np.array([5, 5, 6]))
    for _ in range(60):
        batch.step(random_actions(batch))
    assert everything(batch, 0) == everything(batch, 1) != everything(batch, 2)
    one, same, other = Batch(4, seed=1), Batch(4, seed=1), Batch(4, seed=2)
    assert one.states.tobytes() == same.states.tobytes() != other.states.tobytes()
    assert len({row.tobytes() for row in one.states["stock"]}) == 4


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_batch_plays_what_a_game_plays(players: int) -> None:
    """The same states, actions, observations and scores as ``Game``, over several rounds to the target."""
    rules = Rules(players=players, hand_size=6, opening_points=10, max_turns=60, target=40, max_rounds=3)
    batch = Batch(1, rules, seed=np.array([players]), auto_reset=False)
    game = Game(rules, seed=players)
    rounds = 0
    while not game.over:
        assert batch.states.tobytes() == game.states.tobytes()
        assert (batch.masks[0] == game.mask()).all() and batch.seats[0] == game.seat
        assert batch.observations[0] == game.observe(game.seat)[0]
        assert int(batch.keys[0]) == game.decision_key(game.seat)
        action = int(random_actions(batch)[0])
        batch.step(np.array([action]))
        game.step(action)
        assert bool(batch.round_over[0]) == (game.phase >= Phase.ROUND_OVER)
        if game.phase is Phase.ROUND_OVER:
            game.next_round()
        if batch.round_over[0]:
            rounds += 1
            assert batch.scores[0].tolist() == game.scores and batch.totals[0].tolist() == game.totals
    assert (batch.terminated[0], batch.truncated[0]) == (not game.truncated, game.truncated)
    assert rounds >= 1 and batch.closers[0] == (-1 if game.closer is None else game.closer)
    assert batch.endings[0] == game.ending and batch.hand_jolly[0] == game.hand_jolly
    assert not batch.masks.any()
    with pytest.raises(IllegalAction, match="row 0"):
        batch.step(np.array([0]))


@pytest.mark.parametrize("reward", ["margin", "score", "win"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_rewards_are_paid_at_a_rounds_end(reward: str, players: int) -> None:
    rules = Rules(players=players, hand_size=4, opening_points=0, max_turns=30, target=30, max_rounds=4)
    batch = Batch(16, rules, seed=3, reward=reward)
    games = 0
    for _ in range(400):
        batch.step(random_actions(batch))
        over = batch.terminated | batch.truncated
        for row in range(16):
            scores = batch.scores[row] / 100
            if reward == "win":
                won = batch.totals[row] == batch.totals[row].max()
                expected = won / won.sum() if over[row] else np.zeros(players)
            elif not batch.round_over[row]:
                expected = np.zeros(players)
            elif reward == "score":
                expected = scores
            else:
                expected = scores - (scores.sum() - scores) / (players - 1)
            assert batch.rewards[row] == pytest.approx(expected, abs=1e-6)
        games += int(over.sum())
    assert games > 10


def test_equal_totals_share_the_win() -> None:
    """R18. Both have one card of equal cost, nothing laid, and the round is cut off."""
    rules = Rules(pack=[0, 2, 2, 2] + [0] * 48, jokers=0, hand_size=1, max_turns=2)
    batch = Batch.from_states(Game(rules, deck=[1, 1, 2, 2, 3, 3]).states, reward="win")
    for action in (0, 786 + 2, 0, 786 + 2):
        step = batch.step(np.array([action]))
    assert batch.scores.tolist() == [[-2, -2]]
    assert step.rewards.tolist() == [[0.5, 0.5]] and step.truncated[0]


def test_games_that_end_are_followed_by_new_ones() -> None:
    """In the same step: the arrays show the new game, and what the old one ended with."""
    batch = Batch(8, SHORT, seed=1)
    endings = set()
    for _ in range(600):
        before = batch.states.copy()
        batch.step(random_actions(batch))
        assert batch.masks.any(axis=1).all() and (batch.states["phase"] < Phase.ROUND_OVER).all()
        for row in np.flatnonzero(batch.terminated | batch.truncated):
            assert batch.states["turn"][row] == 0 and batch.states["totals"][row].tolist() == [0, 0, 0, 0]
            assert batch.states["stock"][row].tobytes() != before["stock"][row].tobytes()
            endings.add(int(batch.endings[row]))
            assert batch.truncated[row] == (batch.endings[row] == Ending.CUT_OFF)
    assert {Ending.CLOSED, Ending.CUT_OFF} <= endings


def test_the_callers_arrays_are_written() -> None:
    given_arrays = {
        "observations": np.zeros(3, dtype=OBSERVATION),
        "masks": np.zeros((3, ACTIONS), dtype=np.int8),
        "rewards": np.zeros((3, 2), dtype=np.float32),
    }
    batch, own = Batch(3, SHORT, seed=1, **given_arrays), Batch(3, SHORT, seed=1)
    for _ in range(200):
        step = batch.step(random_actions(batch))
        other = own.step(random_actions(own))
        for name, array in given_arrays.items():
            assert getattr(step, name) is array and array.tobytes() == getattr(other, name).tobytes()
    vectors = np.zeros((3, FEATURES), dtype=np.float32)
    seen = Batch(3, SHORT, seed=1, view="features", observations=vectors)
    plain = Batch(3, SHORT, seed=1)
    for _ in range(100):
        actions = random_actions(plain)
        plain.step(actions)
        assert seen.step(actions).observations is vectors
        assert (vectors == features(plain.observations)).all()


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("masks", np.zeros((3, ACTIONS), dtype=np.int16)),
        ("masks", np.zeros((2, ACTIONS), dtype=np.int8)),
        ("masks", np.zeros((ACTIONS, 3), dtype=np.int8).T),
        ("rewards", np.zeros((3, 2))),
        ("observations", np.zeros((3, 5), dtype=np.int16)),
    ],
)
def test_arrays_of_another_shape_are_refused(name: str, array: np.ndarray) -> None:
    with pytest.raises(ValueError, match=name):
        Batch(3, **{name: array})


@pytest.mark.parametrize(
    "options", [{"n": 0}, {"n": 2.5}, {"view": "all"}, {"reward": "loss"}, {"seed": -1}, {"seed": np.array([1, 2, 3])}]
)
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Batch(**{"n": 2, **options})


def test_one_illegal_action_plays_nothing_anywhere() -> None:
    batch = Batch(4, seed=2)
    before = [everything(batch, row) for row in range(4)]
    for bad in (786, -1, ACTIONS, 10**12):
        with pytest.raises(IllegalAction, match="row 2"):
            batch.step(np.array([0, 0, bad, 0]))
    for actions in ([0, 0, 0], [[0, 0, 0, 0]], [0.0, 0.0, float("nan"), 0.0], [True, True, True, True]):
        with pytest.raises(IllegalAction):
            batch.step(np.array(actions))
    assert [everything(batch, row) for row in range(4)] == before


def test_named_rows_are_stepped_and_others_stay() -> None:
    batch, other = Batch(5, SHORT, seed=4), Batch(5, SHORT, seed=4)
    for i in range(300):
        rows = np.flatnonzero(np.arange(5) % 3 != i % 3)
        before = [everything(batch, row) for row in range(5)]
        actions = random_actions(batch)
        batch.step(actions[rows], rows=rows if i % 2 else np.isin(np.arange(5), rows))
        for row in set(range(5)) - set(rows.tolist()):
            assert everything(batch, row) == before[row]
        for row in rows:
            other.step(actions[[row]], rows=[row])
        assert [everything(batch, row) for row in range(5)] == [everything(other, row) for row in range(5)]


def test_a_row_named_twice_is_refused() -> None:
    """Its second action would be checked against the position before its first."""
    batch = Batch(3, seed=1)
    before = [everything(batch, row) for row in range(3)]
    with pytest.raises(ValueError, match="row 1"):
        batch.step(np.array([0, 0]), rows=np.array([1, 1]))
    assert [everything(batch, row) for row in range(3)] == before


@pytest.mark.parametrize("rows", [[3], [-1], [0.5], [[0]]])
def test_rows_that_are_not_there_are_refused(rows: list[object]) -> None:
    with pytest.raises(ValueError, match="rows"):
        Batch(3, seed=1).step(np.zeros(1, dtype=int), rows=np.array(rows))


def test_rows_are_cloned() -> None:
    batch = Batch(4, seed=6)
    for _ in range(30):
        batch.step(random_actions(batch))
    batch.copy_rows(np.array([0, 0]), np.array([2, 3]))
    for name in ("states", "observations", "masks", "seats", "keys"):
        assert getattr(batch, name)[2].tobytes() == getattr(batch, name)[0].tobytes(), name
    for _ in range(20):
        batch.step(random_actions(batch))
    assert batch.states[3].tobytes() == batch.states[0].tobytes() != batch.states[1].tobytes()


def test_a_batch_goes_on_from_any_states() -> None:
    batch = Batch(3, SHORT, seed=8)
    for _ in range(17):
        batch.step(random_actions(batch))
    other = Batch.from_states(batch.states[[2, 0]])
    for _ in range(40):
        batch.step(random_actions(batch))
        other.step(random_actions(other))
    assert [r.tobytes() for r in other.states] == [batch.states[2].tobytes(), batch.states[0].tobytes()]
    mixed = np.concatenate([Batch(1, seed=0).states, Batch(1, SHORT, seed=0).states])
    for states in (mixed, batch.states[:0]):
        with pytest.raises(ValueError, match="states"):
            Batch.from_states(states)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (None, "NoneType"),
        (5, "int"),
        (b"x", "bytes"),
        ([[1], [2, 3]], "list"),
        (np.zeros(3), "float64[3]"),
        (Batch(4, seed=1).states.reshape(2, 2), "STATE[2, 2]"),
    ],
)
def test_what_are_no_states_is_named(given: Any, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"states: expected STATE[B], got {named}")):
        Batch.from_states(given)


def test_reset_deals_new_games_in_named_rows() -> None:
    batch = Batch(3, seed=1)
    for _ in range(9):
        batch.step(random_actions(batch))
    before = [everything(batch, row) for row in range(3)]
    batch.reset(seed=7, rows=np.array([1]))
    assert everything(batch, 0) == before[0] and everything(batch, 2) == before[2]
    assert batch.states["turn"][1] == 0
    fresh = Batch(1, seed=7)
    assert batch.states[1].tobytes() == fresh.states[0].tobytes()


def test_a_flat_view_shares_the_memory() -> None:
    batch = Batch(2, seed=1)
    flat = as_flat(batch.observations)
    batch.step(random_actions(batch))
    assert np.shares_memory(flat, batch.observations)
