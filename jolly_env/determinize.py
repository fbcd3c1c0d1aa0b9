"""A full state that agrees with an observation: the hidden cards dealt at random among what is possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env._jit import entry, kernel
from jolly_env.arrays import check_observations, to_fill
from jolly_env.cards import CARD_KINDS, JOKER, PLACES
from jolly_env.engine import REFRESH, clear_round, mix, run, shuffle_stock
from jolly_env.moves import State, hold
from jolly_env.observation import as_record
from jolly_env.packing import new_scratch
from jolly_env.rules import JOKERS, MAX_PLAYERS, PLAYERS, RULE_FIELDS
from jolly_env.state import HISTORY, MAX_CARDS, MAX_MELDS, STATE
from jolly_env.warmup import warm_up_determinize


def determinize(observation: Any, key: int, out: np.ndarray | None = None) -> np.ndarray:
    """Return a state that gives its seat this very observation: STATE[1], or ``out`` filled.

    The same observation and key give the same state. Cards known to be in a hand are there; after a recycling, cards
    that were not in it are in other hands (R12), and nobody holds more cards of it than they drew since. ``key`` is any
    integer. The observation may also be an array of one. ``ValueError`` for more, and for a wrong ``out`` or ``key``.
    """
    record = check_observations(np.atleast_1d(np.asarray(as_record(observation))), 1)
    if not isinstance(key, int | np.integer):
        raise ValueError(f"key={key!r}: expected a whole number")
    state = to_fill("out", out, (1,), STATE)
    warm_up_determinize()
    determinize_rows(record, np.array([int(key) % 2**64], dtype=np.uint64), state)
    run(state, np.zeros(1, dtype=np.int64), REFRESH, np.zeros(1, dtype=np.int64), new_scratch())
    return state


@entry
def determinize_rows(observations: np.ndarray, keys: np.ndarray, states: np.ndarray) -> None:
    """Fill ``B`` states but for their ``legal`` bits: OBSERVATION[B], uint64[B] -> STATE[B]."""
    for i in range(observations.shape[0]):
        determinize_into(observations[i], keys[i], states[i])


@kernel
def determinize_into(obs: Any, key: np.uint64, state: State) -> None:
    """Fill ``state`` but for its ``legal`` bits; ``key`` is the randomness."""
    clear_round(state)
    state["rng"] = mix(key ^ np.uint64(0xD1B54A32D192ED03))
    state["key"] = mix(key)
    copy_public(obs, state)
    copy_table(obs, state)
    copy_row_and_past(obs, state)
    deal_hidden(obs, state)


@kernel
def copy_public(obs: Any, state: State) -> None:
    """Copy what stands in the observation about the moment, the rules and the players."""
    for i in range(len(RULE_FIELDS)):
        state["rules"][i] = obs["rules"][i] + np.int64(32768) * obs["rules_high"][i]
    for card in range(JOKER):
        state["pack"][card] = obs["pack"][card]
    players, me = np.int64(state["rules"][PLAYERS]), np.int64(obs["seat"])
    state["phase"] = obs["phase"]
    state["seat"] = (me + obs["to_move"]) % players
    state["turn"] = obs["turn"] + np.int64(32768) * obs["turn_high"]
    state["round"] = obs["round"] + np.int64(32768) * obs["round_high"]
    state["opening_laid"] = obs["opening_laid"]
    state["recycled_size"] = obs["recycled_size"]
    state["recycles"] = 1 if obs["recycled_size"] > 0 else 0
    state["ending"], state["closer"], state["hand_jolly"], state["truncated"] = 0, -1, 0, 0
    for i in range(MAX_PLAYERS):
        seat = (me + i) % players if i < players else i
        state["scores"][seat] = 0
        state["totals"][seat] = obs["total"][i] + np.int64(32768) * obs["total_high"][i]
        state["opened_turn"][seat] = obs["opened_turn"][i] + np.int64(32768) * obs["opened_turn_high"][i]
        state["laid"][seat] = obs["laid"][i]
        state["draws"][seat] = obs["draws"][i]
        for card in range(CARD_KINDS):
            state["discarded"][seat, card] = obs["discarded"][i, card]
            state["recycled"][seat, card] = obs["recycled"][card]


@kernel
def copy_table(obs: Any, state: State) -> None:
    """Copy the melds."""
    players, me = np.int64(state["rules"][PLAYERS]), np.int64(obs["seat"])
    state["meld_count"] = obs["meld_count"]
    for meld in range(MAX_MELDS):
        state["meld_kind"][meld] = obs["meld_kind"][meld]
        state["meld_base"][meld] = obs["meld_base"][meld]
        state["meld_low"][meld] = obs["meld_low"][meld]
        state["meld_size"][meld] = obs["meld_size"][meld]
        state["meld_jokers"][meld] = obs["meld_jokers"][meld]
        state["meld_turn"][meld] = state["turn"] if obs["meld_this_turn"][meld] else -1
        for slot in range(PLACES):
            seat = obs["meld_seats"][meld, slot]
            state["meld_cards"][meld, slot] = obs["meld_cards"][meld, slot]
            state["meld_seats"][meld, slot] = (me + seat) % players if seat >= 0 else -1


@kernel
def copy_row_and_past(obs: Any, state: State) -> None:
    """Copy the row and the public actions."""
    players, me = np.int64(state["rules"][PLAYERS]), np.int64(obs["seat"])
    state["row_size"] = obs["row_size"]
    for i in range(MAX_CARDS):
        seat = obs["row_seats"][i]
        state["row_cards"][i] = obs["row_cards"][i]
        state["row_seats"][i] = (me + seat) % players if seat >= 0 else -1
    for i in range(HISTORY):
        seat = obs["history_seats"][i]
        state["history_actions"][i] = obs["history_actions"][i]
        state["history_seats"][i] = (me + seat) % players if seat >= 0 else -1
    state["history_end"] = HISTORY


@kernel
def deal_hidden(obs: Any, state: State) -> None:
    """Deal the unseen cards: to each other hand its known cards and a share of the rest; what is left is the stock."""
    players, me = np.int64(state["rules"][PLAYERS]), np.int64(obs["seat"])
    for card in range(CARD_KINDS):
        state["hidden"][card] = obs["unseen"][card] + obs["hand"][card]
        for _ in range(obs["hand"][card]):
            hold(state, me, np.int64(card))
        state["known"][me, card] = obs["known"][0, card]
        for i in range(1, players):
            state["hidden"][card] += obs["known"][i, card]
            state["known"][(me + i) % players, card] = obs["known"][i, card]
            for _ in range(obs["known"][i, card]):
                hold(state, (me + i) % players, card)
    fixed, either, total = list_hidden(obs, state)
    shuffle_stock(state, np.int64(0), fixed)
    shuffle_stock(state, fixed, either - fixed)
    first, last = np.int64(0), total
    # Whoever holds more cards than they drew from the recycled stock must hold some that were not in it.
    for i in range(1, players):
        seat = (me + i) % players
        must = obs["hand_size"][i] - state["hand_size"][seat] - obs["draws"][i] if obs["recycled_size"] > 0 else 0
        while must > 0 and first < either:
            hold(state, seat, np.int64(state["stock"][first]))
            first += 1
            must -= 1
    loose = max(first, fixed)
    shuffle_stock(state, loose, total - loose)
    first, last = deal_rest(obs, state, first, fixed, last)
    for i in range(last - first):
        state["stock"][i] = state["stock"][first + i]
    state["stock_top"] = 0
    state["stock_size"] = last - first
    shuffle_stock(state, np.int64(0), last - first)


@kernel
def list_hidden(obs: Any, state: State) -> tuple[int, int, int]:
    """List the unseen cards in the stock's room: those that are in hands, those that may be, those of the stock.

    Returns the ends of the three parts. After a recycling, a copy that was not in the recycled stock is in a hand. Of a
    card that was in it, as many copies are still in it, or were drawn from it, as are not to be seen elsewhere; where a
    copy is to be seen, that may be the recycled one. Before any recycling all are in the second part.
    """
    fixed, either, total = np.int64(0), np.int64(0), np.int64(0)
    for part in range(3):
        for card in range(CARD_KINDS):
            unseen = np.int64(obs["unseen"][card])
            most, least = unseen, np.int64(0)  # unseen copies that come from the recycled stock
            if obs["recycled_size"] > 0:
                copies = np.int64(obs["rules"][JOKERS]) if card == JOKER else np.int64(obs["pack"][card])
                most = min(unseen, np.int64(obs["recycled"][card]))
                least = max(np.int64(0), np.int64(obs["recycled"][card]) - (copies - unseen))
            count = unseen - most if part == 0 else (most - least if part == 1 else least)
            for _ in range(count):
                state["stock"][total] = card
                total += 1
        if part == 0:
            fixed = total
        elif part == 1:
            either = total
    return fixed, either, total


@kernel
def deal_rest(obs: Any, state: State, first: int, fixed: int, last: int) -> tuple[int, int]:
    """Fill the open places of the other hands at random, fixed cards first; return the bounds of what is left."""
    players, me = np.int64(state["rules"][PLAYERS]), np.int64(obs["seat"])
    places = np.int64(0)
    for i in range(1, players):
        places += obs["hand_size"][i] - state["hand_size"][(me + i) % players]
    # Each round takes a place at random among all open ones.
    while places > 0:
        state["rng"] += np.uint64(0x9E3779B97F4A7C15)
        pick = np.int64((mix(state["rng"]) >> np.uint64(32)) * np.uint64(places) >> np.uint64(32))
        for i in range(1, players):
            seat = (me + i) % players
            pick -= obs["hand_size"][i] - state["hand_size"][seat]
            if pick < 0:
                if first < fixed:
                    hold(state, seat, np.int64(state["stock"][first]))
                    first += 1
                else:
                    last -= 1
                    hold(state, seat, np.int64(state["stock"][last]))
                break
        places -= 1
    return first, last
