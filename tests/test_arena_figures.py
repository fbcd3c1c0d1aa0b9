"""Ratings, the matrix and the behaviour table; faults, which cost only the agent that commits them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from eval.__main__ import main
from eval.arena import Floor, plan
from eval.asking import ask_kindly, forfeit
from eval.behaviour import FIGURES, behaviour_figures
from eval.ratings import matrix, rate, rating_figures
from eval.rounds import Games, round_dtype
from jolly_env import Batch, Rules
from jolly_env.actions import parse_action
from jolly_env.agent import RandomAgent
from jolly_env.game import Game
from tests.tools import position

SHORT = Rules(max_turns=30, opening_points=10)


# --- ratings


def test_ratings_by_hand():
    # Odds of ten to one, of nearly as many rounds that the drawn one does not count.
    wins = np.array([[0, 10.0], [1, 0]]) * 1e6
    assert rate(wins, None) == pytest.approx([200, -200], abs=0.01)
    assert rate(wins, 1) == pytest.approx([400, 0], abs=0.01)
    three = np.array([[0, 10, 100], [1, 0, 10], [1, 1, 0]]) * 1e6
    assert rate(three, 2) == pytest.approx([800, 400, 0], abs=0.01)


def test_an_agent_that_was_always_above_has_a_finite_rating():
    few, many = (rate(np.array([[0, n], [0, 0.0]]), 1)[0] for n in (10, 1000))
    assert 400 < few < many < 2000
    assert few == pytest.approx(400 * np.log10(10.5 / 0.5))


def rounds(scores: list[tuple[int, int]], agents: list[tuple[int, int]]) -> np.ndarray:
    rows = np.zeros(len(scores), dtype=round_dtype(2))
    rows["deal"], rows["score"], rows["agent"] = np.arange(len(scores)) // 2, scores, agents
    rows["seating"] = np.arange(len(scores)) % 2
    rows["closer"] = -1
    return rows


def test_rating_figures_have_intervals_and_an_anchor():
    rng = np.random.default_rng(2)
    scores = [(int(a), int(b)) for a, b in rng.normal(0, 10, (400, 2))]
    scores = [(a + 5, b) if i % 2 == 0 else (a, b + 5) for i, (a, b) in enumerate(scores)]
    games = Games.of(rounds(scores, [(0, 1), (1, 0)] * 200), 200, plan(2, 2))
    figures = rating_figures(games, ["best", "random"])
    low, high = figures["agents"]["best"]["rating_ci"]
    assert figures["anchor"] == "random" and figures["agents"]["random"]["rating"] == 0
    assert 0 < low < figures["agents"]["best"]["rating"] < high < 400
    assert rating_figures(games, ["a", "b"])["anchor"] == "mean"


def test_matrix():
    pairs = [{"a": "a", "b": "c", "points": 4.0, "win_share": 0.75}]
    table = matrix(pairs, ["a", "b", "c"])
    assert table["points"] == [[None, None, 4.0], [None] * 3, [-4.0, None, None]]
    assert table["win_share"][2][0] == 0.25


# --- behaviour


def test_behaviour_by_hand():
    rows = rounds([(10, 0), (0, 5)], [(0, 1), (1, 0)])
    rows["opened"] = [[2, -1], [4, 6]]
    rows["takes"], rows["taken"] = [[1, 0], [0, 1]], [[3, 0], [0, 6]]
    rows["closer"], rows["hand_jolly"] = [0, -1], [True, False]
    rows["decisions"], rows["seconds"], rows["hand"] = 10, [[0.5, 1], [1, 0.5]], [[0, 40], [20, 10]]
    figures = behaviour_figures(rows, 1, ["a", "b"])
    a, b = figures["a"], figures["b"]
    assert list(a) == [n for name in FIGURES for n in (name, f"{name}_ci") if n != "seconds_per_decision_ci"]
    assert (a["turns_to_open"], a["opened_share"], a["cards_per_take"], a["takes"]) == (4, 1, 4.5, 1)
    assert (a["closings"], a["hand_jollys"], a["caught"], a["seconds_per_decision"]) == (0.5, 0.5, 5, 0.05)
    assert (b["turns_to_open"], b["opened_share"], b["cards_per_take"], b["cards_per_take_ci"]) == (4, 0.5, None, None)
    assert a["caught_ci"] == [5, 5] and b["caught"] == 30


def test_a_rare_mean_has_an_interval_all_the_same():
    rows = rounds([(0, 0)] * 60, [(0, 1), (1, 0)] * 30)
    rows["opened"] = -1
    rows["opened"][7] = [3, 5]
    figures = behaviour_figures(rows, 30, ["a", "b"])
    assert figures["b"]["turns_to_open_ci"] == [3, 3] and json.dumps(figures, allow_nan=False)


# --- faults


class Faulty(RandomAgent):
    """Commits a fault where its key says so; the key belongs to the decision, so each is always the same."""

    share = 1 / 64

    def bad(self, keys: np.ndarray) -> np.ndarray:
        return (keys >> np.uint64(20)).astype(np.float64) % 4096 < 4096 * self.share

    def act(self, observations, masks, keys):
        actions = super().act(observations, masks, keys)
        actions[self.bad(keys)] = self.wrong(actions)
        return actions

    def wrong(self, actions):
        return 838


class Raising(Faulty):
    def wrong(self, actions):
        return None

    def act(self, observations, masks, keys):
        if self.bad(keys).any():
            raise RuntimeError("no idea")
        return RandomAgent.act(self, observations, masks, keys)


class Exiting(Raising):
    def act(self, observations, masks, keys):
        if self.bad(keys).any():
            raise SystemExit(1)
        return RandomAgent.act(self, observations, masks, keys)


class Misshapen(Faulty):
    def act(self, observations, masks, keys):
        return None if self.bad(keys).any() else RandomAgent.act(self, observations, masks, keys)


@pytest.mark.parametrize("kind", [Faulty, Raising, Exiting, Misshapen])
@pytest.mark.parametrize("rows", [3, 512])
def test_a_fault_costs_its_agent_the_round_and_nobody_else(kind, rows):
    rules = Rules(jokers=0, max_turns=30, opening_points=10)
    played = next(Floor({"bad": kind(), "fine": RandomAgent()}, 30, 5, rules, rows=rows).play([0]))
    assert len(played.rows) == 60 and 0 < len(played.faults) < 60
    at = {(f["deal"], f["seating"], f["round"], f["seat"]) for f in played.faults}
    forfeited = played.rows["fault"]
    assert len(at) == len(played.faults) == forfeited.sum() and not forfeited[played.rows["agent"] == 1].any()
    for row in played.rows:
        for seat in range(2):
            assert ((row["deal"], row["seating"], row["round"], seat) in at) == row["fault"][seat]
    assert all(("position" in fault) == (i < 10) for i, fault in enumerate(played.faults))
    fault = played.faults[0]
    assert fault["agent"] == "bad" and "bad" in fault["message"]
    game = Game.from_json(fault["position"])
    assert game.seat == fault["seat"] and game.legal_actions().tolist() == fault["legal"]
    # A round without a fault is what it is without faults at all.
    clean = next(Floor({"bad": RandomAgent(), "fine": RandomAgent()}, 30, 5, rules).play([0])).rows
    same = ~forfeited.any(axis=1)
    assert np.array_equal(played.rows["score"][same], clean["score"][same]) and same.any()


def test_from_a_fault_on_the_seat_draws_and_discards_what_it_drew():
    class Never(RandomAgent):
        def act(self, observations, masks, keys):
            raise RuntimeError

    rows = next(Floor({"never": Never(), "fine": RandomAgent()}, 20, 1, Rules(max_turns=20)).play([0])).rows
    never = rows["agent"] == 0
    assert rows["fault"][never].all() and (rows["laid"][never] == 0).all() and (rows["takes"][never] == 0).all()
    assert np.array_equal(rows["decisions"][never], 2 * rows["draws"][never])


def test_what_is_played_for_a_seat_without_a_say():
    game = position("2c 3c 9h", "Kd", row="5c", drawn=False)
    assert forfeit(game.state, game.mask(), -1) == parse_action("draw")
    game = position("2c 3c 9h", "Kd", row="5c")
    assert forfeit(game.state, game.mask(), 34) == parse_action("discard 9h")
    assert forfeit(game.state, game.mask(), -1) == parse_action("discard 2c")
    assert forfeit(game.state, game.mask(), 30) == parse_action("discard 2c")  # no longer held
    game = position("2c 3c 9h", "Kd", row="5c", stock="", drawn=False)  # the stock is used up
    assert forfeit(game.state, game.mask(), -1) == parse_action("take 1")
    opening = position("2c Td Th Ts Jd Jh Js", "Kd", opened=(-1, -1), stock="4c 4d")
    for lay in ("lay Td Th Ts",):
        opening.step(parse_action(lay))
    assert forfeit(opening.state, opening.mask(), 0) == parse_action("lay Jd Jh Js")


def test_an_agent_that_fails_only_on_many_at_once_fails_in_all():
    class Alone(RandomAgent):
        def act(self, observations, masks, keys):
            if len(masks) > 1:
                raise ValueError("one at a time")
            return super().act(observations, masks, keys)

    batch = Batch(3, SHORT, seed=1)
    _, faults = ask_kindly("alone", Alone(), batch, np.arange(3))
    assert list(faults) == [0, 1, 2] and "on none of them alone" in faults[0]
    assert ask_kindly("alone", Alone(), batch, np.arange(1))[1] == {}


BOT = """
import numpy as np
from jolly_env.agent import RandomAgent

class Bad(RandomAgent):
    def act(self, observations, masks, keys):
        actions = super().act(observations, masks, keys)
        actions[keys % np.uint64(50) == 0] = 838
        return actions
"""


def test_faults_of_a_run(tmp_path: Path, capsys):
    (tmp_path / "bots.py").write_text(BOT)
    bad, out = f"{tmp_path / 'bots.py'}:Bad", tmp_path / "out"
    arguments = [
        "run",
        bad,
        "greedy",
        "--seed",
        "1",
        "--out",
        str(out),
        "--rules",
        "jokers=0,max_turns=30",
        "--workers",
    ]
    assert main([*arguments, "2", "--deals", "60"]) == 0
    told = capsys.readouterr()
    faults = [json.loads(line) for line in (out / "faults.jsonl").read_text().splitlines()]
    count = json.loads((out / "result.json").read_text())["faults"]
    assert count == {bad: len(faults), "greedy": 0} and len(faults) > 5
    assert told.err.count("838, which is not legal there") == 3 and "further faults" in told.err
    assert f"forfeited {len(faults)} rounds" in " ".join(told.out.split())
    assert main([*arguments, "1", "--deals", "120"]) == 0
    more = [json.loads(line) for line in (out / "faults.jsonl").read_text().splitlines()]
    assert len({json.dumps(fault) for fault in more}) == len(more) > len(faults)
    where = [[(fault["deal"], fault["seating"], fault["seat"]) for fault in some] for some in (faults, more)]
    assert where[1][: len(faults)] == where[0] and sorted(where[1]) == where[1]
