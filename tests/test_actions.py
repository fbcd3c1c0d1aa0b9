"""The 839 actions and the melds in notation: every number there and back, and what is not notation."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jolly_env import actions as act
from jolly_env.actions import ACTIONS, Kind, base_cards, decode, encode, format_action, meld_action_card, parse_action
from jolly_env.cards import CARD_KINDS, JOKER, format_card, format_cards, parse_card, parse_cards
from jolly_env.notation import format_meld, meld_slots, parse_meld
from jolly_env.state import STATE, MeldKind


def table(*melds: str) -> np.ndarray:
    """A state's record with these melds on the table."""
    state = np.zeros(1, dtype=STATE)
    state["meld_cards"] = -1
    for m, text in enumerate(melds):
        meld = parse_meld(text)
        state["meld_kind"][0, m], state["meld_base"][0, m], state["meld_low"][0, m] = meld.kind, meld.base, meld.low
        state["meld_size"][0, m] = len(meld.cards)
        for card, slot in zip(meld.cards, meld.slots, strict=True):
            state["meld_cards"][0, m, slot] = card
            state["meld_jokers"][0, m] |= (card == JOKER) << slot
    state["meld_count"] = len(melds)
    return state[0]


def test_every_card_is_its_name_read_back():
    names = [format_card(card) for card in range(CARD_KINDS)]
    assert [parse_card(name) for name in names] == list(range(CARD_KINDS))
    assert len(set(names)) == CARD_KINDS
    assert parse_cards(format_cards(range(CARD_KINDS))) == list(range(CARD_KINDS))


@pytest.mark.parametrize("text", ["", "A", "Ax", "1c", "10c", "ac", "AC", "**", " Ac"])
def test_other_texts_are_no_cards(text):
    with pytest.raises(ValueError, match="expected a rank"):
        parse_card(text)


@pytest.mark.parametrize("number", [-1, 53])
def test_other_numbers_are_no_cards(number):
    with pytest.raises(ValueError, match="0 to 52"):
        format_card(number)


@pytest.mark.parametrize("cards", [None, 5, [None], [0.5], ["Ac"], [53], "Ac"])
def test_only_numbers_of_cards_have_names(cards):
    with pytest.raises(ValueError, match=r"expected a list of cards|a card is a number from 0 to 52"):
        format_cards(cards)


def test_every_action_is_put_together_as_it_was_taken_apart():
    assert [encode(decode(action)) for action in range(ACTIONS)] == list(range(ACTIONS))
    assert len({decode(action) for action in range(ACTIONS)}) == ACTIONS == 839


def test_the_bases_are_those_of_the_contract():
    kinds = [decode(action).kind for action in range(ACTIONS)]
    assert [kinds.index(kind) for kind in Kind] == [0, 1, 20, 150, 390, 786]
    assert [kinds.count(kind) for kind in Kind] == [1, 19, 130, 240, 36 * 11, 53]


@pytest.mark.parametrize("action", [-1, 839, 10**30])
def test_there_is_no_other_action(action):
    with pytest.raises(ValueError, match="0 to 838"):
        decode(action)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (0, "draw"),
        (3, "take 3"),
        (20 + 10 * 12, "lay Kd Kh Ks"),
        (20 + 10 * 12 + 4, "lay Kc Kd *"),
        (20 + 10 * 12 + 9, "lay Kh Ks *"),
        (150, "lay Ac 2c 3c"),
        (150 + 60 * 2 + 5 * 3 + 2, "lay 4h * 6h"),
        (150 + 60 * 3 + 5 * 11 + 4, "lay * Ks *"),
        (150 + 60 * 3 + 5 * 11, "lay Qs Ks As"),
        (786 + 52, "discard *"),
        (786 + 13 * 2 + 9, "discard Th"),
    ],
)
def test_notation_by_example(action, text):
    assert format_action(action, table()) == text
    assert parse_action(text) == action


def test_every_action_without_a_meld_is_its_notation_read_back():
    empty = table()
    loose = [a for a in range(ACTIONS) if decode(a).kind is not Kind.MELD]
    texts = [format_action(a, empty) for a in loose]
    assert [parse_action(text) for text in texts] == loose
    assert len(set(texts)) == len(loose)


@pytest.mark.parametrize(
    ("meld", "expected"),
    [
        ("Kc Kd Kh", {0: "Kc", 1: "Kd", 2: "Kh", 3: "Ks", 4: "*", 5: "Ks"}),
        ("Kc Kd Kh *", {0: "Kc", 1: "Kd", 2: "Kh", 3: "Ks", 4: "*", 5: "Ks"}),
        ("5h *6h 7h *8h", {0: "4h", 1: "*", 2: "9h", 3: "*", 5: "6h", 6: "8h"}),
        ("Ah 2h 3h", {1: "*", 2: "4h", 3: "*"}),
        ("Qh Kh *Ah", {0: "Jh", 1: "*", 3: "*", 5: "Ah"}),
        (
            "*2s 3s *4s 5s *6s 7s *8s 9s *Ts Js *Qs",
            {
                **{0: "As", 1: "*", 2: "Ks", 3: "*"},
                **dict(zip(range(5, 11), ["2s", "4s", "6s", "8s", "Ts", "Qs"], strict=True)),
            },
        ),
    ],
)
def test_every_action_at_a_meld_is_its_notation_read_back(meld, expected):
    for m in (0, 7, 35):
        lying = table(*["Kc Kd Kh"] * m, meld)
        found = {}
        for k in range(act.MELD_FORMS):
            action = act.MELD + act.MELD_FORMS * m + k
            try:
                found[k] = format_card(meld_action_card(action, lying))
            except ValueError as error:
                assert f"m{m} has no such place" in str(error)
                with pytest.raises(ValueError, match="no such place"):
                    format_action(action, lying)
                continue
            assert parse_action(format_action(action, lying)) == action
        assert found == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "pass",
            "draw 1",
            "take",
            "take 0",
            "take 20",
            "take x",
            "lay",
            "lay Kc Kd",
            "lay Kd Kc Ks",
            "lay * * Kc",
        ),
        *("lay Kc Ac 2c", "discard", "discard 1c", "attach Kc", "attach Kc 0", "attach Kc m36", "attach Kc m-1"),
        *(
            "attach Kc m0 up",
            "attach Kc m0 low high",
            "swap 6h m2 1",
            "swap 6h m2 #0",
            "swap 6h m2 #7",
            "swap 6h m2 #x",
        ),
    ],
)
def test_other_texts_are_no_actions(text):
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        parse_action(text)


@given(st.text(alphabet="drawtkelyschpm0123456789 *#KQATc\n", max_size=30))
def test_whatever_is_read_is_an_action_or_a_value_error(text):
    try:
        assert 0 <= parse_action(text) < ACTIONS
    except ValueError as error:
        assert "\n" not in str(error)


MELDS = [
    ("Kc Kd Kh", "Kc Kd Kh"),
    ("Ks Kc *", "Kc Ks *"),
    ("* Ac Ad Ah", "Ac Ad Ah *"),
    ("Ac 2c 3c", "Ac 2c 3c"),
    ("Qd Kd Ad", "Qd Kd Ad"),
    ("* Kd *", "*Qd Kd *Ad"),
    ("*2h 3h *", "*2h 3h *4h"),
    ("5h 6h *7h 8h", "5h 6h *7h 8h"),
    ("* 2c 3c", "*Ac 2c 3c"),
    ("As 2s * 4s 5s 6s 7s 8s 9s Ts Js Qs Ks As", "As 2s *3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks As"),
    ("* Qs * As", "*Js Qs *Ks As"),
]


@pytest.mark.parametrize(("text", "written"), MELDS)
def test_a_meld_is_its_notation_read_back(text, written):
    lying = table(text)
    assert format_meld(lying, 0) == written
    again = parse_meld(written)
    assert sorted(again.slots) == meld_slots(lying, 0)
    assert again.kind == (MeldKind.SET if len({w[0] for w in written.replace("*", "").split()}) == 1 else MeldKind.RUN)


@pytest.mark.parametrize("action", range(act.LAY_SET, act.MELD))
def test_every_base_meld_is_a_meld(action):
    meld = parse_meld(format_cards(base_cards(action)))
    move = decode(action)
    assert (meld.kind == MeldKind.SET) == (move.kind is Kind.LAY_SET)
    assert (meld.base, meld.low) == (move.target, move.low)


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Kc Kd", "R3, R4"),
        ("", "R3, R4"),
        ("* * *", "R5"),
        ("Kc Kd Kh Ks *", "R3"),
        ("Kc Kd * *", "R3"),
        ("Kc Kc Kd", "R3"),
        ("Kc Kd *Kh", "'*'"),
        ("Kc Ac 2c", "R4"),
        ("Kc Ac *", "R4"),
        ("* Ah 2h", "R4"),
        ("5h 7h 8h", "R4"),
        ("7h 6h 5h", "R4"),
        ("5h *7h 7h", "R4"),
        ("5h 6h 7d", "R4"),
        ("6c 7c * * Tc", "R5"),
        ("5h 6h 1h", "expected a rank"),
    ],
)
def test_what_is_no_meld_says_which_clause_it_breaks(text, clause):
    with pytest.raises(ValueError, match=re.escape(clause)):
        parse_meld(text)


@given(st.lists(st.sampled_from([format_card(c) for c in range(CARD_KINDS)] + ["*5h", "*Kc", "*", "*"]), max_size=15))
def test_whatever_is_read_as_a_meld_is_one_or_a_value_error(words):
    try:
        meld = parse_meld(" ".join(words))
    except ValueError as error:
        assert "\n" not in str(error)
        return
    written = format_meld(table(" ".join(words)), 0)
    assert sorted(parse_meld(written).cards) == sorted(meld.cards)
