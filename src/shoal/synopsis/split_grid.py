"""A grid whose cells are split again, each into as many parts as it was found to deserve."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.domain import Box, Grid
from shoal.domain.box import Matrix, as_matrix
from shoal.domain.grid import MAX_CELLS, Keys, whole_steps
from shoal.errors import InvalidDomain, TooManyCells

__all__ = ["SplitGrid", "total_parts"]


@dataclass(frozen=True, init=False, eq=False)
class SplitGrid:
    """Cells of ``grid``, the i-th of them split into ``parts[i]`` equal parts along every axis.

    Keys run through one cell of the grid after the other; inside, the last axis counts fastest.

    Parameters
    ----------
    grid
        The coarse cells.
    parts
        A whole number from 1 up for each of them: public, or made from what was released.

    Examples
    --------
    >>> cells = SplitGrid(Grid(Box.unit(1), 2), [1, 3])
    >>> cells.size, cells.keys([[0.2], [0.5], [1.0]]).tolist()
    (4, [0, 1, 3])
    >>> low, high = cells.bounds([0, 3])
    >>> high.tolist()
    [[0.5], [1.0]]
    """

    grid: Grid
    parts: NDArray[np.int64]
    size: int

    def __init__(self, grid: Grid, parts: ArrayLike) -> None:
        each = np.ascontiguousarray(parts, dtype=np.int64)
        if each.shape != (grid.size,) or each.min() < 1:
            raise InvalidDomain(
                f"{each.size} numbers of parts came for {grid.size} cells.",
                "Give each cell a whole number from 1 up.",
            )
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "parts", each)
        object.__setattr__(self, "size", total_parts(each, grid.box.d))
        if self.size > MAX_CELLS:
            raise TooManyCells(f"{self.size} cells are more than 2**62.", "Use fewer parts.")
        object.__setattr__(self, "_starts", np.cumsum(self.inside) - self.inside)

    _starts: NDArray[np.int64]

    @property
    def box(self) -> Box:
        """The box they cover."""
        return self.grid.box

    @property
    def inside(self) -> NDArray[np.int64]:
        """How many parts each cell of the grid has in all."""
        return self.parts**self.grid.box.d

    def keys(self, X: ArrayLike) -> Keys:
        """The number of each row's cell."""
        rows = as_matrix(X, self.grid.box.d)
        parents = np.zeros(len(rows), dtype=np.int64)
        fractions = []  # how far into its coarse cell a row lies, axis by axis
        for axis, cells in enumerate(self.grid.shape):
            steps = self.grid.steps(rows[:, axis], axis)
            places = whole_steps(steps, cells)
            parents *= cells
            parents += places
            fractions.append(np.subtract(steps, places, out=steps))
        return self._starts[parents] + _index_inside(fractions, self.parts[parents])

    def bounds(self, keys: ArrayLike) -> tuple[Matrix, Matrix]:
        """Lowest and highest corner of each of these cells."""
        found = np.asarray(keys, dtype=np.int64)
        parents = self.parents(found)
        low, high = self.grid.bounds(parents)
        parts, left = self.parts[parents], found - self._starts[parents]
        for axis in range(self.grid.box.d - 1, -1, -1):
            left, places = np.divmod(left, parts)
            start, side = low[:, axis].copy(), high[:, axis] - low[:, axis]
            low[:, axis] = start + side * (places / parts)
            last = places + 1 == parts  # ends exactly where the coarse cell does
            high[:, axis] = np.where(last, high[:, axis], start + side * ((places + 1) / parts))
        return low, high

    def parents(self, keys: ArrayLike) -> Keys:
        """The coarse cell each of these cells is a part of."""
        found: Keys = np.searchsorted(self._starts, np.asarray(keys), side="right") - 1
        return found


def total_parts(parts: NDArray[np.int64], d: int) -> int:
    """How many cells these parts along each of ``d`` axes make, as an exact integer."""
    values, times = np.unique(parts, return_counts=True)
    return sum(n * m**d for m, n in zip(values.tolist(), times.tolist(), strict=True))


def _index_inside(fractions: list[Matrix], parts: NDArray[np.int64]) -> Keys:
    index = np.zeros(len(parts), dtype=np.int64)
    last, scale = parts - 1, parts.astype(np.float64)
    for fraction in fractions:
        np.multiply(fraction, scale, out=fraction)
        places = fraction.astype(np.int64)
        index *= parts
        index += np.minimum(places, last, out=places)
    return index
