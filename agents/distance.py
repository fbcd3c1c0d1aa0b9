"""How far a hand is from closing: the fewest cards that it still lacks, and which cards bring it nearer.

A hand closes when all of it but the discard lies in melds. Its *distance* is the number of naturals that melds of
that many cards lack, jokers in hand being put into as many gaps as there are; 0: it can close now. Players of mahjong
know it as shanten. Before anybody has opened nothing can be taken from the row, and who comes first through this
distance wins.

It is reckoned, not proved: a meld holds two naturals or more, a rank gives one set, two jokers may meet in a run, a
card that fits the table is taken to be attached, and the points of the opening (R8) are not looked at. Nearly all hands
at distance 1 have exactly the outs that the lay-down solver finds; farther away a card in six or so is missed, most of
them next to a lone card (tests/test_distance.py). Of hands of some 20 cards with many jokers not all is searched.

A *cover* puts cards of a suit into runs; *blanks* are their places that no natural of the hand fills. Letters: ``b``
blanks. Cards as bits: bit ``13 * suit + rank``.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.outs import table_points
from jolly_env._jit import entry, kernel, warm_up
from jolly_env.actions import RUN_STARTS
from jolly_env.arrays import check_observations
from jolly_env.bits import lowest_bit
from jolly_env.cards import CARD_KINDS, JOKER, PLACES, RANKS, SUITS
from jolly_env.observation import OBSERVATION

FAR: Final = 4
"""Distances beyond this are not told apart."""
BLANKS: Final = 8
"""Most blanks that are looked at."""
WIDEST: Final = 7
"""Places of the longest run that is looked at for outs."""
SUITS_ROW, TWICE_ROW, RANKS_ROW, PICKED_ROW, USED_ROW, GAPS_ROW, SEEN_ROW = range(7)
MOST_ROW: Final = 7
"""Rows from here on: the most cards of each suit in runs, by blanks."""
PAIR_ROW: Final = MOST_ROW + SUITS
"""The same for two suits together: 0 1, 0 2, 0 3, 1 2, 1 3, 2 3."""
LACKED_ROW: Final = PAIR_ROW + 6
"""The ranks that best covers of a suit lack, by blanks; -1: not known."""
PATH_ROW: Final = LACKED_ROW + SUITS
PATHS: Final = 7
COVER_ROW: Final = PATH_ROW + PATHS
"""Covers: the ranks that they leave, and those that they lack."""
COVERS: Final = 64
MOST_SETS: Final = 4096
"""Choices of sets after which a search is cut off; ordinary hands have some 50."""
MOST_RUNS: Final = 4096
"""Runs after which a listing of covers is cut off."""
ROOM_ROWS: Final = COVER_ROW + COVERS
ROOM_WIDTH: Final = 16
SUBSETS: Final = 1 << SUITS
REMEMBERED: Final = 6
"""Covers of a suit without second copies are remembered for fewer blanks than this."""
ALL: Final = RANKS
"""Column of what all covers lack, behind the columns of the ranks."""
MAY_LEAVE: Final = 1 << RANKS
"""Bit of a rank that some cover leaves; the bits below tell what such covers lack."""
UNKNOWN: Final = -1


def new_distance_room() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return room for :func:`distance_of`: a table, what is remembered of covers, scratch, and the outs int64[53]."""
    return (
        run_table(),
        np.full((1 << RANKS, REMEMBERED, RANKS + 1), UNKNOWN, dtype=np.int16),
        np.zeros((ROOM_ROWS, ROOM_WIDTH), dtype=np.int64),
        np.zeros(CARD_KINDS, dtype=np.int64),
    )


def distances(observations: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return how far the hands of ``B`` seats that are about to discard are from closing: int64[B], and int64[B, 53].

    The latter are the naturals, as bits, that bring a hand nearer once a card is thrown; 0 where that throws it back.
    The distance is FAR + 1 where it is more than FAR. ``ValueError`` for other arrays.
    """
    records = check_observations(observations, len(observations))
    found = np.zeros(len(records), dtype=np.int64), np.zeros((len(records), CARD_KINDS), dtype=np.int64)
    read_distances(records, *found, *new_distance_room()[:-1])
    return found


@functools.cache
def run_table() -> np.ndarray:
    """Return the most cards of a suit that lie in runs, by the places held (bits) and the blanks: int8[2**14, 9]."""
    warm_up("agents.distance", Path(__file__).parent, _compile)
    table = np.zeros((1 << PLACES, BLANKS + 1), dtype=np.int8)
    fill_run_table(table)
    table.flags.writeable = False
    return table


def _compile() -> None:
    """Compile the kernels."""
    fill_run_table(np.zeros((0, BLANKS + 1), dtype=np.int8))
    distances(np.zeros(0, dtype=OBSERVATION))


@entry
def fill_run_table(table: np.ndarray) -> None:
    """Fill the table of :func:`run_table`, fewer places first: the lowest place is left, or lies in a run."""
    for held in range(1, table.shape[0]):
        low = lowest_bit(held)
        for b in range(BLANKS + 1):
            table[held, b] = table[held & (held - 1), b]
        for start in range(max(0, low - 2), low + 1):
            used, blanks, rest = 0, 0, held
            for place in range(start, PLACES):
                if held >> place & 1:
                    used += 1
                    rest &= ~(1 << place)
                else:
                    blanks += 1
                if place - start < 2 or used < 2:
                    continue
                for b in range(blanks, BLANKS + 1):
                    table[held, b] = max(table[held, b], used + table[rest, b - blanks])


@entry
def read_distances(
    observations: np.ndarray,
    found: np.ndarray,
    outs: np.ndarray,
    table: np.ndarray,
    memory: np.ndarray,
    room: np.ndarray,
) -> None:
    """Write the distances and outs of ``B`` hands."""
    for i in range(observations.shape[0]):
        found[i] = distance_of(observations[i], observations[i]["hand"], table, memory, room, outs[i])


@kernel
def distance_of(
    obs: Any, counts: np.ndarray, table: np.ndarray, memory: np.ndarray, room: np.ndarray, outs: np.ndarray
) -> int:
    """Return the distance of a hand that is about to discard, or FAR + 1 if it is farther.

    ``counts`` is int64[53]. ``outs``, int64[53], is filled: for each card in hand that may be discarded without coming
    farther away, the naturals that bring the hand nearer then, as bits; 0 for other cards. Any joker does, too. With an
    empty array the distance alone is worked out, in less time.
    """
    suits, twice = room[SUITS_ROW], room[TWICE_ROW]
    suits[:SUITS], twice[:SUITS], outs[:] = 0, 0, 0
    size = 0
    for card in range(JOKER):
        if counts[card] > 0:
            suits[card // RANKS] |= 1 << card % RANKS
        if counts[card] > 1:
            twice[card // RANKS] |= 1 << card % RANKS
        size += counts[card]
    jokers = counts[JOKER]
    needed = size + jokers - 1 - attach_fits(obs, suits, twice)
    best = search_sets(needed, jokers, min(jokers + FAR, BLANKS) + 1, table, memory, room, outs[:0])
    if outs.size > 0 and jokers < best <= BLANKS:
        search_sets(needed, jokers, best, table, memory, room, outs)
    return min(best - jokers, FAR + 1)


@kernel
def attach_fits(obs: Any, suits: np.ndarray, twice: np.ndarray) -> int:
    """Take out of a hand a copy of each card that fits a meld on the table; return how many."""
    if obs["meld_count"] == 0:
        return 0
    points = np.zeros(CARD_KINDS)
    table_points(obs, points)
    count = 0
    for card in range(JOKER):
        if points[card] > 0 and suits[card // RANKS] >> card % RANKS & 1:
            take(suits, twice, card // RANKS, card % RANKS)
            count += 1
    return count


@kernel
def search_sets(
    needed: int, jokers: int, best: int, table: np.ndarray, memory: np.ndarray, room: np.ndarray, outs: np.ndarray
) -> int:
    """Try all choices of sets, with the best runs of the rest; return the fewest blanks, or ``best`` if none has fewer.

    Where they are ``best``, and ``outs`` is not empty, what they leave and lack goes into it.
    """
    suits, twice, ranks, picked = room[SUITS_ROW], room[TWICE_ROW], room[RANKS_ROW], room[PICKED_ROW]
    used, gaps = room[USED_ROW], room[GAPS_ROW]
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
    room[SEEN_ROW, :SUITS] = UNKNOWN
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
            found = fewest_blanks(needed, used[depth], gaps[depth], best, table, room)
            if found < best:
                best = max(found, jokers)
            if found <= best and outs.size > 0:
                note_outs(needed - used[depth], gaps[depth], best, count, memory, room, outs)
        depth -= 1
        if depth >= 0:
            for suit in range(SUITS):
                if picked[depth] >> suit & 1:
                    give(suits, twice, suit, ranks[depth])
            picked[depth] += 1
    return best


@kernel
def next_subset(room: np.ndarray, depth: int, best: int) -> bool:
    """Move on to the next suits of which a set of a rank may be made, none at first; False if there are no more."""
    suits, picked, rank = room[SUITS_ROW], room[PICKED_ROW], room[RANKS_ROW, depth]
    while picked[depth] < SUBSETS:
        subset, size, there = picked[depth], 0, True
        for suit in range(SUITS):
            if subset >> suit & 1:
                size += 1
                there = there and suits[suit] >> rank & 1 == 1
        if there and size != 1 and room[GAPS_ROW, depth] + (1 if size == 2 else 0) <= best:
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
def fewest_blanks(needed: int, used: int, gaps: int, best: int, table: np.ndarray, room: np.ndarray) -> int:
    """Return the fewest blanks with which sets and runs come to ``needed`` cards; more than ``best`` if none does.

    The sets use ``used`` cards and have ``gaps``. The best runs of each suit, and of two, stay in the room.
    """
    most, pairs = room[MOST_ROW:PAIR_ROW], room[PAIR_ROW:LACKED_ROW]
    last = min(best, BLANKS)
    if gaps > last:
        return best + 1
    bound = used + last
    for suit in range(SUITS):
        cards = room[SUITS_ROW, suit] | room[TWICE_ROW, suit] << RANKS
        if room[SEEN_ROW, suit] != cards:
            room[SEEN_ROW, suit] = cards
            most_in_runs(room[SUITS_ROW, suit], room[TWICE_ROW, suit], table, most[suit])
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
def most_in_runs(held: int, twice: int, table: np.ndarray, most: np.ndarray) -> None:
    """Write how many cards of a suit lie in runs at most, by blanks.

    Of cards that are there twice, one copy may lie in a first run of up to five places.
    """
    most[: BLANKS + 1] = 0
    if held & (held - 1) == 0:
        return
    raise_most(held, twice, table, most, 0, 0)
    if twice & ~1 == 0:
        return
    for start in range(RUN_STARTS):
        used, blanks, left, copies, doubled = 0, 0, held, twice, False
        for place in range(start, min(start + 5, PLACES)):
            bit = 1 << place % RANKS
            if not left & bit:
                blanks += 1
            elif copies & bit:
                used += 1
                copies &= ~bit
                doubled = True
            else:
                used += 1
                left &= ~bit
            if blanks > 2:
                break
            if place - start >= 2 and used >= 2 and doubled:
                raise_most(left, copies, table, most, used, blanks)


@kernel
def raise_most(held: int, twice: int, table: np.ndarray, most: np.ndarray, used: int, blanks: int) -> None:
    """Raise what lies in runs at most to what the table knows of a suit, with an ace at either end."""
    low = held
    high = held
    if held & 1:
        high |= 1 << RANKS
        if twice & 1:
            low = high
        else:
            high &= ~1
    for b in range(blanks, BLANKS + 1):
        most[b] = max(most[b], used + max(table[low, b - blanks], table[high, b - blanks]))


@kernel
def note_outs(
    needed: int, gaps: int, best: int, count: int, memory: np.ndarray, room: np.ndarray, outs: np.ndarray
) -> None:
    """Add the outs of all best ways with these sets: what may be discarded, and what is lacked then.

    The suits' runs need ``needed`` cards, blanks counted, and may have ``best`` blanks less the ``gaps`` of the sets.
    """
    most, pairs, lacked = room[MOST_ROW:PAIR_ROW], room[PAIR_ROW:LACKED_ROW], room[LACKED_ROW:PATH_ROW]
    covers = room[COVER_ROW:]
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
            lack |= lacked_in(one, two, three, rest, needed - most[suit, b], memory, room)
            lack |= lacked_in(two, one, three, rest, needed - most[suit, b], memory, room)
            lack |= lacked_in(three, one, two, rest, needed - most[suit, b], memory, room)
            held, twice = room[SUITS_ROW, suit], room[TWICE_ROW, suit]
            if least == most[suit, b] and twice == 0 and b < REMEMBERED:
                known = remember(held, suit, b, least, memory, room)
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
def remember(held: int, suit: int, blanks: int, least: int, memory: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return what is lacked by the best covers of a suit that leave each rank, and by all; worked out but once."""
    known, covers = memory[held, blanks], room[COVER_ROW:]
    if known[ALL] != UNKNOWN:
        return known
    known[:] = 0
    for i in range(list_covers(suit, blanks, least, room)):
        left = covers[i, 0]
        known[ALL] |= covers[i, 1]
        while left:
            known[lowest_bit(left)] |= covers[i, 1] | MAY_LEAVE
            left &= left - 1
    return known


@kernel
def lacked_by_sets(room: np.ndarray, count: int) -> int:
    """Return the cards that the sets lack, as bits."""
    lack = 0
    for i in range(count):
        subset = room[PICKED_ROW, i]
        size = 0
        for suit in range(SUITS):
            size += subset >> suit & 1
        if size == 2:
            for suit in range(SUITS):
                if not subset >> suit & 1:
                    lack |= 1 << RANKS * suit + room[RANKS_ROW, i]
    return lack


@kernel
def lacked_in(suit: int, other: int, last: int, rest: int, needed: int, memory: np.ndarray, room: np.ndarray) -> int:
    """Return the cards that the best runs of a suit lack, as bits, where it and two others share ``rest`` blanks."""
    most, pairs, lacked = room[MOST_ROW:PAIR_ROW], room[PAIR_ROW:LACKED_ROW], room[LACKED_ROW:PATH_ROW]
    lack = 0
    for b in range(rest + 1):
        if most[suit, b] + pairs[pair_of(other, last), rest - b] < needed:
            continue
        if lacked[suit, b] < 0:
            lacked[suit, b] = 0
            if room[TWICE_ROW, suit] == 0 and b < REMEMBERED:
                lacked[suit, b] = remember(room[SUITS_ROW, suit], suit, b, most[suit, b], memory, room)[ALL]
            else:
                for i in range(list_covers(suit, b, most[suit, b], room)):
                    lacked[suit, b] |= room[COVER_ROW + i, 1]
        lack |= lacked[suit, b] << RANKS * suit
    return lack


@kernel
def pair_of(one: int, two: int) -> int:
    """Return the row of two suits."""
    low, high = min(one, two), max(one, two)
    return high - 1 if low == 0 else low + high


@kernel
def list_covers(suit: int, blanks: int, least: int, room: np.ndarray) -> int:
    """List the covers of a suit that use ``least`` cards or more with at most so many blanks; return how many."""
    covers, path = room[COVER_ROW:], room[PATH_ROW:COVER_ROW]
    count, depth, tried = 0, 0, 0
    # A path: cards left, their second copies, cards used, blanks, ranks lacked, the next run's first and last place.
    path[0, 0], path[0, 1], path[0, 2], path[0, 3], path[0, 4] = room[SUITS_ROW, suit], room[TWICE_ROW, suit], 0, 0, 0
    path[0, 5], path[0, 6] = 0, 2
    fresh = True
    while depth >= 0 and tried < MOST_RUNS:
        here = path[depth]
        if fresh and here[2] >= least and count < COVERS:
            covers[count, 0], covers[count, 1] = here[0], here[4]
            count += 1
        fresh = False
        start, end = here[5], here[6]
        if start >= RUN_STARTS or depth == PATHS - 1:
            depth -= 1
            continue
        if end >= min(start + WIDEST, PLACES):
            here[5], here[6] = start + 1, start + 3
            continue
        here[6] = end + 1
        tried += 1
        left, copies, used, lack, lacking = here[0], here[1], 0, here[4], here[3]
        for place in range(start, end + 1):
            bit = 1 << place % RANKS
            if not left & bit:
                lacking += 1
                lack |= bit
            elif copies & bit:
                used += 1
                copies &= ~bit
            else:
                used += 1
                left &= ~bit
        if lacking > blanks:
            here[5], here[6] = start + 1, start + 3
        elif used >= 2:
            depth += 1
            path[depth, 0], path[depth, 1], path[depth, 2], path[depth, 3] = left, copies, here[2] + used, lacking
            path[depth, 4], path[depth, 5], path[depth, 6] = lack, start, start + 2
            fresh = True
    return count


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
