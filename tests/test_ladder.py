"""What each rung of the ladder knows, in positions made for it; that the rungs are in order; search and beliefs."""

from __future__ import annotations

import numpy as np
import pytest

import agents
from agents.beliefs import sample_worlds
from agents.search import SearchAgent
from agents.solver import hand_row, new_room, solve_rows
from agents.solver_ends import PLAN_WORDS, PLANS, POINTS
from eval.arena import play
from jolly_env import Rules
from jolly_env.agent import Agent
from jolly_env.batch import Batch
from jolly_env.determinize import determinize
from jolly_env.state import PLAY


def margin(first: Agent, second: Agent, deals: int, rules: Rules | None = None) -> tuple[float, float]:
    """Return the points per round of one agent against another, and the half of its 95% interval."""
    games = play({"first": first, "second": second}, deals, 11, rules=rules)
    by_deal = (games.margins * (games.seatings == 0)).sum(axis=(1, 2)) / len(games.seatings)
    return float(by_deal.mean()), float(1.96 * by_deal.std() / np.sqrt(deals))


def table(agent: Agent, turns: int, games: int = 64, rules: Rules | None = None) -> Batch:
    """Return games in which every seat has played ``turns`` decisions by ``agent``."""
    batch = Batch(games, rules, seed=3)
    for _ in range(turns):
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
    return batch


@pytest.mark.slow
@pytest.mark.parametrize(
    ("better", "worse", "deals"),
    [("careful", "greedy", 2500), ("planner", "careful", 400), ("racer", "planner", 500), ("champion", "planner", 500)],
)
def test_each_rung_beats_the_one_below(better: str, worse: str, deals: int) -> None:
    points, half = margin(agents.make(better), agents.make(worse), deals)
    assert points > half


@pytest.mark.slow
@pytest.mark.parametrize("players", [3, 4])
def test_rungs_hold_at_bigger_tables(players: int) -> None:
    points, half = margin(agents.make("planner"), agents.make("careful"), 600, Rules(players=players))
    assert points > half


def test_planner_holds_back_for_a_hand_jolly_where_careful_opens() -> None:
    # Careful opens whenever it can, the planner seldom.
    opened = {"careful": 0, "planner": 0}
    for name in opened:
        agent = agents.make(name)
        batch = table(agent, 12, 200)
        opened[name] = int((batch.states["opened_turn"][:, :2] >= 0).sum())
    assert opened["planner"] < opened["careful"] / 2


def test_known_cards_are_where_they_are_known_to_be() -> None:
    recycled = checked = 0
    # A small pack of which nothing may stay out of the stock, played at random by all who open at once.
    rules = Rules(players=3, hand_size=12, recycle_keep=0, opening_points=0, pack=(1,) * 52, jokers=2)
    agent = agents.make("random")
    batch = table(agent, 20, 48, rules)
    for step in range(60):
        for row in range(0, 48, 12):
            seen = batch.observations[row]
            recycled += int(seen["recycled_size"] > 0)
            for world in sample_worlds(seen, step, 8):
                hands = np.roll(world["hands"][:3], -int(seen["seat"]), axis=0)
                assert (hands >= seen["known"][:3]).all() and (hands.sum(axis=1) == seen["hand_size"][:3]).all()
                assert (hands[0] == seen["hand"]).all()
                checked += int(seen["known"][1:3].sum())
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
    assert recycled > 20 and checked > 200


def test_the_same_key_gives_the_same_worlds_and_another_gives_others() -> None:
    seen = table(agents.make("careful"), 30, 1).observations[0]
    first, again, other = sample_worlds(seen, 5, 16), sample_worlds(seen, 5, 16), sample_worlds(seen, 6, 16)
    assert first.tobytes() == again.tobytes() and first.tobytes() != other.tobytes()


@pytest.mark.slow
def test_weighed_worlds_tell_the_hidden_cards_better_than_blind_ones() -> None:
    agent, rng = agents.make("careful"), np.random.default_rng(8)
    blind_loss = weighed_loss = 0.0
    batch = table(agent, 20)
    for step in range(40):
        for row in rng.integers(64, size=3):
            seen, truth = batch.observations[row], batch.states[row]
            other = 1 - int(seen["seat"])
            asked = (seen["unseen"] > 0) & (seen["known"][1] == 0)
            held = truth["hands"][other][asked] > 0
            blind = np.concatenate([determinize(seen, 1000 * step + number) for number in range(200)])
            for worlds in (blind, sample_worlds(seen, step, 200)):
                p = ((worlds["hands"][:, other][:, asked] > 0).sum(axis=0) + 0.5) / 201
                loss = -np.where(held, np.log(p), np.log(1 - p)).sum()
                if worlds is blind:
                    blind_loss += loss
                else:
                    weighed_loss += loss
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
    assert weighed_loss < 0.98 * blind_loss


def test_hands_of_sampled_worlds_are_as_good_as_true_ones() -> None:
    """By the points that they could lay at once, in the planner's play, which holds back."""
    batch = table(agents.make("planner"), 30)
    true: list[float] = []
    sampled: list[float] = []
    blind: list[float] = []
    for row in range(64):
        seen = batch.observations[row]
        if seen["opened"][1]:
            continue
        other = 1 - int(seen["seat"])
        true.append(points_in_hand(batch.states[row : row + 1], other)[0])
        sampled.append(points_in_hand(sample_worlds(seen, row, 32), other).mean())
        blind.append(points_in_hand(np.concatenate([determinize(seen, n) for n in range(32)]), other).mean())
    assert len(true) > 40
    assert np.mean(sampled) == pytest.approx(np.mean(true), rel=0.2)
    assert np.mean(blind) < 0.75 * np.mean(true)


def points_in_hand(states: np.ndarray, seat: int) -> np.ndarray:
    """Return the most points that a seat's hands could lay in one go, if it had opened: float64[B]."""
    batch = Batch.from_states(states.copy())
    batch.states["seat"] = seat
    batch.states["phase"] = PLAY
    batch.states["opened_turn"][:, seat] = 0
    batch.refresh()
    plans, room = np.zeros((PLANS, PLAN_WORDS), dtype=np.int64), new_room()
    counts = np.zeros(1, dtype=np.int64)
    points = np.zeros(len(batch))
    for i, seen in enumerate(batch.observations):
        solve_rows(
            np.asarray(seen).reshape(1), np.zeros(1, dtype=np.int64), hand_row(seen["hand"])[None], plans, room, counts
        )
        points[i] = plans[: counts[0], POINTS].max()
    return points


def test_search_is_legal_the_same_alone_and_blind_for_hidden_cards() -> None:
    agent = SearchAgent(worlds=8)
    batch = table(agents.make("planner"), 24, 8, Rules(players=3))
    for step in range(6):
        actions = agent.act(batch.observations, batch.masks, batch.keys)
        assert batch.masks[np.arange(8), actions].all()
        alone = [agent.act(batch.observations[[i]], batch.masks[[i]], batch.keys[[i]])[0] for i in range(8)]
        assert alone == actions.tolist()
        other = Batch.from_states(np.concatenate([determinize(seen, step) for seen in batch.observations]))
        assert (agent.act(other.observations, other.masks, batch.keys) == actions).all()
        batch.step(actions)


def test_search_plays_whole_rounds_by_other_rules() -> None:
    for rules in (
        Rules(players=4, opening_points=51),
        Rules(hand_size=1, hand_limit=2, opening_points=0, max_turns=30),
    ):
        batch = Batch(2, rules, seed=1, auto_reset=False)
        rows = np.arange(2)
        agent = SearchAgent(worlds=2)
        while rows.size:
            batch.step(agent.act(batch.observations[rows], batch.masks[rows], batch.keys[rows]), rows)
            rows = rows[~(batch.terminated | batch.truncated)[rows]]
