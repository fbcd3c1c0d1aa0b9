"""R1 to R11: cards, melds and a turn, a test or more for each clause and each **Reading**."""

from __future__ import annotations

from collections import Counter

import pytest
from tools import all_cards, cards, dealt, hand, legal, meld_cards, play, position, row

from jolly_env import IllegalAction, Rules
from jolly_env.actions import ACTIONS, LAY_RUN, LAY_SET, base_cards, parse_action
from jolly_env.cards import JOKER, RANK_CHARS, SUIT_CHARS, format_cards, parse_cards
from jolly_env.game import Game


def lays(game: Game) -> set[str]:
    """Return the legal lays without their verb."""
    return {name.removeprefix("lay ") for name in legal(game, "lay")}


# --- R1, R2: the pack and the deal ---------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("jokers", [0, 1, 6])
def test_r1_two_packs_and_jokers(players: int, jokers: int) -> None:
    game = Game(Rules(players=players, jokers=jokers), seed=1)
    assert all_cards(game) == Counter(dict.fromkeys(range(52), 2)) + Counter({JOKER: jokers})


def test_r1_a_pack_may_lack_cards() -> None:
    """Spades only, the ace once, and one joker: 26 cards."""
    pack = [0] * 39 + [1] + [2] * 12
    game = Game(Rules(pack=pack, jokers=1, hand_size=5), seed=1)
    assert all_cards(game) == Counter({39: 1, JOKER: 1, **dict.fromkeys(range(40, 52), 2)})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("players", 1), ("players", 5), ("jokers", -1), ("jokers", 7), ("hand_size", 0), ("hand_size", 20),
        ("hand_limit", 13), ("hand_limit", 21), ("opening_points", -1), ("recycle_keep", -1), ("closing_bonus", -1),
        ("hand_jolly_factor", 0), ("max_turns", 0), ("target", 0), ("max_rounds", 0), ("pack", [2] * 51),
        ("pack", [3] + [2] * 51), ("players", 2.5), ("jokers", True), ("target", float("nan")),
    ],
)  # fmt: skip
def test_r1_to_r18_values_out_of_range_are_named(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        Rules(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("size", [1, 13, 19])
def test_r2_each_is_dealt_a_hand_and_the_rest_is_the_stock(players: int, size: int) -> None:
    deck = [card for card in range(52) for _ in range(2)] + [JOKER] * 6
    game = Game(Rules(players=players, hand_size=size), deck=deck)
    for seat in range(players):
        assert hand(game, seat) == Counter(deck[seat * size : (seat + 1) * size])
    assert game.stock() == deck[players * size :]


def test_r2_one_card_must_be_left_for_the_stock() -> None:
    pack = [1] * 8 + [0] * 44
    assert Game(Rules(pack=pack, jokers=1, hand_size=4), seed=0).state["stock_size"] == 1
    with pytest.raises(ValueError, match="hand_size=4"):
        Rules(pack=pack, jokers=0, hand_size=4)


def test_r2_reading_no_card_is_turned_up() -> None:
    game = Game(seed=3)
    assert row(game) == [] and legal(game) == {"draw"}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_r2_reading_round_n_is_begun_by_seat_n(players: int) -> None:
    game = Game(Rules(players=players, target=1_000_000, max_turns=3), seed=5)
    for number in range(6):
        assert game.seat == number % players
        seats = []
        while game.phase < 2:
            seats.append(game.seat)
            play(game, "draw")
            game.step(int(game.legal_actions()[-1]))
        assert seats == [(number + turn) % players for turn in range(3)]
        game.next_round()


# --- R3, R4, R5: melds ---------------------------------------------------------------------------


def test_r3_every_base_set_and_nothing_else() -> None:
    """Four kings and a joker make every set of three kings; the second king of clubs adds none."""
    game = position("Kc Kc Kd Kh Ks * 2d", "3c")
    triples = {"Kd Kh Ks", "Kc Kh Ks", "Kc Kd Ks", "Kc Kd Kh"}
    pairs = {"Kc Kd *", "Kc Kh *", "Kc Ks *", "Kd Kh *", "Kd Ks *", "Kh Ks *"}
    assert {name for name in lays(game) if "K" in name} == triples | pairs


def test_r3_a_suit_twice_is_no_set() -> None:
    """Seen elsewhere: two clubs accepted, or not, by the order of the hand."""
    for cards_in_hand in ("9c 9c 9d 2s", "9c 9d 9c 2s", "9d 9c 9c 2s", "2s 9c 9d 9d"):
        assert lays(position(cards_in_hand, "3c")) == set()
    assert lays(position("9c 9c * 2s", "3c")) == set()


def test_r3_one_joker_at_most_in_a_set() -> None:
    """Two jokers and a king are a run, Q K A, but no set; and a second joker can't be attached to one."""
    assert lays(position("Kd * * 9c", "3c")) == {"* Kd *", "* 9c *"}
    game = position("* 2d 5h", "3c", melds=[("Kc Kd *", 0), ("7c 7d 7h", 0)])
    assert legal(game, "attach") == {"attach * m1"}


def test_r3_four_suits_are_a_full_set() -> None:
    game = position("Ks Ks * 2d", "3c", melds=[("Kc Kd Kh", 0)])
    play(game, "attach Ks m0")
    assert legal(game, "attach", "swap") == set()
    assert meld_cards(game, 0) == parse_cards("Kc Kd Kh Ks")


def test_r3_a_suit_that_lies_there_is_not_attached() -> None:
    assert legal(position("Kc 2d", "3c", melds=[("Kc Kd Kh", 0)]), "attach") == set()


@pytest.mark.parametrize("suit", SUIT_CHARS)
def test_r4_every_base_run_of_a_suit(suit: str) -> None:
    names = [rank + suit for rank in RANK_CHARS + "A"]
    game = position(" ".join(rank + suit for rank in RANK_CHARS), "3c")
    assert lays(game) == {" ".join(names[low : low + 3]) for low in range(12)}


def test_r4_the_ace_is_never_in_the_middle() -> None:
    assert lays(position("Kc Ac 2c 9d", "3c")) == set()
    assert lays(position("Kc Ac 2c * 9d 9h", "3c")) == {"* Kc Ac", "Ac 2c *", "9d 9h *"}


def test_r4_nothing_goes_below_a_low_ace_or_above_a_high_one() -> None:
    game = position("Kc 2c * 9d", "3c", melds=[("Ac 2c 3c", 0), ("Qc Kc Ac", 0)])
    assert legal(game, "attach") == {"attach * m0 high", "attach * m1 low"}


def test_r4_reading_a_run_of_fourteen_with_two_aces() -> None:
    """Both ends take an ace; afterwards neither takes anything."""
    twelve = "2c 3c 4c 5c 6c 7c 8c 9c Tc Jc Qc Kc"
    game = position("Ac Ac * 9d", "3c", melds=[(twelve, 1)])
    assert legal(game, "attach") == {"attach Ac m0 low", "attach Ac m0 high", "attach * m0 low", "attach * m0 high"}
    play(game, "attach Ac m0 low; attach Ac m0 high")
    assert legal(game, "attach") == set()
    assert (game.state["meld_size"][0], game.state["laid"][0], game.state["laid"][1]) == (14, 11, 84)


def test_r5_every_form_of_a_run_with_jokers() -> None:
    assert lays(position("5h 6h 9s * *", "3c")) == {"5h 6h *", "* 5h 6h", "* 5h *", "* 6h *", "* 9s *"}
    assert "5h * 7h" in lays(position("5h 7h 9s *", "3c"))


def test_r5_no_two_jokers_are_neighbours() -> None:
    """`J 5 J` and `6 J 8 J 10` are legal, `6 7 J J 10` is not."""
    game = position("6h 8h Th * * 2c", "3c")
    play(game, "lay 6h * 8h; attach * m0 high")
    assert "attach * m0 high" not in legal(game)
    play(game, "attach Th m0 high")
    assert meld_cards(game, 0) == parse_cards("6h * 8h * Th")
    other = position("6h 7h Th * * 2c", "3c")
    play(other, "lay 6h 7h *")
    assert legal(other, "attach") == {"attach * m0 low"}
    assert "* 5h *" in lays(position("5h * * 2c", "3c"))


def test_r5_three_and_more_jokers_do_no_harm() -> None:
    """Seen elsewhere: a crash with three or more jokers. Six of them and a deuce make one meld of three."""
    game = position("2h * * * * * *", "3c")
    assert lays(game) == {"* 2h *"}
    play(game, "lay * 2h *")
    assert legal(game, "attach") == set()


def test_r5_a_joker_of_a_set_is_open_until_three_suits_lie_there() -> None:
    """With two suits both others can be attached; with three the fourth can only be swapped in."""
    game = position("Kh Ks 2d 5d", "3c", melds=[("Kc Kd *", 1)])
    assert legal(game, "attach", "swap") == {"attach Kh m0", "attach Ks m0"}
    play(game, "attach Kh m0")
    assert legal(game, "attach", "swap") == {"swap Ks m0"}
    play(game, "swap Ks m0")
    assert meld_cards(game, 0) == parse_cards("Kc Kd Kh Ks") and hand(game, 0) == cards("2d 5d *")


# --- R6, R7: the draw ----------------------------------------------------------------------------


def test_r6_a_draw_is_obligatory_and_comes_once() -> None:
    game = dealt("Kc Kd Kh 2c", "", stock="5h 6h", opening_points=0)
    assert legal(game) == {"draw"}
    play(game, "draw")
    assert hand(game, 0)[parse_cards("5h")[0]] == 1 and game.stock()[0] == parse_cards("6h")[0]
    assert legal(game, "draw", "take") == set()


def test_r6_a_take_takes_every_card_discarded_after() -> None:
    game = position("2c 3d", "9c", row="5h 6h 7h", drawn=False)
    assert legal(game) == {"draw", "take 1", "take 2", "take 3"}
    play(game, "take 2")
    assert hand(game, 0) == cards("2c 3d 6h 7h") and row(game) == parse_cards("5h")
    assert legal(game) == {f"discard {name}" for name in ("2c", "3d", "6h", "7h")}, "may be discarded again"


def test_r6_only_who_had_opened_before_takes_from_the_row() -> None:
    assert legal(position("2c 3d", "9c", row="5h 6h", drawn=False, opened=[-1, 3])) == {"draw"}


def test_r7_a_take_does_not_exceed_the_hand_limit() -> None:
    rules = {"hand_size": 4, "hand_limit": 5}
    game = position("2c 4d 6h", "9c", row="5h 6h 7h", drawn=False, **rules)
    assert legal(game, "take") == {"take 1", "take 2"}
    assert legal(position("2c 4d 6h 8s", "9c", row="5h 7h", drawn=False, **rules), "take") == {"take 1"}


def test_r7_nineteen_cards_at_most_are_taken() -> None:
    thrown = " ".join(rank + suit for suit in "cd" for rank in RANK_CHARS)
    game = position("2s", "9h", row=thrown, drawn=False)
    assert legal(game, "take") == {f"take {k}" for k in range(1, 20)}
    play(game, "take 19")
    assert game.state["hand_size"][0] == 20


# --- R8: the opening -----------------------------------------------------------------------------


def opening(cards_in_hand: str, **options: object) -> Game:
    """Return a game whose seat 0 has drawn and not opened."""
    return position(cards_in_hand, "3s", **{"opened": [-1, 0], **options})  # type: ignore[arg-type]


def test_r8_less_than_forty_is_no_opening() -> None:
    """Three kings are 30; a fourth, attached, makes 40, if a card is left."""
    assert lays(opening("Kc Kd Kh 2c 4d")) == set()
    assert lays(opening("Kc Kd Kh Ks")) == set()
    game = opening("Kc Kd Kh Ks 2c")
    play(game, "lay Kc Kd Kh")
    assert legal(game) == {"attach Ks m0"}
    play(game, "attach Ks m0")
    assert game.state["opened_turn"][0] == 20 and legal(game) == {"discard 2c"}


def test_r8_a_joker_counts_what_it_stands_for() -> None:
    """Seen elsewhere: a joker's value left out. Two kings and a joker, and 4 5 joker: 30 + 15."""
    assert lays(opening("Kc Kd * 4h 5h * 2c")) >= {"Kc Kd *", "4h 5h *"}
    assert lays(opening("Qc Kc * 4h 5h 2c")) == set()


def test_r8_a_run_longer_than_three_is_a_base_and_cards_added() -> None:
    game = opening("9h Th Jh Qh Kh 2c")
    assert lays(game) == {"9h Th Jh", "Th Jh Qh", "Jh Qh Kh"}
    play(game, "lay Th Jh Qh")
    assert legal(game) == {"attach 9h m0 low", "attach Kh m0 high"}, "and no discard"
    assert game.state["opening_laid"] == 30
    play(game, "attach Kh m0 high")
    assert legal(game) == {"attach 9h m0 low", "discard 9h", "discard 2c"}


def test_r8_only_melds_of_this_turn_until_the_forty_lie_there() -> None:
    """The kings of another and their joker are out of reach until seat 0 has its 40."""
    game = opening("Qc Qd Qh Qs Ks 2d 4h", melds=[("Kc Kd Kh *", 1)])
    assert legal(game, "attach", "swap") == set()
    play(game, "lay Qc Qd Qh")
    assert legal(game) == {"attach Qs m1"}
    play(game, "attach Qs m1")
    assert legal(game, "swap") == {"swap Ks m0"}


def test_r8_no_swap_in_an_opening_even_of_ones_own_joker() -> None:
    """Own joker of this turn: the king may replace it only after the 40."""
    game = opening("Jh Qh * Kh 5c 6c 7c 2d", opening_points=45)
    play(game, "lay Jh Qh *")
    assert legal(game, "swap") == set()
    play(game, "lay 5c 6c 7c")
    assert legal(game, "swap") == {"swap Kh m0 #1"}


def test_r8_reading_a_play_that_spoils_the_opening_is_illegal() -> None:
    """Kings and A-2-3 make 36; Q-K-A are 30, and two kings are no meld."""
    assert lays(opening("Qc Kc Ac Kd Kh 2c 3c 9s", opening_points=36)) == {"Kc Kd Kh", "Ac 2c 3c"}


def test_r8_reading_not_opening_is_always_allowed() -> None:
    game = opening("Kc Kd Kh Ks 2c")
    assert legal(game, "discard") == {f"discard {name}" for name in ("Kc", "Kd", "Kh", "Ks", "2c")}


def test_r8_with_no_points_asked_something_must_be_laid() -> None:
    game = opening("2c 3c 4c 9d", opening_points=0, melds=[("5d 6d 7d", 1)])
    assert legal(game, "attach") == set()
    game = position("8d 2c 3c 4c 9d", "3s", opened=[-1, 0], opening_points=0, melds=[("5d 6d 7d", 1)])
    assert legal(game, "attach") == set()
    play(game, "lay 2c 3c 4c")
    assert legal(game, "attach") == {"attach 8d m0 high"}


def test_r8_two_aces_make_a_run_of_fourteen() -> None:
    """95 points in one run; the ace is 1 below and 10 above."""
    suit = " ".join(f"{rank}c" for rank in RANK_CHARS)
    assert lays(opening(f"{suit} Ac 9d", opening_points=95)) == {
        format_cards(base_cards(LAY_RUN + 5 * low)) for low in range(12)
    }
    assert lays(opening(f"{suit} Ac 9d", opening_points=96)) == set()
    assert lays(opening(f"{suit} 9d", opening_points=95)) == set()


# --- R9, R10, R11: after the opening -------------------------------------------------------------


def test_r9_melds_of_any_value_in_the_turn_of_the_opening_too() -> None:
    game = opening("Kc Kd Kh Ks 2c 3c 4c 5d")
    play(game, "lay Kc Kd Kh; attach Ks m0; lay 2c 3c 4c")
    assert game.state["laid"][0] == 49


def test_r9_attach_to_any_meld_and_reading_swaps_in_the_opening_turn() -> None:
    game = opening("Kc Kd Kh Ks 7h 8s 2c", melds=[("5h 6h *", 1), ("8c 8d *", 1)])
    play(game, "lay Kc Kd Kh; attach Ks m2")
    assert legal(game, "attach", "swap") == {"swap 7h m0 #1", "attach 8s m1"}
    play(game, "swap 7h m0 #1; attach 8s m1")
    assert hand(game, 0) == cards("* 2c")


def test_r9_a_second_attach_knows_of_the_first() -> None:
    """Seen elsewhere: the meld's growth is not tracked."""
    game = position("4h 3h 8h 9h 2c", "3c", melds=[("5h 6h 7h", 1)])
    play(game, "attach 4h m0 low; attach 3h m0 low; attach 8h m0 high; attach 9h m0 high")
    assert meld_cards(game, 0) == parse_cards("3h 4h 5h 6h 7h 8h 9h")
    assert legal(game) == {"discard 2c"}


def test_r9_a_joker_goes_to_either_end() -> None:
    """Seen elsewhere: a joker always appended at a run's end, and an ambiguous target among like melds."""
    game = position("* * 2c", "3c", melds=[("5h 6h 7h", 1), ("5h 6h 7h", 0)])
    assert legal(game, "attach") == {f"attach * m{m} {side}" for m in (0, 1) for side in ("low", "high")}
    play(game, "attach * m1 low")
    assert meld_cards(game, 0) == parse_cards("5h 6h 7h")
    assert meld_cards(game, 1) == parse_cards("* 5h 6h 7h")
    assert game.state["meld_low"][1] == 3 and game.state["laid"][0] == 18 + 4


def test_r10_the_very_card_takes_the_joker_of_a_run() -> None:
    game = position("6h 6d 8h 2c", "3c", melds=[("5h * 7h", 1)])
    assert legal(game, "swap") == {"swap 6h m0 #1"}
    play(game, "swap 6h m0 #1")
    assert hand(game, 0) == cards("6d 8h 2c *") and meld_cards(game, 0) == parse_cards("5h 6h 7h")


def test_r10_a_set_gives_its_joker_only_where_three_suits_lie() -> None:
    assert legal(position("Kh 2c", "3c", melds=[("Kc Kd *", 1)]), "swap") == set()
    assert legal(position("Kh Ks 2c", "3c", melds=[("Kc Kd Kh *", 1)]), "swap") == {"swap Ks m0"}


def test_r10_each_of_six_jokers_of_a_run() -> None:
    """A * 3 * 5 * 7 * 9 * J * K: the i-th joker from the low end, and the others count on."""
    run = "Ah * 3h * 5h * 7h * 9h * Jh * Kh"
    game = position("2h 4h 6h 8h Th Qh 2c", "3c", melds=[(run, 1)])
    names = ["2h", "4h", "6h", "8h", "Th", "Qh"]
    assert legal(game, "swap") == {f"swap {name} m0 #{i + 1}" for i, name in enumerate(names)}
    play(game, "swap 8h m0 #4")
    assert legal(game, "swap") == {
        "swap 2h m0 #1", "swap 4h m0 #2", "swap 6h m0 #3", "swap Th m0 #4", "swap Qh m0 #5",
    }  # fmt: skip
    play(game, "swap Qh m0 #5; swap 2h m0 #1")
    assert meld_cards(game, 0) == parse_cards("Ah 2h 3h * 5h * 7h 8h 9h * Jh Qh Kh")


def test_r10_reading_a_swap_with_one_card_in_hand() -> None:
    game = position("6h", "3c", melds=[("5h * 7h", 1)])
    assert legal(game) == {"swap 6h m0 #1", "discard 6h"}
    play(game, "swap 6h m0 #1")
    assert legal(game) == {"discard *"}
    fourth = position("Ks", "3c", melds=[("Kc Kd Kh *", 1)])
    assert legal(fourth) == {"swap Ks m0", "discard Ks"}


def test_r10_reading_the_joker_is_free_to_use_or_keep() -> None:
    game = position("6h 9c", "3c", melds=[("5h * 7h", 1)])
    play(game, "swap 6h m0 #1")
    assert legal(game) == {"attach * m0 low", "attach * m0 high", "discard 9c", "discard *"}


def test_r10_the_joker_that_comes_from_an_end_frees_its_neighbour() -> None:
    """5 6 joker takes no joker above; after the swap of the 7 it does."""
    game = position("7h * 2c", "3c", melds=[("5h 6h *", 1)])
    assert "attach * m0 high" not in legal(game)
    play(game, "swap 7h m0 #1")
    assert "attach * m0 high" in legal(game)


def test_r11_a_lay_and_an_attach_leave_a_card() -> None:
    assert legal(position("5h 6h 7h", "3c"), "lay") == set()
    assert legal(position("8h", "3c", melds=[("5h 6h 7h", 1)])) == {"discard 8h"}
    assert legal(position("*", "3c", melds=[("5h 6h 7h", 1), ("Kc Kd Kh", 1)])) == {"discard *"}
    assert lays(position("5h 6h 7h 2c", "3c")) == {"5h 6h 7h"}


def test_r11_any_card_may_be_discarded_jokers_too() -> None:
    game = position("2c 2c * Kd", "3c")
    assert legal(game) == {"discard 2c", "discard *", "discard Kd"}
    play(game, "discard *")
    assert row(game) == [JOKER] and game.seat == 1
    assert game.state["row_seats"][0] == 0


def test_cards_that_are_not_held_are_not_laid() -> None:
    """Seen elsewhere. Every lay, attach, swap and discard that needs a card that is not there is refused."""
    game = position("2c 9d", "3c", melds=[("5h * 7h", 1), ("Kc Kd *", 0)])
    before = game.states.tobytes()
    held = {parse_action("discard 2c"), parse_action("discard 9d")}
    for action in set(range(LAY_SET, ACTIONS)) - held:
        with pytest.raises(IllegalAction):
            game.step(action)
    assert game.states.tobytes() == before
