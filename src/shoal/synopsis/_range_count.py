"""How many rows lie in a box, from the released cells, with an interval."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import Box
from shoal.errors import InvalidSetting, UnknownColumn
from shoal.synopsis.cells import Cells, Estimates

RATE = 0.9
_DEVIATIONS = 1.6449  # a normal deviate lies within so many in nine of ten draws
# Of the square of what a cut cell may hold on the wrong side, each cell by itself, and of what all
# cells that one side of the range cuts may hold there together: docs/decisions/intervals.md.
_PLACE, _PLACE_TOGETHER = 2 / 3, 0.15
_NOT_ALL = (
    "The estimates of cells that were dropped are not at hand: they are kept in the process that "
    "fitted a grid of all cells, and not in a folder."
)


@dataclass(frozen=True)
class RangeCount:
    """The number of rows in a range, as released cells tell it.

    Parameters
    ----------
    count
        The best estimate; it may be below 0 by noise.
    low
        The lower end of its interval, 0 or more; NaN where there is none.
    """

    count: float
    low: float
    high: float
    rate: float = RATE
    missing: str | None = None


def range_of(box: Box, bounds: Mapping[str, tuple[float, float]]) -> tuple[Floats, Floats]:
    """Return the corners of a range; columns that are not named are whole.

    Raises
    ------
    UnknownColumn
        If a column is not one of the box.
    InvalidSetting
        If an end is no number, or the first is beyond the second.
    """
    low, high = box.low.astype(np.float64), box.high.astype(np.float64)
    for name, ends in bounds.items():
        if name not in box.names:
            raise UnknownColumn(
                f"The range names {name!r}, which is no column of the synopsis.",
                f"Its columns are {', '.join(box.names)}.",
            )
        first, last = (float(end) for end in ends)
        if not first <= last:
            raise InvalidSetting(
                f"The range of {name!r} must go from a number to one that is not smaller.",
                f"E.g. {{{name!r}: ({box.low[0]:g}, {box.high[0]:g})}}.",
            )
        at = box.names.index(name)
        low[at], high[at] = max(low[at], first), min(high[at], last)
    return low, np.maximum(high, low)


def count_range(estimates: Estimates | None, cells: Cells, low: Floats, high: Floats) -> RangeCount:
    """Add up the cells in a range, each by the part of it that lies inside.

    Parameters
    ----------
    estimates
        Of all cells, dropped ones too; None if these are not at hand.
    """
    if estimates is None:
        count = float(_overlaps(cells.low, cells.high, low, high) @ cells.weight)
        return RangeCount(count, math.nan, math.nan, missing=_NOT_ALL)
    first, last = estimates.corners()
    parts = _overlaps(first, last, low, high)
    count = float(parts @ estimates.values)
    variance = _variance(estimates.step)
    noise = variance * _noises(parts, estimates.inside)
    place = _place(parts, estimates.values, variance)
    cut = (first < low) & (low < last), (first < high) & (high < last)
    place += _place_together(_along_axes(first, last, low, high), estimates.values, cut)
    half = _DEVIATIONS * math.sqrt(noise + place)
    return RangeCount(count, max(count - half, 0.0), max(count + half, 0.0))


def _overlaps(low: Floats, high: Floats, start: Floats, end: Floats) -> Floats:
    """The part of each cell that lies in the range."""
    return np.asarray(_along_axes(low, high, start, end).prod(axis=1))


def _along_axes(low: Floats, high: Floats, start: Floats, end: Floats) -> Floats:
    """The part of each side of each cell that lies in the range."""
    sides = np.maximum(high - low, np.finfo(float).tiny)
    inside = np.clip(np.minimum(high, end) - np.maximum(low, start), 0, None) / sides
    return np.asarray(np.minimum(inside, 1.0))


def _variance(step: float) -> float:
    """Of two-sided geometric noise."""
    return 2 * math.exp(-step) / math.expm1(-step) ** 2


def _noises(parts: Floats, inside: Integers | None) -> float:
    """How many noises of one count are in the sum; see ``Estimates.added``."""
    squares = float((parts**2).sum())
    if inside is None:
        return squares
    parents = np.repeat(np.arange(inside.size), inside)
    sums = np.bincount(parents, parts, inside.size)
    return squares - float((sums**2 / (inside + 1)).sum())


def _place(parts: Floats, values: Floats, variance: float) -> float:
    """What is not known of where rows lie in the cells that the range cuts, each by itself."""
    rows = np.maximum(values, math.sqrt(variance))
    return _PLACE * float(((rows * np.minimum(parts, 1 - parts)) ** 2).sum())


def _place_together(
    parts: Floats, values: Floats, cut: tuple[NDArray[np.bool_], NDArray[np.bool_]]
) -> float:
    """What is not known of where rows lie, in all cells that a side of the range cuts at once.

    Rows of neighbouring cells lie on the same side more often than not: a group, or a value that
    many share, does not end with a cell.
    """
    total = 0.0
    for axis in range(parts.shape[1]):
        others = np.delete(parts, axis, axis=1).prod(axis=1)
        wrong = values * others * np.minimum(parts[:, axis], 1 - parts[:, axis])
        total += sum(float(wrong[each[:, axis]].sum()) ** 2 for each in cut)
    return _PLACE_TOGETHER * total
