"""Checks shared by mechanisms on whole numbers: by type and shape, never by value."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Integers
from shoal.errors import InvalidBudget, InvalidSetting, NotNumeric, setting
from shoal.privacy import exact

# Counts and noise are cut there, so that their sum fits 64 bits.
FARTHEST = 2**62
LARGEST_RATE = 1000


def check_whole_numbers(value: object) -> None:
    """Refuse what is neither a whole number nor an array of them."""
    try:
        counts: NDArray[np.generic] | None = np.asanyarray(value)
    except ValueError:
        counts = None
    if counts is None or isinstance(counts, np.ma.MaskedArray) or counts.dtype.kind not in "iu":
        kind = "ragged" if counts is None else f"{type(counts).__name__} of {counts.dtype}"
        raise NotNumeric(
            f"This noise is for whole numbers; got a {kind}.",
            "Count the rows, or round to a public lattice first.",
        )


def clipped_to_62_bits(value: object) -> Integers:
    """Return int64 numbers, those beyond 2**62 moved there: no two values move apart."""
    counts = np.asarray(value)
    if counts.dtype.kind == "u":
        return np.minimum(counts.astype(np.uint64), FARTHEST).astype(np.int64)
    return np.clip(counts.astype(np.int64), -FARTHEST, FARTHEST)


def check_vectors(value: object) -> None:
    """Refuse what is no array of whole numbers with vectors along its last axis.

    Parameters
    ----------
    value
        What is to be released.
    """
    check_whole_numbers(value)
    if np.asarray(value).shape[-1:] in ((), (0,)):
        raise NotNumeric(
            "This noise is for vectors; got a single number or vectors of length 0.",
            "Give an array with the coordinates along its last axis.",
        )


def changed_vectors(
    output: object, value: object, other: object
) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Yield the vectors of three arrays, as Python's whole numbers, where the last two differ.

    Parameters
    ----------
    value
        Vectors of the same shape, cut at 62 bits as a release cuts them.
    """
    before, after = clipped_to_62_bits(value), clipped_to_62_bits(other)
    moved = (before != after).any(axis=-1)
    arrays = (np.asarray(output)[moved], before[moved], after[moved])
    yield from zip(*(array.tolist() for array in arrays), strict=True)


def exact_sensitivity(value: object) -> Fraction:
    """Return a positive number as the fraction its decimal form names."""
    number = exact(value)
    if number is None or number <= 0:
        raise InvalidSetting(
            setting("sensitivity") + " must be a positive number.",
            "Give the most that one row can change the value, e.g. "
            + setting("sensitivity", 1)
            + ".",
        )
    return number


def check_rate(rate: Fraction) -> None:
    """Refuse noise so wide, or so narrow, that it would not fit 64-bit integers."""
    if not 2**-40 <= rate <= LARGEST_RATE:
        raise InvalidBudget(
            setting("epsilon")
            + f" divided by the sensitivity must be between 2**-40 and {LARGEST_RATE}: otherwise "
            "the noise does not fit 64-bit integers, or there is none.",
            "Choose another, e.g. " + setting("epsilon", 1.0) + ", or another unit.",
        )
