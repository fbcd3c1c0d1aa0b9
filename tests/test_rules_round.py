"""R12 to R18: recycling, the end of a round, its points, and the game: tests for each clause and **Reading**."""

from __future__ import annotations

from collections import Counter

import pytest
from tools import all_cards, cards, dealt, hand, legal, play, position, row

from jolly_env import Rules
from jolly_env.cards import parse_cards
from jolly_env.game import Game
from jolly_env.state import Ending, Phase

PLAIN = {"closing_bonus": 0, "hand_jolly_factor": 1}

# --- R12: the stock is used up -------------------------------------------------------------------


@pytest.mark.parametrize("keep", range(6))
def test_r12_all_but_the_newest_become_the_stock(keep: int) -> None:
    """Five cards lie in the row after the discard; with five or more to keep there is nothing to recycle."""
    game = position("2c 3d", "9c 9d", row="5h 6h 7h 8h", stock="", recycle_keep=keep)
    before = all_cards(game)
    play(game, "discard 2c")
    thrown = parse_cards("5h 6h 7h 8h 2c")
    assert row(game) == thrown[5 - keep :] and Counter(game.stock()) == Counter(thrown[: 5 - keep])
    assert all_cards(game) == before, "seen elsewhere: a reshuffle that duplicates cards"
    assert game.state["recycles"] == (keep < 5)
    assert legal(game, "draw") == ({"draw"} if keep < 5 else set())


def test_r12_the_last_discard_is_among_the_kept() -> None:
    game = position("2c 3d", "9c 9d", row="5h 6h 7h 8h", stock="", recycle_keep=1)
    play(game, "discard 3d")
    assert row(game) == parse_cards("3d")
    assert [int(s) for s in game.state["row_seats"][:2]] == [0, -1]


def test_r12_the_recycled_stock_is_shuffled() -> None:
    """Seen elsewhere: the reshuffle that does not happen. Twelve cards, and several seeds in several orders."""
    thrown = "2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh"
    orders = set()
    for seed in range(5):
        game = position("2c 3d", "9c 9d", row=thrown, stock="", recycle_keep=1)
        game.state["rng"] = seed
        play(game, "discard 2c")
        assert Counter(game.stock()) == cards(thrown)
        orders.add(tuple(game.stock()))
    assert len(orders) == 5 and tuple(parse_cards(thrown)) not in orders


@pytest.mark.parametrize("size", range(4))
def test_r12_not_more_than_the_kept_are_not_recycled(size: int) -> None:
    """With three in the row after the discard and three to keep, nothing is recycled."""
    thrown = " ".join(["5h", "6h", "7h"][:size])
    game = position("2c 3d", "9c 9d", row=thrown, stock="")
    play(game, "discard 2c")
    assert game.state["recycles"] == (size == 3)
    assert len(game.stock()) == (1 if size == 3 else 0)


def test_r12_it_is_looked_at_once_as_a_turn_begins() -> None:
    """The last card is drawn: the row stays until the next turn begins, its own new card included."""
    game = position("2c 3d", "9c 9d", row="5h 6h 7h 8h", stock="Kd", drawn=False)
    play(game, "draw")
    assert len(row(game)) == 4 and game.stock() == []
    play(game, "discard Kd")
    assert row(game) == parse_cards("7h 8h Kd") and Counter(game.stock()) == cards("5h 6h")


def test_r12_also_if_the_player_then_takes_from_the_row() -> None:
    game = position("2c 3d", "9c 9d", row="5h 6h 7h 8h", stock="", recycle_keep=2)
    play(game, "discard 2c")
    assert legal(game) == {"draw", "take 1", "take 2"}
    play(game, "take 2")
    assert hand(game, 1) == cards("9c 9d 8h 2c") and row(game) == []
    assert Counter(game.stock()) == cards("5h 6h 7h")
    play(game, "discard 9c")
    assert legal(game) == {"draw", "take 1"} and game.state["recycles"] == 1


def through_stock(game: Game, *discards: str) -> None:
    """Play turns of a draw and a discard."""
    for name in discards:
        play(game, "draw", f"discard {name}")


def test_r12_given_reshuffles_are_used_in_turn_and_then_the_games_own_randomness() -> None:
    """Two hands of two, three in the stock, nothing kept: every third discard is followed by a recycling."""
    pack = [0, 1, 1, 1, 1, 1, 1] + [0] * 45
    rules = Rules(pack=pack, jokers=1, hand_size=2, recycle_keep=0)
    orders = [parse_cards(text) for text in ("7c 2c 6c", "6c 7c 2c")]
    game = Game(rules, deck=parse_cards("2c 3c 4c 5c 6c 7c *"), reshuffles=orders)
    through_stock(game, "2c", "7c", "6c")
    assert game.stock() == orders[0] and row(game) == []
    through_stock(game, "7c", "2c", "6c")
    assert game.stock() == orders[1] and game.reshuffles == orders
    through_stock(game, "6c", "7c", "2c")
    assert Counter(game.stock()) == cards("2c 6c 7c") and game.reshuffles[2] == game.stock()


def test_r12_a_given_reshuffle_of_other_cards_is_refused() -> None:
    pack = [0, 1, 1, 1, 1, 1, 1] + [0] * 45
    rules = Rules(pack=pack, jokers=1, hand_size=2, recycle_keep=0)
    game = Game(rules, deck=parse_cards("2c 3c 4c 5c 6c 7c *"), reshuffles=[parse_cards("7c 2c 5c")])
    through_stock(game, "2c", "7c")
    play(game, "draw")
    before = game.states.tobytes()
    with pytest.raises(ValueError, match=r"reshuffles\[0\]"):
        play(game, "discard 6c")
    assert game.states.tobytes() == before


def test_r12_whoever_may_take_from_the_row_must() -> None:
    game = position("2c 3d", "9c 9d", row="5h 6h", stock="")
    play(game, "discard 2c")
    assert legal(game) == {"take 1", "take 2", "take 3"}


def test_r12_reading_no_legal_draw_ends_the_round_with_no_closer() -> None:
    """Seat 1 has not opened and the stock stays empty."""
    game = position("2c 3d", "9c Ad", row="5h 6h", stock="", opened=[3, -1])
    play(game, "discard 2c")
    assert (game.ending, game.closer, game.over, game.truncated) == (Ending.EXHAUSTED, None, True, False)
    assert game.scores == [-3, -34] and legal(game) == set()


def test_r12_r7_nor_is_there_one_for_a_full_hand() -> None:
    """Seat 1 has opened, but stands at the hand limit, as only a position set up by hand can."""
    game = position("2c 3d", "9c Ad", row="5h 6h", stock="", hand_limit=2)
    play(game, "discard 2c")
    assert game.ending is Ending.EXHAUSTED


# --- R13: closing --------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", ["draw", "take 1"])
def test_r13_reading_whatever_was_drawn(draw: str) -> None:
    game = position("5h 6h 7h", "9c", row="2d", stock="2d 3d", drawn=False)
    play(game, draw, "lay 5h 6h 7h", "discard 2d")
    assert (game.ending, game.closer, game.hand_jolly, game.over) == (Ending.CLOSED, 0, False, True)
    assert game.scores == [18 + 30, -9]


def test_r13_hand_jolly_with_attaches_and_swaps() -> None:
    """Nothing laid before, the 40 in this turn; attaches and swaps on others' melds don't spoil it."""
    game = position("Kc Kd Kh Ks 7h 2c", "9c *", melds=[("5h 6h *", 1)], opened=[-1, 2])
    play(game, "lay Kc Kd Kh; attach Ks m1; swap 7h m0 #1; attach * m0 high; discard 2c")
    assert (game.closer, game.hand_jolly) == (0, True)
    assert game.scores == [2 * (40 + 7 + 8 + 30), 11 - 2 * 59]


def test_r13_hand_jolly_needs_the_forty() -> None:
    """Three kings and a card: closing would be possible, the 40 are not reached."""
    assert legal(position("Kc Kd Kh 2c", "9c", opened=[-1, 0]), "lay") == set()


def test_r13_who_laid_before_makes_no_hand_jolly() -> None:
    game = position("Kc Kd Kh 2c", "9c", opened=[19, -1])
    play(game, "lay Kc Kd Kh; discard 2c")
    assert (game.closer, game.hand_jolly, game.scores) == (0, False, [60, -9])


def test_players_with_one_card_can_close() -> None:
    """Seen elsewhere: players who can never close. One card, and one drawn that can be attached."""
    game = position("2c", "9c", melds=[("5h 6h 7h", 1)], stock="8h", drawn=False)
    play(game, "draw; attach 8h m0 high; discard 2c")
    assert game.closer == 0


# --- R14, R15, R16: points -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meld", "points"),
    [
        ("2c 3c 4c", 9), ("7c 8c 9c", 24), ("9c Tc Jc", 29), ("Ac 2c 3c", 6), ("Qc Kc Ac", 30), ("Ac Ad Ah", 75),
        ("Ac Ad Ah As", 100), ("Ac Ad *", 75), ("Ac 2c *", 6), ("* 2c 3c", 6), ("Qc Kc *", 30), ("* Kc Ac", 30),
        ("9c * Jc", 29), ("* 9c *", 27), ("9c 9d *", 27), ("* 2c *", 6), ("* Kc *", 30),
    ],
)  # fmt: skip
def test_r14_points_of_a_base_meld(meld: str, points: int) -> None:
    """The ace's value by place, seen wrong elsewhere; a joker counts what it stands for."""
    lay = meld if len(meld.split()) == 3 else " ".join(meld.split()[:3])
    rest = meld.split()[3:]
    game = position(f"{meld} 5d", "3s", **PLAIN)
    play(game, f"lay {lay}", *(f"attach {name} m0" for name in rest), "discard 5d")
    assert game.scores[0] == points


def test_r14_a_card_counts_for_whoever_laid_it() -> None:
    game = position("8h 4h 2c", "Kd", melds=[("5h 6h 7h", 1)], **PLAIN)
    play(game, "attach 8h m0 high; attach 4h m0 low; discard 2c")
    assert game.scores == [12, 18 - 10]


def test_r14_reading_a_swapped_in_card_counts_for_the_swapper() -> None:
    """The joker counts no longer for seat 1; used again it counts where it lies."""
    game = position("Qh 9h 2c", "Kd", melds=[("Jh * Kh", 1)], **PLAIN)
    play(game, "swap Qh m0 #1; attach * m0 low; attach 9h m0 low; discard 2c")
    assert game.scores == [10 + 10 + 9, 20 - 10]


def test_r14_an_ace_swapped_into_a_set_is_25_and_into_a_run_10_or_1() -> None:
    for meld, text, points in (
        ("Ac Ad Ah *", "swap As m0", 25), ("Qs Ks *", "swap As m0 #1", 10), ("* 2s 3s", "swap As m0 #1", 1)
    ):  # fmt: skip
        game = position("As 2c", "Kd", melds=[(meld, 1)], **PLAIN)
        before = int(game.state["laid"][1])
        play(game, text)
        assert (game.state["laid"][0], game.state["laid"][1]) == (points, before - points)


@pytest.mark.parametrize(
    ("held", "points"),
    [("2c 3d 9s", 14), ("Tc Jc Qc Kc", 40), ("Ac", 25), ("*", 50), ("* * Ac Ac", 150), ("2h", 2)],
)
def test_r15_cards_in_hand_count_against(held: str, points: int) -> None:
    game = position("2d", held, **PLAIN)
    assert play(game, "discard 2d").scores == [0, -points]


def test_r14_r15_two_worked_counts() -> None:
    first = position("2d", "3c 4c 5c 6c Qc Kc", melds=[("8h 9h Th", 1), ("Jd Qd Kd", 1)])
    assert play(first, "discard 2d").scores == [30, 19]
    second = position("2d", "* 5c 5d 7c 8c Tc Jc Jd Qc", melds=[("Ac Ad Ah", 1)])
    assert play(second, "discard 2d").scores == [30, -40]


@pytest.mark.parametrize("bonus", [0, 30, 1000])
@pytest.mark.parametrize("factor", [1, 2, 3])
def test_r16_bonus_and_factor(bonus: int, factor: int) -> None:
    """Of a Hand-Jolly: the closer's points and bonus and the others' hands count so often, their melds once."""
    options = {"closing_bonus": bonus, "hand_jolly_factor": factor, "melds": [("8h 9h Th", 1)]}
    game = position("Kc Kd Kh Ks 2c", "Ac 3c", "*", opened=[-1, 0, -1], **options)
    play(game, "lay Kc Kd Kh; attach Ks m1; discard 2c")
    assert game.scores == [factor * (40 + bonus), 27 - factor * 28, -factor * 50]
    plain = position("2c", "Ac 3c", "*", opened=[0, 0, -1], **options)
    assert play(plain, "discard 2c").scores == [bonus, 27 - 28, -50]


@pytest.mark.parametrize("closer", range(4))
def test_r16_the_bonus_goes_to_the_closer(closer: int) -> None:
    """Seen elsewhere: a bonus to the wrong player."""
    hands = ["2c"] * 2 + ["2d"] * 2
    game = play(position(*hands, seat=closer), f"discard {hands[closer]}")
    assert game.scores == [30 if seat == closer else -2 for seat in range(4)]
    assert game.closer == closer


# --- R17, R18: cut off; the game -----------------------------------------------------------------


def test_r17_reading_a_round_is_cut_off_after_max_turns() -> None:
    game = dealt("2c 3d", "9c 9d", stock="5h 6h 7h", max_turns=3)
    play(game, "draw; discard 5h; draw; discard 6h")
    assert game.phase is Phase.DRAW
    play(game, "draw; discard 7h")
    assert (game.ending, game.closer, game.truncated, game.scores) == (Ending.CUT_OFF, None, True, [-5, -18])


def test_r17_a_close_in_the_last_turn_is_a_close() -> None:
    game = play(position("2c", "9c", turn=6, max_turns=7), "discard 2c")
    assert (game.ending, game.truncated, game.closer) == (Ending.CLOSED, False, 0)


def test_r17_otherwise_it_is_a_cut_off_even_if_no_draw_was_left() -> None:
    for most, ending in ((7, Ending.CUT_OFF), (8, Ending.EXHAUSTED)):
        game = position("2c 3d", "9c 9d", stock="", opened=[0, -1], turn=6, max_turns=most)
        assert play(game, "discard 2c").ending is ending
        assert game.truncated == (ending is Ending.CUT_OFF)


def rounds(game: Game, *scores: tuple[int, int]) -> list[Phase]:
    """Let rounds of two players end with these scores; return the phases after them."""
    phases = []
    for mine, other in scores:
        state = game.state
        state["hands"][:2], state["hand_size"][:2], state["ones"][:2], state["twos"][:2] = 0, 0, 0, 0
        state["laid"][:2] = mine + 2, other
        state["hands"][0, 1], state["ones"][0, 0], state["hand_size"][0] = 2, 2, 2
        state["twos"][0, 0] = 2
        state["seat"], state["phase"], state["turn"] = 0, Phase.PLAY, game.rules.max_turns - 1
        game.refresh()
        play(game, "discard 2c")
        assert game.scores == [mine, other]
        phases.append(game.phase)
        if game.phase is Phase.ROUND_OVER:
            game.next_round()
    return phases


def test_r18_rounds_are_added_up_until_the_target_is_reached() -> None:
    game = Game(Rules(target=100), seed=0)
    phases = rounds(game, (99, -20), (-50, 119))
    assert phases == [Phase.ROUND_OVER, Phase.ROUND_OVER] and game.totals == [49, 99]
    assert rounds(game, (0, 1)) == [Phase.GAME_OVER] and game.totals == [49, 100]


def test_r18_totals_may_be_negative_and_one_round_without_target_is_the_game() -> None:
    game = Game(Rules(target=500), seed=0)
    rounds(game, (-300, -200))
    assert game.totals == [-300, -200] and game.phase is Phase.DRAW
    assert rounds(Game(seed=0), (-300, -200)) == [Phase.GAME_OVER]


def test_r18_max_rounds_cuts_the_game_off() -> None:
    game = Game(Rules(target=100, max_rounds=2), seed=0)
    assert rounds(game, (10, 20), (10, 20)) == [Phase.ROUND_OVER, Phase.GAME_OVER]
    assert game.truncated and game.totals == [20, 40]


def test_r18_the_target_in_the_last_round_is_no_cut_off() -> None:
    """The last of two rounds is closed, and with it someone has 100."""
    game = Game(Rules(target=20, max_rounds=2), seed=0)
    rounds(game, (0, 15))
    state = game.state
    state["hands"][:2], state["hand_size"][:2], state["ones"][:2], state["twos"][:2] = 0, 0, 0, 0
    state["hands"][0, 1], state["ones"][0, 0], state["hand_size"][0] = 1, 2, 1
    state["seat"], state["phase"], state["opened_turn"][0], state["turn"] = 0, Phase.PLAY, 0, 4
    game.refresh()
    play(game, "discard 2c")
    assert (game.over, game.truncated, game.totals) == (True, False, [30, 15])


def test_r18_each_deal_starts_afresh() -> None:
    """Only totals and the dealer go on: opened, known cards, melds, row and history do not."""
    game = Game(Rules(target=1000, max_turns=30), seed=4)
    while game.phase < Phase.ROUND_OVER:
        game.step(int(game.legal_actions()[0]))
    totals = game.totals
    game.next_round()
    fresh = Game(game.rules, seed=9)
    for name in ("opened_turn", "known", "laid", "row_cards", "discarded", "recycled", "draws", "turn",
                 "meld_count", "meld_cards", "meld_seats", "history_actions", "recycles", "recycled_size"):  # fmt: skip
        assert (game.state[name] == fresh.state[name]).all(), name
    assert game.totals == totals and game.seat == 1 and all_cards(game) == all_cards(fresh)
