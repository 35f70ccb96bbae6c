"""What labels rows and measures their distance to centres, block by block; workers import it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.nearest import Cube, Nearest
from shoal.domain.box import Matrix
from shoal.engine.rows import Block

__all__ = ["Distances", "Labels", "LeastSquares"]


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
