"""Which centre is nearest to a row: the same answer wherever the row stands in its table.

What labels rows and measures their distance to centres, block by block; workers import it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.domain import Box, View
from shoal.domain.box import Matrix
from shoal.engine.rows import Block

__all__ = [
    "Cube",
    "Distances",
    "Labels",
    "LeastSquares",
    "Nearest",
    "ViewedCube",
]

LabelArray = NDArray[np.int64]
_ROW_STEPS = 2.0**22
_CENTRE_STEPS = 2.0**21
_AT_A_TIME = 2_048  # rows whose distances to 40 centres lie in a core's cache


@dataclass(frozen=True)
class Cube:
    """Rows with their box scaled to [-1, 1]^d, every number a multiple of 2^-22.

    Examples
    --------
    >>> Cube(Box(age=(0, 100))).columns(np.array([[0.0], [75.0]])).tolist()
    [[-1.0, 0.5]]
    """

    box: Box

    def columns(self, numbers: Matrix) -> Matrix:
        """One line a column, one entry a row."""
        scaled = np.array(numbers.T, order="C")  # a copy: what came stays as it is
        middle, half = (self.box.low + self.box.high) / 2, (self.box.high - self.box.low) / 2
        scaled -= middle[:, None]
        scaled *= (_ROW_STEPS / half)[:, None]
        np.clip(scaled, -_ROW_STEPS, _ROW_STEPS, out=scaled)
        np.rint(scaled, out=scaled)
        scaled /= _ROW_STEPS
        return scaled


@dataclass(frozen=True, eq=False)
class ViewedCube:
    """Rows as a view sees them, every number a multiple of 2^-22."""

    view: View

    def columns(self, numbers: Matrix) -> Matrix:
        """One line an axis of the view, one entry a row."""
        seen: Matrix = np.ascontiguousarray(self.view.apply(numbers).T)
        seen *= _ROW_STEPS
        np.rint(seen, out=seen)
        seen /= _ROW_STEPS
        return seen


@dataclass(frozen=True, init=False, eq=False)
class Nearest:
    """Labels rows by their nearest centre; of centres equally near, by the first.

    Centres are rounded to multiples of 2^-21. With rows on multiples of 2^-22, in at most 256
    columns, every product and partial sum below is a multiple of 2^-43 under 2^10, so a float64
    holds it exactly: the label does not depend on the order in which a machine adds, nor on the
    rows beside.

    Examples
    --------
    >>> Nearest([[-1.0], [1.0]]).labels(np.array([[-0.5, 0.0, 0.25]])).tolist()
    [0, 0, 1]
    """

    centers: Matrix

    def __init__(self, centers: ArrayLike) -> None:
        rounded = np.rint(np.asarray(centers, dtype=np.float64) * _CENTRE_STEPS) / _CENTRE_STEPS
        object.__setattr__(self, "centers", np.clip(rounded, -1, 1))

    def labels(self, columns: Matrix) -> LabelArray:
        """One label a row; ``columns`` as from a cube."""
        n, k = columns.shape[1], len(self.centers)
        found = np.zeros(n, dtype=np.int64)
        if k == 1:
            return found
        # |x - c|^2 / 2 without |x|^2 / 2, which is the same for every centre: a product with
        # (-c, |c|^2 / 2), as each row gets a 1 at its end.
        halves = (self.centers**2).sum(axis=1) / 2
        factors = np.vstack([-self.centers.T, halves])
        part, lengths = np.ones((_AT_A_TIME, len(factors))), np.empty((_AT_A_TIME, k))
        for start in range(0, n, _AT_A_TIME):
            end = min(start + _AT_A_TIME, n)
            part[: end - start, :-1] = columns[:, start:end].T
            np.matmul(part[: end - start], factors, out=lengths[: end - start])
            np.argmin(lengths[: end - start], axis=1, out=found[start:end])
        return found


@dataclass(frozen=True, eq=False)
class Labels:
    """The nearest centre of each row."""

    cube: Cube
    nearest: Nearest

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """One column."""
        return [self.nearest.labels(self.cube.columns(block.numbers))]


@dataclass(frozen=True, eq=False)
class Distances:
    """The distance of each row to each centre, in the box scaled to [-1, 1]^d."""

    cube: Cube
    centers: Matrix

    def __call__(self, block: Block) -> list[NDArray[Any]]:
        """A column a centre."""
        columns = self.cube.columns(block.numbers)
        return [np.sqrt(((columns - center[:, None]) ** 2).sum(axis=0)) for center in self.centers]


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The squared distances of rows to their nearest centres, summed, in whole steps.

    Parameters
    ----------
    units
        How much of each column counts as one.
    centers
        In those units.
    steps
        In one: whole numbers add up the same on any number of machines.

    Examples
    --------
    >>> block = Block(np.array([[0.0], [2.0], [10.0]]), np.empty((3, 0), dtype=np.int32))
    >>> LeastSquares(np.array([2.0]), np.array([[0.0], [4.0]]), 8)(block)[0].tolist()
    [16]
    """

    units: NDArray[np.float64]
    centers: Matrix
    steps: float

    def __call__(self, block: Block) -> tuple[NDArray[np.int64]]:
        """One number."""
        scaled = block.numbers / self.units
        squares = np.min([((scaled - each) ** 2).sum(axis=1) for each in self.centers], axis=0)
        return (np.rint(squares * self.steps).astype(np.int64).sum(keepdims=True),)
