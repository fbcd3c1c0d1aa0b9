"""The PettingZoo environment: the library's checkers, seeds, rewards, infos, copies, bad input."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

import jolly_env
from jolly_env import Game, IllegalAction, Rules, jolly_v0
from jolly_env.actions import ACTIONS
from jolly_env.features import features
from jolly_env.observation import as_record, rules_of
from jolly_env.state import Phase

PLAYERS = [2, 3, 4]
QUICK = {"opening_points": 0, "hand_size": 4, "hand_limit": 7}  # rounds of a few turns, most of them closed
CLOSE_AT_ONCE = {"hand_size": 3, "hand_limit": 5, "opening_points": 0, "jokers": 0}
CLOSING_DECK = [0, 1, 2, 13, 27, 41, 5]  # player_0: Ac 2c 3c, player_1: Ad 2h 3s; player_0 draws 6c


def closing_deck() -> list[int]:
    """A deck with which player_0 lays A-2-3, discards the six that it draws, and has closed."""
    rest = Counter(dict.fromkeys(range(52), 2))
    rest.subtract(CLOSING_DECK)
    return CLOSING_DECK + sorted(rest.elements())


CLOSING = [0, 150, 791]
"""Draw, lay Ac 2c 3c, discard 6c."""


def play(env: Any, seed: int) -> Iterator[tuple[str, Any]]:
    """Play random legal actions to the end of the game; yield each agent with what ``last`` gave it."""
    rng = np.random.default_rng(seed)
    while env.agents:
        last = env.last()
        yield env.agent_selection, last
        if last[2] or last[3]:
            env.step(None)
        else:
            env.step(rng.choice(np.flatnonzero(last[0]["action_mask"])))


def trace(seed: int, **options: Any) -> list[Any]:
    """What all agents of a game see, as comparable values."""
    env = jolly_v0.env(**options)
    env.reset(seed=seed)
    return [
        (agent, last[0]["observation"].tobytes(), last[0]["action_mask"].tobytes(), *last[1:])
        for agent, last in play(env, 5)
    ]


def snapshot(env: Any) -> Any:
    """Everything of a raw environment that a step may change, as comparable values."""
    return (
        env.game.states.tobytes(),
        list(env.game.played),
        env.agent_selection,
        *(dict(part) for part in (env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos)),
    )


# The library's own checkers


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("view", ["flat", "features"])
def test_api(players: int, view: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PettingZoo knows its own environments with masks by name, and asks others for a bare array.
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably should be")
        # An agent whose game is over is shown to the checker too.
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        for rules in (Rules(players=players), Rules(players=players, target=100, **QUICK)):
            api_test(jolly_v0.env(rules=rules, observation=view), num_cycles=300)


@pytest.mark.parametrize("players", PLAYERS)
def test_seed(players: int) -> None:
    seed_test(lambda: jolly_v0.env(rules=Rules(players=players)), num_cycles=500)


# Seeds


@pytest.mark.parametrize("players", PLAYERS)
def test_a_seed_fixes_a_whole_game_and_another_gives_another(players: int) -> None:
    options = {"rules": Rules(players=players, target=150, **QUICK)}
    assert trace(1, **options) == trace(1, **options)
    assert trace(1, **options)[0][1] != trace(2, **options)[0][1]


def test_reset_without_a_seed_goes_on_with_the_stream() -> None:
    def decks(env: Any, seed: int | None) -> list[list[int]]:
        env.reset(seed=seed)
        found = [env.game.deck]
        for _ in range(3):
            env.reset()
            found.append(env.game.deck)
        return found

    one, other = jolly_v0.raw_env(), jolly_v0.raw_env()
    first = decks(one, 7)
    assert first[0] == Game(seed=7).deck
    assert first == decks(other, 7) == decks(one, 7)
    assert len({tuple(deck) for deck in first}) == 4
    assert decks(one, 8)[1:] != first[1:]
    assert decks(jolly_v0.raw_env(), None) != decks(jolly_v0.raw_env(), None)


# What is shown


def test_observation_is_what_the_seat_may_know_in_both_views() -> None:
    rules = Rules(players=3)
    flat, vector = jolly_v0.raw_env(rules=rules), jolly_v0.raw_env(rules=rules, observation="features")
    flat.reset(seed=3)
    vector.reset(seed=3)
    rng = np.random.default_rng(3)
    for _ in range(80):
        for seat, agent in enumerate(flat.possible_agents):
            shown = flat.observe(agent)
            record = as_record(shown["observation"])
            assert record.tobytes() == flat.game.observe(seat)[0].tobytes()
            assert rules_of(record) == rules
            assert np.array_equal(vector.observe(agent)["observation"], features(shown["observation"]))
            assert flat.observation_space(agent).contains(shown)
            assert vector.observation_space(agent).contains(vector.observe(agent))
            if agent == flat.agent_selection:
                assert np.flatnonzero(shown["action_mask"]).tolist() == flat.game.legal_actions().tolist()
            else:
                assert shown["action_mask"].dtype == np.int8
                assert not shown["action_mask"].any()
        action = rng.choice(flat.game.legal_actions())
        flat.step(action)
        vector.step(action)


def test_observing_changes_nothing_and_gives_arrays_of_ones_own() -> None:
    env = jolly_v0.raw_env()
    env.reset(seed=1)
    before = snapshot(env)
    first, second = env.observe("player_0"), env.observe("player_1")
    kept = first["observation"].copy()
    env.observe("player_1")
    assert np.array_equal(first["observation"], kept)
    assert not np.array_equal(first["observation"], second["observation"])
    first["observation"][:], first["action_mask"][:] = -7, 1
    assert snapshot(env) == before
    assert np.array_equal(env.observe("player_0")["observation"], kept)
    assert env.observe("player_0")["action_mask"].sum() == 1


def test_spaces_are_cached_and_state_is_not_offered() -> None:
    env = jolly_v0.env(rules=Rules(players=4))
    for agent in env.possible_agents:
        assert env.action_space(agent) is env.action_space(agent)
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent).n == ACTIONS
    env.reset(seed=0)
    with pytest.raises(NotImplementedError):
        env.state()
    assert not hasattr(jolly_v0, "parallel_env")


# Turns, rounds, rewards


def test_the_same_agent_acts_until_its_discard() -> None:
    env = jolly_v0.raw_env(rules=Rules(players=3))
    env.reset(seed=11)
    rng = np.random.default_rng(0)
    assert env.agent_selection == "player_0"
    for _ in range(200):
        agent, action = env.agent_selection, int(rng.choice(env.game.legal_actions()))
        env.step(action)
        following = env.possible_agents[(env.possible_agents.index(agent) + 1) % 3]
        assert env.agent_selection == (following if action >= 786 else agent)
        if env.terminations[agent]:
            break


def test_which_reward_reaches_whom() -> None:
    """The trace of the documentation: player_0 closes the first of two rounds, and both are paid at once.

    A-2-3 are worth 1 + 2 + 3 (R14), twice with the bonus of 30, as it is a Hand-Jolly (R16): 72. player_1 holds
    Ad 2h 3s, twice 25 + 2 + 3 (R15): -60. The margin of two players is the difference: 132.
    """
    env = jolly_v0.raw_env(rules=Rules(target=1000, **CLOSE_AT_ONCE))
    env.reset(seed=0, options={"deck": closing_deck()})
    for action in CLOSING[:2]:
        env.step(action)
        assert env.rewards == {"player_0": 0, "player_1": 0}
        assert env.infos == {"player_0": {}, "player_1": {}}
    assert env.agent_selection == "player_0"

    env.step(CLOSING[2])
    told = {"closer": "player_0", "hand_jolly": True}
    assert env.rewards == {"player_0": 1.32, "player_1": -1.32}
    assert env.infos == {
        "player_0": {"score": 72, "total": 72, **told},
        "player_1": {"score": -60, "total": -60, **told},
    }
    assert not any(env.terminations.values())
    assert env.agent_selection == "player_1"  # the next round is dealt, and player_1 begins it (R2)

    observation, reward, *_, info = env.last()
    assert (reward, info["score"]) == (-1.32, -60)
    assert as_record(observation["observation"])["round"] == 1
    env.step(0)  # player_1 draws: it has seen its reward, player_0 has not
    assert env.rewards == {"player_0": 0, "player_1": 0}
    assert env._cumulative_rewards == {"player_0": 1.32, "player_1": 0}
    assert env.infos["player_1"] == {}
    env.step(int(env.game.legal_actions()[-1]))
    assert env.agent_selection == "player_0"
    _, reward, *_, info = env.last()
    assert (reward, info["score"], info["total"]) == (1.32, 72, 72)
    env.step(0)
    assert env._cumulative_rewards == {"player_0": 0, "player_1": 0}
    assert env.infos == {"player_0": {}, "player_1": {}}


def payoffs(scores: list[list[int]], kind: str) -> list[float]:
    """What each seat earns by a game of these scores of rounds, written out anew."""
    totals = np.sum(scores, axis=0)
    if kind == "win":
        return list((totals == totals.max()) / (totals == totals.max()).sum())
    if kind == "score":
        return list(totals / 100)
    players = len(totals)
    return [(totals[i] - (totals.sum() - totals[i]) / (players - 1)) / 100 for i in range(players)]


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("kind", ["margin", "score", "win"])
def test_rewards_of_a_seat_add_up_to_its_payoff(players: int, kind: str) -> None:
    several = 0
    for seed in range(4):
        env = jolly_v0.env(rules=Rules(players=players, target=150, **QUICK), reward=kind)
        env.reset(seed=seed)
        got, scores, finals = dict.fromkeys(env.agents, 0.0), [], {}
        rounds = 0
        for agent, (_, reward, termination, truncation, info) in play(env, seed):
            game = env.unwrapped.game
            got[agent] += reward
            if game.state["round"] + game.over > rounds:
                scores.append(game.scores)
                rounds += 1
            if termination or truncation:
                finals[agent] = info
        assert list(got.values()) == pytest.approx(payoffs(scores, kind))
        assert [finals[agent]["total"] for agent in env.possible_agents] == np.sum(scores, axis=0).tolist()
        assert [finals[agent]["score"] for agent in env.possible_agents] == scores[-1]
        several += len(scores) > 1
        if kind == "margin":
            assert sum(got.values()) == pytest.approx(0)
    assert several


def test_each_round_is_begun_by_the_next_seat() -> None:
    env = jolly_v0.raw_env(rules=Rules(players=3, target=100_000, max_rounds=5, **QUICK))
    env.reset(seed=2)
    starters = []
    rng = np.random.default_rng(2)
    while not any(env.truncations.values()):
        if env.game.state["turn"] == 0 and not env.game.played:
            starters.append(env.agent_selection)
        env.step(rng.choice(env.game.legal_actions()))
    assert starters == ["player_0", "player_1", "player_2", "player_0", "player_1"]
    assert not any(env.terminations.values())  # max_rounds cuts a game off


def test_a_cut_off_round_truncates_and_is_paid() -> None:
    env = jolly_v0.raw_env(rules=Rules(max_turns=2), reward="score")
    env.reset(seed=4)
    while not any(env.truncations.values()):
        env.step(env.game.legal_actions()[-1])
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    for seat, agent in enumerate(env.agents):
        info = env.infos[agent]
        assert info == {"score": env.game.scores[seat], "total": info["score"], "closer": None, "hand_jolly": False}
        assert env.rewards[agent] == info["score"] / 100 < 0


# Given cards


def test_options_fix_the_first_round_only() -> None:
    env = jolly_v0.raw_env(rules=Rules(target=1000, **CLOSE_AT_ONCE))
    env.reset(seed=0, options={"deck": np.array(closing_deck()), "reshuffles": None, "colour": "blue"})
    assert env.game.deck == closing_deck()
    for action in CLOSING:
        env.step(action)
    assert env.game.deck != closing_deck()
    env.reset(options={})
    assert env.game.deck != closing_deck()


def test_a_reshuffle_is_drawn_in_its_order() -> None:
    rules = Rules(players=2, hand_size=1, hand_limit=20, recycle_keep=0, pack=[1] * 5 + [0] * 47, jokers=0)
    env = jolly_v0.raw_env(rules=rules)
    env.reset(options={"deck": [0, 1, 2, 3, 4], "reshuffles": [[4, 2, 3]]})
    for card in (2, 3, 4):
        env.step(0)
        env.step(786 + card)
    assert env.game.stock() == [4, 2, 3]


@pytest.mark.parametrize(
    "options",
    [
        {"deck": closing_deck()[:-1]},
        {"deck": [*closing_deck(), 0]},
        {"deck": [0, 0, 0, *closing_deck()[3:]]},
        {"deck": [52, *closing_deck()[1:]]},
        {"deck": [-1, *closing_deck()[1:]]},
        {"deck": []},
        {"reshuffles": [[0, 0, 0]]},
        {"reshuffles": [[53]]},
    ],
)
def test_other_cards_are_refused_and_the_game_stays(options: dict[str, Any]) -> None:
    env = jolly_v0.raw_env(rules=Rules(**CLOSE_AT_ONCE))
    env.reset(seed=1)
    env.step(0)
    before = snapshot(env)
    with pytest.raises(ValueError, match=r"deck|reshuffles"):
        env.reset(options=options)
    assert snapshot(env) == before


# Bad actions


@pytest.mark.parametrize(
    "action",
    [-1, 839, 1, 786, 5.5, float("nan"), float("inf"), None, "draw", "0x", [], np.int64(-1), np.float32("nan")],
)
def test_a_bad_action_raises_and_leaves_the_game_as_it_was(action: Any) -> None:
    for env in (jolly_v0.raw_env(), jolly_v0.env()):
        env.reset(seed=1)
        raw = env.unwrapped
        before = snapshot(raw)
        with pytest.raises(IllegalAction):
            env.step(action)
        assert snapshot(raw) == before
        env.step(0)
        assert raw.game.phase is Phase.PLAY


@pytest.mark.parametrize("action", [0, np.int8(0), np.int64(0), np.uint16(0), np.array(0), 0.0])
def test_numbers_of_other_types_are_actions_too(action: Any) -> None:
    env = jolly_v0.env()
    env.reset(seed=1)
    env.step(action)
    assert env.unwrapped.game.phase is Phase.PLAY


def test_the_dead_step_with_none_alone() -> None:
    env = jolly_v0.raw_env(rules=Rules(**CLOSE_AT_ONCE))
    env.reset(seed=0, options={"deck": closing_deck()})
    for action in CLOSING:
        env.step(action)
    assert all(env.terminations.values())
    with pytest.raises(IllegalAction, match="None"):
        env.step(0)
    seen = []
    while env.agents:
        observation, reward, termination, _, info = env.last()
        assert termination
        assert not observation["action_mask"].any()
        seen.append((env.agent_selection, reward, info["score"]))
        env.step(None)
    assert sorted(seen) == [("player_0", 1.32, 72), ("player_1", -1.32, -60)]
    assert list(env.agent_iter()) == []
    with pytest.raises(IllegalAction, match="reset"):
        env.step(0)
    with pytest.raises(ValueError, match="reset"):
        env.last()


def test_calls_before_reset_say_so() -> None:
    env = jolly_v0.raw_env()
    for call in (env.last, env.agent_iter, lambda: env.game, lambda: env.observe("player_0"), lambda: env.step(0)):
        with pytest.raises(ValueError, match=r"call reset\(\) first"):
            call()
    assert not hasattr(env, "agent_selection")
    for call in (jolly_v0.env().last, lambda: jolly_v0.env().agent_selection):
        with pytest.raises(AttributeError, match="before reset"):  # PettingZoo's own
            call()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"rules": {"players": 3}}, "rules="),
        ({"render_mode": "video"}, "render_mode='video'"),
        ({"reward": "points"}, "reward='points'"),
        ({"observation": "record"}, "observation='record'"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        jolly_v0.env(**arguments)


def test_an_unknown_agent_and_a_bad_seed_are_named() -> None:
    env = jolly_v0.raw_env()
    env.reset(seed=1)
    before = snapshot(env)
    for call in (env.observe, env.observation_space, env.action_space):
        for name in ("player_2", None, 0, ["player_0"]):
            with pytest.raises(ValueError, match=f"agent {re.escape(repr(name))}: expected one of player_0, player_1"):
                call(name)
    with pytest.raises(ValueError):
        env.reset(seed=-1)
    assert snapshot(env) == before


# Copies


@pytest.mark.parametrize("make", [jolly_v0.raw_env, jolly_v0.env])
@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_keeps_the_game_in_progress_and_goes_its_own_way(make: Any, way: Any) -> None:
    env = make(rules=Rules(target=120, **QUICK))
    env.reset(seed=6)
    for count, _ in enumerate(play(env, 6)):
        if count == 25:
            break
    other = way(env)
    assert snapshot(other.unwrapped) == snapshot(env.unwrapped)
    for agent in env.agents:
        mine, theirs = env.observe(agent), other.observe(agent)
        assert np.array_equal(mine["observation"], theirs["observation"])
        assert np.array_equal(mine["action_mask"], theirs["action_mask"])
    before = snapshot(env.unwrapped)
    rest = [(agent, last[0]["observation"].tobytes(), last[1], last[4]) for agent, last in play(other, 1)]
    assert snapshot(env.unwrapped) == before
    assert rest == [(agent, last[0]["observation"].tobytes(), last[1], last[4]) for agent, last in play(env, 1)]
    env.reset()
    other.reset()
    assert env.unwrapped.game.deck == other.unwrapped.game.deck  # the stream of deals was copied, too


# Rendering and the package


def test_render(capsys: pytest.CaptureFixture[str]) -> None:
    env = jolly_v0.env(render_mode="ansi")
    env.reset(seed=1)
    text = env.render()
    assert isinstance(text, str)
    assert len(text.splitlines()) > 2
    assert capsys.readouterr().out == ""

    human = jolly_v0.env(render_mode="human")
    human.reset(seed=1)
    first = capsys.readouterr().out
    human.step(0)
    assert len(first) > 10
    assert capsys.readouterr().out not in ("", first)
    assert human.render() is None
    human.close()


def test_render_without_a_mode_warns() -> None:
    env = jolly_v0.env()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None


def test_the_package_names_its_parts_and_imports_them_late() -> None:
    assert set(jolly_env.__all__) <= set(dir(jolly_env))
    assert jolly_env.__version__
    with pytest.raises(AttributeError, match="jolly_v1"):
        _ = jolly_env.jolly_v1
    code = (
        "import sys, jolly_env; print('numba' in sys.modules, 'pettingzoo' in sys.modules);"
        "print(jolly_env.jolly_v0.__name__, jolly_env.Game.__name__, jolly_env.Batch.__name__);"
        "import gymnasium; print('jolly_env/Jolly-v0' in gymnasium.registry)"
    )
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines == ["False False", "jolly_env.jolly_v0 Game Batch", "True"]
