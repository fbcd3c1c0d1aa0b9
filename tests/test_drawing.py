"""Cards, hands, melds and tables as SVG: what they show, what they hide, and that nothing lies on anything else."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from tools import meld_cards, position, row

from jolly_env import Rules
from jolly_env.cards import CARD_KINDS, RANKS, format_card, format_cards, parse_card
from jolly_env.determinize import determinize
from jolly_env.drawing import WIDTH, Drawing, draw_cards, draw_hand, draw_meld, draw_table
from jolly_env.game import Game
from jolly_env.observation import as_flat
from jolly_env.shapes import CARD_HEIGHT, CARD_WIDTH, RANKS_DRAWN, SUITS
from jolly_env.state import Phase

SVG = "{http://www.w3.org/2000/svg}"
PLACE = re.compile(r"translate\((\S+) (\S+)\)(?: scale\((\S+)\))?")

TABLE = {
    "hands": ["Ac Td *", "2s 9h"],
    "melds": [
        {"cards": "5h 6h *7h 8h", "seats": [0, 0, 0, 1]},
        {"cards": "Kc Kd Ks *", "seats": 1},
        {"cards": "Jc Jd *", "seats": 1},
    ],
    "row": "3c 4d",
    "known": ["", "9h"],
    "stock": "Qs ...",
}

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def parsed(drawing: Drawing) -> ET.Element:
    root = ET.fromstring(drawing.svg)
    assert root.tag == SVG + "svg"
    assert (root.get("width"), root.get("height")) == (str(drawing.width), str(drawing.height))
    return root


def cards_in(element: ET.Element) -> list[tuple[str, Box]]:
    """Return the cards drawn in an element, in order: name, empty for a back, and box."""
    found = []
    for group in element.iter(SVG + "g"):
        if group.get("class") == "card":
            place = PLACE.fullmatch(group.get("transform", ""))
            assert place
            x, y, scale = float(place[1]), float(place[2]), float(place[3] or 1)
            found.append((group.get("data-card", ""), (x, y, x + scale * CARD_WIDTH, y + scale * CARD_HEIGHT)))
    return found


def groups(root: ET.Element, name: str) -> list[ET.Element]:
    return [group for group in root.iter(SVG + "g") if group.get("class") == name]


def around(boxes: list[Box]) -> Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def apart(a: Box, b: Box) -> bool:
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def names(drawing: Drawing) -> list[str]:
    return [name for name, _ in cards_in(parsed(drawing))]


def words(drawing: Drawing) -> list[str]:
    return ["".join(element.itertext()) for element in parsed(drawing).iter(SVG + "text")]


def counted(cards: list[str]) -> np.ndarray:
    return np.bincount([parse_card(name) for name in cards], minlength=CARD_KINDS)


def check_table(drawing: Drawing, game: Game, shown: set[int]) -> None:
    """Check that a table holds all its cards, those of ``shown`` seats face up, and that nothing is on anything."""
    root = parsed(drawing)
    hands = {int(group.get("data-seat", "")): cards_in(group) for group in groups(root, "player")}
    assert set(hands) == set(range(game.players))
    for seat, drawn in hands.items():
        up = counted([name for name, _ in drawn if name])
        held = game.state["hands"][seat] if seat in shown else game.state["known"][seat]
        assert (up == held).all()
        assert len(drawn) == game.state["hand_size"][seat]
    melds = [cards_in(group) for group in groups(root, "meld")]
    assert len(melds) == game.state["meld_count"]
    for number, drawn in enumerate(melds):
        assert [name[:1] == "*" for name, _ in drawn] == [card == 52 for card in meld_cards(game, number)]
        assert [name for name, _ in drawn if name[0] != "*"] == [
            format_card(card) for card in meld_cards(game, number) if card != 52
        ]
    inside = {id(card) for group in groups(root, "meld") + groups(root, "player") for card in group.iter(SVG + "g")}
    outside = [card for group in groups(root, "card") if id(group) not in inside for card in cards_in(group)]
    assert [name for name, _ in outside if name] == [format_card(card) for card in row(game)]
    blocks = [around([box for _, box in drawn]) for drawn in [*melds, *hands.values()] if drawn]
    blocks += [box for name, box in outside[:1] if not name]
    lines = [box for name, box in outside if name]
    blocks += [around(lines)] if lines else []
    assert all(apart(a, b) for a, b in itertools.combinations(blocks, 2))
    assert all(b[0] >= 0 and b[1] >= 0 and b[2] <= drawing.width and b[3] <= drawing.height for b in blocks)


def test_a_table_by_example():
    game = Game.from_json(TABLE)
    whole, seen = draw_table(game), draw_table(game.observe(0))
    assert whole.width == seen.width == WIDTH
    melds = ["5h", "6h", "*7h", "8h", "Kc", "Kd", "Ks", "*Kh", "Jc", "Jd", "*"]
    assert names(whole) == ["", "", "", "3c", "4d", *melds, "Ac", "Td", "*", "9h", "2s"]
    assert names(seen) == ["", "", "", "3c", "4d", *melds, "Ac", "Td", "*", "9h", ""]
    assert "round 0 · turn 2 · player_0 to draw · stock 92 · row 2" in words(seen)
    assert {"player_0 moves", "player_1", "m0player_0", "m2player_1"} <= set(words(seen))
    assert {"3 cards, 85 points", "2 cards, 11 points"} <= set(words(whole))
    assert {"3 cards, 85 points", "2 cards, 1 known"} <= set(words(seen))
    assert "laid 18 · total 0 · opened in turn 0" in words(seen)


def test_a_card_laid_by_another_is_marked():
    root = parsed(draw_meld(Game.from_json(TABLE), 0))
    assert [[text.text for text in group.iter(SVG + "text")] for group in groups(root, "card")] == [[], [], [], ["1"]]


def test_an_opening_begun_shows_its_points_and_frames_its_new_melds():
    melds = [{"cards": "5h *6h 7h", "seats": 0, "turn": 0}]
    game = Game.from_json({"hands": ["Qc Qd Qh 2s", "3c"], "phase": "play", "melds": melds})
    drawing = draw_table(game.observe(1))
    assert any("18 of 40 points to open" in line for line in words(drawing))
    assert "Qc" not in names(drawing)
    frames = [len(list(groups(parsed(d), "meld")[0].findall(SVG + "rect"))) for d in (drawing, draw_table(TABLES[1]))]
    assert frames == [1, 0]


TABLES = [Game(Rules(players=3), seed=1), Game.from_json(TABLE)]


def test_records_arrays_of_one_and_flat_vectors_are_the_same_table():
    observation = Game(seed=1).observe(1)
    views = (observation, observation[0], as_flat(observation), as_flat(observation)[0])
    assert len({draw_table(view).svg for view in views}) == 1


@pytest.mark.parametrize("wrong", [None, 5, "Ac", TABLES[0].state, Game, np.zeros(3), np.zeros(3, np.int16), {}])
def test_what_is_no_table_is_named(wrong):
    for draw in (draw_table, lambda source: draw_meld(source, 0)):
        with pytest.raises(ValueError, match=r"^(table|observation): expected .* got (?s:.{1,80})$"):
            draw(wrong)


def test_two_observations_are_one_too_many():
    with pytest.raises(ValueError, match="expected one observation, got an array of 2"):
        draw_table(np.concatenate([TABLES[0].observe(0), TABLES[0].observe(1)]))


@pytest.mark.parametrize("number", [-1, 3, 1.0, None, "0"])
def test_a_meld_that_is_not_there_is_named(number):
    with pytest.raises(ValueError, match=rf"^meld {number!r}: the table has 3 melds, numbered from 0$"):
        draw_meld(TABLES[1], number)


def test_cards_by_number_and_in_notation():
    assert names(draw_cards("Ac 2d Th *")) == ["Ac", "2d", "Th", "*"]
    assert draw_cards([0, 14, 35, 52]).svg == draw_cards("Ac 2d Th *").svg
    assert draw_cards(np.array([0, 14])).svg == draw_cards(iter([0, 14])).svg
    assert names(draw_cards([])) == [] == names(draw_cards(""))
    everything = [*range(CARD_KINDS)] * 2
    drawn = cards_in(parsed(draw_cards(everything)))
    assert [name for name, _ in drawn] == format_cards(everything).split()
    assert all(apart(a, b) for (_, a), (_, b) in itertools.combinations(drawn, 2))
    for wrong in ("Ax", [53], [-1], 5, None, ["Ac"]):
        with pytest.raises(ValueError, match=r"^cards? "):
            draw_cards(wrong)


def test_each_card_shows_its_rank_and_its_suit():
    for number in range(CARD_KINDS - 1):
        svg = draw_cards([number]).svg
        assert [i for i, path in enumerate(RANKS_DRAWN) if f'"{path}"' in svg] == [number % RANKS]
        assert [i for i, path in enumerate(SUITS) if f'"{path}"' in svg] == [number // RANKS]


def test_a_hand_shows_each_card_as_often_as_it_is_held():
    chance = np.random.default_rng(0)
    for size in (0, 1, 13, 20, 60):
        counts = np.bincount(chance.integers(0, CARD_KINDS, size), minlength=CARD_KINDS)
        drawing = draw_hand(counts)
        assert (counted(names(drawing)) == counts).all()
        assert all(right <= drawing.width for _, (_, _, right, _) in cards_in(parsed(drawing)))
    assert words(draw_hand(TABLES[1].state["hands"][0])) == ["3 cards, 85 points"]
    assert words(draw_hand(np.eye(CARD_KINDS, dtype=int)[1])) == ["1 card, 2 points"]


@pytest.mark.parametrize("wrong", [None, "Ac", [1, 2], np.zeros(52, int), np.zeros(53), np.full(53, -1)])
def test_what_is_no_hand_is_named(wrong):
    with pytest.raises(ValueError, match=r"^hand: expected counts by card"):
        draw_hand(wrong)


@pytest.mark.parametrize("seed", range(6))
def test_every_table_is_whole_and_shows_no_more_than_a_seat_knows(seed):
    chance = random.Random(seed)
    rules = Rules(players=2 + seed % 3, target=400, hand_size=[13, 19][seed % 2], max_rounds=4)
    game = Game(rules, seed=seed)
    step = 0
    while not game.over:
        if game.phase is Phase.ROUND_OVER:
            game.next_round()
        legal = game.legal_actions().tolist()
        lays = [a for a in legal if 20 <= a < 786]
        game.step(chance.choice(lays if lays and chance.random() < 0.5 else legal))
        step += 1
        check_table(draw_table(game), game, set(range(game.players)))
        if step % 10 and not game.over:
            continue
        for seat in range(game.players):
            drawing = draw_table(game.observe(seat))
            check_table(drawing, game, {seat})
            hidden = Game.from_state(determinize(game.observe(seat)[0], step))
            assert draw_table(hidden.observe(seat)).svg == drawing.svg


def test_the_fullest_table_has_room():
    sets = [(" ".join(f"{rank}{suit}" for suit in suits), 0) for rank in "A23456789" for suits in ("cdh", "cds")]
    runs = [(f"T{suit} J{suit} Q{suit} K{suit}", "0123") for suit in "cdhs"] * 2
    game = position("2h 3h", "2s", "3s", "4s", melds=[*sets, *runs], row="4h 5h 5s 6h 6s 7h 7s 8h 8s", players=4)
    check_table(draw_table(game), game, {0, 1, 2, 3})
    # As many melds as there can be, and a row of nearly all cards.
    state = game.state
    state["meld_count"] = 36
    for number in range(26, 36):
        for field in ("meld_kind", "meld_base", "meld_low", "meld_size", "meld_cards", "meld_seats"):
            state[field][number] = state[field][number - 26]
    state["row_cards"][:104] = np.arange(104) % 52
    state["row_size"] = 104
    check_table(draw_table(game), game, {0, 1, 2, 3})


def test_a_round_that_is_over_shows_its_outcome_and_nobody_moves():
    melds = [{"cards": "Kc Kd Kh Ks", "seats": 0, "turn": 0}]
    game = Game.from_json({"hands": ["2s", "3c"], "phase": "play", "melds": melds})
    game.step(int(game.legal_actions()[0]))
    drawing = draw_table(game)
    assert "player_0 closed with a Hand-Jolly: player_0 +140, player_1 -6" in words(drawing)
    assert not any("moves" in line for line in words(drawing))
    assert "+140" not in draw_table(game.observe(0)).svg


def test_games_and_drawings_show_themselves_and_svg_is_saved(tmp_path: Path):
    game = TABLES[0]
    drawing = draw_table(game)
    assert game._repr_svg_() == drawing._repr_svg_() == str(drawing) == drawing.svg
    assert repr(drawing).startswith(f"<Drawing {WIDTH} x {drawing.height}: round 0, turn 0, player_0 to draw")
    drawing.save(tmp_path / "table.svg")
    assert (tmp_path / "table.svg").read_text() == drawing.svg
    for wrong in ("table.jpg", "table", None):
        with pytest.raises(ValueError, match=r"expected a file that ends with \.svg or \.png"):
            drawing.save(wrong)


def test_drawing_needs_no_library_of_pictures():
    code = (
        "import sys; from jolly_env.game import Game; Game(seed=1)._repr_svg_();"
        "print([m for m in ('PIL', 'matplotlib', 'resvg_py', 'imageio_ffmpeg') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
