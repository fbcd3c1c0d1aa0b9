"""The luck of the draws: zero in the mean, and what is left of the points without it."""

from __future__ import annotations

import numpy as np
import pytest

from eval.adjust import adjusted, luck_figures, slopes
from eval.arena import Floor
from eval.luck import WORTH_FIT, WORTH_JOKER, WORTH_MELD, WORTH_NEAR, WORTH_POINT
from eval.rounds import round_dtype
from eval.statistics import bootstrap
from eval.tally import TALLY, count_actions, new_room
from eval.workers import named_agents
from jolly_env import Batch, Rules
from jolly_env.agent import RandomAgent
from jolly_env.cards import parse_card
from jolly_env.state import DRAW
from tests.tools import position


def luck(states: np.ndarray) -> np.ndarray:
    """Return the luck of drawing now in each state."""
    tallies = np.zeros(len(states), dtype=TALLY)
    rows = np.arange(len(states))
    count_actions(states, rows, np.zeros(len(states), dtype=np.int64), tallies, *new_room())
    return tallies["luck"][rows, states["seat"]]


def with_top(state: np.ndarray, card: int) -> np.ndarray:
    """Return a state with another card on top of the stock."""
    state = state.copy()
    top, size = int(state["stock_top"][0]), int(state["stock_size"][0])
    stock = state["stock"][0]
    place = top + stock[top : top + size].tolist().index(card)
    stock[[top, place]] = stock[[place, top]]
    return state


@pytest.mark.parametrize("players", [2, 4])
def test_the_mean_over_all_cards_that_may_lie_on_top_is_zero(players):
    batch = Batch(8, Rules(players=players, opening_points=20), seed=3)
    looked = 0
    for _ in range(400):
        for row in np.flatnonzero(batch.states["phase"] == DRAW)[:1]:
            state = batch.states[row : row + 1]
            top, size = int(state["stock_top"][0]), int(state["stock_size"][0])
            if size:
                each = [float(luck(with_top(state, int(card)))[0]) for card in state["stock"][0, top : top + size]]
                assert abs(sum(each)) < 1e-9 * size and (size == 1 or max(each) > 0)
                looked += 1
        batch.step(RandomAgent().act(batch.observations, batch.masks, batch.keys))
    assert looked > 100


@pytest.mark.parametrize(
    ("card", "worth"),
    [
        ("*", WORTH_JOKER),
        ("4c", WORTH_MELD + 4 * WORTH_POINT),  # 2 3 4
        ("As", 25 * WORTH_POINT),  # of no use: its neighbours are the 2 and the king of spades
        ("Ac", WORTH_MELD + 25 * WORTH_POINT),  # A 2 3
        ("Kh", WORTH_MELD + 10 * WORTH_POINT),  # the third king
        ("9d", WORTH_NEAR + 9 * WORTH_POINT),  # a pair of nines
        ("7h", WORTH_NEAR + 7 * WORTH_POINT),  # 7 next but one to 9
        ("9h", 9 * WORTH_POINT),  # a second copy
        ("8s", WORTH_FIT + 8 * WORTH_POINT),  # above the run on the table
        ("6s", WORTH_FIT + 6 * WORTH_POINT),  # swaps its joker
        ("Js", 10 * WORTH_POINT),
    ],
)
def test_worths_by_hand(card, worth):
    game = position("2c 3c 9h Kd Kc", "2d", melds=[("5s * 7s", 0)], drawn=False)
    states = with_top(game.states, parse_card(card))
    base = luck(with_top(game.states, parse_card("Js")))[0] - 10 * WORTH_POINT
    assert luck(states)[0] - base == pytest.approx(worth)


def test_nothing_fits_the_table_before_the_opening():
    game = position("2c 3c 9h Kd Kc", "2d", melds=[("5s * 7s", 1)], opened=(-1, 1), drawn=False)
    eight, jack = (luck(with_top(game.states, parse_card(card)))[0] for card in ("8s", "Js"))
    assert jack - eight == pytest.approx(2 * WORTH_POINT)


def test_the_luck_of_real_rounds_is_zero_in_the_mean_and_explains_points():
    agents = named_agents(("greedy", "random"))
    rules = Rules(opening_points=10, max_turns=40)
    floor = Floor({"a": agents["greedy"], "b": agents["greedy"]}, 600, 21, rules)
    rows = np.concatenate([played.rows for played in floor.play(range(12))])
    one = rows[rows["seating"] == 0]
    low, high = bootstrap(one["luck"].astype(float), np.ones((600, 2)), level=0.999)[0]
    assert low < 0 < high
    margin, mine = (one[name][:, 0].astype(float) - one[name][:, 1] for name in ("score", "luck"))
    assert np.corrcoef(margin, mine)[0, 1] > 0.3


def test_the_slope_of_a_deal_comes_from_the_other_fold():
    margins, luck_ = np.array([1.0, 2, 3, 4, 5, 7]), np.array([1.0, 1, 2, 4, 5, 4])
    before = slopes(margins, luck_)
    margins[0] += 100
    after = slopes(margins, luck_)
    assert after[0::2].tolist() == before[0::2].tolist() and (after[1::2] != before[1::2]).all()
    assert before[0] == pytest.approx(np.polyfit(luck_[1::2], margins[1::2], 1)[0])
    assert slopes(np.ones(1), np.ones(1)).tolist() == [0] and slopes(np.ones(4), np.zeros(4)).tolist() == [0] * 4


def test_adjusted_points_are_unbiased_and_narrower():
    rng = np.random.default_rng(7)
    means = []
    for _ in range(300):
        luck_ = rng.exponential(1, 60) - 1  # skewed, and with an effect that is not a straight line
        margins = 3 + 2 * luck_ + 0.5 * (luck_**2 - 1) + rng.normal(0, 1, 60)
        fitted = slopes(margins, luck_)
        means.append([margins.mean(), (margins - fitted * luck_).mean()])
    raw, adjusted_ = np.array(means).T
    assert abs(adjusted_.mean() - 3) < 3 * adjusted_.std() / np.sqrt(300)
    assert adjusted_.std() < 0.8 * raw.std()


def test_adjusted_figures():
    rng = np.random.default_rng(8)
    luck_ = rng.normal(0, 10, 400)
    margins = 10 + 3 * luck_ + rng.normal(0, 10, 400)
    (figures,) = adjusted(margins[:, None], luck_[:, None], np.full((400, 1), 2.0))
    assert figures["points"] == pytest.approx(margins.mean() / 2)
    assert figures["slope"] == pytest.approx(3, abs=0.2)
    assert figures["adjusted_ci"][0] < 5 < figures["adjusted_ci"][1]
    assert figures["narrower"] == pytest.approx(1 - 1 / np.sqrt(10), abs=0.05)


def test_sides_by_hand():
    rows = np.zeros(3, dtype=round_dtype(3))
    rows["agent"], rows["deal"] = [[0, 1, 1], [1, 0, 1], [1, 1, 0]], [0, 0, 1]
    rows["score"], rows["luck"] = [[60, 0, 30], [10, 20, 0], [0, 0, 90]], [[3, 0, 0], [0, 6, 0], [0, 0, 9]]
    figures = luck_figures(rows, 2, ["a", "b"])
    assert figures["agents"]["a"]["points"] == pytest.approx((45 + 15 + 90) / 3)
    assert figures["agents"]["a"]["luck"] == pytest.approx(6)
    assert figures["agents"]["b"]["points"] == pytest.approx(-(45 + 15 + 90) / 6)
    (pair,) = figures["pairs"]
    assert pair["points"] == pytest.approx((60 + 30 + 10 + 20 + 90 + 90) / 6) and pair["luck"] == pytest.approx(6)
