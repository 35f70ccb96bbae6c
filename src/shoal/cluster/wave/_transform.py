"""The average part of a wavelet transform in whole numbers, and its sensitivity to one row.

``Lookup`` is the inverse: which coefficient a point belongs to, and which cells a coefficient
covers.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from shoal.arrays import Floats, Integers
from shoal.domain import Grid
from shoal.domain.grid import cell_indices
from shoal.errors import InvalidSetting, setting

FINE = 1024  # filters are rounded to multiples of 1/1024, so that coefficients are whole numbers
Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Transform:
    """The map from cell counts to the average coefficients of a separable wavelet transform.

    There is one integer matrix for each axis, computed by sending impulses through the filter,
    edges included. The grid is padded with empty cells to a multiple of ``2**level``; beyond it lie
    zeros, since mirrored edges would count the rows of an edge twice. With Haar an entry is 1 and a
    coefficient is the number of rows in a block.

    Parameters
    ----------
    shape
        Cells along each axis.
    level
        How many times the grid is halved; 0 leaves it as it is.
    wavelet
        A discrete wavelet of PyWavelets, by name.

    Examples
    --------
    >>> blocks = Transform((5, 4), level=1)
    >>> blocks.shape_out, blocks.sensitivity
    ((3, 2), 1)
    >>> blocks(np.ones((5, 4), dtype=int)).tolist()
    [[4, 4], [4, 4], [2, 2]]
    >>> Transform((8, 8), level=1, wavelet="bior2.2").on_subband
    False
    """

    shape: tuple[int, ...]
    level: int = 0
    wavelet: str = "haar"

    @cached_property
    def is_blocks(self) -> bool:
        """Whether coefficients are plain block sums."""
        return self.level == 0 or filter_length(self.wavelet) == 2

    @cached_property
    def matrices(self) -> tuple[Integers, ...]:
        """For each axis of a longer filter, what each cell adds to each coefficient, in units."""
        return tuple(self._matrix(cells) for cells in self.shape)

    @property
    def unit(self) -> float:
        """The value of one whole number of a coefficient: 1 for block sums."""
        return 1.0 if self.is_blocks else float(FINE) ** -len(self.shape)

    @cached_property
    def shape_out(self) -> tuple[int, ...]:
        """Coefficients along each axis."""
        if self.is_blocks:
            return tuple(self._padded(cells) >> self.level for cells in self.shape)
        return tuple(len(matrix) for matrix in self.matrices)

    def __call__(self, counts: NDArray[Number]) -> NDArray[Number]:
        """Return the coefficients of counts on the grid, in units."""
        if self.is_blocks:
            return block_sums(counts, 2**self.level) if self.level else counts
        largest = 2**62 // math.prod(int(np.abs(m).sum(axis=1).max()) for m in self.matrices)
        counts = np.minimum(counts, largest)  # [P4] sums stay within 64 bits
        for axis, matrix in enumerate(self.matrices):
            first = np.moveaxis(counts, axis, 0)
            along = csr_array(matrix) @ first.reshape(len(first), -1)  # nearly all entries are zero
            counts = np.moveaxis(along.reshape(-1, *first.shape[1:]), 0, axis)
        return counts

    @cached_property
    def sensitivity(self) -> int:
        """The exact L1 sensitivity: how far one row moves all coefficients together, in units."""
        if self.is_blocks:
            return 1  # [P1] a row is in one block
        return math.prod(int(np.abs(m).sum(axis=0).max()) for m in self.matrices)  # [P2]

    @cached_property
    def touched(self) -> int:
        """The largest number of coefficients that one row moves."""
        if self.is_blocks:
            return 1
        return math.prod(int(np.count_nonzero(m, axis=0).max()) for m in self.matrices)  # [P3]

    @cached_property
    def spread(self) -> float:
        """How much the deviation of noise on the cells grows in a coefficient at most, in units."""
        if self.is_blocks:
            return float(2 ** (self.level * len(self.shape) / 2))
        squares = (float((m.astype(float) ** 2).sum(axis=1).max()) for m in self.matrices)
        return math.sqrt(math.prod(squares))

    @cached_property
    def gain(self) -> float:
        """The sum of what one row adds to all coefficients, away from the edges."""
        if self.is_blocks:
            return 1.0
        return self.unit * math.prod(float(np.median(m.sum(axis=0))) for m in self.matrices)

    @property
    def on_subband(self) -> bool:
        """Whether noise is smaller if put on the coefficients than on the cells."""
        return self.is_blocks or self.sensitivity < self.spread

    def places(self, axis: int) -> Integers:
        """Return, for each cell along an axis, the coefficient that it adds most to."""
        if self.is_blocks:
            return np.arange(self.shape[axis]) >> self.level
        return np.maximum.accumulate(np.argmax(self.matrices[axis], axis=0))

    def answering(self, cells: Integers, axis: int) -> Integers:
        """Return the coefficients that these cells of an axis belong to, however many cells it
        has.
        """
        return cells >> self.level if self.is_blocks else self.places(axis)[cells]

    def first_cells(self, coefficients: Integers, axis: int) -> Integers:
        """Return the first cell that belongs to each of these coefficients of an axis.

        Parameters
        ----------
        coefficients
            Places of coefficients along the axis; one past the last gives the axis' end.
        """
        if self.is_blocks:
            starts: Integers = np.minimum(coefficients << self.level, self.shape[axis])
            return starts
        return np.searchsorted(self.places(axis), coefficients)

    def _padded(self, cells: int) -> int:
        return -(-cells >> self.level) << self.level

    def _matrix(self, cells: int) -> Integers:
        response = np.eye(self._padded(cells))
        for _ in range(self.level):
            response = _wavelets().dwt(response, self.wavelet, mode="zero", axis=0)[0]
        return np.rint(response[:, :cells] * FINE).astype(np.int64)


@dataclass(frozen=True)
class Lookup:
    """The map from points to coefficients, and from coefficients to their cells' bounds.

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

    def keys(self, X: Floats) -> Integers:
        """Return the key of the coefficient that each point belongs to.

        Parameters
        ----------
        X
            Points, one a row, in raw units.
        """
        if self.transform.level == 0:
            return self.grid.keys(X)
        keys = np.zeros(len(X), dtype=np.int64)
        for axis, (cells, width) in enumerate(zip(self.grid.shape, self.shape, strict=True)):
            keys *= width
            places = cell_indices(self.grid.steps(X[:, axis], axis), cells)
            keys += self.transform.answering(places, axis)
        return keys

    def bounds(self, keys: Integers) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of the cells that belong to each coefficient."""
        places = np.stack(np.unravel_index(keys, self.shape), axis=1)
        return self._corners(places), self._corners(places + 1)

    def _corners(self, places: Integers) -> Floats:
        """Return the lowest corner of the cells of these coefficients, in raw units."""
        cells = [self.transform.first_cells(along, axis) for axis, along in enumerate(places.T)]
        box = self.grid.box
        corners: Floats = np.stack(cells, axis=1) / np.array(self.grid.shape)
        return box.low + corners * (box.high - box.low)


def block_sums(counts: NDArray[Number], side: int) -> NDArray[Number]:
    """Sum counts over blocks of ``side`` cells along each axis; the last blocks may be smaller.

    Examples
    --------
    >>> block_sums(np.arange(5), 2).tolist()
    [1, 5, 4]
    """
    for axis, cells in enumerate(counts.shape):
        counts = np.add.reduceat(counts, np.arange(0, cells, side), axis=axis)
    return counts


def filter_length(wavelet: str) -> int:
    """Return the length of a wavelet's filter.

    Raises
    ------
    InvalidSetting
        If PyWavelets knows no discrete wavelet of this name.
    """
    pywt = _wavelets()
    if wavelet not in pywt.wavelist(kind="discrete"):
        raise InvalidSetting(
            setting("wavelet") + " must be a discrete wavelet of PyWavelets.",
            "E.g. " + setting("wavelet", "haar") + "; others are db2, sym4 and bior2.2.",
        )
    return int(pywt.Wavelet(wavelet).dec_len)


def _wavelets() -> Any:
    """Return PyWavelets, imported only when a filter is asked for."""
    import pywt

    return pywt
