"""Bit operations on 64-bit words, and copies of whole arrays, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from jolly_env._jit import kernel

if config.DISABLE_JIT:

    def lowest_bit(word: Any) -> int:
        """Return the position of the lowest bit that is set in a non-zero word."""
        return (int(word) & -int(word)).bit_length() - 1

    def bit_count(word: Any) -> int:
        """Return the number of bits that are set."""
        return (int(word) & 0xFFFFFFFFFFFFFFFF).bit_count()

    def copy_array(target: Any, source: Any) -> None:
        """Copy an array into another of the same type and size."""
        target[:] = source

else:

    @intrinsic
    def lowest_bit(typing_context: Any, word: Any) -> Any:
        """Return the position of the lowest bit that is set in a non-zero word."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            found = builder.cttz(args[0], context.get_constant(types.boolean, True))
            return context.cast(builder, found, word, types.int64)

        return types.int64(word), generate

    @intrinsic
    def bit_count(typing_context: Any, word: Any) -> Any:
        """Return the number of bits that are set."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.cast(builder, builder.ctpop(args[0]), word, types.int64)

        return types.int64(word), generate

    @intrinsic
    def copy_array(typing_context: Any, target: Any, source: Any) -> Any:
        """Copy an array into another of the same type and size: one memcpy, which numba's own assignment is not."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            to, origin = (context.make_array(t)(context, builder, a) for t, a in zip(signature.args, args, strict=True))
            size = builder.mul(to.nitems, to.itemsize)
            cgutils.raw_memcpy(builder, to.data, origin.data, size, 1)
            return context.get_dummy_value()

        return types.void(target, source), generate


@kernel
def set_bit(words: np.ndarray, index: int) -> None:
    """Set bit ``index`` of an array of 64-bit words, in place."""
    words[index >> 6] |= np.uint64(1) << np.uint64(index & 63)


@kernel
def has_bit(words: np.ndarray, index: int) -> bool:
    """Tell whether bit ``index`` of an array of 64-bit words is set."""
    return (words[index >> 6] >> np.uint64(index & 63)) & np.uint64(1) != np.uint64(0)


__all__ = ["bit_count", "has_bit", "lowest_bit", "set_bit"]
