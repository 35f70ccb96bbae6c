"""The released cells of a synopsis: where they are, what was counted, what they weigh."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from shoal.domain import Partition
from shoal.errors import UnreadableTable

__all__ = ["AllCells", "Bounded", "Cells", "Estimates", "RegionSums"]

Matrix = NDArray[np.float64]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Bounded(Partition, Protocol):
    """A partition whose cells are boxes."""

    def bounds(self, keys: ArrayLike) -> tuple[Matrix, Matrix]:
        """Lowest and highest corner of each of these cells."""


@dataclass(frozen=True, eq=False)
class Cells:
    """One line a cell, sorted by key.

    Parameters
    ----------
    key
        The number of the cell in its partition.
    low, high
        Its corners.
    noisy_count
        The count that was released, as drawn.
    weight
        What it stands for after consistency and the rule for negative counts.

    Examples
    --------
    >>> one = np.ones((1, 2))
    >>> cells = Cells(np.array([3]), 0 * one, one, np.array([7]), np.array([6.5]))
    >>> cells.centers.tolist(), len(cells)
    ([[0.5, 0.5]], 1)
    """

    key: NDArray[np.int64]
    low: Matrix
    high: Matrix
    noisy_count: NDArray[np.int64]
    weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.key)

    @property
    def centers(self) -> Matrix:
        """The middle of each cell."""
        return (self.low + self.high) / 2

    def to_table(self, names: Sequence[str]) -> pa.Table:
        """As a table: ``key``, ``low_*``, ``high_*``, ``noisy_count``, ``weight``."""
        columns: dict[str, Any] = {"key": self.key}
        for side, corner in (("low", self.low), ("high", self.high)):
            columns |= {f"{side}_{name}": corner[:, i] for i, name in enumerate(names)}
        return pa.table(columns | {"noisy_count": self.noisy_count, "weight": self.weight})

    @classmethod
    def of_table(cls, table: pa.Table, names: Sequence[str]) -> "Cells":
        """Back from ``to_table``."""
        try:
            low, high = (
                np.column_stack([_column(table, f"{side}_{name}", np.float64) for name in names])
                for side in ("low", "high")
            )
            key, counts = (_column(table, name, np.int64) for name in ("key", "noisy_count"))
            return cls(key, low, high, counts, _column(table, "weight", np.float64))
        except (KeyError, pa.ArrowException, TypeError, ValueError):
            raise UnreadableTable(
                "The table of cells lacks some of key, low_*, high_*, noisy_count, weight.",
                "Load the folder that was saved, unchanged.",
            ) from None


class RegionSums(NamedTuple):
    """Noisy numbers of rows by region, and how many noises of one count are in each."""

    sums: Floats
    noises: Floats


class AllCells(NamedTuple):
    """What all cells add up to: rows, how many noises of one count are in that, their step."""

    total: float
    noises: float
    step: float


@dataclass(frozen=True, eq=False)
class Estimates:
    """Every cell's estimate, negative ones too, so that sums of them are unbiased.

    Weights are what is left of these by a rule that drops cells; a sum of weights cannot tell a
    table of nobody from another, since noise alone is kept until it adds up to the noisy number of
    rows.

    Parameters
    ----------
    cells
        All of them.
    values
        The estimate of each, by key.
    step
        Of the geometric noise in one count.
    inside
        Where estimates are fine counts settled with coarse ones: how many of them, in order, make
        up each coarse cell.
    """

    cells: Bounded
    values: Floats
    step: float
    inside: Integers | None = None

    def corners(self) -> tuple[Matrix, Matrix]:
        """Lowest and highest corner of every cell."""
        return self.cells.bounds(np.arange(self.values.size))

    def added(self, labels: Integers, n_regions: int) -> RegionSums:
        """Sums over regions, each cell in the region of its label.

        Of a settled coarse cell of n parts, F of them in the region, the sum carries
        F - F^2 / (n + 1) noises of one count.

        Parameters
        ----------
        labels, n_regions
            One label for each cell, from 0 up; how many there are.
        """
        sums = np.bincount(labels, self.values, n_regions).astype(np.float64)
        noises = np.bincount(labels, minlength=n_regions).astype(np.float64)
        if self.inside is not None:
            parents = np.repeat(np.arange(self.inside.size), self.inside)
            pairs, shared = np.unique(parents * n_regions + labels, return_counts=True)
            spared = shared**2 / (self.inside[pairs // n_regions] + 1)
            noises -= np.bincount(pairs % n_regions, spared, n_regions)
        return RegionSums(sums, noises)

    def all_cells(self) -> AllCells:
        """The sum over all cells: a number of rows of its own."""
        sums, noises = self.added(np.zeros(self.values.size, dtype=np.int64), 1)
        return AllCells(float(sums[0]), float(noises[0]), self.step)


def _column(table: pa.Table, name: str, dtype: type) -> NDArray[Any]:
    return np.asarray(table[name].to_numpy(), dtype=dtype)
