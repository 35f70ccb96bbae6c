"""A public grid of equal cells over a box, and counts over its cells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.domain.box import Box, as_matrix
from shoal.errors import InvalidDomain, NotFinite, TooLarge, quantity, setting, value_text

MAX_CELLS = 2**62  # so that keys, and twice a key, fit 64 bits
_MOST_IN_MEMORY = 2**26  # cells: 512 MiB for one number each


class Partition(Protocol):
    """Disjoint public cells that cover a box; each row falls into one, numbered from 0."""

    @property
    def size(self) -> int:
        """The number of cells."""

    def keys(self, X: ArrayLike) -> Integers:
        """Return the number of each row's cell.

        Parameters
        ----------
        X
            The rows.
        """


@dataclass(frozen=True, init=False)
class Grid:
    """A grid of equal cells over a box, numbered with the last axis counting fastest.

    Points on an upper bound belong to the last cell; rows outside go to the nearest one.

    Parameters
    ----------
    box
        The public box.
    cells
        How many equal parts each axis has, one number or one an axis.

    Examples
    --------
    >>> grid = Grid(Box.unit(2), 4)
    >>> grid.size, grid.keys([[0.1, 0.1], [1.0, 1.0]]).tolist()
    (16, [0, 15])
    """

    box: Box
    shape: tuple[int, ...]

    def __init__(self, box: Box, cells: int | Sequence[int] | NDArray[np.integer]) -> None:
        if not isinstance(box, Box):
            raise InvalidDomain(
                f"A grid needs a Box; got a {type(box).__name__}.", "E.g. Grid(Box.unit(2), 16)."
            )
        each = isinstance(cells, list | tuple | np.ndarray)
        shape: tuple[Any, ...] = tuple(cells) if each else (cells,) * box.d  # type: ignore[arg-type]
        if len(shape) != box.d or not all(_is_count(m) for m in shape):
            raise InvalidDomain(
                setting("cells") + " must be a whole number of 1 or more, or one for each of "
                f"{quantity(box.d, 'column')}; got {value_text(cells)}.",
                "E.g. " + setting("cells", 16) + ".",
            )
        shape = tuple(int(m) for m in shape)
        if math.prod(shape) > MAX_CELLS:
            raise TooLarge(
                f"{' x '.join(map(str, shape))} cells are more than 2**62.",
                "Use fewer cells along each axis, or fewer columns.",
                reason="cells",
            )
        object.__setattr__(self, "box", box)
        object.__setattr__(self, "shape", shape)

    @property
    def size(self) -> int:
        """The number of cells."""
        return math.prod(self.shape)

    def keys(self, X: ArrayLike) -> Integers:
        """Return the number of each row's cell.

        Parameters
        ----------
        X
            The rows.
        """
        rows = as_matrix(X, self.box.d)
        keys = np.zeros(len(rows), dtype=np.int64)
        for axis, cells in enumerate(self.shape):
            keys *= cells
            keys += cell_indices(self.steps(rows[:, axis], axis), cells)
        return keys

    def locate(self, X: ArrayLike) -> tuple[Integers, list[Floats]]:
        """Return the number of each row's cell, and how far into it the row lies, axis by axis.

        Parameters
        ----------
        X
            The rows.
        """
        rows = as_matrix(X, self.box.d)
        keys, fractions = np.zeros(len(rows), dtype=np.int64), []
        for axis, cells in enumerate(self.shape):
            steps = self.steps(rows[:, axis], axis)
            places = cell_indices(steps, cells)
            keys *= cells
            keys += places
            fractions.append(np.subtract(steps, places, out=steps))
        return keys, fractions

    def steps(self, column: Floats, axis: int) -> Floats:
        """Return each value's coordinate along an axis, in cells: 2.5 is the middle of the third.

        Parameters
        ----------
        column
            The values of one column.
        axis
            Which column.
        """
        return cell_coordinates(column, self.box.low[axis], self.box.high[axis], self.shape[axis])

    def centers(self) -> Floats:
        """Return the middle of every cell, in the units of the rows."""
        if self.size > _MOST_IN_MEMORY:
            raise TooLarge(
                f"The centres of {self.size} cells do not fit in memory.",
                "Ask for bounds(keys) of the cells you need.",
                reason="cells",
            )
        low, high = self.bounds(np.arange(self.size))
        return (low + high) / 2

    def bounds(self, keys: ArrayLike) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of each of these cells.

        Parameters
        ----------
        keys
            The numbers of the cells.
        """
        left = _as_int64(keys, "keys")
        if left.size and (left.min() < 0 or left.max() >= self.size):
            raise InvalidDomain(
                f"Some keys are outside 0 .. {self.size - 1}.", "Use keys of this grid."
            )
        places = np.empty((left.size, self.box.d))
        # From the last axis, which counts fastest.
        for axis in range(self.box.d - 1, -1, -1):
            left, places[:, axis] = np.divmod(left, self.shape[axis])
        step = (self.box.high - self.box.low) / self.shape
        low = self.box.low + places * step
        high = np.where(places + 1 == self.shape, self.box.high, low + step)
        return low, high


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Counts of the cells that have any, out of a large number of cells.

    Parameters
    ----------
    keys
        The numbers of these cells, rising.
    counts
        The count of each.
    size
        How many cells there are in all.
    """

    keys: Integers
    counts: Integers
    size: int

    def __post_init__(self) -> None:
        keys, counts = _as_int64(self.keys, "keys"), _as_int64(self.counts, "counts")
        size = self.size if _is_count(self.size) else 0
        if keys.shape != counts.shape or not 0 < size <= MAX_CELLS:
            raise InvalidDomain(
                f"There are {keys.size} keys and {counts.size} counts for {size} cells.",
                "Give one count for each key, and at most 2**62 cells.",
            )
        if keys.size and (keys[0] < 0 or keys[-1] >= self.size or np.any(np.diff(keys) <= 0)):
            raise InvalidDomain(
                "Keys must be strictly increasing and below the number of cells.",
                "Sort them and add up repeated ones.",
            )
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "counts", counts)

    def dense(self) -> Integers:
        """Return all ``size`` counts, zeros included."""
        if self.size > _MOST_IN_MEMORY:
            raise TooLarge(
                f"{self.size} cells do not fit in memory.",
                "Work with keys and counts.",
                reason="cells",
            )
        full = np.zeros(self.size, dtype=np.int64)
        full[self.keys] = self.counts
        return full

    @classmethod
    def of(cls, keys: ArrayLike, size: int) -> Self:
        """Count how often each key occurs.

        Parameters
        ----------
        keys
            The number of each row's cell.
        size
            How many cells there are in all.
        """
        distinct, counts = np.unique(_as_int64(keys, "keys"), return_counts=True)
        return cls(distinct, counts, size)


def cell_coordinates(column: Floats, low: float, high: float, cells: int) -> Floats:
    """Return each value's coordinate in cells, cut to the range of the cells."""
    steps: Floats = column - low
    # One factor, in place: this runs for every row of every count.
    steps *= cells / (high - low)
    return np.clip(steps, 0, cells, out=steps)


def cell_indices(steps: Floats, cells: int) -> Integers:
    """Return the index of the cell each coordinate lies in; the upper bound is in the last.

    Parameters
    ----------
    steps
        Coordinates in cells, as ``cell_coordinates`` returns them.
    """
    with np.errstate(invalid="ignore"):
        places: Integers = steps.astype(np.int64)  # truncation is floor: steps are not negative
    if places.size and places.min() < 0:  # what NaN becomes
        raise NotFinite("Some rows hold NaN.", "Drop or fill them first.")
    return np.minimum(places, cells - 1, out=places)


def _as_int64(values: ArrayLike, name: str) -> Integers:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and not np.can_cast(array.dtype, np.int64)):
        raise InvalidDomain(
            f"{name} must be a flat array of whole numbers; got {array.dtype} of shape "
            f"{array.shape}.",
            "Use 64-bit whole numbers.",
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)
