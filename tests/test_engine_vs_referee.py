"""The engine against the referee, step by step, over random rounds of two to four players and odd rules."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from referee import Referee
from referee_melds import RunMeld
from tools import all_cards, hand

from jolly_env import Rules
from jolly_env.actions import DISCARD, DRAW_STOCK, LAY_SET, MELD
from jolly_env.game import Game
from jolly_env.state import Phase

ENDINGS = {0: None, 1: "closed", 2: "exhausted", 3: "truncated"}


def odd_rules(rng: random.Random, players: int) -> Rules:
    """Return random rules: small packs, any hand size, opening and hand limit, few turns now and then."""
    jokers = rng.choice([0, 1, 2, 3, 4, 5, 6, 6, 6])
    pack = None
    if rng.random() < 0.5:
        suits, ranks = rng.choice([2, 3, 4, 4]), rng.sample(range(13), rng.choice([4, 6, 9, 13]))
        copies = rng.choice([[1], [2], [1, 2], [0, 1, 2]])
        pack = [rng.choice(copies) if c // 13 < suits and c % 13 in ranks else 0 for c in range(52)]
    cards = (104 if pack is None else sum(pack)) + jokers
    most = min(19, (cards - 1) // players)
    if most < 1:
        return odd_rules(rng, players)
    size = min(most, rng.choice([rng.randint(1, 19), 13, 9, 6, 4, 3]))
    return Rules(
        players=players,
        jokers=jokers,
        pack=pack,
        hand_size=size,
        hand_limit=rng.choice([20, rng.randint(size + 1, 20)]),
        opening_points=rng.choice([0, 1, 15, 30, 40, 40, 51, 75, 120, 200]),
        recycle_keep=rng.choice([0, 1, 2, 3, 3, 7]),
        closing_bonus=rng.choice([0, 30]),
        hand_jolly_factor=rng.choice([1, 2, 3]),
        max_turns=rng.choice([1, 17, 60, 120, 200, 200]),
        target=rng.choice([None, 1_000_000]),
    )


def choose(rng: random.Random, actions: list[int], eager: float) -> int:
    """Return a legal action; an eager chooser lays, attaches and swaps where it can, and takes from the row."""
    if actions[0] == DRAW_STOCK and rng.random() < 0.5:
        return DRAW_STOCK  # uniform takes of up to nineteen cards would hardly ever use up the stock
    if rng.random() < eager:
        busy = [a for a in actions if LAY_SET <= a < DISCARD]
        takes = [a for a in actions if 0 < a < LAY_SET]
        actions = busy or (takes if rng.random() < 0.3 and takes else actions)
    return rng.choice(actions)


def melds_of(game: Game) -> list[Any]:
    """Return the engine's melds in the referee's words: kind, base, low, cards by slot with seats, turn."""
    state = game.state
    found = []
    for m in range(int(state["meld_count"])):
        kind, base, low = (int(state[name][m]) for name in ("meld_kind", "meld_base", "meld_low"))
        laid = [(int(c), int(s)) for c, s in zip(state["meld_cards"][m], state["meld_seats"][m], strict=True) if c >= 0]
        found.append((kind, base, low, laid if kind == 2 else sorted(laid), int(state["meld_turn"][m])))
    return found


def melds_of_referee(referee: Referee) -> list[Any]:
    """Return the referee's melds in the same words."""
    found = []
    for meld in referee.melds:
        laid = list(zip(meld.cards, meld.seats, strict=True))
        if isinstance(meld.form, RunMeld):
            found.append((2, meld.form.suit, meld.form.low, laid, meld.turn))
        else:
            found.append((1, meld.form.rank, 0, sorted(laid), meld.turn))
    return found


def counts(row: np.ndarray) -> Counter[int]:
    return Counter({card: int(n) for card, n in enumerate(row) if n})


def compare(game: Game, referee: Referee) -> None:
    """Make sure that engine and referee agree in everything that both know."""
    state = game.state
    assert game.legal_actions().tolist() == referee.legal()
    assert ENDINGS[int(state["ending"]) if game.phase >= Phase.ROUND_OVER else 0] == referee.ending
    for seat in range(game.players):
        assert hand(game, seat) == Counter(referee.hands[seat])
        assert counts(state["known"][seat]) == referee.known[seat]
        assert counts(state["discarded"][seat]) == referee.discarded[seat]
        opened = int(state["opened_turn"][seat])
        assert (opened if opened >= 0 else None) == referee.opened_turn[seat]
        assert state["laid"][seat] == referee.laid_points(seat)
    size = int(state["row_size"])
    row = [(int(c), int(s)) for c, s in zip(state["row_cards"][:size], state["row_seats"][:size], strict=True)]
    assert row == referee.row
    assert (state["row_cards"][size:] == -1).all() and (state["row_seats"][size:] == -1).all()
    assert game.stock() == referee.stock
    assert melds_of(game) == melds_of_referee(referee)
    assert int(state["recycles"]) == referee.recycles
    if referee.over:
        assert game.scores == referee.scores
        assert (game.closer, game.hand_jolly) == (referee.closer, referee.hand_jolly)
    else:
        assert (game.seat, int(state["turn"])) == (referee.seat, referee.turn)
        assert (game.phase is Phase.PLAY) == referee.drawn
        if referee.opened_turn[referee.seat] is None:
            assert state["opening_laid"] == referee.opening_laid


def follow(game: Game, rng: random.Random, eager: float) -> Counter[str]:
    """Play the round of a game that has just been dealt, with a referee beside it; return what happened."""
    fields = {**game.rules.to_json(), "players": game.players}
    starter = int(game.state["round"]) % game.players
    referee = Referee(fields, game.deck, starter=starter, shuffle=lambda cards: game.stock())
    pack = all_cards(game)
    compare(game, referee)
    happened: Counter[str] = Counter()
    while not referee.over:
        action = choose(rng, referee.legal(), eager)
        if action >= MELD and game.format(action).startswith("swap"):
            happened["swapped"] += 1
        game.step(action)
        referee.apply(action)
        compare(game, referee)
        assert all_cards(game) == pack
        happened["steps"] += 1
    happened[str(referee.ending)] += 1
    happened["hand_jolly"] += referee.hand_jolly
    happened["recycled"] += referee.recycles > 0
    happened["opened"] += sum(turn is not None for turn in referee.opened_turn)
    return happened


def follow_rounds(seed: int, players: int, rounds: int) -> Counter[str]:
    """Follow rounds under odd rules, of games of one round or more."""
    rng = random.Random(1000 * players + seed)
    happened: Counter[str] = Counter()
    while happened["rounds"] < rounds:
        game = Game(odd_rules(rng, players), seed=rng.randrange(2**32))
        for number in range(3):
            happened.update(follow(game, rng, eager=rng.choice([0.0, 0.7, 0.95, 1.0])))
            happened["rounds"] += 1
            if game.over or number == 2:
                break
            game.next_round()
            assert int(game.state["closer"]) in (-1, *range(players)) and game.state["hand_size"].sum() == (
                players * game.rules.hand_size
            )
    return happened


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_rounds_agree_step_by_step(players: int) -> None:
    """All ways for a round to end, and all that is rare, must have occurred."""
    happened = follow_rounds(0, players, rounds=90)
    for name in ("closed", "exhausted", "truncated", "recycled", "hand_jolly", "swapped", "opened"):
        assert happened[name] > 0, f"no round with {name}: {happened}"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rounds_under_the_default_rules_agree(players: int) -> None:
    rng = random.Random(players)
    happened: Counter[str] = Counter()
    for seed in range(6):
        happened += follow(Game(Rules(players=players), seed=seed), rng, eager=(0.0, 0.1, 0.95)[seed % 3])
    assert happened["opened"] > 0 and happened["recycled"] > 0


if __name__ == "__main__":
    import sys
    import time

    total: Counter[str] = Counter()
    begin = time.perf_counter()
    first, last = int(sys.argv[1]), int(sys.argv[2])
    for number in range(first, last):
        for size in (2, 3, 4):
            total += follow_rounds(number, size, rounds=20)
        if number % 10 == 0:
            print(number, f"{time.perf_counter() - begin:.0f} s", dict(total), flush=True)
    print("done", dict(total))
