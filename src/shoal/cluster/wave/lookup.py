"""Where the coefficients of a grid lie in the rows' box, and which one answers for a point."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.transform import Transform
from shoal.domain import Grid
from shoal.domain.grid import whole_steps
from shoal.engine.rows import Block

__all__ = ["CellLabels", "Lookup"]

Integers = NDArray[np.int64]
Matrix = NDArray[np.float64]
_CHUNK = 32_768  # what is made of so many rows stays in a core's cache


@dataclass(frozen=True)
class Lookup:
    """Points to cells, and cells back to the rows' box.

    Parameters
    ----------
    grid
        The cells that were counted.
    transform
        What made coefficients of them.
    """

    grid: Grid
    transform: Transform

    @property
    def shape(self) -> tuple[int, ...]:
        """Coefficients along each axis."""
        return self.transform.shape_out

    def keys(self, X: Matrix) -> Integers:
        """The number of the coefficient that answers for each point."""
        if self.transform.level == 0:
            return self.grid.keys(X)
        keys = np.zeros(len(X), dtype=np.int64)
        for axis, (cells, width) in enumerate(zip(self.grid.shape, self.shape, strict=True)):
            keys *= width
            places = whole_steps(self.grid.steps(X[:, axis], axis), cells)
            keys += self.transform.answering(places, axis)
        return keys

    def bounds(self, keys: Integers) -> tuple[Matrix, Matrix]:
        """Lowest and highest corner of the cells each of these coefficients answers for."""
        places = np.stack(np.unravel_index(keys, self.shape), axis=1)
        return self._corners(places), self._corners(places + 1)

    def _corners(self, places: Integers) -> Matrix:
        """Where the cells of these coefficients begin, in the rows' own units."""
        cells = [self.transform.first_cells(along, axis) for axis, along in enumerate(places.T)]
        box = self.grid.box
        corners: Matrix = np.stack(cells, axis=1) / np.array(self.grid.shape)
        return box.low + corners * (box.high - box.low)


@dataclass(frozen=True, eq=False)
class CellLabels:
    """The label of each point's cell; of the ``listed`` keys only, if not all have one."""

    lookup: Lookup
    labels: Integers
    listed: Integers | None = None

    def __call__(self, block: Block) -> tuple[Integers]:
        """Those of a block of rows, as its one column."""
        keys = self.lookup.keys(block.numbers)
        if self.listed is None:
            return (np.take(self.labels, keys, mode="clip"),)  # no key is outside
        return (_among(self.listed, self.labels, keys),)

    def of(self, X: Matrix) -> Integers:
        """Those of an array, a cacheful at a time."""
        found = np.empty(len(X), dtype=np.int64)
        no_codes = np.empty((0, 0), dtype=np.int32)
        for start in range(0, len(X), _CHUNK):
            part = slice(start, start + _CHUNK)
            (found[part],) = self(Block(X[part], no_codes))
        return found


def _among(listed: Integers, labels: Integers, keys: Integers) -> Integers:
    """The label of each key that is listed; -1 for the others."""
    at = np.searchsorted(listed, keys)
    known = at < listed.size
    known[known] = listed[at[known]] == keys[known]
    found = np.full(keys.size, -1, dtype=np.int64)
    found[known] = labels[at[known]]
    return found
