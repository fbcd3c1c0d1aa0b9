"""The OpenSpiel game: its own tests, the engine beneath, chance, and what a seat is shown."""

import dataclasses
import math
from collections import defaultdict

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import cfr, external_sampling_mccfr, mcts
from open_spiel.python.observation import make_observation

from jolly_env import Rules
from jolly_env.agent import RandomAgent
from jolly_env.cards import CARD_KINDS, parse_card
from jolly_env.openspiel import NAME, AgentPolicy, load
from jolly_env.rules import TINY
from jolly_env.state import Ending

RULES = {
    "two": Rules(max_turns=40),
    "three": Rules(players=3, max_turns=30, opening_points=0),
    "four": Rules(players=4, max_turns=30),
    "rounds": Rules(target=100, max_rounds=3, max_turns=12, opening_points=10),
    "tiny": TINY,
}
SHORT = Rules(
    pack=tuple(2 if card in (1, 2, 3) else 0 for card in range(52)),
    jokers=1,
    hand_size=3,
    hand_limit=5,
    opening_points=0,
    recycle_keep=0,
    max_turns=2,
)


def played(game, seed):
    """Return the states of a random game, the last one over."""
    rng = np.random.default_rng(seed)
    state = game.new_initial_state()
    states = [state]
    while not state.is_terminal():
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            action = rng.choice(actions, p=chances)
        else:
            action = rng.choice(state.legal_actions())
        state = state.child(int(action))
        states.append(state)
    return states


@pytest.mark.parametrize("name", RULES)
def test_passes_openspiels_simulation_test(name):
    pyspiel.random_sim_test(load(RULES[name]), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("name", RULES)
def test_is_loaded_from_its_name_with_the_same_rules(name):
    game = pyspiel.load_game(str(load(RULES[name])))
    assert game.rules == RULES[name]
    assert game.num_players() == RULES[name].players


@pytest.mark.parametrize("name", RULES)
def test_returns_are_the_engines_margins_and_sum_to_zero(name):
    states = played(load(RULES[name]), seed=3)
    totals = states[-1].table.totals
    others = [np.mean([t for i, t in enumerate(totals) if i != seat]) for seat in range(len(totals))]
    assert states[-1].returns() == pytest.approx(
        [(own - other) / 100 for own, other in zip(totals, others, strict=True)]
    )
    assert sum(states[-1].returns()) == pytest.approx(0)
    game = states[-1].get_game()
    assert max(np.abs(states[-1].returns())) <= game.max_utility() == -game.min_utility()
    assert len([s for s in states if s.is_player_node()]) <= game.max_game_length()


def test_plays_all_rounds_of_a_game():
    rules = RULES["rounds"]
    ends = [played(load(rules), seed)[-1].table for seed in range(3)]
    assert all(len(table.finished) + 1 == rules.max_rounds or max(table.totals) >= rules.target for table in ends)
    assert max(len(table.finished) for table in ends) > 0


def test_legal_actions_are_the_engines():
    for state in played(load(RULES["three"]), seed=1):
        if state.is_player_node():
            assert state.legal_actions() == state.table.legal_actions().tolist()
            assert state.current_player() == state.table.seat


def deals(state, chance=1.0):
    """Yield all that chance can deal, and how likely it is."""
    if not state.is_chance_node():
        yield state, chance
        return
    for card, probability in state.chance_outcomes():
        yield from deals(state.child(card), chance * probability)


def test_hands_are_dealt_as_often_as_by_shuffling():
    game = load(SHORT)
    counts = SHORT.counts().astype(int)
    total, seen = 0.0, set()
    for state, chance in deals(game.new_initial_state()):
        hands = state.table.state["hands"].astype(int)
        left, ways = counts.copy(), 1
        for seat in range(2):
            ways *= math.prod(math.comb(int(left[c]), int(hands[seat, c])) for c in range(CARD_KINDS))
            left = left - hands[seat]
        everything = math.comb(int(counts.sum()), 3) * math.comb(int(counts.sum()) - 3, 3)
        assert chance == pytest.approx(ways / everything)
        seen.add(hands.tobytes())
        total += chance
    assert total == pytest.approx(1)
    assert len(seen) == 37


def test_a_draw_comes_from_the_stock_by_its_counts():
    for state in played(load(RULES["two"]), seed=5):
        if state.is_chance_node() and "draws" not in str(state) and not str(state).startswith("dealt"):
            stock = state.table.stock()
            assert dict(state.chance_outcomes()) == pytest.approx({c: stock.count(c) / len(stock) for c in set(stock)})
            card = state.chance_outcomes()[0][0]
            before = state.table.state["hands"][state.table.seat, card]
            assert state.child(card).table.state["hands"][state.table.seat, card] == before + 1


def test_a_stock_that_is_made_of_the_row_is_drawn_by_chance():
    rules = dataclasses.replace(SHORT, max_turns=30, opening_points=200)
    state = played(load(rules), seed=0)[-1]
    assert state.table.state["recycles"] > 1
    assert state.table.ending == Ending.CUT_OFF


def test_a_state_of_information_is_what_a_seat_has_seen():
    """States are told apart by it exactly if they differ in own cards, own draws or public actions."""
    game = load(SHORT)
    known, by_string = defaultdict(set), defaultdict(set)

    def walk(state, hands, events):
        if state.is_terminal():
            return
        if state.is_player_node():
            seat = state.current_player()
            own = tuple((a, c if s == seat else None) for s, a, c in events)
            known[seat, hands[seat], own].add(state.information_state_string())
            by_string[seat, state.information_state_string()].add((hands[seat], own))
        drawing = state.is_chance_node() and hands is not None
        for action in [a for a, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions():
            child = state.child(action)
            if hands is None and not child.is_chance_node():
                dealt = child.table.state["hands"]
                walk(child, [dealt[0].tobytes(), dealt[1].tobytes()], ())
            elif hands is None:
                walk(child, None, events)
            elif drawing:
                walk(child, hands, (*events, (state.table.seat, 0, action)))
            elif action == 0:
                walk(child, hands, events)
            else:
                walk(child, hands, (*events, (state.current_player(), action, None)))

    walk(game.new_initial_state(), None, ())
    assert len(known) == len(by_string) == 274
    assert all(len(strings) == 1 for strings in known.values())
    assert all(len(views) == 1 for views in by_string.values())


def test_others_do_not_see_what_is_drawn():
    for state in played(load(RULES["three"]), seed=2):
        if not state.is_chance_node() or str(state).startswith("dealt"):
            continue
        one, two = (state.child(card) for card, _ in (state.chance_outcomes()[0], state.chance_outcomes()[-1]))
        mover = state.table.seat
        for seat in range(3):
            same = one.information_state_string(seat) == two.information_state_string(seat)
            assert same == (seat != mover or str(one) == str(two))
            assert seat == mover or one.observation_string(seat) == two.observation_string(seat)


def test_the_observer_shows_the_record():
    observer = make_observation(load(RULES["four"]))
    state = played(load(RULES["four"]), seed=4)[-10]
    for seat in range(4):
        observer.set_from(state, seat)
        expected = state.table.observe(seat).view(np.int16).astype(np.float32)
        assert np.array_equal(observer.tensor, expected)
        assert observer.string_from(state, seat) == state.observation_string(seat)


def test_before_the_deal_nobody_sees_anything():
    state = load(TINY).new_initial_state()
    observer = make_observation(load(TINY))
    observer.set_from(state, 0)
    assert not observer.tensor.any()
    assert state.information_state_string(1) == ""
    assert state.returns() == [0, 0]
    with pytest.raises(ValueError, match="chance is dealing"):
        _ = state.table


def test_a_child_leaves_its_parent_as_it_was():
    states = played(load(TINY), seed=7)
    shown = [str(state) for state in states]
    for state in states[:-1]:
        for action in state.legal_actions():
            state.child(action)
    assert [str(state) for state in states] == shown


def test_wrong_rules_are_refused_as_rules_refuses_them():
    with pytest.raises(ValueError, match="hand_size=60"):
        pyspiel.load_game(f"{NAME}(hand_size=60)")
    with pytest.raises(ValueError, match="2x"):
        pyspiel.load_game(f"{NAME}(pack=2c2x)")


def test_an_agent_is_a_policy():
    game = load(RULES["two"])
    policy = AgentPolicy(game, RandomAgent())
    state = next(s for s in played(game, seed=1) if s.is_player_node() and len(s.legal_actions()) > 2)
    played_how = policy.action_probabilities(state)
    assert list(played_how) == state.legal_actions()
    assert sum(played_how.values()) == pytest.approx(1)


def test_tabular_solvers_run_on_it():
    game = load(SHORT)
    solver = cfr.CFRSolver(game)
    gaps = []
    for _ in range(5):
        solver.evaluate_and_update_policy()
        gaps.append(pyspiel.exploitability(game, _tabular(solver.average_policy())))
    assert gaps[-1] < 0.3 * gaps[0]
    external_sampling_mccfr.ExternalSamplingSolver(game).iteration()


def _tabular(policy):
    return pyspiel.TabularPolicy({key: [(a, p) for a, p in enumerate(row) if p > 0] for key, row in _rows(policy)})


def _rows(policy):
    return ((key, policy.action_probability_array[index]) for key, index in policy.state_lookup.items())


def test_a_search_and_the_learners_environment_run_on_it():
    game = load(RULES["two"])
    state = next(s for s in played(game, seed=0) if s.is_player_node())
    bot = mcts.MCTSBot(game, 2.0, 4, mcts.RandomRolloutEvaluator(1, np.random.RandomState(0)))
    assert bot.step(state) in state.legal_actions()
    env = rl_environment.Environment(game, observation_type=rl_environment.ObservationType.OBSERVATION)
    step = env.reset()
    while not step.last():
        player = step.observations["current_player"]
        step = env.step([step.observations["legal_actions"][player][0]])
    assert sum(step.rewards) == pytest.approx(0)


def test_cards_are_named_in_chance_nodes():
    state = load(TINY).new_initial_state()
    assert [state.action_to_string(state.current_player(), parse_card(c)) for c in ("2c", "*")] == ["2c", "*"]
