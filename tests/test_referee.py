"""The referee against the golden rounds, and against hands whose answer is seen by eye.

Notation as in contract.md: `Ac 2d Th Ks`, joker `*`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from referee import DEFAULTS, Referee
from referee_melds import (
    BASES,
    DISCARD,
    JOKER,
    LAY_RUN,
    LAY_SET,
    MELD_ACTIONS,
    RUN_ABOVE,
    RUN_JOKER_ABOVE,
    RUN_JOKER_BELOW,
    RUN_SWAP,
    SET_JOKER,
    SET_SWAP,
    STOCK,
    TABLE,
    TABLE_MELDS,
    Form,
    OpeningSearch,
    RunMeld,
    SetMeld,
    hand_value,
    has,
    without,
)

SPADES = 3
GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "data" / "rounds.jsonl").read_text().splitlines()]


def cards(text: str) -> list[int]:
    """`"Ac Td *"` as card numbers."""
    ranks, suits = "A23456789TJQK", "cdhs"
    return [JOKER if t == "*" else 13 * suits.index(t[1]) + ranks.index(t[0]) for t in text.split()]


def pack(jokers: int = 6) -> list[int]:
    return [card for card in range(52) for _ in range(2)] + [JOKER] * jokers


def dealt(*hands: str, stock: str = "", **rules: int) -> Referee:
    """A round with these first cards in each hand and on the stock, the rest from the low end."""
    rules = {"players": len(hands), **rules}
    size = rules.get("hand_size", DEFAULTS["hand_size"])
    named = [cards(hand) for hand in hands]
    left = Counter(pack(rules.get("jokers", DEFAULTS["jokers"])))
    left.subtract(cards(stock) + [card for hand in named for card in hand])
    assert min(left.values()) >= 0
    rest = sorted(left.elements())
    for hand in named:
        while len(hand) < size:
            hand.append(rest.pop(0))
    return Referee(rules, [card for hand in named for card in hand] + cards(stock) + rest)


def base(text: str) -> int:
    """The action that lays this base meld; a run is named from low to high."""
    laid = cards(text)
    naturals = [card for card in laid if card != JOKER]
    runs = len({card // 13 for card in naturals}) == 1
    for action, found in BASES.items():
        if runs and action >= LAY_RUN and list(found.cards) == laid:
            return action
        if not runs and action < LAY_RUN and sorted(found.cards) == sorted(laid):
            return action
    raise AssertionError(f"no base meld: {text}")


def discard(text: str) -> int:
    return DISCARD + cards(text)[0]


def at(meld: int, k: int) -> int:
    return TABLE + MELD_ACTIONS * meld + k


def naive(hand: tuple[int, ...], melds: list[Form], need: int) -> bool:
    """R8 without a bound, a memory or an order: every play from here, and from there on."""
    if need <= 0:
        return True
    for found in BASES.values():
        if len(hand) > 3 and has(hand, found.cards):
            left = without(hand, found.cards)
            if naive(left, [*melds, found.form], need - sum(found.values)):
                return True
    for i, meld in enumerate(melds):
        for extension in meld.extensions():
            if len(hand) > 1 and extension.card in hand:
                after = [*melds[:i], extension.after, *melds[i + 1 :]]
                left = without(hand, (extension.card,))
                if naive(left, after, need - extension.value):
                    return True
    return False


# --- the golden rounds -------------------------------------------------------------------------


@pytest.mark.parametrize("line", range(len(GOLDEN)))
def test_golden_round(line: int) -> None:
    golden = GOLDEN[line]
    rules = {**golden["rules"], "players": golden["players"]}
    referee = Referee(rules, golden["deck"], golden["reshuffles"])
    steps = zip(golden["seats"], golden["actions"], golden["legal"], strict=True)
    for step, (seat, action, legal) in enumerate(steps):
        assert not referee.over
        assert referee.seat == seat, f"step {step}"
        assert referee.legal() == legal, f"step {step}"
        referee.apply(action)
    assert referee.over and referee.legal() == []
    assert referee.scores == golden["scores"]
    assert referee.closer == golden["closer"]
    assert referee.hand_jolly == golden["hand_jolly"]
    assert referee.recycles == len(golden["reshuffles"])
    assert referee.ending in golden["events"]


# --- the numbers of contract.md ----------------------------------------------------------------


def test_base_melds_are_numbered_as_in_the_contract() -> None:
    assert sorted(BASES) == list(range(LAY_SET, TABLE))
    assert TABLE + MELD_ACTIONS * TABLE_MELDS == DISCARD
    assert base("Ad Ah As") == 20
    assert base("Ac Ad *") == 24
    assert base("Kh Ks *") == 149
    assert base("Ac 2c 3c") == 150
    assert base("* Ks *") == 150 + 60 * 3 + 5 * 11 + 4


# --- R8 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "most", "why"),
    [
        ("Kc Kd Kh 2c", 30, "one set, and the two is left"),
        ("Kc Kd Kh", 0, "a lay must leave a card"),
        ("Kc Kd Kh Ks", 30, "the fourth king is the card that must be left"),
        ("Kc Kd Kh Ks 2c", 40, "the fourth king is attached"),
        ("Kc Kd Kh * 2c", 40, "the joker is attached for the fourth king"),
        ("Kc Kd Kh * *", 40, "one joker only in a set, no other meld for the second"),
        ("Ac 2c 3c 9d", 6, "the ace is 1 below the two"),
        ("Qc Kc Ac 9d", 30, "the ace is 10 above the king"),
        ("Ac Ad Ah 2c 3c 9d", 75, "three aces rather than A-2-3"),
        ("Kc Ac 2c 3d", 0, "not around the corner"),
        ("* 5c * 2d", 15, "4-5-6 with a joker at each end"),
        ("* Kc * 2d", 30, "Q-K-A with a joker at each end"),
        ("5c * * 6c 2d", 22, "joker 5 6 joker"),
        ("6c * * Tc 2d", 29, "no 7 8 9 of jokers between, but 9 10 J with two jokers"),
        ("6c * 8c * Tc 2d", 40, "6 joker 8 joker 10"),
        ("6c 7c 8c 8c 8d 8h 2s", 45, "the second 8 of clubs makes the set as well"),
        ("6c 7c 8c 8d 8h 2s", 24, "the one 8 of clubs is in the set or in the run, not in both"),
        ("6c 7c 8c * 8d 8h", 32, "three eights and the joker beat 6 7 8 and the joker"),
    ],
)
def test_r8_the_most_that_a_hand_can_open_with(hand: str, most: int, why: str) -> None:
    held = tuple(cards(hand))
    search = OpeningSearch()
    reached = [need for need in range(1, 120) if search.reachable(held, [], need)]
    assert reached == list(range(1, most + 1)), why


def test_r8_counts_what_can_be_added_to_melds_of_the_turn() -> None:
    nine_high = RunMeld(suit=0, low=6, high=8, joker_low=False, joker_high=False)
    three_kings = SetMeld(rank=12, suits=(0, 1, 2), joker=False)
    search = OpeningSearch()
    assert search.reachable(cards("Tc Jc 2d"), [nine_high], 20)
    assert not search.reachable(cards("Jc Qc 2d"), [nine_high], 1)  # the ten is missing
    assert search.reachable(cards("* Jc 2d"), [nine_high], 20)  # the joker is the ten
    assert not search.reachable(cards("Ks"), [three_kings], 1)  # the last card must be left
    assert search.reachable(cards("Ks Ks"), [three_kings], 10)
    assert not search.reachable(cards("Ks * 2c"), [three_kings], 11)  # one or the other


@pytest.mark.parametrize("seed", range(60))
def test_r8_search_agrees_with_a_naive_one(seed: int) -> None:
    rng = random.Random(seed)
    few = [card for card in pack(0) if card % 13 in (0, 1, 2, 11, 12) and card < 39]
    hand = tuple(rng.sample(few, 7) + [JOKER] * (seed % 4))[: 9 if seed % 4 < 2 else 8]
    melds: list[Form] = [RunMeld(0, 9, 11, False, False)] if seed % 2 else []
    search = OpeningSearch()
    for need in range(1, 140, 3):
        assert search.reachable(hand, melds, need) == naive(hand, melds, need), (hand, need)


def test_r8_a_play_that_spoils_the_opening_is_illegal() -> None:
    """Kings and A-2-3 make 36; after Q-K-A there are 30, and two kings are no meld."""
    referee = dealt("Qc Kc Ac Kd Kh 2c 3c", "", stock="9s", hand_size=7, opening_points=36)
    referee.apply(STOCK)
    lays = [action for action in referee.legal() if action < DISCARD]
    assert lays == sorted([base("Kc Kd Kh"), base("Ac 2c 3c")])


def test_r8_the_opening_must_leave_a_card_and_not_opening_is_allowed() -> None:
    referee = dealt("Kc Kd Kh 5s 6s", "", stock="7s 2d", hand_size=5)
    referee.apply(STOCK)
    held = cards("Kc Kd Kh 5s 6s 7s")  # two melds worth 48, and no card for the discard
    assert referee.legal() == sorted(DISCARD + card for card in held)


def test_r8_only_melds_of_this_turn_until_it_is_reached_then_all() -> None:
    """Seat 1 may attach to seat 0's kings, and swap its joker, only after 40 of its own."""
    referee = dealt("Kc Kd Kh * 2h 4h", "Qc Qd Qh Jd Qs Ks", stock="4d 6d", hand_size=6, opening_points=40)
    for action in (STOCK, base("Kc Kd Kh"), at(0, SET_JOKER), discard("2h"), STOCK):
        referee.apply(action)
    assert at(0, SET_SWAP) not in referee.legal()
    referee.apply(base("Qc Qd Qh"))
    assert referee.legal() == [at(1, SPADES)]  # the queen of spades, and no discard
    referee.apply(at(1, SPADES))
    assert referee.opened_turn == [0, 1]
    assert referee.legal() == sorted([at(0, SET_SWAP), *map(discard, ("Jd", "Ks", "6d"))])
    referee.apply(at(0, SET_SWAP))
    assert referee.known[1] == Counter([JOKER])
    assert sorted(referee.hands[1]) == sorted(cards("Jd 6d *"))
    assert referee.melds[0].seats == [0, 0, 0, 1]


def test_r8_with_no_points_needed_something_must_still_be_laid() -> None:
    referee = dealt("2c 3c 4c 9d", "", stock="9h", hand_size=4, opening_points=0)
    referee.apply(STOCK)
    assert referee.opened_turn == [None, None]
    referee.apply(base("2c 3c 4c"))
    assert referee.opened_turn == [0, None]
    assert referee.legal() == sorted([discard("9d"), discard("9h")])


# --- other clauses -----------------------------------------------------------------------------


def test_r10_swap_with_one_card_in_hand_and_r14_it_counts_for_the_swapper() -> None:
    referee = dealt("5c 6c 8c 7c", "2h 2d 2s 9h", stock="*", hand_size=4, opening_points=0)
    for action in (STOCK, base("5c 6c *"), at(0, RUN_ABOVE), discard("7c")):
        referee.apply(action)
    assert referee.closer == 0 and referee.hand_jolly and referee.ending == "closed"
    assert referee.scores[0] == 2 * (5 + 6 + 7 + 8 + 30)
    assert referee.scores[1] == -2 * (2 + 2 + 2 + 9)
    again = dealt("5c 6c 8c 7c", "2h 2d 2s 9h", stock="*", hand_size=4, opening_points=0)
    for action in (STOCK, base("5c 6c *"), at(0, RUN_ABOVE), at(0, RUN_SWAP)):
        again.apply(action)
    assert again.hands[0] == [JOKER] and again.known[0] == Counter([JOKER])
    assert again.legal() == [discard("*")]


def test_r5_no_joker_beside_a_joker() -> None:
    referee = dealt("5c * * 2h", "", stock="9s", hand_size=4, opening_points=0)
    referee.apply(STOCK)
    referee.apply(base("* 5c *"))
    assert referee.legal() == sorted([discard("2h"), discard("9s")])
    other = dealt("5c 6c * *", "", stock="9s", hand_size=4, opening_points=0)
    other.apply(STOCK)
    other.apply(base("5c 6c *"))
    assert at(0, RUN_JOKER_ABOVE) not in other.legal()
    assert at(0, RUN_JOKER_BELOW) in other.legal()


def test_r6_r7_only_who_has_opened_takes_from_the_row_and_not_beyond_the_limit() -> None:
    rules = {"hand_size": 4, "hand_limit": 5, "opening_points": 0}
    referee = dealt("2c 3c 4c 9d", "Jd", stock="Th Kh 6h", **rules)
    for action in (STOCK, base("2c 3c 4c"), discard("Th")):
        referee.apply(action)
    assert referee.legal() == [STOCK]  # seat 1 has not opened
    for action in (STOCK, discard("Kh")):
        referee.apply(action)
    assert referee.row == [(cards("Th")[0], 0), (cards("Kh")[0], 1)]
    assert referee.legal() == [STOCK, 1, 2]
    referee.apply(2)
    assert referee.known[0] == Counter(cards("Th Kh")) and referee.row == []
    referee.apply(discard("Kh"))
    assert referee.known[0] == Counter(cards("Th"))
    assert referee.discarded[0] == Counter(cards("Th Kh"))


def test_r17_a_close_in_the_last_turn_is_a_close() -> None:
    rules = {"hand_size": 4, "opening_points": 0, "hand_jolly_factor": 1, "max_turns": 1}
    referee = dealt("5c 6c 7c 8c", "Ac Ad Ah *", stock="Qd", **rules)
    for action in (STOCK, base("5c 6c 7c"), at(0, RUN_ABOVE), discard("Qd")):
        referee.apply(action)
    assert (referee.ending, referee.scores) == ("closed", [26 + 30, -125])


@pytest.mark.parametrize(("max_turns", "ending"), [(2, "truncated"), (3, "exhausted")])
def test_r12_r17_a_cut_off_comes_before_the_lack_of_a_draw(max_turns: int, ending: str) -> None:
    few = [1] * 3 + [0] * 49
    rules = {"pack": few, "jokers": 3, "hand_size": 2, "recycle_keep": 2, "max_turns": max_turns}
    referee = Referee(rules, [0, 1, 2, 52, 52, 52])
    for action in (STOCK, DISCARD + 52, STOCK, DISCARD + 2):
        referee.apply(action)
    assert (referee.ending, referee.closer, referee.scores) == (ending, None, [-27, -100])


def test_r12_the_newest_are_kept_and_the_rest_become_the_stock() -> None:
    few = [1] * 3 + [0] * 49
    rules = {"pack": few, "jokers": 3, "hand_size": 2, "recycle_keep": 1}
    deck = [0, 1, 2, 52, 52, 52]
    referee = Referee(rules, deck, [[52]])
    for action in (STOCK, DISCARD + 52, STOCK, DISCARD + 2):
        referee.apply(action)
    assert (referee.stock, referee.row, referee.recycles) == ([52], [(2, 1)], 1)
    with pytest.raises(ValueError, match="reshuffle"):
        referee = Referee(rules, deck, [[2]])
        for action in (STOCK, DISCARD + 52, STOCK, DISCARD + 2):
            referee.apply(action)


def test_an_illegal_action_changes_nothing() -> None:
    referee = dealt("2c", "3c")
    for action in (-1, 1, DISCARD, 839):
        with pytest.raises(ValueError, match="illegal"):
            referee.apply(action)
    assert referee.legal() == [STOCK] and not referee.drawn


@pytest.mark.parametrize("seed", range(12))
def test_random_rounds_keep_every_card_and_end(seed: int) -> None:
    rng = random.Random(seed)
    rules = {
        "players": 2 + seed % 3,
        "hand_size": rng.choice([5, 13]),
        "hand_limit": rng.choice([14, 20]),
        "opening_points": rng.choice([0, 25, 40, 60]),
        "recycle_keep": rng.choice([0, 3]),
    }
    deck = rng.sample(pack(), 110)
    referee = Referee(rules, deck, starter=1, shuffle=lambda stock: rng.sample(stock, len(stock)))
    assert referee.seat == 1
    while not referee.over:
        referee.apply(rng.choice(referee.legal()))
        seen = referee.stock + [card for card, _ in referee.row]
        for group in referee.hands + [meld.cards for meld in referee.melds]:
            seen += group
        assert sorted(seen) == pack()
        for hand, known in zip(referee.hands, referee.known, strict=True):
            assert len(hand) <= rules["hand_limit"] and known <= Counter(hand)
    factor = rules.get("hand_jolly_factor", 2) if referee.hand_jolly else 1
    for seat, hand in enumerate(referee.hands):
        if seat != referee.closer:
            held = factor * sum(map(hand_value, hand))
            assert referee.scores[seat] == referee.laid_points(seat) - held
