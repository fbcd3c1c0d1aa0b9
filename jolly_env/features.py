"""The observation as a float vector for networks, and a description of each legal action.

Both say nothing that the observation does not say. All entries are scaled to lie about between -1 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env import actions as act
from jolly_env import rules as r
from jolly_env._jit import entry, kernel
from jolly_env.actions import MAX_TAKE
from jolly_env.arrays import MASK, check_observations, to_fill, to_read
from jolly_env.cards import CARD_KINDS, HAND_VALUE, JOKER, PLACE_VALUE, PLACES, RANKS, SET_VALUE, SUITS
from jolly_env.hand import HAND_WORDS, JOKERS, add_card, copy_hand, hand_cost, read_hand
from jolly_env.laydown import lay_out
from jolly_env.observation import as_record
from jolly_env.state import DRAW, NO_MELD, PLAY, SET
from jolly_env.warmup import warm_up_features

SET_SUITS = act.SET_SUITS
RUN_JOKERS = act.RUN_JOKERS
JOKER_KEPT = 10
"""Points that a joker in hand counts as where takes are compared."""

FEATURE_FIELDS: tuple[tuple[str, int], ...] = (
    ("hand", JOKER),  # 1: the natural is in hand
    ("hand_twice", JOKER),  # 1: twice
    ("in_run", JOKER),  # 1: in hand, with both neighbours of a run of three naturals
    ("in_set", JOKER),  # 1: in hand, with two other suits of its rank
    ("fits", JOKER),  # 1: a natural that could be attached to a meld
    ("swaps", JOKER),  # 1: a natural that could take a joker from a meld
    ("row", CARD_KINDS),  # 1 / (1 + cards discarded after it), for the newest copy in the row
    ("unseen", CARD_KINDS),  # copies in the stock or unknown hands, / 2
    ("known_next", CARD_KINDS),  # copies known to be held by the next player, / 2
    ("known_others", CARD_KINDS),  # by the players after that, / 2
    ("discarded_next", CARD_KINDS),  # discards of the next player in this round, / 2
    ("take_fits", MAX_TAKE),  # points that could be laid more after a take of the k newest cards, / 50; k from 1
    ("take_idle", MAX_TAKE),  # what would be left in hand more, / 50
    ("moment", 16),  # see write_moment
    ("players", 4 * 5),  # of each from the observer on: cards / 20, opened, laid / 100, total / 100, draws / 20
    ("rules", 12),  # players one-hot, then the rules that change play, scaled
)
"""Fields of the feature vector and their lengths, in order."""


def _slices() -> dict[str, slice]:
    """Return where each field lies."""
    slices, start = {}, 0
    for name, length in FEATURE_FIELDS:
        slices[name] = slice(start, start + length)
        start += length
    return slices


FEATURE_SLICES: dict[str, slice] = _slices()
"""Where each field lies: ``vector[FEATURE_SLICES["hand"]]``."""
FEATURES = sum(length for _, length in FEATURE_FIELDS)
"""Length of the feature vector."""
(
    HAND,
    TWICE,
    IN_RUN,
    IN_SET,
    FITS,
    SWAPS,
    ROW,
    UNSEEN,
    KNOWN_NEXT,
    KNOWN_OTHERS,
    DISCARDED_NEXT,
    TAKE_FITS,
    TAKE_IDLE,
    MOMENT,
    PLAYER_FIELDS,
    RULE_VALUES,
) = (FEATURE_SLICES[name].start for name, _ in FEATURE_FIELDS)


def features(observation: Any, out: np.ndarray | None = None) -> np.ndarray:
    """Return the feature view of an observation or of ``B`` of them: float32[FEATURES] or float32[B, FEATURES].

    ``out``, float32[B, FEATURES] with B = 1 for a single observation, is filled if given.
    """
    records = as_record(observation)
    rows = check_observations(np.atleast_1d(np.asarray(records)))
    out = to_fill("out", out, (len(rows), FEATURES), np.dtype(np.float32))
    warm_up_features()
    write_features_batch(rows, out, new_hands())
    return out[0] if np.ndim(records) == 0 else out


def new_hands() -> np.ndarray:
    """Return room for the hands that features are worked out with: int64[2, HAND_WORDS]."""
    return np.zeros((2, HAND_WORDS), dtype=np.int64)


@entry
def write_features_batch(observations: np.ndarray, out: np.ndarray, hands: np.ndarray) -> None:
    """Write the features of ``B`` observations into float32[B, FEATURES]."""
    for i in range(observations.shape[0]):
        write_features(observations[i], out[i], hands)


@kernel
def write_features(obs: Any, out: np.ndarray, hands: np.ndarray) -> None:
    """Write the features of one observation into float32[FEATURES]; ``hands`` is room as of :func:`new_hands`."""
    out[:] = 0
    write_hand(obs, out)
    write_fits(obs, out)
    for i in range(obs["row_size"]):
        out[ROW + obs["row_cards"][i]] = np.float32(1) / np.float32(obs["row_size"] - i)
    write_takes(obs, out, hands)
    half = np.float32(0.5)
    for card in range(CARD_KINDS):
        out[UNSEEN + card] = half * obs["unseen"][card]
        out[KNOWN_NEXT + card] = half * obs["known"][1, card]
        out[KNOWN_OTHERS + card] = half * (obs["known"][2, card] + obs["known"][3, card])
        out[DISCARDED_NEXT + card] = half * obs["discarded"][1, card]
    write_moment(obs, out)
    write_players(obs, out)


@kernel
def write_hand(obs: Any, out: np.ndarray) -> None:
    """Write which naturals are in hand, and which of them lie in a run or a set of three naturals there."""
    for suit in range(SUITS):
        for rank in range(RANKS):
            card = RANKS * suit + rank
            count = obs["hand"][card]
            if count == 0:
                continue
            out[HAND + card] = 1
            out[TWICE + card] = count - 1
            suits = 0
            for other in range(SUITS):
                suits += 1 if obs["hand"][RANKS * other + rank] > 0 else 0
            out[IN_SET + card] = 1 if suits >= 3 else 0
        for low in range(PLACES - 2):
            a, b, c = (
                RANKS * suit + low,
                RANKS * suit + (low + 1) % RANKS,
                RANKS * suit + (low + 2) % RANKS,
            )
            if obs["hand"][a] > 0 and obs["hand"][b] > 0 and obs["hand"][c] > 0:
                out[IN_RUN + a] = 1
                out[IN_RUN + b] = 1
                out[IN_RUN + c] = 1


@kernel
def write_fits(obs: Any, out: np.ndarray) -> None:
    """Write which naturals could be attached to the melds or take a joker from them."""
    for meld in range(obs["meld_count"]):
        base, jokers = np.int64(obs["meld_base"][meld]), np.int64(obs["meld_jokers"][meld])
        size = np.int64(obs["meld_size"][meld])
        if obs["meld_kind"][meld] == SET:
            if size == 4 and jokers == 0:
                continue
            to = SWAPS if size == 4 else FITS
            for suit in range(SUITS):
                if obs["meld_cards"][meld, suit] < 0:
                    out[to + RANKS * suit + base] = 1
            continue
        low = np.int64(obs["meld_low"][meld])
        if low > 0:
            out[FITS + RANKS * base + (low - 1) % RANKS] = 1
        if low + size < PLACES:
            out[FITS + RANKS * base + (low + size) % RANKS] = 1
        for place in range(low, low + size):
            if jokers >> place & 1:
                out[SWAPS + RANKS * base + place % RANKS] = 1


@kernel
def write_takes(obs: Any, out: np.ndarray, hands: np.ndarray) -> None:
    """Write what the newest cards of the row are good for, where they may be taken: what more could be laid, and kept.

    A joker that stays in hand counts as points laid. ``hands`` is room for two hands.
    """
    if obs["phase"] != DRAW or obs["opened"][0] == 0:
        return
    hand, work = hands[0], hands[1]
    read_hand(obs, hand)
    copy_hand(hand, work)
    laid = lay_out(obs, work, 0.0) + JOKER_KEPT * work[JOKERS]
    left = hand_cost(work)
    size = np.int64(obs["row_size"])
    for k in range(min(size, np.int64(MAX_TAKE))):
        add_card(hand, np.int64(obs["row_cards"][size - 1 - k]))
        copy_hand(hand, work)
        more = lay_out(obs, work, 0.0) + JOKER_KEPT * work[JOKERS] - laid
        out[TAKE_FITS + k] = np.float32(0.02) * more
        out[TAKE_IDLE + k] = np.float32(0.02) * (hand_cost(work) - left)


@kernel
def write_moment(obs: Any, out: np.ndarray) -> None:
    """Write the sixteen numbers of the moment."""
    cost = 0
    for card in range(CARD_KINDS):
        cost += HAND_VALUE[card] * obs["hand"][card]
    turns = obs["rules"][r.MAX_TURNS] + np.float32(32768) * obs["rules_high"][r.MAX_TURNS]
    opening = obs["rules"][r.OPENING_POINTS] + np.float32(32768) * obs["rules_high"][r.OPENING_POINTS]
    turn = obs["turn"] + np.float32(32768) * obs["turn_high"]
    out[MOMENT] = 1 if obs["phase"] == PLAY else 0
    out[MOMENT + 1] = 1 if obs["to_move"] == 0 else 0
    out[MOMENT + 2] = obs["opened"][0]
    out[MOMENT + 3] = obs["opened_before_turn"]
    out[MOMENT + 4] = np.float32(0.02) * obs["opening_laid"]
    out[MOMENT + 5] = min((opening - obs["opening_laid"]) * np.float32(0.02), np.float32(4)) * (1 - obs["opened"][0])
    out[MOMENT + 6] = np.float32(0.25) * obs["hand"][JOKER]
    out[MOMENT + 7] = np.float32(0.01) * cost
    out[MOMENT + 8] = np.float32(0.01) * obs["stock_size"]
    out[MOMENT + 9] = np.float32(0.05) * obs["row_size"]
    out[MOMENT + 10] = np.float32(0.1) * obs["meld_count"]
    out[MOMENT + 11] = 1 if obs["recycled_size"] > 0 else 0
    out[MOMENT + 12] = min(turn * np.float32(0.025), np.float32(4))
    out[MOMENT + 13] = turn / turns
    out[MOMENT + 14] = np.float32(1) / np.float32(1 + obs["stock_size"])
    out[MOMENT + 15] = np.float32(0.25) * joker_places(obs)


@kernel
def joker_places(obs: Any) -> int:
    """Return at how many places of the table a joker could be attached."""
    count = 0
    for meld in range(obs["meld_count"]):
        jokers, size = np.int64(obs["meld_jokers"][meld]), np.int64(obs["meld_size"][meld])
        if obs["meld_kind"][meld] == SET:
            count += 1 if size == 3 and jokers == 0 else 0
            continue
        low = np.int64(obs["meld_low"][meld])
        count += 1 if low > 0 and jokers >> low & 1 == 0 else 0
        count += 1 if low + size < PLACES and jokers >> (low + size - 1) & 1 == 0 else 0
    return count


@kernel
def write_players(obs: Any, out: np.ndarray) -> None:
    """Write what is public of the players, and the rules."""
    for i in range(4):
        at = PLAYER_FIELDS + 5 * i
        total = obs["total"][i] + np.float32(32768) * obs["total_high"][i]
        out[at] = np.float32(0.05) * obs["hand_size"][i]
        out[at + 1] = obs["opened"][i]
        out[at + 2] = np.float32(0.01) * obs["laid"][i]
        out[at + 3] = min(max(np.float32(0.01) * total, np.float32(-10)), np.float32(10))
        out[at + 4] = np.float32(0.05) * obs["draws"][i]
    at = RULE_VALUES
    values = obs["rules"]
    out[at + values[r.PLAYERS] - 2] = 1
    out[at + 3] = values[r.JOKERS] / np.float32(6)
    out[at + 4] = values[r.HAND_SIZE] / np.float32(20)
    out[at + 5] = values[r.HAND_LIMIT] / np.float32(20)
    out[at + 6] = min(values[r.OPENING_POINTS] / np.float32(50), np.float32(4))
    out[at + 7] = min(values[r.RECYCLE_KEEP] / np.float32(10), np.float32(4))
    out[at + 8] = min(values[r.CLOSING_BONUS] / np.float32(50), np.float32(4))
    out[at + 9] = min(values[r.HAND_JOLLY_FACTOR] / np.float32(4), np.float32(4))
    out[at + 10] = min(values[r.MAX_TURNS] / np.float32(200), np.float32(4))
    out[at + 11] = min(values[r.TARGET] / np.float32(500), np.float32(4))


ACTION_FEATURE_FIELDS: tuple[tuple[str, int], ...] = (
    ("kind", 6),  # one-hot: draw, take, lay a set, lay a run, at a meld, discard
    ("swap", 1),  # 1: takes a joker from the table
    ("cards_played", 1),  # cards that leave the hand, / 4
    ("cards_taken", 1),  # cards that come to the hand, / 10
    ("points_laid", 1),  # points that it lays, / 40
    ("hand_cost", 1),  # points that leave the hand, / 40; negative for cards taken
    ("ranks", RANKS),  # cards played or taken of each rank, / 2
    ("suits", SUITS),  # of each suit, / 3
    ("jokers", 1),  # jokers played or taken, / 2
    ("copies_left", 1),  # copies of the discarded card that stay in hand
    ("meld_set", 1),  # the meld touched: 1: a set
    ("meld_size", 1),  # its cards, / 10
    ("meld_jokers", 1),  # its jokers, / 2
    ("meld_own", 1),  # share of it that the observer laid
)
"""Fields of the description of an action and their lengths, in order."""
ACTION_FEATURES = sum(length for _, length in ACTION_FEATURE_FIELDS)
"""Length of the description of an action."""
A_SWAP, A_PLAYED, A_TAKEN, A_POINTS, A_COST, A_RANKS = 6, 7, 8, 9, 10, 11
A_SUITS = A_RANKS + RANKS
A_JOKERS = A_SUITS + SUITS
A_COPIES, A_SET, A_SIZE, A_MELD_JOKERS, A_OWN = (A_JOKERS + i for i in range(1, 6))


def action_features(observation: Any, masks: np.ndarray, most: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Describe the legal actions of ``B`` observations by the cards and the meld that they touch.

    Returns ``actions`` int16[B, most], the legal actions in ascending order and then -1, and their descriptions
    float32[B, most, ACTION_FEATURES]. Of more than ``most`` legal actions the first are kept.
    """
    rows = check_observations(np.atleast_1d(np.asarray(as_record(observation))))
    masks = to_read("masks", np.atleast_2d(masks), (len(rows), act.ACTIONS), MASK)
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise ValueError(f"most={most!r}: expected a whole number of at least 1")
    numbers = np.empty((len(rows), most), dtype=np.int16)
    out = np.empty((len(rows), most, ACTION_FEATURES), dtype=np.float32)
    write_action_features_batch(rows, masks, numbers, out)
    return numbers, out


@entry
def write_action_features_batch(
    observations: np.ndarray, masks: np.ndarray, numbers: np.ndarray, out: np.ndarray
) -> None:
    """Write what :func:`action_features` returns into arrays of the caller."""
    for i in range(observations.shape[0]):
        n = 0
        for action in range(act.ACTIONS):
            if masks[i, action] and n < numbers.shape[1]:
                numbers[i, n] = action
                describe_action(observations[i], action, out[i, n])
                n += 1
        for j in range(n, numbers.shape[1]):
            numbers[i, j] = -1
            out[i, j, :] = 0


@kernel
def describe_action(obs: Any, action: int, out: np.ndarray) -> None:
    """Write the description of one legal action into float32[ACTION_FEATURES]."""
    out[:] = 0
    if action == act.DRAW_STOCK:
        out[0] = 1
        out[A_TAKEN] = np.float32(0.1)
    elif action < act.LAY_SET:
        out[1] = 1
        for i in range(obs["row_size"] - action, obs["row_size"]):
            note_card(out, np.int64(obs["row_cards"][i]), np.int64(0), np.int64(-1))
        out[A_TAKEN] = np.float32(0.1) * action
    elif action < act.LAY_RUN:
        out[2] = 1
        out[A_SET] = 1
        rank, form = (action - act.LAY_SET) // act.SET_FORMS, (action - act.LAY_SET) % act.SET_FORMS
        for suit in range(SUITS):
            if SET_SUITS[form] >> suit & 1:
                note_card(out, RANKS * suit + rank, np.int64(SET_VALUE[rank]), np.int64(1))
        if form >= SUITS:
            note_card(out, np.int64(JOKER), np.int64(SET_VALUE[rank]), np.int64(1))
    elif action < act.MELD:
        out[3] = 1
        base, form = (action - act.LAY_RUN) // act.RUN_FORMS, (action - act.LAY_RUN) % act.RUN_FORMS
        suit, low = base // act.RUN_STARTS, base % act.RUN_STARTS
        for i in range(3):
            card = JOKER if RUN_JOKERS[form] >> i & 1 else RANKS * suit + (low + i) % RANKS
            note_card(out, card, np.int64(PLACE_VALUE[low + i]), np.int64(1))
    elif action < act.DISCARD:
        out[4] = 1
        describe_meld_action(obs, action, out)
    else:
        out[5] = 1
        note_card(out, action - act.DISCARD, np.int64(0), np.int64(1))
        out[A_COPIES] = obs["hand"][action - act.DISCARD] - 1


@kernel
def describe_meld_action(obs: Any, action: int, out: np.ndarray) -> None:
    """Write what an action at a table meld plays, and the meld."""
    meld, form = (action - act.MELD) // act.MELD_FORMS, (action - act.MELD) % act.MELD_FORMS
    base, jokers = np.int64(obs["meld_base"][meld]), np.int64(obs["meld_jokers"][meld])
    size = np.int64(obs["meld_size"][meld])
    own, wild = 0, 0
    for slot in range(PLACES):
        own += 1 if obs["meld_seats"][meld, slot] == 0 else 0
        wild += jokers >> slot & 1
    out[A_SIZE] = np.float32(0.1) * size
    out[A_MELD_JOKERS] = np.float32(0.5) * wild
    out[A_OWN] = np.float32(own) / np.float32(max(size, 1))
    if obs["meld_kind"][meld] == SET:
        out[A_SET] = 1
        value = np.int64(SET_VALUE[base])
        if form == act.ATTACH_SET_JOKER:
            note_card(out, np.int64(JOKER), value, np.int64(1))
            return
        suit = form
        if form == act.SWAP_SET_JOKER:
            out[A_SWAP] = 1
            suit = 0
            while suit < SUITS - 1 and obs["meld_cards"][meld, suit] >= 0:
                suit += 1
        note_card(out, RANKS * suit + base, value, np.int64(1))
    elif obs["meld_kind"][meld] != NO_MELD:
        place = np.int64(obs["meld_low"][meld]) - 1
        if form >= act.SWAP_RUN:
            out[A_SWAP] = 1
            index = form - act.SWAP_RUN
            for p in range(PLACES):
                if jokers >> p & 1:
                    if index == 0:
                        place = p
                    index -= 1
        elif form >= act.NATURAL_ABOVE:
            place += 1 + size
        joker = form == act.JOKER_BELOW or form == act.JOKER_ABOVE
        note_card(out, JOKER if joker else RANKS * base + place % RANKS, np.int64(PLACE_VALUE[place]), np.int64(1))


@kernel
def note_card(out: np.ndarray, card: int, points: int, played: int) -> None:
    """Add a card to the description: ``points`` laid with it, 1 if it is played, -1 if it is taken."""
    out[A_COST] += np.float32(0.025) * HAND_VALUE[card] * played
    out[A_POINTS] += np.float32(0.025) * points
    if played > 0:
        out[A_PLAYED] += np.float32(0.25)
    if card == JOKER:
        out[A_JOKERS] += np.float32(0.5)
    else:
        out[A_RANKS + card % RANKS] += np.float32(0.5)
        out[A_SUITS + card // RANKS] += np.float32(1 / 3)
