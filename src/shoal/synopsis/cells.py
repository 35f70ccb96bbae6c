"""The released cells of a synopsis: corners, noisy counts and weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import FarGrid, Partition, ZoomedGrid
from shoal.errors import UnreadableTable

# A coarse cell of a shell counts if its estimate exceeds so many noise scales: in one and two
# columns, and in more, where the sizes of small clusters catch false cells; more in shells of many
# cells, and in each shell than in the one before; few where the cell inwards of it counts, as a
# tail goes on. See docs/decisions/private-kmeans.md.
_CLEAR_SCALES, _LIGHT_AXES = (5.0, 3.0), 2
_CLEAR_CELLS, _MORE_A_SHELL = 48, 0.7
_TAIL_SCALES = 2.0
_FALSE_CELLS = 0.4  # far cells of many columns: noise makes half as many count in a release


class BoxCells(Partition, Protocol):
    """A partition whose cells are boxes."""

    def bounds(self, keys: ArrayLike) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of each of these cells."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Released cells as arrays, one entry a cell, sorted by key.

    Parameters
    ----------
    key
        The number of the cell in its partition.
    low
        Its lowest corner.
    high
        Its highest corner.
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

    key: Integers
    low: Floats
    high: Floats
    noisy_count: Integers
    weight: Floats

    def __len__(self) -> int:
        return len(self.key)

    @property
    def centers(self) -> Floats:
        """The middle of each cell."""
        return (self.low + self.high) / 2

    def to_table(self, names: Sequence[str]) -> pa.Table:
        """Return a table: ``key``, ``low_*``, ``high_*``, ``noisy_count``, ``weight``.

        Parameters
        ----------
        names
            The columns of the box.
        """
        columns: dict[str, Any] = {"key": self.key}
        for side, corner in (("low", self.low), ("high", self.high)):
            columns |= {f"{side}_{name}": corner[:, i] for i, name in enumerate(names)}
        return pa.table(columns | {"noisy_count": self.noisy_count, "weight": self.weight})

    @classmethod
    def of_table(cls, table: pa.Table, names: Sequence[str]) -> "Cells":
        """Rebuild cells from ``to_table``.

        Parameters
        ----------
        table
            What ``to_table`` returned.
        names
            The columns of the box.
        """
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


class _RegionSums(NamedTuple):
    """Noisy row counts of regions, and how much noise is in each."""

    sums: Floats
    noises: Floats


class AllCells(NamedTuple):
    """The sum over all cells, and how much noise is in it."""

    total: float
    noises: float
    step: float


@dataclass(frozen=True, eq=False)
class Estimates:
    """The estimate of every cell, negative ones too, so that sums are unbiased.

    Weights are what is left of these by a rule that drops cells; a sum of weights cannot tell a
    table of nobody from another, since noise alone is kept until it adds up to the noisy number of
    rows.

    Parameters
    ----------
    step
        What one unit of the geometric noise in a count costs.
    inside
        For fine counts made consistent with coarse ones: how many of them, in order, make up each
        coarse cell.
    zoom
        The cells that are not split further, if some of them lie beyond a view.
    """

    cells: BoxCells
    values: Floats
    step: float
    inside: Integers | None = None
    zoom: ZoomedGrid | FarGrid | None = None

    def corners(self) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of every cell."""
        return self.cells.bounds(np.arange(self.values.size))

    def coarse_values(self, values: Floats | None = None) -> Floats:
        """Return the estimate of every coarse cell: the sum of its fine ones."""
        assert self.inside is not None
        each = self.values if values is None else values
        return np.add.reduceat(each, np.cumsum(self.inside) - self.inside)

    def without_faint(self, values: Floats) -> Floats:
        """Return estimates of the cells, 0 in shells where noise alone may well count as many.

        Noise in a wide cell far from all rows would draw a centre to itself.

        Parameters
        ----------
        values
            One for each cell: those of the release, or of a simulated one.
        """
        if isinstance(self.zoom, FarGrid):
            least = math.log(max(values.size - self.zoom.grid.size, 1) / _FALSE_CELLS) / self.step
            return np.where(self.is_beyond_view() & (values <= least), 0.0, values)
        if self.zoom is None or self.inside is None:
            return values
        zoom, shells = self.zoom, self.zoom.shell_of_cells()
        scales = _CLEAR_SCALES[zoom.box.d > _LIGHT_AXES] + _MORE_A_SHELL * (shells - 1)
        scales += np.log(np.bincount(shells) / _CLEAR_CELLS)[shells] / 2
        counts, inward = self.coarse_values(values) * self.step, zoom.inward_cells()
        is_clear = (shells == 0) | (counts > scales)
        for shell in range(2, len(zoom.shells) + 1):  # from the nearest to the farthest
            is_clear |= (shells == shell) & is_clear[inward] & (counts > _TAIL_SCALES)
        return np.where(np.repeat(is_clear, self.inside), values, 0.0)

    def is_beyond_view(self) -> NDArray[np.bool_]:
        """Tell which cells lie beyond the view; none without one."""
        if isinstance(self.zoom, FarGrid):
            return np.arange(self.values.size) >= self.zoom.grid.size
        if self.zoom is None or self.inside is None:
            return np.zeros(self.values.size, np.bool_)
        return np.repeat(self.zoom.shell_of_cells() > 0, self.inside)

    def beyond_view(self) -> AllCells | None:
        """Return the sum over the cells beyond the view; None without one."""
        if self.zoom is None:
            return None
        sums, noises = self.added(self.is_beyond_view().astype(np.int64), 2)
        return AllCells(float(sums[1]), float(noises[1]), self.step)

    def added(self, labels: Integers, n_regions: int) -> _RegionSums:
        """Return the sum over each region, a region being all cells of one label.

        Of a settled coarse cell of n parts, F of them in the region, the sum carries
        F - F^2 / (n + 1) noises of one count.

        Parameters
        ----------
        labels
            The region of each cell, from 0.
        """
        sums = np.bincount(labels, self.values, n_regions).astype(np.float64)
        noises = np.bincount(labels, minlength=n_regions).astype(np.float64)
        if self.inside is not None:
            parents = np.repeat(np.arange(self.inside.size), self.inside)
            pairs, shared = np.unique(parents * n_regions + labels, return_counts=True)
            # What the coarse count takes off: the noise that fine counts of one parent share.
            spared = shared**2 / (self.inside[pairs // n_regions] + 1)
            noises -= np.bincount(pairs % n_regions, spared, n_regions)
        return _RegionSums(sums, noises)

    def all_cells(self) -> AllCells:
        """Return the sum over all cells: an estimate of the number of rows."""
        sums, noises = self.added(np.zeros(self.values.size, dtype=np.int64), 1)
        return AllCells(float(sums[0]), float(noises[0]), self.step)


def _column(table: pa.Table, name: str, dtype: type) -> NDArray[Any]:
    return np.asarray(table[name].to_numpy(), dtype=dtype)
