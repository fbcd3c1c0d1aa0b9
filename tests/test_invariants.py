"""What holds in every game: cards conserved, derived fields right, masks honest, seats alike, copies true."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_engine_vs_referee import choose, odd_rules
from tools import all_cards

from jolly_env import IllegalAction, Rules
from jolly_env.actions import ACTIONS
from jolly_env.cards import JOKER, PLACE_VALUE, SET_VALUE
from jolly_env.game import Game
from jolly_env.state import HISTORY, RUN, Phase

SEEDS = st.integers(0, 2**32 - 1)
PLAYERS = st.sampled_from([2, 3, 4])
EAGER = st.sampled_from([0.0, 0.6, 0.95])

BY_SEAT = (
    "totals", "scores", "opened_turn", "laid", "draws", "decisions", "hand_size", "ones", "twos", "known", "discarded",
    "recycled", "hands",
)  # fmt: skip
SEAT_NUMBERS = ("row_seats", "meld_seats", "history_seats")


def odd_game(seed: int, players: int) -> tuple[Game, random.Random]:
    """Return a game under odd rules."""
    rng = random.Random(seed)
    return Game(odd_rules(rng, players), seed=seed), rng


def advance(game: Game, rng: random.Random, eager: float, steps: int) -> None:
    """Play up to ``steps`` random actions."""
    for _ in range(steps):
        if game.phase >= Phase.ROUND_OVER:
            return
        game.step(choose(rng, game.legal_actions().tolist(), eager))


def check_fields(state: Any) -> None:
    """Work out from scratch what the state keeps for speed."""
    bits = 1 << np.arange(13)
    naturals = state["hands"][:, :JOKER].reshape(4, 4, 13)
    assert (state["ones"] == ((naturals >= 1) * bits).sum(axis=2)).all()
    assert (state["twos"] == ((naturals >= 2) * bits).sum(axis=2)).all()
    assert (state["hand_size"] == state["hands"].sum(axis=1)).all()
    stock = state["stock"][state["stock_top"] : state["stock_top"] + state["stock_size"]]
    assert (state["hidden"] == state["hands"].sum(axis=0) + np.bincount(stock, minlength=JOKER + 1)).all()
    assert (state["known"] <= state["hands"]).all() and (state["known"] >= 0).all()
    assert (state["recycled"] >= 0).all()
    laid = [0] * 4
    for m in range(int(state["meld_count"])):
        places = np.flatnonzero(state["meld_cards"][m] >= 0)
        run, low = state["meld_kind"][m] == RUN, int(state["meld_low"][m])
        assert len(places) == state["meld_size"][m] >= 3
        if run:
            assert places.tolist() == list(range(low, low + len(places)))
        jokers = 0
        for place in places:
            worth = PLACE_VALUE[place] if run else SET_VALUE[state["meld_base"][m]]
            laid[state["meld_seats"][m][place]] += worth
            jokers |= int(state["meld_cards"][m][place] == JOKER) << int(place)
        assert jokers == state["meld_jokers"][m] and jokers & jokers << 1 == 0
    assert laid == state["laid"].tolist()
    assert HISTORY <= state["history_end"] <= 2 * HISTORY


@settings(max_examples=150)
@given(SEEDS, PLAYERS, EAGER)
def test_cards_are_conserved_fields_are_right_and_rounds_end(seed: int, players: int, eager: float) -> None:
    """Also R7, and that a round ends: every turn plays a card or more, at most the hand and the table's jokers."""
    game, rng = odd_game(seed, players)
    pack = all_cards(game)
    steps = 0
    while game.phase < Phase.ROUND_OVER:
        advance(game, rng, eager, 1)
        steps += 1
        assert all_cards(game) == pack
        assert (game.state["hand_size"] <= game.rules.hand_limit).all()
        check_fields(game.state)
    assert steps <= 30 * game.rules.max_turns and not game.mask().any()
    held = [int(game.state["hand_size"][seat]) for seat in range(players)]
    assert (game.closer is not None) == (0 in held)


@settings(max_examples=40)
@given(SEEDS, PLAYERS, EAGER, st.integers(0, 150))
def test_the_mask_is_what_is_accepted(seed: int, players: int, eager: float, steps: int) -> None:
    game, rng = odd_game(seed, players)
    advance(game, rng, eager, steps)
    before, played, mask = game.states.tobytes(), list(game.played), game.mask()
    for action in (*range(ACTIONS), -1, ACTIONS, 10**30):
        assert game.is_legal(action) == (0 <= action < ACTIONS and mask[action] == 1)
        if not game.is_legal(action):
            with pytest.raises(IllegalAction):
                game.step(action)
    for action in (float("nan"), 0.5, None, "draw", float("inf"), np.nan):
        with pytest.raises(IllegalAction):
            game.step(action)  # type: ignore[arg-type]
    assert game.states.tobytes() == before and game.played == played
    for action in np.flatnonzero(mask):
        game.clone().step(int(action))
    assert game.states.tobytes() == before and game.played == played


def turned(states: np.ndarray, by: int, players: int) -> np.ndarray:
    """Return the states with every seat ``by`` further to the left."""
    out = states.copy()
    for name in BY_SEAT:
        out[name][:, :players] = np.roll(states[name][:, :players], by, axis=1)
    for name in SEAT_NUMBERS:
        out[name] = np.where(states[name] >= 0, (states[name] + by) % players, -1)
    out["seat"] = (states["seat"] + by) % players
    out["round"] += by
    out["closer"] = np.where(states["closer"] >= 0, (states["closer"] + by) % players, states["closer"])
    return out


@settings(max_examples=60)
@given(SEEDS, PLAYERS, EAGER)
def test_seats_are_alike(seed: int, players: int, eager: float) -> None:
    """The same hands one or more seats further, in a round begun there: the same game, turned."""
    game, rng = odd_game(seed, players)
    by = rng.randrange(1, players)
    other = game.clone()
    other.states[:] = turned(game.states, by, players)
    while game.phase < Phase.ROUND_OVER:
        action = choose(rng, game.legal_actions().tolist(), eager)
        game.step(action)
        other.step(action)
        assert turned(game.states, by, players).tobytes() == other.states.tobytes()


@settings(max_examples=60)
@given(SEEDS, PLAYERS, EAGER, st.integers(0, 120))
def test_copies_go_on_as_the_game_does(seed: int, players: int, eager: float, steps: int) -> None:
    """Clone, deepcopy, pickle and saved bytes in the middle of a turn, recyclings to come included."""
    game, rng = odd_game(seed, players)
    advance(game, rng, eager, steps)
    copies = [game.clone(), copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))]
    copies.append(Game.from_bytes(game.to_bytes()))
    while game.phase < Phase.ROUND_OVER:
        action = choose(rng, game.legal_actions().tolist(), eager)
        game.step(action)
        for other in copies:
            other.step(action)
    for other in copies:
        assert other.states.tobytes() == game.states.tobytes()
        assert (other.played, other.deck, other.reshuffles) == (game.played, game.deck, game.reshuffles)
        assert other.rules == game.rules


@settings(max_examples=60)
@given(SEEDS, PLAYERS, EAGER)
def test_a_round_can_be_dealt_and_recycled_again(seed: int, players: int, eager: float) -> None:
    """The deck and the reshuffles that a game logs replay it."""
    game, rng = odd_game(seed, players)
    actions = []
    while game.phase < Phase.ROUND_OVER:
        actions.append(choose(rng, game.legal_actions().tolist(), eager))
        game.step(actions[-1])
    again = Game(game.rules, seed=seed + 1, deck=game.deck, reshuffles=game.reshuffles)
    for action in actions:
        again.step(action)
    assert again.scores == game.scores and again.reshuffles == game.reshuffles
    for name in ("hands", "row_cards", "meld_cards", "known", "discarded", "recycled"):
        assert (again.state[name] == game.state[name]).all(), name


def test_a_clone_with_given_reshuffles_keeps_them_to_itself() -> None:
    rules = Rules(pack=[1] * 7 + [0] * 45, jokers=0, hand_size=2, recycle_keep=0)
    game = Game(rules, deck=list(range(7)), reshuffles=[[0, 6, 5]])
    for card in (0, 5):
        game.step(0)
        game.step(786 + card)
    other = Game.from_bytes(game.clone().to_bytes())
    for each in (game, other):
        each.step(0)
        each.step(786 + 6)
        assert each.stock() == [0, 6, 5] and each.reshuffles == [[0, 6, 5]]
    game.step(0)
    assert other.reshuffles == [[0, 6, 5]] and other.stock() == [0, 6, 5]


@pytest.mark.parametrize("place", [0, 5, 13, 15, 20, 200, 3000, -1])
def test_damaged_bytes_are_refused(place: int) -> None:
    data = bytearray(Game(seed=1).to_bytes())
    data[place] ^= 0x10
    for damaged in (bytes(data), bytes(data[:-3]), bytes(data[:20]), b""):
        with pytest.raises(ValueError, match="saved game"):
            Game.from_bytes(damaged)


@settings(max_examples=60)
@given(SEEDS)
def test_one_seed_one_game_another_seed_another(seed: int) -> None:
    """Both halves: a seed that is ignored would pass the first."""
    games = [Game(Rules(target=10**6, max_turns=40), seed=s) for s in (seed, seed, seed + 1)]
    first, same, other = games
    assert first.deck == same.deck and first.deck != other.deck
    for _ in range(3):
        for game in games:
            rng = random.Random(0)
            while game.phase < Phase.ROUND_OVER:
                game.step(rng.choice(game.legal_actions().tolist()))
            game.next_round()
        assert first.states.tobytes() == same.states.tobytes()
        assert first.deck == same.deck and first.deck != other.deck
    assert first.decision_key(0) == same.decision_key(0) != other.decision_key(0)


def test_decision_keys_differ_by_seat_decision_and_deal() -> None:
    game = Game(Rules(target=10**6, max_turns=30), seed=3)
    keys = set()
    count = 0
    for _ in range(5):
        while game.phase < Phase.ROUND_OVER:
            keys |= {game.decision_key(game.seat)}
            count += 1
            game.step(int(game.legal_actions()[-1]))
        game.next_round()
    assert len(keys) == count


def test_games_without_a_seed_differ() -> None:
    assert Game().deck != Game().deck


def test_put_on_top_changes_the_next_card_only() -> None:
    game = Game(seed=2)
    stock = game.stock()
    card = next(c for c in stock if c != stock[0])
    at = stock.index(card)
    game.put_on_top(card)
    assert game.stock() == [card, *stock[1:at], stock[0], *stock[at + 1 :]]
    game.step(0)
    assert game.state["hands"][0, card] > 0
    with pytest.raises(ValueError, match="not in the stock"):
        Game(Rules(jokers=0), seed=1).put_on_top(JOKER)
