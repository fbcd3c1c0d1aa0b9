"""Checks of the arrays that callers hand in: a kernel reads and writes where it is told and looks at nothing.

Letters: ``B`` decisions, ``A`` = 839 actions.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from jolly_env.actions import ACTIONS
from jolly_env.observation import OBSERVATION, as_record
from jolly_env.state import STATE

Shape: TypeAlias = tuple[int | None, ...]
"""A shape whose first length may be None, which stands for any."""

NAMES: Final = ((OBSERVATION, "OBSERVATION"), (STATE, "STATE"))
MASK: Final = np.dtype(np.int8)
KEY: Final = np.dtype(np.uint64)


def to_read(name: str, given: Any, shape: Shape, dtype: np.dtype[Any]) -> np.ndarray:
    """Return an array that a kernel may read: ``given``, or a copy if its memory is not contiguous or is read-only.

    ``ValueError`` that names the dtype and the shape that are wanted, if it has others.
    """
    array = _checked(name, given, shape, dtype)
    return array if array.flags.carray else array.copy()  # kernels are compiled for plain arrays only


def to_fill(name: str, given: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """Return an array that a kernel may write: the caller's, or zeros for None.

    ``ValueError`` unless the caller's is writable and contiguous and has this dtype and shape.
    """
    if given is None:
        return np.zeros(shape, dtype=dtype)
    array = _checked(name, given, shape, dtype)
    if not array.flags.carray:
        fault = "is not contiguous" if array.flags.writeable else "is read-only"
        raise ValueError(f"{name}: expected a writable, contiguous {_form(dtype, shape)}, and this array {fault}")
    return array


def as_rows(given: Any) -> Any:
    """Return a record, a list or an array of records as an array; anything else as it is, for a check to name."""
    try:
        array = np.atleast_1d(given)
    except ValueError:  # lists of different lengths
        return given
    return given if array.dtype.names is None else array


def check_decisions(masks: Any, keys: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the masks and keys of ``B`` decisions: int8[B, A] and uint64[B]; ``ValueError`` for others."""
    masks = to_read("masks", masks, (None, ACTIONS), MASK)
    return masks, to_read("keys", keys, (len(masks),), KEY)


def check_observations(observations: Any, count: int | None = None) -> np.ndarray:
    """Return the observations of ``B`` decisions, flat ones too, as OBSERVATION[B]; ``ValueError`` for others.

    ``count`` is B where it is known.
    """
    return to_read("observations", as_record(observations), (count,), OBSERVATION)


def check_chosen(actions: np.ndarray) -> np.ndarray:
    """Return what an agent chose, int64[B]; ``ValueError`` if it found nothing to choose for a decision (-1)."""
    if actions.size and actions.min() < 0:
        raise ValueError(f"masks: row {int(actions.argmin())} has no legal action to choose")
    return actions


def _checked(name: str, given: Any, shape: Shape, dtype: np.dtype[Any]) -> np.ndarray:
    """Return ``given`` if it is an array of this dtype and shape."""
    if isinstance(given, np.ndarray) and given.dtype == dtype:
        has = given.shape
        if has == shape or (len(has) == len(shape) and has[1:] == shape[1:] and shape[0] is None):
            return given
    got = _form(given.dtype, given.shape) if isinstance(given, np.ndarray) else type(given).__name__
    raise ValueError(f"{name}: expected {_form(dtype, shape)}, got {got}")


def _form(dtype: np.dtype[Any], shape: Shape) -> str:
    """Return dtype and shape in a few letters, as in ``int8[B, 839]``."""
    name = next((name for known, name in NAMES if known == dtype), "records" if dtype.names else str(dtype))
    return f"{name}[{', '.join('B' if n is None else str(n) for n in shape)}]"
