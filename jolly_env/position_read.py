"""The parts of a position document (:mod:`jolly_env.position`), each read into a state with its faults named."""

from __future__ import annotations

from typing import Any

import numpy as np

from jolly_env import document as doc
from jolly_env.actions import ACTIONS, Action, parse_action
from jolly_env.cards import CARD_KINDS, JOKER, PLACE_VALUE, RANKS, SET_VALUE, SUITS, Card, format_card
from jolly_env.notation import Meld, parse_meld
from jolly_env.rules import MAX_PLAYERS, Rules
from jolly_env.seeding import seed_streams
from jolly_env.state import HISTORY, MAX_CARDS, MAX_MELDS, STATE, Ending, MeldKind, Phase

PHASES = {phase: phase.name.lower().replace("_", " ") for phase in Phase}
ENDINGS = {ending: ending.name.lower().replace("_", " ") for ending in Ending}
LEFTOVERS = ("stock_before", "stock_after", "history_end", "history", "recycled")
REST = "..."
"""At the end of a stock: the other cards, shuffled."""
MANY = 10**9
"""Upper end of plain counters."""
HUGE = 2**62
"""Upper end of points."""


class Tally:
    """The cards that have been placed so far, against the pack."""

    def __init__(self, counts: np.ndarray) -> None:
        self.left = counts.astype(np.int64)
        self.on_table = np.zeros(CARD_KINDS, dtype=np.int64)

    def place(self, card: Card, path: str, *, on_table: bool) -> None:
        """Take a card out of what is left of the pack; ``ValueError`` if it is not there."""
        self.left[card] -= 1
        self.on_table[card] += on_table
        if self.left[card] < 0:
            raise ValueError(f"{path}: {format_card(card)} is here once more than the pack has it (R1)")

    def rest(self) -> list[Card]:
        """Return what is left of the pack, ascending."""
        return [card for card in range(CARD_KINDS) for _ in range(int(self.left[card]))]


def empty_state(rules: Rules) -> np.ndarray:
    """Return a state, STATE[1], before anything is dealt."""
    state = np.zeros(1, dtype=STATE)
    state["rules"], state["pack"] = rules.numbers(), rules.counts()[:JOKER]
    nothing = ("opened_turn", "meld_turn", "row_cards", "row_seats", "meld_cards", "meld_seats")
    for name in (*nothing, "history_actions", "history_seats"):
        state[name] = -1
    return state


def read_moment(fields: dict[str, Any], rules: Rules, state: Any) -> None:
    """Read round, turn, seat and phase; a turn that is left out is the first that agrees with the rest."""
    players = rules.players
    phase = doc.choice(fields.get("phase", "draw"), "phase", PHASES.values())
    state["phase"] = next(number for number, name in PHASES.items() if name == phase)
    state["round"] = number = doc.whole(fields.get("round", 0), "round", 0, rules.max_rounds - 1)
    if "turn" in fields:
        turn = doc.whole(fields["turn"], "turn", 0, rules.max_turns)
        default = (number + turn) % players
        state["seat"] = doc.whole(fields.get("seat", default), "seat", 0, players - 1)
    else:
        state["seat"] = seat = doc.whole(fields.get("seat", number % players), "seat", 0, players - 1)
        least = _least_turn(fields, players)
        turn = least + (seat - number - least) % players
    state["turn"] = turn
    active = phase in ("draw", "play")
    if active and (number + turn - state["seat"]) % players:
        raise ValueError(f"seat: turn {turn} of round {number} is not that of seat {state['seat']} (R2)")
    if turn > rules.max_turns - active:
        raise ValueError(f"turn: {turn} turns are over, and the round is cut off after {rules.max_turns} (R17)")


def _least_turn(fields: dict[str, Any], players: int) -> int:
    """Return the number of turns that must have passed for row and melds to lie as they do."""
    row, melds, opened = fields.get("row", []), fields.get("melds", []), fields.get("opened", [])
    turns = [len(row.split() if isinstance(row, str) else row) if isinstance(row, str | list) else 0]
    for meld in melds if isinstance(melds, list) else []:
        given = meld.get("turn") if isinstance(meld, dict) else None
        turns.append(players if given is None else given)
    turns += [turn for turn in (opened if isinstance(opened, list) else []) if turn is not None]
    return max(t for t in turns if isinstance(t, int) and t <= MANY)


def read_hands(fields: dict[str, Any], rules: Rules, state: Any, tally: Tally) -> None:
    """Read the hands and count them against the hand limit (R7)."""
    for seat, text in enumerate(doc.entries(fields["hands"], "hands", rules.players)):
        path = f"hands[{seat}]"
        for card in doc.cards(text, path):
            tally.place(card, path, on_table=False)
            state["hands"][seat, card] += 1
        hand = state["hands"][seat]
        state["hand_size"][seat] = size = int(hand.sum())
        playing = state["phase"] == Phase.PLAY and seat == state["seat"]
        limit = rules.hand_limit - (not playing)
        if size > limit:
            raise ValueError(f"{path}: {size} cards, but at this point a hand has {limit} at most (R7)")
        for suit in range(SUITS):
            of_suit = hand[RANKS * suit : RANKS * (suit + 1)]
            state["ones"][seat, suit] = sum(1 << rank for rank in range(RANKS) if of_suit[rank] > 0)
            state["twos"][seat, suit] = sum(1 << rank for rank in range(RANKS) if of_suit[rank] > 1)


def read_melds(fields: dict[str, Any], rules: Rules, state: Any, tally: Tally) -> None:
    """Read the melds and what each seat's cards in them are worth (R3 to R5, R14)."""
    listed = doc.entries(fields.get("melds", []), "melds")
    if len(listed) > MAX_MELDS:
        raise ValueError(f"melds: {len(listed)} melds, but a table has {MAX_MELDS} at most")
    before = -1
    for m, entry in enumerate(listed):
        path = f"melds[{m}]"
        parts = doc.members(entry, path, ("cards", "seats", "turn"), ("cards", "seats"))
        text = doc.text(parts["cards"], path + ".cards")
        try:
            meld = parse_meld(text)
        except ValueError as error:
            raise ValueError(f"{path}.cards: {error}") from None
        turn = -1 if parts.get("turn") is None else doc.whole(parts["turn"], path + ".turn", 0, int(state["turn"]))
        if turn < before:
            raise ValueError(f"{path}.turn: {turn}, but melds stand in the order in which they were laid")
        before = turn
        _put_meld(state, m, meld, _seats(parts["seats"], path + ".seats", len(meld.cards), rules.players))
        state["meld_turn"][m] = turn
        for card in meld.cards:
            tally.place(card, path + ".cards", on_table=True)
    state["meld_count"] = len(listed)


def _seats(value: Any, path: str, count: int, players: int) -> list[int]:
    """Return who laid each of ``count`` cards."""
    if isinstance(value, list):
        return doc.whole_list(value, path, count, 0, players - 1)
    return [doc.whole(value, path, 0, players - 1)] * count


def _put_meld(state: Any, m: int, meld: Meld, seats: list[int]) -> None:
    """Put a meld on the table."""
    state["meld_kind"][m], state["meld_base"][m], state["meld_low"][m] = meld.kind, meld.base, meld.low
    state["meld_size"][m] = len(meld.cards)
    for card, slot, seat in zip(meld.cards, meld.slots, seats, strict=True):
        state["meld_cards"][m, slot], state["meld_seats"][m, slot] = card, seat
        if card == JOKER:
            state["meld_jokers"][m] |= 1 << slot
        state["laid"][seat] += SET_VALUE[meld.base] if meld.kind is MeldKind.SET else PLACE_VALUE[slot]


def read_row(fields: dict[str, Any], rules: Rules, state: Any, tally: Tally) -> None:
    """Read the row; where only cards are given, players discarded them in turn and the newest is the last turn's."""
    value = fields.get("row", [])
    if isinstance(value, str):
        cards = doc.cards(value, "row")
        last = int(state["seat"]) - 1
        pairs = [(card, (last - i) % rules.players) for i, card in enumerate(reversed(cards))][::-1]
    else:
        pairs = []
        for i, entry in enumerate(doc.entries(value, "row")):
            name, seat = doc.entries(entry, f"row[{i}]", 2)
            found = doc.cards(name, f"row[{i}][0]")
            if len(found) != 1:
                raise ValueError(f"row[{i}][0]: expected one card, got {len(found)}")
            pairs.append((found[0], doc.whole(seat, f"row[{i}][1]", 0, rules.players - 1)))
    for i, (card, seat) in enumerate(pairs):
        tally.place(card, f"row[{i}]" if isinstance(value, list) else "row", on_table=True)
        state["row_cards"][i], state["row_seats"][i] = card, seat
    state["row_size"] = len(pairs)


def read_opened(fields: dict[str, Any], rules: Rules, state: Any) -> None:
    """Read when each seat opened, or tell it from the melds; what lies of an opening begun is derived (R8)."""
    given = fields.get("opened")
    if given is not None:
        doc.entries(given, "opened", rules.players)
    turn, number, mover = int(state["turn"]), int(state["round"]), int(state["seat"])
    for seat in range(rules.players):
        path = f"opened[{seat}]"
        if given is None:
            opened = _opened(state, rules, seat)
        elif given[seat] is None:
            opened = -1
        else:
            opened = doc.whole(given[seat], path, 0, turn)
            if (number + opened - seat) % rules.players:
                raise ValueError(f"{path}: turn {opened} of round {number} is not that of seat {seat} (R2)")
        state["opened_turn"][seat] = opened
    if state["phase"] == Phase.PLAY and state["opened_turn"][mover] < 0:
        state["opening_laid"] = state["laid"][mover]


def _opened(state: Any, rules: Rules, seat: int) -> int:
    """Return the turn in which a seat opened as far as the melds tell, or -1."""
    melds = [m for m in range(int(state["meld_count"])) if (state["meld_seats"][m] == seat).any()]
    if not melds:
        return -1
    turn, number = int(state["turn"]), int(state["round"])
    if seat == state["seat"] and all(state["meld_turn"][m] == turn for m in melds):
        return turn if state["laid"][seat] >= rules.opening_points else -1
    own = [int(state["meld_turn"][m]) for m in melds]
    own = [t for t in own if t >= 0 and (number + t - seat) % rules.players == 0]
    last = turn - 1 - (number + turn - 1 - seat) % rules.players
    if not own and last < 0:
        raise ValueError(f"turn: {turn}, but seat {seat} must have had a turn to lay what lies on the table")
    return min(own, default=last)


def read_leftovers(fields: dict[str, Any], rules: Rules, state: Any) -> dict[str, Any]:
    """Read what no rule reads: where the stock's cards and the history stand in their arrays, and what is beside."""
    given = doc.members(fields.get("leftovers", {}), "leftovers", LEFTOVERS)
    path = "leftovers.history"
    end = doc.whole(given.get("history_end", HISTORY), "leftovers.history_end", HISTORY, 2 * HISTORY)
    listed = doc.entries(given.get("history", []), path)
    if listed:
        doc.entries(listed, path, HISTORY)
        places = [*range(end - HISTORY), *range(end, 2 * HISTORY)]
        for i, (place, entry) in enumerate(zip(places, listed, strict=True)):
            if entry is not None:
                seat, action = _past(entry, f"{path}[{i}]", rules.players)
                state["history_seats"][place], state["history_actions"][place] = seat, action
    state["history_end"] = end
    absent = MAX_PLAYERS - rules.players
    recycled = doc.entries(given.get("recycled", [""] * absent), "leftovers.recycled", absent)
    return {
        "stock_before": doc.cards(given.get("stock_before", ""), "leftovers.stock_before"),
        "stock_after": doc.cards(given.get("stock_after", ""), "leftovers.stock_after"),
        "recycled": [doc.cards(text, f"leftovers.recycled[{i}]") for i, text in enumerate(recycled)],
    }


def read_stock(fields: dict[str, Any], state: Any, tally: Tally, left_over: dict[str, Any]) -> None:
    """Read the stock; what is left of the pack is shuffled by the seed where it is left out or ends with "..."."""
    text = doc.text(fields.get("stock", REST), "stock")
    named = text.rstrip().removesuffix(REST)
    cards = doc.cards(named, "stock")
    for card in cards:
        tally.place(card, "stock", on_table=False)
    rest = tally.rest()
    if named != text.rstrip():
        seed = doc.whole(fields.get("seed", 0), "seed", 0, 2**63)
        keys = np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(max(len(rest), 1), np.uint64)
        cards += [rest[i] for i in np.argsort(keys[: len(rest)], kind="stable")]
    elif rest:
        raise ValueError(f"stock: {len(rest)} cards of the pack are nowhere, {format_card(rest[0])} among them (R1)")
    before, after = left_over["stock_before"], left_over["stock_after"]
    everything = before + cards + after
    if len(everything) > MAX_CARDS:
        raise ValueError(f"leftovers: {len(before)} and {len(after)} cards beside a stock of {len(cards)} are too many")
    state["stock"][: len(everything)] = everything
    state["stock_top"], state["stock_size"] = len(before), len(cards)


def read_public(fields: dict[str, Any], rules: Rules, state: Any) -> None:
    """Read what is publicly known of hands and discards, draws, decisions and totals."""
    players = rules.players
    row = zip(state["row_cards"], state["row_seats"], strict=True)
    for card, seat in row:
        if card >= 0:
            state["discarded"][seat, card] += 1
    for name in ("known", "discarded"):
        if name in fields:
            least = state[name].copy()
            state[name] = 0
            for seat, text in enumerate(doc.entries(fields[name], name, players)):
                for card in doc.cards(text, f"{name}[{seat}]"):
                    state[name][seat, card] = min(int(state[name][seat, card]) + 1, 2**15 - 1)
            if (state[name] < least).any():
                seat, card = np.argwhere(state[name] < least)[0]
                raise ValueError(f"{name}[{seat}]: {format_card(int(card))} lies in the row as a discard of this seat")
    for name, high in (("draws", MAX_CARDS), ("decisions", MANY)):
        state[name][:players] = doc.whole_list(fields.get(name, [0] * players), name, players, 0, high)
    state["totals"][:players] = doc.whole_list(fields.get("totals", [0] * players), "totals", players, -HUGE, HUGE)


def read_recycled(fields: dict[str, Any], rules: Rules, state: Any, left_over: dict[str, Any]) -> None:
    """Read what the last recycling put into the stock (R12)."""
    players = rules.players
    if fields.get("recycled") is None:
        return
    keys = ("times", "size", "left")
    given = doc.members(fields["recycled"], "recycled", keys, keys)
    state["recycles"] = doc.whole(given["times"], "recycled.times", 1, MANY)
    state["recycled_size"] = size = doc.whole(given["size"], "recycled.size", 1, rules.cards)
    listed = [
        doc.cards(text, f"recycled.left[{i}]")
        for i, text in enumerate(doc.entries(given["left"], "recycled.left", players))
    ]
    for seat, cards in enumerate(listed + left_over["recycled"]):
        path = f"recycled.left[{seat}]" if seat < players else f"leftovers.recycled[{seat - players}]"
        if len(cards) > size:
            raise ValueError(f"{path}: {len(cards)} cards, but the recycling put {size} into the stock (R12)")
        for card in cards:
            state["recycled"][seat, card] += 1
    if "draws" not in fields:
        state["draws"][:players] = [size - len(cards) for cards in listed]


def read_history(fields: dict[str, Any], rules: Rules, state: Any, left_over: dict[str, Any]) -> None:
    """Read the last public actions."""
    listed = doc.entries(fields.get("history", []), "history")
    if len(listed) > HISTORY:
        raise ValueError(f"history: {len(listed)} actions, but {HISTORY} at most are kept")
    start = int(state["history_end"]) - len(listed)
    for i, entry in enumerate(listed):
        seat, action = _past(entry, f"history[{i}]", rules.players)
        state["history_seats"][start + i], state["history_actions"][start + i] = seat, action


def _past(entry: Any, path: str, players: int) -> tuple[int, Action]:
    """Return who did what, in notation or as a number."""
    seat, action = doc.entries(entry, path, 2)
    if isinstance(action, str):
        try:
            number = parse_action(action)
        except ValueError as error:
            raise ValueError(f"{path}[1]: {error}") from None
    else:
        number = doc.whole(action, f"{path}[1]", 0, ACTIONS - 1)
    return doc.whole(seat, f"{path}[0]", 0, players - 1), number


def read_last_round(fields: dict[str, Any], rules: Rules, state: Any) -> None:
    """Read the outcome of the last finished round."""
    keys = ("ending", "closer", "hand_jolly", "scores")
    given = doc.members(fields.get("last_round", {}), "last_round", keys)
    ending = doc.choice(given.get("ending", "none"), "last_round.ending", ENDINGS.values())
    state["ending"] = next(number for number, name in ENDINGS.items() if name == ending)
    closer = given.get("closer")
    state["closer"] = -1 if closer is None else doc.whole(closer, "last_round.closer", 0, rules.players - 1)
    state["hand_jolly"] = doc.flag(given.get("hand_jolly", False), "last_round.hand_jolly")
    none = [0] * rules.players
    scores = doc.whole_list(given.get("scores", none), "last_round.scores", rules.players, -HUGE, HUGE)
    state["scores"][: rules.players] = scores
    state["truncated"] = doc.flag(fields.get("truncated", False), "truncated")


def read_random(fields: dict[str, Any], state: Any) -> None:
    """Read the random streams, or start them from the seed."""
    rng, key = seed_streams(doc.whole(fields.get("seed", 0), "seed", 0, 2**63), 1)
    state["rng"], state["key"] = rng[0], key[0]
    given = doc.members(fields.get("random", {}), "random", ("rng", "key"))
    for name, value in given.items():
        digits = doc.text(value, f"random.{name}")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 20 and int(digits) < 2**64):
            raise ValueError(f"random.{name}: expected a number below 2**64 in a text, got {doc.shown(value)}")
        state[name] = np.uint64(int(digits))
