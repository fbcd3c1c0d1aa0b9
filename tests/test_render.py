"""The table as text: what it shows, what it hides, and that it fits."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from jolly_env import Rules
from jolly_env.determinize import determinize
from jolly_env.game import Game
from jolly_env.observation import as_flat
from jolly_env.render import WIDTH, render_game, render_text
from jolly_env.state import Phase

ANSI = re.compile(r"\x1b\[\d*m")

TABLE = {
    "hands": ["Ac Td *", "2s 9h"],
    "melds": [{"cards": "5h 6h *7h 8h", "seats": [0, 0, 0, 1]}, {"cards": "Kc Kd Ks *", "seats": 1}],
    "row": "3c 4d",
    "known": ["", "9h"],
    "stock": "Qs ...",
}


def test_a_table_by_example():
    game = Game.from_json(TABLE)
    assert render_text(game.observe(0), colour=False).splitlines() == [
        "round 0  turn 2  player_0 to draw  stock 95  row 2",
        "  row       3♣ 4♦",
        "  m0  by 0  5♥ 6♥ *7♥ 8♥¹",
        "  m1  by 1  K♣ K♦ K♠ *",
        "> player_0   3 cards  laid   18  total     0  opened in turn 0",
        "  hand      A♣ T♦ *",
        "  player_1   2 cards  laid   48  total     0  opened in turn 1",
        "  known     9♥",
    ]
    lines = render_game(game, colour=False).splitlines()
    assert "  hand      9♥ 2♠" in lines
    assert any(line.startswith("  stock     Q♠ ") for line in lines)


def test_hearts_and_diamonds_are_red_and_nothing_is_coloured_without_colours():
    observation = Game.from_json(TABLE).observe(0)
    coloured = render_text(observation)
    assert "\x1b[31m*7♥\x1b[0m" in coloured and "\x1b[31mT♦\x1b[0m" in coloured
    assert "\x1b[31mA♣" not in coloured and "\x1b[31mK♠" not in coloured
    assert ANSI.sub("", coloured) == render_text(observation, colour=False)


def test_an_opening_begun_shows_its_points_and_its_new_melds():
    melds = [{"cards": "5h *6h 7h", "seats": 0, "turn": 0}]
    game = Game.from_json({"hands": ["Qc Qd Qh 2s", "3c"], "phase": "play", "melds": melds})
    text = render_text(game.observe(1), colour=False)
    assert "18 of 40 points to open" in text
    assert "m0  by 0  5♥ *6♥ 7♥  new" in text
    assert "> player_0   4 cards" in text and "Q♣" not in text


def test_records_arrays_of_one_and_flat_vectors_are_the_same_table():
    observation = Game(seed=1).observe(1)
    texts = {render_text(o) for o in (observation, observation[0], as_flat(observation), as_flat(observation)[0])}
    assert len(texts) == 1
    for wrong in (np.zeros(3), np.concatenate([observation, observation])):
        with pytest.raises(ValueError, match="observation"):
            render_text(wrong)


@pytest.mark.parametrize("wrong", [None, 5, "x", Game(seed=1).state, Game])
def test_only_a_game_is_a_whole_table(wrong):
    with pytest.raises(ValueError, match=r"^game: expected a jolly_env\.Game, got "):
        render_game(wrong)


@pytest.mark.parametrize("seed", range(6))
def test_every_table_fits_and_shows_no_more_than_a_seat_knows(seed):
    chance = random.Random(seed)
    rules = Rules(players=2 + seed % 3, target=400, hand_size=[13, 19][seed % 2])
    game = Game(rules, seed=seed)
    step = 0
    while not game.over:
        if game.phase is Phase.ROUND_OVER:
            game.next_round()
        legal = game.legal_actions().tolist()
        lays = [a for a in legal if 20 <= a < 786]
        game.step(chance.choice(lays if lays and chance.random() < 0.5 else legal))
        step += 1
        if step % 10 and not game.over:
            continue
        for seat in range(game.players):
            text = render_text(game.observe(seat))
            assert max(len(ANSI.sub("", line)) for line in text.splitlines()) <= WIDTH
            hidden = Game.from_state(determinize(game.observe(seat)[0], step))
            assert render_text(hidden.observe(seat)) == text
        everything = render_game(game)
        assert max(len(ANSI.sub("", line)) for line in everything.splitlines()) <= WIDTH


@pytest.mark.parametrize(
    ("rules", "last"),
    [
        (Rules(max_turns=1), r"cut off \(R17\): player_0 -\d+, player_1 -\d+"),
        (Rules(max_turns=1, target=9), r"cut off \(R17\): "),
    ],
)
def test_a_round_that_is_over_shows_its_outcome(rules, last):
    game = Game(rules, seed=1)
    game.step(0)
    game.step(int(game.legal_actions()[-1]))
    assert re.match(last, render_game(game, colour=False).splitlines()[-1])


def test_a_closed_round_names_the_closer():
    melds = [{"cards": "Kc Kd Kh Ks", "seats": 0, "turn": 0}]
    game = Game.from_json({"hands": ["2s", "3c"], "phase": "play", "melds": melds})
    game.step(int(game.legal_actions()[0]))
    lines = render_game(game, colour=False).splitlines()
    assert lines[-1] == "player_0 closed with a Hand-Jolly: player_0 +140, player_1 -6"
    assert "game over" in lines[0]
    assert "  hand      -" in lines
