"""All counts a fit released, before those that noise decided are put away: in memory alone."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.domain.box import Matrix
from shoal.synopsis.cells import Bounded

__all__ = ["AllCells", "Estimates", "RegionSums"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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

    def added_up(self) -> AllCells:
        """The sum over all cells: a number of rows of its own."""
        sums, noises = self.added(np.zeros(self.values.size, dtype=np.int64), 1)
        return AllCells(float(sums[0]), float(noises[0]), self.step)
