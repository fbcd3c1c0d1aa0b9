"""``benchmarks.search``: what is counted as the gain of choosing by playouts."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.search import weigh


def test_other_worlds_tell_what_a_choice_is_worth() -> None:
    """A rival that is better in every world is chosen, one that was only lucky where it was chosen costs."""
    margins = np.zeros((3, 400))
    margins[1] = 5 + np.tile([1.0, -1.0], 200)
    row = weigh([margins], worlds=100, errors=2.0, often=3.0)
    assert row["changed"] == 1
    assert row["points"] == pytest.approx(15)

    margins = np.zeros((2, 400))
    margins[1, :100], margins[1, 100:] = 8, -4
    row = weigh([margins], worlds=100, errors=0.0, often=1.0)
    assert row["changed"] == 0.5
    assert row["points"] == pytest.approx(-4 / 2)


def test_a_gain_that_is_not_sure_is_left() -> None:
    noisy = np.random.default_rng(0).normal(0.5, 100, size=(2, 400))
    noisy[0] = 0
    assert weigh([noisy], worlds=64, errors=3.0, often=1.0)["changed"] == 0
