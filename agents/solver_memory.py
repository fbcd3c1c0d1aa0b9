"""What a long search of the lay-down solver has seen: states that need not be looked at again with less laid.

A state is what is left to decide: cards, places, jokers. The table is direct-mapped and lossy: a newer state overwrites
an older one, and a stamp tells the states of this search from those of earlier ones.
"""

from __future__ import annotations

import numpy as np

from agents.solver_items import (
    ALL_JOKERS,
    CARDS_AT,
    COST_AT,
    LONE_SIDES,
    MEMORY_AT,
    MEMORY_BITS,
    NATURALS,
    NUMBER_MASK,
    OPEN_AT,
    POINTS_MASK,
    REACH,
    SEEN_ONE,
    SEEN_SIDES,
    SEEN_STAMP,
    SEEN_TALLY,
    SEEN_TWO,
    SIDE_REACH,
    STAMP,
    SWAP_SIDES,
    TOTAL,
)
from jolly_env._jit import kernel
from jolly_env.bits import bit_count
from jolly_env.cards import RANKS, SUITS


@kernel
def was_better(
    room: np.ndarray, head: int, one: int, two: int, sides: int, balance: int, tally: int, to_open: int
) -> bool:
    """Tell whether the same was left to decide before, with no less laid; if not, remember what is laid now."""
    one &= room[head + REACH]
    two = two & one | balance << RANKS * SUITS
    sides &= room[head + SIDE_REACH] | room[LONE_SIDES] | room[SWAP_SIDES]
    at = place_in_memory(one, two, sides)
    if (
        room[at + SEEN_STAMP] == room[STAMP]
        and room[at + SEEN_ONE] == one
        and room[at + SEEN_TWO] == two
        and room[at + SEEN_SIDES] == sides
    ):
        seen = room[at + SEEN_TALLY]
        cards = seen >> CARDS_AT & NUMBER_MASK
        playable = bit_count(one & NATURALS) + bit_count(two & NATURALS)
        # What left fewer cards must not be short of one to keep (R11).
        spare = cards == tally >> CARDS_AT & NUMBER_MASK or room[TOTAL] - room[ALL_JOKERS] - cards > playable
        if spare and (opens_no_less(seen, tally) if to_open else lays_no_less(seen, tally)):
            return True
    room[at + SEEN_STAMP], room[at + SEEN_TALLY] = room[STAMP], tally
    room[at + SEEN_ONE], room[at + SEEN_TWO], room[at + SEEN_SIDES] = one, two, sides
    return False


@kernel
def opens_no_less(seen: int, tally: int) -> bool:
    """Tell whether a tally has as many points for the opening as another."""
    return seen >> OPEN_AT & POINTS_MASK >= tally >> OPEN_AT & POINTS_MASK


@kernel
def lays_no_less(seen: int, tally: int) -> bool:
    """Tell whether a tally has as many of all kinds as another."""
    return (
        seen & POINTS_MASK >= tally & POINTS_MASK
        and seen >> COST_AT & POINTS_MASK >= tally >> COST_AT & POINTS_MASK
        and seen >> CARDS_AT & NUMBER_MASK >= tally >> CARDS_AT & NUMBER_MASK
        and opens_no_less(seen, tally)
    )


@kernel
def place_in_memory(one: int, two: int, sides: int) -> int:
    """Return where a state is remembered: a sum of products that stay below 2**63."""
    low = (1 << 26) - 1
    mixed = (one & low) * 0x5BD1E995 + (one >> 26 & low) * 0x6C8E9CF5 + (one >> 52 & 0xFFF) * 0x4F6CDD1D
    mixed += (two & low) * 0x7FEB352D + (two >> 26 & low) * 0x46A11A97 + (two >> 52 & 0xFFF) * 0x3C6EF372
    mixed += (sides & low) * 0x2545F491 + (sides >> 26 & low) * 0x1B873593 + (sides >> 52 & 0xFFF) * 0x52DCE729
    return MEMORY_AT + ((mixed >> 17 ^ mixed >> 34) & (1 << MEMORY_BITS) - 1) * 8
