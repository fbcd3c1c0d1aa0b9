"""How far a hand is from closing: the fewest cards that it still lacks, and which cards bring it nearer.

A hand closes when all of it but the discard lies in melds. Its *distance* is the number of naturals that melds of
that many cards lack, jokers in hand being put into as many gaps as there are; 0: it can close now. Players of mahjong
know it as shanten. Before anybody has opened nothing can be taken from the row, and who comes first through this
distance wins.

It is reckoned, not proved: a meld holds two naturals or more, a rank gives one set, two jokers may meet in a run, a
card that fits the table is taken to be attached, and the points of the opening (R8) are not looked at. Nearly all hands
at distance 1 have exactly the outs that the lay-down solver finds; farther away a card in six or so is missed, most of
them next to a lone card (tests/test_distance.py). Of hands of some 20 cards with many jokers not all is searched.

Cards as bits: bit ``13 * suit + rank``. Covers and blanks: :mod:`agents.covers`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.covers import (
    ALL,
    BLANKS,
    COVER_ROW,
    GAPS_ROW,
    LACKED_ROW,
    MAY_LEAVE,
    MOST_ROW,
    PAIR_ROW,
    PATH_ROW,
    PICKED_ROW,
    RANKS_ROW,
    REMEMBERED,
    SEEN_ROW,
    SUITS_ROW,
    TWICE_ROW,
    UNKNOWN,
    USED_ROW,
    DistanceRoom,
    list_covers,
    most_in_runs,
    new_distance_room,
    remember,
)
from agents.outs import table_points
from jolly_env._jit import entry, kernel
from jolly_env.arrays import check_observations
from jolly_env.bits import lowest_bit
from jolly_env.cards import CARD_KINDS, JOKER, RANKS, SUITS

FAR: Final = 4
"""Distances beyond this are not told apart."""
MOST_SETS: Final = 4096
"""Choices of sets after which a search is cut off; ordinary hands have some 50."""
SUBSETS: Final = 1 << SUITS


def distances(observations: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return how far the hands of ``B`` seats that are about to discard are from closing: int64[B], and int64[B, 53].

    The latter are the naturals, as bits, that bring a hand nearer once a card is thrown; 0 where that throws it back.
    The distance is FAR + 1 where it is more than FAR. ``ValueError`` for other arrays.
    """
    records = check_observations(observations, len(observations))
    found = np.zeros(len(records), dtype=np.int64), np.zeros((len(records), CARD_KINDS), dtype=np.int64)
    read_distances(records, *found, new_distance_room())
    return found


@entry
def read_distances(observations: np.ndarray, found: np.ndarray, outs: np.ndarray, room: DistanceRoom) -> None:
    """Write the distances and outs of ``B`` hands."""
    for i in range(observations.shape[0]):
        found[i] = distance_of(observations[i], observations[i]["hand"], room, outs[i])


@kernel
def distance_of(obs: Any, counts: np.ndarray, room: DistanceRoom, outs: np.ndarray) -> int:
    """Return the distance of a hand that is about to discard, or FAR + 1 if it is farther.

    ``counts`` is int64[53]. ``outs``, int64[53], is filled: for each card in hand that may be discarded without coming
    farther away, the naturals that bring the hand nearer then, as bits; 0 for other cards. Any joker does, too. With an
    empty array the distance alone is worked out, in less time.
    """
    suits, twice = room.rows[SUITS_ROW], room.rows[TWICE_ROW]
    suits[:SUITS], twice[:SUITS], outs[:] = 0, 0, 0
    size = 0
    for card in range(JOKER):
        if counts[card] > 0:
            suits[card // RANKS] |= 1 << card % RANKS
        if counts[card] > 1:
            twice[card // RANKS] |= 1 << card % RANKS
        size += counts[card]
    jokers = counts[JOKER]
    needed = size + jokers - 1 - attach_fits(obs, suits, twice, room.fits)
    best = search_sets(needed, jokers, min(jokers + FAR, BLANKS) + 1, room, outs[:0])
    if outs.size > 0 and jokers < best <= BLANKS:
        search_sets(needed, jokers, best, room, outs)
    return min(best - jokers, FAR + 1)


@kernel
def attach_fits(obs: Any, suits: np.ndarray, twice: np.ndarray, points: np.ndarray) -> int:
    """Take out of a hand a copy of each card that fits a meld on the table; return how many."""
    if obs["meld_count"] == 0:
        return 0
    table_points(obs, points)
    count = 0
    for card in range(JOKER):
        if points[card] > 0 and suits[card // RANKS] >> card % RANKS & 1:
            take(suits, twice, card // RANKS, card % RANKS)
            count += 1
    return count


@kernel
def search_sets(needed: int, jokers: int, best: int, room: DistanceRoom, outs: np.ndarray) -> int:
    """Try all choices of sets, with the best runs of the rest; return the fewest blanks, or ``best`` if none has fewer.

    Where they are ``best``, and ``outs`` is not empty, what they leave and lack goes into it.
    """
    suits, twice, ranks = room.rows[SUITS_ROW], room.rows[TWICE_ROW], room.rows[RANKS_ROW]
    picked, used, gaps = room.rows[PICKED_ROW], room.rows[USED_ROW], room.rows[GAPS_ROW]
    count = 0
    for rank in range(RANKS):
        held = 0
        for suit in range(SUITS):
            held += suits[suit] >> rank & 1
        if held > 1:
            ranks[count] = rank
            count += 1
    tried = 0
    depth, used[0], gaps[0], picked[0] = 0, 0, 0, 0
    room.rows[SEEN_ROW, :SUITS] = UNKNOWN
    while depth >= 0 and tried < MOST_SETS:
        if depth < count and next_subset(room, depth, best):
            rank, subset = ranks[depth], picked[depth]
            size = 0
            for suit in range(SUITS):
                if subset >> suit & 1:
                    take(suits, twice, suit, rank)
                    size += 1
            used[depth + 1] = used[depth] + size
            gaps[depth + 1] = gaps[depth] + (1 if size == 2 else 0)
            depth += 1
            picked[depth] = 0
            continue
        if depth == count:
            tried += 1
            found = fewest_blanks(needed, used[depth], gaps[depth], best, room)
            if found < best:
                best = max(found, jokers)
            if found <= best and outs.size > 0:
                note_outs(needed - used[depth], gaps[depth], best, count, room, outs)
        depth -= 1
        if depth >= 0:
            for suit in range(SUITS):
                if picked[depth] >> suit & 1:
                    give(suits, twice, suit, ranks[depth])
            picked[depth] += 1
    return best


@kernel
def next_subset(room: DistanceRoom, depth: int, best: int) -> bool:
    """Move on to the next suits of which a set of a rank may be made, none at first; False if there are no more."""
    suits, picked, rank = room.rows[SUITS_ROW], room.rows[PICKED_ROW], room.rows[RANKS_ROW, depth]
    while picked[depth] < SUBSETS:
        subset, size, there = picked[depth], 0, True
        for suit in range(SUITS):
            if subset >> suit & 1:
                size += 1
                there = there and suits[suit] >> rank & 1 == 1
        if there and size != 1 and room.rows[GAPS_ROW, depth] + (1 if size == 2 else 0) <= best:
            return True
        picked[depth] += 1
    return False


@kernel
def take(suits: np.ndarray, twice: np.ndarray, suit: int, rank: int) -> None:
    """Take out a card that is there."""
    if twice[suit] >> rank & 1:
        twice[suit] &= ~(1 << rank)
    else:
        suits[suit] &= ~(1 << rank)


@kernel
def give(suits: np.ndarray, twice: np.ndarray, suit: int, rank: int) -> None:
    """Put a card back."""
    if suits[suit] >> rank & 1:
        twice[suit] |= 1 << rank
    else:
        suits[suit] |= 1 << rank


@kernel
def fewest_blanks(needed: int, used: int, gaps: int, best: int, room: DistanceRoom) -> int:
    """Return the fewest blanks with which sets and runs come to ``needed`` cards; more than ``best`` if none does.

    The sets use ``used`` cards and have ``gaps``. The best runs of each suit, and of two, stay in the room.
    """
    most, pairs = room.rows[MOST_ROW:PAIR_ROW], room.rows[PAIR_ROW:LACKED_ROW]
    last = min(best, BLANKS)
    if gaps > last:
        return best + 1
    bound = used + last
    for suit in range(SUITS):
        cards = room.rows[SUITS_ROW, suit] | room.rows[TWICE_ROW, suit] << RANKS
        if room.rows[SEEN_ROW, suit] != cards:
            room.rows[SEEN_ROW, suit] = cards
            most_in_runs(room.rows[SUITS_ROW, suit], room.rows[TWICE_ROW, suit], room.table, most[suit])
        bound += most[suit, last - gaps]
    if bound < needed:
        return best + 1
    i = 0
    for one in range(SUITS):
        for two in range(one + 1, SUITS):
            for b in range(last - gaps + 1):
                pairs[i, b] = 0
                for x in range(b + 1):
                    pairs[i, b] = max(pairs[i, b], most[one, x] + most[two, b - x])
            i += 1
    for b in range(gaps, last + 1):
        for x in range(b - gaps + 1):
            if used + pairs[0, x] + pairs[5, b - gaps - x] + b >= needed:
                return b
    return best + 1


@kernel
def note_outs(needed: int, gaps: int, best: int, count: int, room: DistanceRoom, outs: np.ndarray) -> None:
    """Add the outs of all best ways with these sets: what may be discarded, and what is lacked then.

    The suits' runs need ``needed`` cards, blanks counted, and may have ``best`` blanks less the ``gaps`` of the sets.
    """
    most, pairs, lacked = room.rows[MOST_ROW:PAIR_ROW], room.rows[PAIR_ROW:LACKED_ROW], room.rows[LACKED_ROW:PATH_ROW]
    covers = room.rows[COVER_ROW:]
    of_sets = lacked_by_sets(room, count)
    lacked[:] = -1
    needed -= best
    budget = best - gaps
    for suit in range(SUITS):
        one, two, three = (suit + 1) % SUITS, (suit + 2) % SUITS, (suit + 3) % SUITS
        for b in range(budget + 1):
            rest = budget - b
            others = 0
            for x in range(rest + 1):
                others = max(others, most[one, x] + pairs[pair_of(two, three), rest - x])
            least = max(needed - others, 0)
            if most[suit, b] < least:
                continue
            lack = of_sets
            lack |= lacked_in(one, two, three, rest, needed - most[suit, b], room)
            lack |= lacked_in(two, one, three, rest, needed - most[suit, b], room)
            lack |= lacked_in(three, one, two, rest, needed - most[suit, b], room)
            held, twice = room.rows[SUITS_ROW, suit], room.rows[TWICE_ROW, suit]
            if least == most[suit, b] and twice == 0 and b < REMEMBERED:
                known = remember(held, suit, b, least, room)
                while held:
                    rank = lowest_bit(held)
                    held &= held - 1
                    if known[rank] & MAY_LEAVE:
                        outs[RANKS * suit + rank] |= lack | np.int64(known[rank] & (MAY_LEAVE - 1)) << RANKS * suit
                continue
            for i in range(list_covers(suit, b, least, room)):
                left, here = covers[i, 0], lack | covers[i, 1] << RANKS * suit
                while left:
                    outs[RANKS * suit + lowest_bit(left)] |= here
                    left &= left - 1


@kernel
def lacked_by_sets(room: DistanceRoom, count: int) -> int:
    """Return the cards that the sets lack, as bits."""
    lack = 0
    for i in range(count):
        subset = room.rows[PICKED_ROW, i]
        size = 0
        for suit in range(SUITS):
            size += subset >> suit & 1
        if size == 2:
            for suit in range(SUITS):
                if not subset >> suit & 1:
                    lack |= 1 << RANKS * suit + room.rows[RANKS_ROW, i]
    return lack


@kernel
def lacked_in(suit: int, other: int, last: int, rest: int, needed: int, room: DistanceRoom) -> int:
    """Return the cards that the best runs of a suit lack, as bits, where it and two others share ``rest`` blanks."""
    most, pairs, lacked = room.rows[MOST_ROW:PAIR_ROW], room.rows[PAIR_ROW:LACKED_ROW], room.rows[LACKED_ROW:PATH_ROW]
    lack = 0
    for b in range(rest + 1):
        if most[suit, b] + pairs[pair_of(other, last), rest - b] < needed:
            continue
        if lacked[suit, b] < 0:
            lacked[suit, b] = 0
            if room.rows[TWICE_ROW, suit] == 0 and b < REMEMBERED:
                lacked[suit, b] = remember(room.rows[SUITS_ROW, suit], suit, b, most[suit, b], room)[ALL]
            else:
                for i in range(list_covers(suit, b, most[suit, b], room)):
                    lacked[suit, b] |= room.rows[COVER_ROW + i, 1]
        lack |= lacked[suit, b] << RANKS * suit
    return lack


@kernel
def pair_of(one: int, two: int) -> int:
    """Return the row of two suits."""
    low, high = min(one, two), max(one, two)
    return high - 1 if low == 0 else low + high


@kernel
def count_outs(obs: Any, outs: int) -> int:
    """Return how many unseen cards are among the naturals ``outs``, given as bits, or jokers; 0 if there are none."""
    if outs == 0:
        return 0
    count: Any = np.int64(obs["unseen"][JOKER])
    while outs:
        count += obs["unseen"][lowest_bit(outs)]
        outs &= outs - 1
    return count
