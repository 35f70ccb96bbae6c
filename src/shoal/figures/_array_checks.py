"""Check arrays before they are drawn: whole counts, boxes, points on the plane."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.errors import DimensionMismatch, InvalidDomain, NotFinite, NotNumeric

_LARGEST = 2**62  # beyond, sums of counts would not fit


def check_counts(counts: ArrayLike) -> Integers:
    """Return counts as whole numbers; refuse, rather than round, anything else.

    Examples
    --------
    >>> check_counts([[1.0, 2.0]])
    array([[1, 2]])
    """
    values = _array(counts)
    if values.dtype.kind not in "iuf" or not np.all(values == np.rint(values)):  # NaN is none too
        raise NotNumeric(
            f"Counts must be whole numbers; some of type {values.dtype} are not.",
            "Pass released counts unchanged; add up or round other numbers yourself.",
        )
    if not np.all(np.abs(values.astype(float)) < _LARGEST):
        raise NotNumeric(
            "Some counts are beyond 2**62.", "Count in thousands, for example, and name the unit."
        )
    return values.astype(np.int64)


def box_corners(low: ArrayLike, high: ArrayLike) -> Floats:
    """Return the two corners of a public box, one above the other."""
    ends = _floats(low), _floats(high)
    if ends[0].shape != ends[1].shape:
        raise DimensionMismatch(
            f"There are {ends[0].size} low and {ends[1].size} high ends.", "Give each column both."
        )
    corners = np.array(ends)
    with np.errstate(over="ignore", invalid="ignore"):
        sides = corners[1] - corners[0]
    if not np.all(np.isfinite(corners)) or not np.all((sides > 0) & np.isfinite(sides)):
        raise InvalidDomain(
            "Some bound of the box is not finite, or its low end is not below its high end.",
            "Give each column its public bounds, e.g. low=[0, 0], high=[110, 20].",
        )
    return corners


def check_points(centers: ArrayLike) -> Floats:
    """Return points on the plane, two numbers each."""
    places = _floats(centers)
    if places.ndim != 2 or places.shape[1] != 2:
        raise DimensionMismatch(
            f"A map shows two columns; the points have shape {places.shape}.",
            "Give two numbers for each point, e.g. centers=[[50, 10]].",
        )
    if not np.all(np.isfinite(places)):
        raise NotFinite("Some point holds NaN or infinity.", "Leave it out.")
    return places


def _floats(values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise _no_numbers() from None


def _array(values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:  # rows of unequal length
        raise _no_numbers() from None


def _no_numbers() -> NotNumeric:
    return NotNumeric(
        "Expected numbers; got text, objects or rows of different lengths.",
        "Give the same number of values in each row.",
    )
