"""Duplicate deals, statistics, and what the command saves. Bad input and stops: test_eval_command.py."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from eval.arena import deal_seeds, plan, play
from eval.rounds import Games, in_order, round_dtype
from eval.statistics import bootstrap, summarise
from jolly_env import IllegalAction, Rules
from jolly_env.agent import RandomAgent
from jolly_env.state import Ending

SHORT = Rules(max_turns=12, opening_points=10)
"""Rounds that are over soon."""


class Greediest:
    """Plays the legal action with the lowest number, unlike random in every respect."""

    def act(self, observations: Any, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return masks.argmax(axis=1)


class Noting:
    """Plays at random and notes what it saw."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, bytes, int]] = []

    def act(self, observations: np.ndarray, masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
        self.seen += [(int(o["seat"]), o.tobytes(), int(k)) for o, k in zip(observations, keys, strict=True)]
        return RandomAgent().act(observations, masks, keys)

    def first_views(self) -> list[tuple[bytes, int]]:
        """Return what it saw when it began a round."""
        size = len(self.seen[0][1]) // 2
        from jolly_env.observation import as_record

        views = [(as_record(np.frombuffer(o, np.int16).reshape(size)), o, key) for _, o, key in self.seen]
        return sorted((o, key) for v, o, key in views if v["turn"] == 0 and v["phase"] == 0)


def same(one: Games, other: Games) -> bool:
    """Tell whether two results are equal but for the time that they took."""
    names = [name for name, value in vars(one).items() if isinstance(value, np.ndarray)]
    return one.decisions == other.decisions and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in names
    )


# --- seatings


@pytest.mark.parametrize(
    ("agents", "players", "expected"),
    [
        (2, 2, [[0, 1], [1, 0]]),
        (3, 2, [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]]),
        (2, 3, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
        (2, 4, [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]),
    ],
)
def test_plan(agents, players, expected):
    assert plan(agents, players).tolist() == expected


@pytest.mark.parametrize(("agents", "players", "count"), [(3, 3, 6), (4, 4, 24), (4, 3, 24), (5, 4, 120)])
def test_plan_of_a_full_table_has_every_order_once(agents, players, count):
    seatings = plan(agents, players)
    assert len(seatings) == len({tuple(row) for row in seatings.tolist()}) == count
    for seat in range(players):
        assert set(np.bincount(seatings[:, seat])) == {count // agents}


@pytest.mark.parametrize(("agents", "players"), [(0, 2), (1, 2), (1, 4), (3, 4)])
def test_plan_needs_enough_agents(agents, players):
    with pytest.raises(ValueError, match="agents"):
        plan(agents, players)


# --- duplicate deals


def test_seatings_of_a_deal_share_cards_and_keys():
    one, other = Noting(), Noting()
    play({"one": one, "other": other}, 6, 3, rules=SHORT)
    assert len({view for view, _ in one.first_views()}) == 6
    assert one.first_views() == other.first_views()


def test_reshuffles_are_shared_too():
    # Two objects that play alike see the same rounds to the end, recycled stocks included.
    rules = Rules(max_turns=150)
    one, other = Noting(), Noting()
    games = play({"one": one, "other": other}, 3, 5, rules=rules)
    assert np.array_equal(games.scores[:, 0], games.scores[:, 1])
    assert sorted(one.seen) == sorted(other.seen)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_an_agent_against_itself_comes_to_exactly_zero(players):
    agents = {name: RandomAgent() for name in ("a", "b")}
    games = play(agents, 20, 1, rules=Rules(players=players, max_turns=30, opening_points=10))
    result = summarise(games, list(agents))["agents"]
    for figures in result.values():
        assert figures["points"] == pytest.approx(0, abs=1e-9)
        assert figures["points_ci"] == pytest.approx([0, 0], abs=1e-9)
        assert figures["win_share"] == pytest.approx(1 / players)


def test_an_agent_against_another_stream_of_itself_is_zero_within_its_interval():
    class Other(RandomAgent):
        def act(self, observations, masks, keys):
            return super().act(observations, masks, keys * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1))

    result = summarise(play({"a": RandomAgent(), "b": Other()}, 400, 8, rules=SHORT), ["a", "b"])
    low, high = result["agents"]["a"]["points_ci"]
    assert low < 0 < high and high - low < 40


def test_swapping_the_names_swaps_the_figures():
    a, b = RandomAgent(), Greediest()
    one = summarise(play({"a": a, "b": b}, 30, 4, rules=SHORT), ["a", "b"], seed=4)
    other = summarise(play({"b": b, "a": a}, 30, 4, rules=SHORT), ["b", "a"], seed=4)
    assert one["agents"] == other["agents"]
    assert one["pairs"][0]["points"] == -other["pairs"][0]["points"]


@pytest.mark.parametrize("rules", [SHORT, Rules(players=3, max_turns=20, target=60, opening_points=10)])
def test_the_result_does_not_depend_on_the_rows(rules):
    agents = {"a": RandomAgent(), "b": Greediest()}
    results = [play(agents, 13, 2, rules=rules, rows=rows) for rows in (1, 7, 512)]
    assert same(results[0], results[1]) and same(results[0], results[2])
    if rules.target:
        assert results[0].rounds.max() > 1


def test_seeds():
    agents = {"a": RandomAgent(), "b": Greediest()}
    one, again, other = (play(agents, 10, seed, rules=SHORT) for seed in (1, 1, 2))
    assert same(one, again) and not same(one, other)
    assert np.array_equal(deal_seeds(1, 10), deal_seeds(1, 1000)[:10])


def test_one_object_with_two_names_is_asked_once():
    calls = []

    class Counting(RandomAgent):
        def act(self, observations, masks, keys):
            calls.append(len(masks))
            return super().act(observations, masks, keys)

    agent = Counting()
    games = play({"a": agent, "a#2": agent}, 4, 1, rules=SHORT)
    assert calls[0] == 8 and sum(calls) == games.decisions


def test_a_stop_keeps_the_units_before_the_first_unfinished():
    class Stop:
        asked = 0

        def __bool__(self):
            self.asked += 1
            return self.asked > 700

    agents = {"a": RandomAgent(), "b": Greediest()}
    stopped = play(agents, 400, 6, rules=SHORT, rows=16, stop=Stop())
    whole = play(agents, 400, 6, rules=SHORT)
    assert 0 < stopped.deals < 400
    assert np.array_equal(stopped.scores, whole.scores[: stopped.deals])
    assert not play(agents, 5, 6, rules=SHORT, stop=True).deals


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda n: np.full(n, 838), "838, which is not legal"),
        (lambda n: np.full(n, -1), "-1, which is not legal"),
        (lambda n: np.full(n, 10**6), "1000000, which is not legal"),
        (lambda n: np.zeros(n), "expected whole numbers"),
        (lambda n: np.zeros((n, 2), np.int64), "expected whole numbers"),
        (lambda n: None, "expected whole numbers"),
    ],
)
def test_a_wrong_action_names_the_agent(returned, message):
    class Wrong:
        def act(self, observations, masks, keys):
            masks[:] = 1  # changes its own copy only
            return returned(len(masks))

    with pytest.raises(IllegalAction, match=f"agent wrong: .*{message}"):
        play({"fine": RandomAgent(), "wrong": Wrong()}, 2, 1, rules=Rules(jokers=0))


def test_a_failing_agent_is_named_with_the_line():
    class Failing:
        def act(self, observations, masks, keys):
            raise RuntimeError("no idea")

    with pytest.raises(ValueError, match=r"agent bad: act failed: RuntimeError: no idea \(.*test_eval.py, line \d+\)"):
        play({"fine": RandomAgent(), "bad": Failing()}, 2, 1, rules=SHORT)


# --- statistics


def rounds_of(
    deals: list[int], seating: int, scores: list[list[int]], closer: int = -1, ending: Ending = Ending.CLOSED
) -> np.ndarray:
    """Return a row for each of the deals, one round each."""
    rows = np.zeros(len(deals), dtype=round_dtype(len(scores[0])))
    rows["deal"], rows["seating"], rows["score"] = deals, seating, scores
    rows["closer"], rows["hand_jolly"], rows["ending"] = closer, closer == 0, ending
    return rows


def test_figures_by_hand():
    first = rounds_of([0, 1], 0, [[100, -20], [10, 10]], closer=0)
    second = rounds_of([0, 1], 1, [[0, 50], [30, 20]], ending=Ending.CUT_OFF)
    games = Games.of(in_order([first, second]), 2, plan(2, 2))
    result = summarise(games, ["a", "b"])
    # a's scores: 100 and 50 on the first deal, 10 and 20 on the second; b's: -20 and 0, 10 and 30.
    a, b = result["agents"]["a"], result["agents"]["b"]
    assert (result["deals"], result["rounds"], a["rounds"]) == (2, 4, 4)
    assert (a["score"], b["score"]) == (45, 5)
    assert (a["points"], b["points"]) == (40, -40)
    assert (a["win_share"], b["win_share"]) == ((1 + 1 + 0.5 + 0) / 4, (0 + 0 + 0.5 + 1) / 4)
    assert (a["closings"], a["hand_jollys"], b["closings"]) == (0.5, 0.5, 0)
    assert (a["cut_off"], a["exhausted"]) == (0.5, 0)
    # Deals give 85 and -5 a round, so the resampled means are -5, 40 and 85.
    assert a["points_ci"] == [-5, 85] and b["points_ci"] == [-85, 5]
    assert result["pairs"] == [
        {"a": "a", "b": "b"} | {key: a[key] for key in ("points", "points_ci", "win_share", "win_share_ci")}
    ]


def test_a_field_by_hand():
    scores = [[90, 30, 30], [0, 60, 60], [10, 20, 60]]
    games = Games.of(in_order([rounds_of([0], i, [each]) for i, each in enumerate(scores)]), 1, plan(2, 3))
    result = summarise(games, ["one", "field"])
    one, field = result["agents"]["one"], result["agents"]["field"]
    assert one["points"] == pytest.approx((60 + 30 + 45) / 3) and field["points"] == pytest.approx(-one["points"] / 2)
    assert one["win_share"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert one["win_share"] + 2 * field["win_share"] == pytest.approx(1)
    assert (one["rounds"], field["rounds"], result["rounds"]) == (3, 6, 3)
    assert result["pairs"][0]["win_share"] == pytest.approx((1 + 1 + 1 + 0.5 + 1 + 1) / 6)


def test_pairs_are_read_from_their_own_rounds():
    scores = [[5, 0], [0, 5], [7, 0], [0, 7], [9, 0], [0, 9]]
    games = Games.of(in_order([rounds_of([0], i, [each]) for i, each in enumerate(scores)]), 1, plan(3, 2))
    result = summarise(games, ["a", "b", "c"])
    assert [(p["a"], p["b"], p["points"]) for p in result["pairs"]] == [("a", "b", 5), ("a", "c", 7), ("b", "c", 9)]
    assert [figures["points"] for figures in result["agents"].values()] == [6, 2, -8]


def test_bootstrap_by_hand():
    # Two deals, 0 and 1: the mean of a resample is 0, 1/2 or 1 with chances 1/4, 1/2, 1/4.
    sums, counts = np.array([[0.0], [1.0]]), np.ones((2, 1))
    assert bootstrap(sums, counts).tolist() == [[0, 1]]
    assert bootstrap(sums, counts, level=0.4).tolist() == [[0.5, 0.5]]
    # Of 1 round and 3 rounds: the ratios are 0, 1/4 and 1/3.
    low, high = bootstrap(sums, np.array([[1.0], [3.0]]))[0]
    assert (low, high) == (0, pytest.approx(1 / 3))


def test_bootstrap_draws_deals_for_all_quantities_together():
    rng = np.random.default_rng(1)
    sums = rng.normal(size=(50, 1))
    both = bootstrap(np.hstack([sums, -sums]), np.ones((50, 2)))
    assert both[0] == pytest.approx(-both[1][::-1])


def test_bootstrap_in_blocks_is_the_same(monkeypatch):
    rng = np.random.default_rng(2)
    sums, counts = rng.normal(size=(40, 3)), np.ones((40, 3))
    whole = bootstrap(sums, counts)
    monkeypatch.setattr("eval.statistics._BLOCK", 1000)
    assert np.array_equal(whole, bootstrap(sums, counts))


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(3)
    hits = np.zeros(2)
    trials = 400
    for trial in range(trials):
        # Skewed margins, and two seatings of a deal that resemble each other: counting them as independent fails.
        deals = rng.exponential(100, size=(150, 1)) + rng.normal(0, 20, size=(150, 2))
        by_deal = bootstrap(deals.sum(axis=1, keepdims=True), np.full((150, 1), 2.0), resamples=400, seed=trial)
        by_game = bootstrap(deals.reshape(-1, 1), np.ones((300, 1)), resamples=400, seed=trial)
        hits += [low <= 100 <= high for low, high in itertools.chain(by_deal, by_game)]
    assert 0.91 <= hits[0] / trials <= 0.98
    assert hits[1] / trials < 0.9
