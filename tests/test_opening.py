"""R8, the hard part: the packing search against the referee's exhaustive one, and the room that it needs."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from referee import Referee
from referee_melds import DISCARD, JOKER
from tools import legal, position

from jolly_env import Rules
from jolly_env.cards import PLACE_VALUE, PLACES, RANKS, SUITS, parse_cards
from jolly_env.game import Game
from jolly_env.packing import GROUPS, MOST_STEPS, SCRATCH_COLUMNS, new_scratch


class Table:
    """One engine game and one referee, both brought to any moment of an opening."""

    def __init__(self) -> None:
        deck = [card for card in range(52) for _ in range(2)] + [JOKER] * 6
        self.game = Game(Rules(hand_size=1), deck=deck)
        self.referee = Referee({"hand_size": 1}, deck)
        self.fresh = self.game.states.copy()

    def engine(self, held: list[int], opening_points: int) -> list[int]:
        """Return what the engine allows a seat that has drawn and not opened."""
        self.game.states[:] = self.fresh
        state = self.game.state
        for name in ("hands", "ones", "twos"):
            state[name][0] = 0
        for card, count in Counter(held).items():
            state["hands"][0, card] = count
            if card < JOKER:
                state["ones"][0, card // 13] |= 1 << card % 13
                state["twos"][0, card // 13] |= (count == 2) << card % 13
        state["hand_size"][0], state["phase"], state["opened_turn"][0] = len(held), 1, -1
        state["rules"][4] = opening_points
        self.game.refresh()
        return self.game.legal_actions().tolist()

    def by_the_book(self, held: list[int], opening_points: int) -> list[int]:
        """Return what the referee allows."""
        self.referee.rules["opening_points"] = opening_points
        self.referee.hands[0], self.referee.drawn = list(held), True
        self.referee.melds, self.referee.opening_laid = [], 0
        self.referee.opened_turn[0] = None
        self.referee._legal = None
        return self.referee.legal()

    def agree(self, held: list[int], opening_points: int, rng: random.Random) -> Counter[str]:
        """Compare in this moment, and after each lay of one way through the opening."""
        seen: Counter[str] = Counter()
        legal_now = self.engine(held, opening_points)
        note = f"{held}, {opening_points} points"
        assert legal_now == self.by_the_book(held, opening_points), note
        while self.referee.opened_turn[0] is None:
            plays = [action for action in legal_now if action < DISCARD]
            seen["open" if plays else "closed"] += 1
            if not plays:
                break
            action = rng.choice(plays)
            note += f", then {self.game.format(action)}"
            self.game.step(action)
            self.referee.apply(action)
            legal_now = self.game.legal_actions().tolist()
            assert legal_now == self.referee.legal(), note
            seen["steps"] += 1
            if self.referee.opened_turn[0] is None:
                assert all(action < DISCARD for action in legal_now) and legal_now, note
        return seen


def random_hand(rng: random.Random, most: int, jokers: int | None = None) -> list[int]:
    """Return a hand of up to ``most`` cards of few suits or ranks, so that melds compete for them."""
    suits = rng.sample(range(4), rng.choice([1, 2, 3, 4]))
    ranks = rng.sample(range(13), rng.choice([4, 7, 13]))
    if rng.random() < 0.5:
        start = rng.randrange(13)
        ranks = [(start + i) % 13 for i in range(len(ranks))]
    pool = [13 * suit + rank for suit in suits for rank in ranks for _ in range(rng.choice([1, 2, 2]))]
    wild = rng.choice([0, 0, 1, 1, 2, 3, 4, 5, 6]) if jokers is None else jokers
    size = rng.choice([rng.randint(4, most), most])
    naturals = rng.sample(pool, min(len(pool), size - min(wild, size - 1)))
    return naturals + [JOKER] * min(wild, size - 1)


def wanted(rng: random.Random, held: list[int]) -> int:
    """Return opening points, often near the most that the hand could be worth."""
    if rng.random() < 0.4:
        return rng.choice([1, 20, 40, 40, 43, 51, 75, 100, 150, 250])
    worth = sum(10 if card == JOKER else min(card % 13 + 1, 10) for card in held)
    return max(1, int(worth * rng.uniform(0.3, 1.1)))


@pytest.mark.parametrize("seed", range(4))
def test_random_hands_agree_with_the_referee(seed: int) -> None:
    """The referee tries everything, so most of the hands are small; what is left of larger ones is small, too."""
    rng = random.Random(seed)
    table, seen = Table(), Counter[str]()
    for _ in range(500):
        held = random_hand(rng, most=10)
        seen += table.agree(held, wanted(rng, held), rng)
    assert min(seen["open"], seen["closed"], seen["steps"]) > 100, seen


def test_hands_with_six_jokers_agree_with_the_referee() -> None:
    rng = random.Random(7)
    table, seen = Table(), Counter[str]()
    for _ in range(100):
        held = random_hand(rng, most=10, jokers=6)
        seen += table.agree(held, wanted(rng, held), rng)
    assert min(seen["open"], seen["closed"], seen["steps"]) > 20, seen


@pytest.mark.parametrize("seed", range(3))
def test_large_hands_obey_what_follows_from_the_rule(seed: int) -> None:
    """Less to reach or a card more never forbids a lay, and no lay leads into a dead end: up to twenty cards."""
    rng = random.Random(seed)
    table = Table()
    for _ in range(400):
        held = random_hand(rng, most=20)
        need = wanted(rng, held)
        now = set(table.engine(held, need))
        assert now <= set(table.engine(held, need - 1)), (held, need)
        card = rng.choice(held)
        fewer = list(held)
        fewer.remove(card)
        lays = {action for action in table.engine(fewer, need) if action < DISCARD}
        assert lays <= now, (held, need, card)
        table.engine(held, need)
        while table.game.state["opened_turn"][0] < 0 and (plays := [a for a in now if a < DISCARD]):
            table.game.step(rng.choice(sorted(plays)))
            now = set(table.game.legal_actions().tolist())
            assert now, (held, need)


def test_a_run_of_fourteen_and_its_last_point() -> None:
    """A whole suit is worth 95 with two aces, and 94 with one, above the king rather than below the two."""
    table = Table()
    suit = list(range(13))
    for held, most in (([*suit, 0, 17], 95), ([*suit, 17], 94)):
        assert any(action < DISCARD for action in table.engine(held, most))
        assert all(action >= DISCARD for action in table.engine(held, most + 1))


@pytest.mark.parametrize(
    ("held", "most", "why"),
    [
        ("3c 4c * 6c 7c 6c 6d 6h 2s", 43, "a six of the set lies between the joker and the seven"),
        ("5c 6c * 8c 9c 8c 8d 8h 2s", 59, "the same with eights"),
        ("7c 8c * Tc Jc Tc Td Th 2s", 75, "and with tens"),
        ("Tc Jc * Kc Ac Kc Kd Kh 2s", 80, "and with kings and the ace above"),
        ("Ac Ad 2c 3c * 9h", 75, "two aces and the joker rather than A-2-3"),
        ("Ac Ac Ad Ad * * 9h", 150, "two sets of two aces and a joker"),
        ("Ac 2c 3c Ad Ad Ac * * 9h", 156, "two sets with a joker each, and no third ace of clubs"),
        ("* 5c * 5d * 5h 9s", 20, "no set takes a second joker; the set of four beats the runs"),
    ],
)
def test_the_quick_bound_is_not_below_what_a_hand_can_lay(held: str, most: int, why: str) -> None:
    """The bound settles hands before the search; below the truth it would forbid an opening."""
    table = Table()
    hand = parse_cards(held)
    reached = [n for n in range(1, 200) if table.engine(hand, n) != sorted({DISCARD + c for c in hand})]
    by_the_book = [n for n in range(1, 200) if table.by_the_book(hand, n) != sorted({DISCARD + c for c in hand})]
    assert reached == by_the_book, why
    assert by_the_book[-1] >= most - 13, why


def test_melds_of_earlier_turns_are_out_of_reach() -> None:
    """The same run twice on the table; only that of this turn is extended."""
    game = position(
        "8h 9h Kc 2d", "3s", melds=[("5h 6h 7h", 1), ("5h 6h 7h", 0)], this_turn=[1], opened=[-1, 0], opening_points=35
    )
    game.state["opening_laid"] = 18
    game.refresh()
    assert legal(game) == {"attach 8h m1 high"}


# --- the deep search -----------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [0, 20, 200])
def test_the_deep_search_agrees_with_the_referee(steps: int) -> None:
    """The quick search gives up at once, or in the midst of a hand with some candidates found out of the question."""
    rng = random.Random(steps)
    table, seen = Table(), Counter[str]()
    table.game._scratch = new_scratch()
    table.game._scratch[GROUPS, MOST_STEPS] = steps
    for i in range(300):
        held = random_hand(rng, most=10, jokers=6 if i % 4 == 0 else None)
        seen += table.agree(held, wanted(rng, held), rng)
    assert min(seen["open"], seen["closed"], seen["steps"]) > 50, seen


def test_where_the_quick_search_gives_up_changes_nothing() -> None:
    """Hands that are too large for the referee, before and after each lay."""
    rng = random.Random(11)
    tables = [Table() for _ in range(3)]
    for table, steps in zip(tables, (0, 500, 20_000), strict=True):
        table.game._scratch = new_scratch()
        table.game._scratch[GROUPS, MOST_STEPS] = steps
    for i in range(400):
        held = random_hand(rng, most=20, jokers=6 if i % 2 else None)
        need = wanted(rng, held)
        allowed = [table.engine(held, need) for table in tables]
        while True:
            assert allowed[0] == allowed[1] == allowed[2], (held, need)
            plays = [action for action in allowed[0] if action < DISCARD]
            if not plays or tables[0].game.state["opened_turn"][0] >= 0:
                break
            action = rng.choice(plays)
            for table in tables:
                table.game.step(action)
            allowed = [table.game.legal_actions().tolist() for table in tables]


def worth_of_one_suit(held: list[int]) -> int:
    """Return the most that a hand of one suit can lay with a card left (R3, R4): no sets, so a sweep over the places.

    A state is: the runs that go on (cards, three at most; whether the last is a joker), jokers used, aces used below
    the two, whether a natural stays in hand; its value the most points so far.
    """
    jokers = held.count(JOKER)
    naturals = Counter(card % RANKS for card in held if card != JOKER)
    states: dict[tuple[tuple[tuple[int, bool], ...], int, int, bool], int] = {((), 0, 0, False): 0}
    for place in range(PLACES):
        after: dict[tuple[tuple[tuple[int, bool], ...], int, int, bool], int] = {}
        for (runs, used, aces, stays), points in states.items():
            here = naturals[place % RANKS] - (aces if place == PLACES - 1 else 0)
            for going, cards, wild in ways_on(runs, here, jokers - used):
                low = cards if place == 0 else aces
                left = stays or (place > 0 and cards < here)
                key = (tuple(sorted(going)), used + wild, low, left)
                worth = points + int(PLACE_VALUE[place]) * (cards + wild)
                after[key] = max(after.get(key, 0), worth)
        states = after
    return max(
        points
        for (runs, used, _, stays), points in states.items()
        if all(cards == 3 for cards, _ in runs) and (stays or used < jokers)
    )


def ways_on(runs: tuple[tuple[int, bool], ...], naturals: int, jokers: int) -> set[tuple[Any, int, int]]:
    """Return how runs can go on at a place, or new ones begin: the runs, the naturals and the jokers that go in."""
    ways: set[tuple[Any, int, int]] = {((), 0, 0)}
    for cards, wild in (*runs, *[(0, False)] * (naturals + jokers)):
        longer = min(cards + 1, 3)
        more = set()
        for going, used, joked in ways:
            if cards in (0, 3):
                more.add((going, used, joked))
            if used < naturals:
                more.add((tuple(sorted((*going, (longer, False)))), used + 1, joked))
            if joked < jokers and not wild:
                more.add((tuple(sorted((*going, (longer, True)))), used, joked + 1))
        ways = more
    return ways


@pytest.mark.parametrize(
    ("held", "most"),
    [
        ("As As 2s 3s 4s 5s 6s 7s 8s 9s Ts Js Js Qs Ks * * * * *", 162),
        ("As As 2s 3s 4s 5s 5s 6s 7s 8s 9s Js Qs Ks * * * * * *", 157),
        ("Ah Ah 2h 4h 5h 6h 6h 7h 7h 8h 9h Th Th Jh Qh Kh * * * *", 162),
        ("As 2s 3s 4s 5s *", 20),
    ],
)
def test_the_last_point_of_a_suit_with_many_jokers(held: str, most: int) -> None:
    """Near the most that such a hand is worth, a search that takes no notice of equal states needs minutes."""
    hand, table = parse_cards(held), Table()
    assert worth_of_one_suit(hand) == most
    lays = [{action for action in table.engine(hand, most + d) if action < DISCARD} for d in (-20, -5, -1, 0, 1, 2, 9)]
    assert all(more >= fewer for more, fewer in itertools.pairwise(lays))
    assert lays[3] and not lays[4], "the frontier"


# --- the room for candidates ---------------------------------------------------------------------


def most_rows(jokers: int) -> list[int]:
    """Return the most runs of one suit that a hand can make, by its number of different naturals (R4, R5)."""
    ranks = np.arange(1 << RANKS)
    held = ranks | (ranks & 1) << 13  # an ace fills two places
    rows = np.zeros(1 << RANKS, dtype=np.int64)
    for low in range(PLACES - 2):
        # How many rows reach from low to a place: [last is a joker, jokers used, ranks held].
        ways = np.zeros((2, jokers + 1, 1 << RANKS), dtype=np.int64)
        ways[0, 0] = held >> low & 1
        if jokers:
            ways[1, 1] = 1
        for place in range(low + 1, PLACES):
            after = np.zeros_like(ways)
            after[0] = ways.sum(axis=0) * (held >> place & 1)
            after[1, 1:] = ways[0, :-1]
            ways = after
            if place >= low + 2:
                rows += ways.sum(axis=(0, 1))
    counts = np.bitwise_count(ranks)
    return [int(rows[counts == n].max()) for n in range(RANKS + 1)]


@pytest.mark.parametrize("jokers", range(7))
def test_candidates_never_outgrow_their_room(jokers: int) -> None:
    """The most rows of each suit for each number of naturals, put together for hands of 20, and all sets."""
    one = most_rows(jokers)
    naturals = 20 - jokers
    best = [0] + [-1] * naturals
    for _ in range(SUITS):
        best = [
            max((best[n - k] + one[k] for k in range(min(n, RANKS) + 1) if best[n - k] >= 0), default=-1)
            for n in range(naturals + 1)
        ]
    # Four suits of a rank make 5 sets of naturals and 10 with a joker; each rank counts as if all were held.
    sets = 15 * RANKS
    # Extensions: rows from either end of each run of this turn, and five ways at most at each set of this turn;
    # three cards of the hand have gone into each of those melds.
    assert max(best) + sets <= SCRATCH_COLUMNS
    for melds in range(1, 7):
        left = naturals - 3 * melds
        if left + jokers >= 1:
            ends = 2 * melds * most_extensions(jokers)
            assert max(best[: max(left, 0) + 1] or [0]) + sets + ends <= SCRATCH_COLUMNS, melds


def most_extensions(jokers: int) -> int:
    """Return the most rows that one end of a run can be lengthened by, all ranks of its suit in hand."""
    total = 0
    ways = {(True, 1): 1, (False, 0): 1} if jokers else {(False, 0): 1}
    for _ in range(PLACES - 3):
        total += sum(ways.values())
        after: Counter[tuple[bool, int]] = Counter()
        for (wild, used), count in ways.items():
            after[False, used] += count
            if not wild and used < jokers:
                after[True, used + 1] += count
        ways = dict(after)
    return total
