"""The Gymnasium environment for one game: the library's checkers, seats and opponents, rewards, bad input."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import warnings
from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from jolly_env import Game, IllegalAction, Rules, jolly_v0
from jolly_env.actions import ACTIONS
from jolly_env.agent import RandomAgent
from jolly_env.features import FEATURES, features
from jolly_env.gym_env import JollyEnv
from jolly_env.gym_vector import JollyVectorEnv
from jolly_env.observation import OBSERVATION_SIZE, as_record
from jolly_env.state import Phase
from tests.tools import Cheat, Spy, choose

ID = "jolly_env/Jolly-v0"
QUICK = Rules(opening_points=0, hand_size=4, hand_limit=7)
SEVERAL = Rules(players=3, opening_points=0, hand_size=4, hand_limit=7, target=120)
CLOSE_AT_ONCE = Rules(hand_size=3, hand_limit=5, opening_points=0, jokers=0)


class Closer:
    """Lays what it can, else plays the lowest legal action."""

    def act(self, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        lays = masks[:, 20:390]
        return np.where(lays.any(axis=1), 20 + lays.argmax(axis=1), masks.argmax(axis=1))


class MaskedDiscrete(spaces.Discrete):
    """Samples legal actions of an environment; the first after a seed is one for the game's first decision.

    ``check_env`` seeds the space, samples, resets, and only then plays what it sampled.
    """

    def __init__(self, env: JollyEnv) -> None:
        super().__init__(ACTIONS)
        self.env, self.seeded = env, False

    def seed(self, seed: int | None = None) -> Any:
        self.seeded = True
        return super().seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        if self.seeded:
            self.seeded = False
            return np.int64(0)
        return super().sample(self.env.action_masks() if mask is None else mask, probability)


class Masked(JollyEnv):
    """The environment whose ``action_space.sample`` is masked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.action_space = MaskedDiscrete(self)


def deck_from(first: list[int]) -> list[int]:
    """The two-player deck of CLOSE_AT_ONCE that begins with these cards."""
    rest = Counter(dict.fromkeys(range(52), 2))
    rest.subtract(first)
    return first + sorted(rest.elements())


def past(game: Game) -> list[int]:
    """The public actions of the round."""
    return [int(action) for action in game.observe(0)["history_actions"][0] if action >= 0]


def play(env: Any, seed: int, **options: Any) -> list[Any]:
    """What a learner at random sees in a game: observation, reward, flags, info."""
    rng = np.random.default_rng(5)
    observation, info = env.reset(seed=seed, **options)
    steps = [(observation, 0.0, False, False, info)]
    while not (steps[-1][2] or steps[-1][3]):
        steps.append(env.step(choose(rng, steps[-1][4]["action_mask"])))
    return steps


def plain(steps: list[Any]) -> list[Any]:
    """The same as comparable values."""
    return [(s[0].tobytes(), *s[1:4], {**s[4], "action_mask": s[4]["action_mask"].tobytes()}) for s in steps]


# The library's own checkers


@pytest.mark.parametrize("options", [{}, {"observation": "flat"}, {"seat": "rotate"}, {"seat": "random"}, {"seat": 1}])
def test_check_env(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*due to the environment not having a spec")
        check_env(Masked(**options))
        check_env(Masked(rules=SEVERAL, **options))


def test_check_env_of_stable_baselines3() -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(Masked(), warn=False)


@pytest.mark.skipif(importlib.util.find_spec("jolly_env.render") is None, reason="there is no renderer yet")
@pytest.mark.parametrize("mode", ["ansi", "human"])
def test_render(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = gymnasium.make(ID, render_mode=mode)
    env.reset(seed=1)
    env.step(0)
    text = env.render()
    printed = capsys.readouterr().out
    assert (isinstance(text, str) and len(text) > 10 and not printed) if mode == "ansi" else (text is None and printed)
    env.close()


# Seeds, copies, views


def test_a_seed_fixes_a_whole_game_and_another_gives_another() -> None:
    env = gymnasium.make(ID, rules=SEVERAL, seat="random")
    assert (
        plain(play(env, 1)) == plain(play(env, 1)) == plain(play(gymnasium.make(ID, rules=SEVERAL, seat="random"), 1))
    )
    assert plain(play(env, 1))[0][0] != plain(play(env, 2))[0][0]


def test_reset_without_a_seed_goes_on_with_the_stream() -> None:
    env = JollyEnv()
    decks = []
    for _ in range(2):
        env.reset(seed=3)
        decks.append([env.game.deck])
        for _ in range(3):
            env.reset()
            decks[-1].append(env.game.deck)
    assert decks[0] == decks[1]
    assert decks[0][0] == Game(seed=3).deck
    assert len({tuple(deck) for deck in decks[0]}) == 4


@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_keeps_the_game_in_progress(way: Any) -> None:
    env = JollyEnv(rules=SEVERAL)
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=1)
    for _ in range(7):
        info = env.step(choose(rng, info["action_mask"]))[4]
    other = way(env)
    action = choose(rng, info["action_mask"])
    before = env.game.states.tobytes()
    theirs = other.step(action)
    assert env.game.states.tobytes() == before
    assert plain([env.step(action)]) == plain([theirs])


def test_both_views_show_the_learner_what_it_may_know() -> None:
    flat, vector = JollyEnv(observation="flat", seat=1), JollyEnv(seat=1)
    for one, other in zip(play(flat, 4), play(vector, 4), strict=True):
        assert one[0].shape == (OBSERVATION_SIZE,) and other[0].shape == (FEATURES,)
        assert as_record(one[0])["seat"] == 1
        assert np.array_equal(features(one[0]), other[0])
        assert one[0] in flat.observation_space and other[0] in vector.observation_space
        assert np.array_equal(one[4]["action_mask"], other[4]["action_mask"])
    assert not flat.action_masks().any()


# Seats and opponents


def test_seats() -> None:
    def seats(env: JollyEnv, seed: int | None, games: int) -> list[int]:
        return [env.reset(seed=seed if i == 0 else None)[1]["seat"] for i in range(games)]

    rules = Rules(players=3)
    assert seats(JollyEnv(rules=rules, seat=2), 0, 4) == [2] * 4
    env = JollyEnv(rules=rules, seat="rotate")
    assert seats(env, 0, 7) == [0, 1, 2, 0, 1, 2, 0]
    assert seats(env, None, 2) == [1, 2]
    assert seats(env, 5, 2) == [0, 1]
    env = JollyEnv(rules=rules, seat="random")
    drawn = seats(env, 0, 40)
    assert set(drawn) == {0, 1, 2}
    assert drawn == seats(env, 0, 40) != seats(env, 1, 40)


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_opponents_sit_from_the_learners_left(seat: int) -> None:
    spies = [Spy(), Spy(), Spy()]
    play(JollyEnv(spies, seat, Rules(players=4, max_turns=12)), 1)
    for distance, spy in enumerate(spies, 1):
        assert {s for s, _ in spy.seen} == {(seat + distance) % 4}


def test_opponents_get_the_games_own_keys() -> None:
    spy = Spy()
    env = JollyEnv(spy, 1)
    env.reset(seed=8)
    game = Game(seed=8)
    for key in spy.keys:
        assert key == game.decision_key(0)
        game.step(int(game.legal_actions()[-1]))
    assert game.seat == 1
    assert len(spy.keys) == 2


def test_one_agent_may_play_all_other_seats() -> None:
    spy = Spy()
    play(JollyEnv(spy, 1, Rules(players=3, max_turns=9)), 1)
    assert {s for s, _ in spy.seen} == {0, 2}


@pytest.mark.parametrize("make", [JollyEnv, JollyVectorEnv])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"opponents": "greedy"}, r"agents\.make"),
        ({"opponents": ["greedy"]}, r"agents\.make"),
        ({"opponents": None}, r"agents\.make"),
        ({"opponents": RandomAgent}, r"agents\.make"),
        ({"opponents": [RandomAgent(), RandomAgent()]}, "expected 1 from the learner's left, got 2"),
        ({"opponents": []}, "expected 1 from the learner's left, got 0"),
        ({"seat": 2}, "seat=2: expected a number from 0 to 1"),
        ({"seat": -1}, "seat=-1"),
        ({"seat": 0.5}, r"seat=0\.5"),
        ({"seat": True}, "seat=True"),
        ({"seat": "first"}, "seat='first'"),
        ({"reward": "points"}, "reward='points'"),
        ({"observation": "record"}, "observation='record'"),
        ({"rules": None}, "rules=None"),
    ],
)
def test_bad_arguments_are_named(make: Any, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make(**arguments)


# Rewards


@pytest.mark.parametrize("kind", ["margin", "score", "win"])
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_rewards_add_up_to_the_seats_payoff_in_every_adapter(kind: str, seat: int) -> None:
    """The same decks and the same players: what PettingZoo pays a seat, Gymnasium pays the learner there."""
    env = JollyEnv(Spy(), seat, SEVERAL, reward=kind)
    for seed in range(5):
        env.reset(seed=seed)
        aec = jolly_v0.raw_env(rules=SEVERAL, reward=kind)
        aec.reset(seed=seed)
        rng = np.random.default_rng(seed)
        earned, got, done = 0.0, 0.0, False
        while aec.agents:
            observation, reward, termination, truncation, _ = aec.last()
            learner = aec.agent_selection == f"player_{seat}"
            got += reward if learner else 0
            if termination or truncation:
                aec.step(None)
                continue
            action = choose(rng, observation["action_mask"]) if learner else int(aec.game.legal_actions()[-1])
            aec.step(action)
            if learner:
                assert not done
                _, reward, terminated, truncated, info = env.step(action)
                earned, done = earned + reward, terminated or truncated
        assert done
        assert got == pytest.approx(earned)
        assert info["total"] == aec.game.totals[seat] == env.game.totals[seat]
        assert info["closer"] == (-1 if aec.game.closer is None else aec.game.closer)
        if kind == "win":
            best = max(aec.game.totals)
            assert earned == (aec.game.totals[seat] == best) / aec.game.totals.count(best)


def test_the_learner_is_paid_for_the_move_of_an_opponent() -> None:
    """player_0 draws Ks, lays J-Q-K and discards 5c: a Hand-Jolly of (30 + 30) * 2 (R14, R16).

    player_1, the learner, holds 2d 7h 9s then: -(2 + 7 + 9) * 2 (R15). The margin is -36 - 120.
    """
    env = JollyEnv(Closer(), 1, CLOSE_AT_ONCE)
    # player_0: Js Qs 4c, player_1: 2d 7h 9s; the stock: 5c, so that player_0 discards 4c, 3d, Ks
    env.reset(options={"deck": deck_from([49, 50, 3, 14, 32, 47, 4, 15, 51])})
    assert past(env.game) == [0, 786 + 3]
    assert env.step(0)[1:4] == (0, False, False)
    _, reward, terminated, truncated, info = env.step(786 + 15)
    assert past(env.game)[-3:] == [0, 380, 786 + 4]
    assert (reward, terminated, truncated) == (-1.56, True, False)
    assert (info["score"], info["total"], info["closer"], info["hand_jolly"]) == (-36, -36, 0, True)
    assert not info["action_mask"].any()


def test_a_game_over_before_the_learner_acts_is_dealt_again() -> None:
    deck = deck_from([0, 1, 2, 13, 27, 41, 5])
    env = JollyEnv(Closer(), 1, CLOSE_AT_ONCE)
    with pytest.raises(ValueError, match="deck: the game is over before the learner in seat 1"):
        env.reset(options={"deck": deck})
    for seed in range(100):
        assert env.reset(seed=seed)[1]["action_mask"].any()

    # In a game of several rounds the first is paid with the learner's first step.
    env = JollyEnv(Closer(), 1, Rules(target=1000, hand_size=3, hand_limit=5, opening_points=0, jokers=0))
    _, info = env.reset(options={"deck": deck})
    assert (info["score"], info["total"], info["closer"], info["hand_jolly"]) == (-60, -60, 0, True)
    _, reward, *_, info = env.step(0)
    assert reward == -1.32
    assert "score" not in info

    never = JollyEnv("random", 1, Rules(max_turns=1))
    with pytest.raises(ValueError, match="before the learner could act"):
        never.reset(seed=1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        never.step(0)
    with pytest.raises(ValueError, match="before the learner could act"):
        JollyVectorEnv(2, "random", 1, Rules(max_turns=1)).reset(seed=1)


def test_a_cut_off_game_truncates() -> None:
    steps = play(JollyEnv("random", 0, Rules(max_turns=5)), 2)
    assert [s[2] for s in steps] == [False] * len(steps)
    assert steps[-1][3]
    assert steps[-1][4]["closer"] == -1
    assert steps[-1][1] != 0


# Bad actions


@pytest.mark.parametrize("action", [-1, 839, 700, 0.5, float("nan"), None, "draw"])
def test_a_bad_action_raises_and_leaves_the_game_as_it_was(action: Any) -> None:
    env = gymnasium.make(ID)
    env.reset(seed=1)
    before = env.unwrapped.game.states.tobytes()
    with pytest.raises(IllegalAction):
        env.step(action)
    assert env.unwrapped.game.states.tobytes() == before
    env.step(np.int16(0))
    assert env.unwrapped.game.phase is Phase.PLAY


def test_steps_out_of_order_and_a_cheating_opponent() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        JollyEnv().step(0)
    env = JollyEnv(rules=QUICK)
    play(env, 1)
    with pytest.raises(IllegalAction):
        env.step(0)
    env = JollyEnv(Cheat())
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(IllegalAction, match="opponent in seat 1"):
        env.step(int(env.game.legal_actions()[-1]))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    env.step(0)


class Silent:
    def act(self, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> None:
        """Return nothing."""


def test_an_opponent_that_returns_nothing_is_named() -> None:
    with pytest.raises(IllegalAction, match="opponent in seat 0: act returned"):
        JollyEnv(Silent(), 1).reset(seed=1)
    with pytest.raises(IllegalAction, match="opponents: act returned"):
        JollyVectorEnv(2, Silent(), 1).reset(seed=1)
