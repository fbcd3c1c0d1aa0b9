"""The course of a game: deal, apply an action, turn, recycling, the end of a round and of a game.

Python enters by :func:`run`, which leaves every state with its ``legal`` bits right.
"""

from __future__ import annotations

import numpy as np

from jolly_env import actions as act
from jolly_env._jit import entry, kernel
from jolly_env.cards import CARD_KINDS, HAND_VALUE, JOKER
from jolly_env.legal import refresh_legal
from jolly_env.moves import (
    State,
    hand_to_row,
    hold,
    lay_run,
    lay_set,
    play_at_run,
    play_at_set,
    remember,
    row_to_hand,
    stock_to_hand,
)
from jolly_env.rules import (
    CLOSING_BONUS,
    HAND_JOLLY_FACTOR,
    HAND_LIMIT,
    HAND_SIZE,
    JOKERS,
    MAX_ROUNDS,
    MAX_TURNS,
    OPENING_POINTS,
    PLAYERS,
    RECYCLE_KEEP,
    TARGET,
)
from jolly_env.state import (
    CLOSED,
    CUT_OFF,
    DRAW,
    EXHAUSTED,
    GAME_OVER,
    MAX_CARDS,
    MAX_MELDS,
    PLAY,
    ROUND_OVER,
    SET,
)


@kernel
def mix(z: np.uint64) -> np.uint64:
    """Return the finaliser of SplitMix64 (Steele, Lea, Flood 2014) of a counter."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def next_random(state: State) -> np.uint64:
    """Return 64 random bits of the game's own stream and move it on."""
    state["rng"] += np.uint64(0x9E3779B97F4A7C15)
    return mix(state["rng"])


@kernel
def random_below(state: State, bound: int) -> int:
    """Return a random number from 0 to ``bound`` - 1; ``bound`` is small, so the bias is below 2**-25."""
    return np.int64((next_random(state) >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32))


@kernel
def shuffle_stock(state: State, start: int, size: int) -> None:
    """Shuffle ``size`` cards of the stock from ``start`` on, in place (Fisher and Yates)."""
    for i in range(size - 1, 0, -1):
        j = random_below(state, i + 1)
        a, b = start + i, start + j
        card = state["stock"][a]
        state["stock"][a] = state["stock"][b]
        state["stock"][b] = card


@kernel
def fill_stock(state: State) -> None:
    """Put the whole pack into the stock, in order (R1)."""
    n = 0
    for card in range(JOKER):
        for _ in range(state["pack"][card]):
            state["stock"][n] = card
            n += 1
    for _ in range(state["rules"][JOKERS]):
        state["stock"][n] = JOKER
        n += 1
    state["stock_size"] = n


@kernel
def clear_round(state: State) -> None:
    """Empty hands, row, table and public knowledge."""
    for seat in range(4):
        state["opened_turn"][seat] = -1
        state["laid"][seat] = 0
        state["draws"][seat] = 0
        state["decisions"][seat] = 0
        state["hand_size"][seat] = 0
        for suit in range(4):
            state["ones"][seat, suit] = 0
            state["twos"][seat, suit] = 0
        for card in range(CARD_KINDS):
            state["hands"][seat, card] = 0
            state["known"][seat, card] = 0
            state["discarded"][seat, card] = 0
            state["recycled"][seat, card] = 0
    for i in range(MAX_CARDS):
        state["row_cards"][i] = -1
        state["row_seats"][i] = -1
    for meld in range(MAX_MELDS):
        state["meld_kind"][meld] = 0
        state["meld_base"][meld] = 0
        state["meld_low"][meld] = 0
        state["meld_size"][meld] = 0
        state["meld_jokers"][meld] = 0
        state["meld_turn"][meld] = -1
        for slot in range(14):
            state["meld_cards"][meld, slot] = -1
            state["meld_seats"][meld, slot] = -1
    for i in range(state["history_actions"].size):
        state["history_actions"][i] = -1
        state["history_seats"][i] = -1
    state["history_end"] = state["history_actions"].size // 2
    state["row_size"] = 0
    state["meld_count"] = 0
    state["recycles"] = 0
    state["recycled_size"] = 0
    state["opening_laid"] = 0
    state["turn"] = 0


@kernel
def deal(state: State) -> None:
    """Begin the round ``state["round"]`` with the cards in the order of the stock: hands first, by seat (R2)."""
    clear_round(state)
    players, hand = np.int64(state["rules"][PLAYERS]), np.int64(state["rules"][HAND_SIZE])
    for card in range(JOKER):
        state["hidden"][card] = state["pack"][card]
    state["hidden"][JOKER] = state["rules"][JOKERS]
    for seat in range(players):
        for i in range(hand):
            hold(state, seat, np.int64(state["stock"][seat * hand + i]))
    state["stock_top"] = players * hand
    state["stock_size"] -= players * hand
    state["seat"] = state["round"] % players
    state["phase"] = DRAW
    state["key"] += np.uint64(0x9E3779B97F4A7C15)


@kernel
def shuffle_pack(state: State) -> None:
    """Make the shuffled pack the stock (R2)."""
    fill_stock(state)
    shuffle_stock(state, np.int64(0), np.int64(state["stock_size"]))


@kernel
def begin_game(state: State) -> None:
    """Begin a new game under the rules and with the random streams that the state has; nothing is dealt yet."""
    state["round"] = 0
    state["truncated"] = 0
    for seat in range(4):
        state["totals"][seat] = 0
    shuffle_pack(state)


@kernel
def recycle(state: State) -> None:
    """Make all but the newest cards of the row the stock, where the stock is empty and there are any (R12)."""
    keep = np.int64(state["rules"][RECYCLE_KEEP])
    size = np.int64(state["row_size"])
    if state["stock_size"] > 0 or size <= keep:
        return
    count = size - keep
    for card in range(CARD_KINDS):
        for seat in range(4):
            state["recycled"][seat, card] = 0
    for i in range(count):
        card = state["row_cards"][i]
        state["stock"][i] = card
        state["hidden"][card] += 1
        for seat in range(4):
            state["recycled"][seat, card] += 1
    for i in range(size):
        state["row_cards"][i] = state["row_cards"][count + i] if i < keep else np.int16(-1)
        state["row_seats"][i] = state["row_seats"][count + i] if i < keep else np.int16(-1)
    for seat in range(4):
        state["draws"][seat] = 0
    state["row_size"] = keep
    state["stock_top"] = 0
    state["stock_size"] = count
    state["recycled_size"] = count
    state["recycles"] += 1
    shuffle_stock(state, np.int64(0), count)


@kernel
def can_draw(state: State) -> bool:
    """Tell whether the seat to move has a legal draw (R6, R7)."""
    seat = np.int64(state["seat"])
    if state["stock_size"] > 0:
        return True
    room = state["rules"][HAND_LIMIT] - state["hand_size"][seat]
    return state["opened_turn"][seat] >= 0 and state["row_size"] > 0 and room > 0


@kernel
def hand_points(state: State, seat: int) -> int:
    """Return what a hand costs at the end (R15)."""
    points = 0
    for card in range(CARD_KINDS):
        points += HAND_VALUE[card] * state["hands"][seat, card]
    return points


@kernel
def finish(state: State, ending: int, closer: int) -> None:
    """End the round: scores, totals, and whether the game is over (R13 to R18)."""
    hand_jolly = closer >= 0 and state["opened_turn"][closer] == state["turn"]
    factor = state["rules"][HAND_JOLLY_FACTOR] if hand_jolly else np.int64(1)
    target = state["rules"][TARGET]
    best = np.int64(-(1 << 62))
    for seat in range(np.int64(state["rules"][PLAYERS])):
        if seat == closer:
            score = (state["laid"][seat] + state["rules"][CLOSING_BONUS]) * factor
        else:
            score = state["laid"][seat] - hand_points(state, seat) * factor
        state["scores"][seat] = score
        state["totals"][seat] += score
        best = max(best, state["totals"][seat])
    state["ending"] = ending
    state["closer"] = closer
    state["hand_jolly"] = 1 if hand_jolly else 0
    reached = target == 0 or best >= target
    out_of_rounds = state["round"] + 1 >= state["rules"][MAX_ROUNDS]
    state["phase"] = GAME_OVER if reached or out_of_rounds else ROUND_OVER
    if state["phase"] == GAME_OVER:
        state["truncated"] = 1 if ending == CUT_OFF or not reached else 0


@kernel
def end_turn(state: State) -> None:
    """Go on after a discard: the round's end, or the next seat's turn (R11 to R13, R17)."""
    seat = np.int64(state["seat"])
    if state["hand_size"][seat] == 0:
        finish(state, np.int64(CLOSED), seat)
        return
    state["turn"] += 1
    if state["turn"] >= state["rules"][MAX_TURNS]:
        finish(state, np.int64(CUT_OFF), np.int64(-1))
        return
    state["seat"] = (seat + 1) % state["rules"][PLAYERS]
    state["phase"] = DRAW
    state["opening_laid"] = 0
    recycle(state)
    if not can_draw(state):
        finish(state, np.int64(EXHAUSTED), np.int64(-1))


@kernel
def note_opening(state: State) -> None:
    """Mark the seat to move as opened once its melds of this turn are worth enough (R8)."""
    seat = np.int64(state["seat"])
    if state["opened_turn"][seat] < 0 and state["opening_laid"] >= state["rules"][OPENING_POINTS]:
        state["opened_turn"][seat] = state["turn"]
        state["opening_laid"] = 0


@kernel
def apply(state: State, action: int, scratch: np.ndarray) -> None:
    """Play a legal action, in place. After a round's last action the phase says so; the next is not dealt."""
    seat = np.int64(state["seat"])
    remember(state, seat, action)
    state["decisions"][seat] += 1
    if action < act.LAY_SET:
        if action == act.DRAW_STOCK:
            stock_to_hand(state, seat)
        else:
            row_to_hand(state, seat, action - act.TAKE)
        state["phase"] = PLAY
    elif action < act.DISCARD:
        if action < act.LAY_RUN:
            lay_set(state, seat, action)
        elif action < act.MELD:
            lay_run(state, seat, action)
        else:
            meld, form = (action - act.MELD) // act.MELD_FORMS, (action - act.MELD) % act.MELD_FORMS
            if state["meld_kind"][meld] == SET:
                play_at_set(state, seat, meld, form)
            else:
                play_at_run(state, seat, meld, form)
        note_opening(state)
    else:
        hand_to_row(state, seat, action - act.DISCARD)
        end_turn(state)
    refresh_legal(state, scratch)


@kernel
def decision_key(state: State, seat: int) -> np.uint64:
    """Return the random key of a seat's next decision: of (deal, seat, decision) and nothing else."""
    return mix(mix(state["key"] + np.uint64(seat)) + np.uint64(state["decisions"][seat]))


APPLY, NEW_GAME, DEAL, GO_ON, REFRESH = range(5)
"""What :func:`run` can do with each row."""


@entry
def run(states: np.ndarray, rows: np.ndarray, command: int, arguments: np.ndarray, scratch: np.ndarray) -> None:
    """Do one thing with each of ``rows`` of ``states``, in place: the only entry to the engine from Python.

    APPLY plays the action ``arguments[i]``. NEW_GAME shuffles and deals a new game, DEAL deals the stock as it lies.
    GO_ON deals the next round where one is over, and a new game where the game is over and ``arguments[i]`` is not 0.
    REFRESH works out what is legal. One entry for all, as each compiles the whole engine anew.
    """
    for i in range(rows.shape[0]):
        state = states[rows[i]]
        over = state["phase"] == GAME_OVER
        if command == APPLY:
            apply(state, arguments[i], scratch)
        elif command == REFRESH:
            refresh_legal(state, scratch)
        else:
            if command == NEW_GAME or (command == GO_ON and over and arguments[i] != 0):
                begin_game(state)
            elif command == GO_ON:
                if state["phase"] != ROUND_OVER:
                    continue
                state["round"] += 1
                shuffle_pack(state)
            deal(state)
            refresh_legal(state, scratch)
