"""Random streams from seeds: one for the cards, one for the decision keys of agents."""

from __future__ import annotations

from typing import Any

import numpy as np


def whole_seed(seed: Any) -> int:
    """Return a seed; ``ValueError`` for what is no whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed={seed!r}: expected a whole number of at least 0")
    return int(seed)


def seed_streams(seed: int | np.ndarray | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts of ``n`` card streams and of ``n`` key streams: uint64[n] each.

    An int gives each row streams of its own; an array of n ints seeds row by row; None asks the operating system.
    NumPy's ``SeedSequence`` is one-way, so a key says nothing about the cards. ``ValueError`` for a negative seed.
    """
    if seed is None or isinstance(seed, int | np.integer):
        words = np.random.SeedSequence(None if seed is None else whole_seed(seed)).generate_state(2 * n, np.uint64)
        return words[0::2].copy(), words[1::2].copy()
    seeds = np.asarray(seed)
    if seeds.shape != (n,) or not np.issubdtype(seeds.dtype, np.integer) or (seeds.size and seeds.min() < 0):
        raise ValueError(f"seed: expected {n} whole numbers of at least 0, got {seeds.dtype}{list(seeds.shape)}")
    rows = [np.random.SeedSequence(int(s)).generate_state(2, np.uint64) for s in seeds]
    words = np.array(rows, dtype=np.uint64).reshape(n, 2)
    return words[:, 0].copy(), words[:, 1].copy()
