"""How many rows the clusters of a noisy grid hold, and whether that could be noise alone."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from shoal.cluster.noise_sum import NoiseSum
from shoal.cluster.totals import Counted, Totals, settle
from shoal.cluster.wave.noise import NoisyGrid

__all__ = ["counted_cells", "settled"]

# Cells of a cluster touch: of all sets of so many, this power. Measured on tables of nobody, where
# 0.3 let none of 2,500 pass and 0.2 some in three columns: docs/decisions/groups-told.md.
TOUCHING = 0.5


def counted_cells(
    noisy: NoisyGrid,
    labels: NDArray[np.int64],
    gain: float,
    *,
    size: int | None = None,
    smoothed: bool,
) -> Counted:
    """Noisy rows of each cluster, and last of all cells in none.

    Parameters
    ----------
    noisy, labels
        The released grid or list of cells; the cluster of each, -1 for none.
    gain
        What one row adds to the coefficients.
    size
        How many cells there would be, where those below a level were never made: what these hold
        is not known.
    smoothed
        Whether clusters are what smoothing left, so that there are about as many to choose from as
        pairs of cells; else any cells that touch may have been picked by their noise.
    """
    k = int(labels.max(initial=-1)) + 1
    regions = np.where(labels < 0, k, labels).ravel()
    sums = np.bincount(regions, noisy.values.ravel(), k + 1) / gain
    cells = np.bincount(regions, minlength=k + 1)
    one = NoiseSum.of_variance(noisy.variance).times(1 / gain)
    each = tuple(_times(one, count) for count in cells.tolist())
    known = bool(noisy.variance) and size is None
    total, in_all = (float(sums.sum()), _times(one, labels.size)) if known else (None, None)
    choices = _log_choices(cells, float(size or labels.size), smoothed)
    return Counted(sums, each, total, in_all, choices, are_sizes=True)


def _log_choices(cells: NDArray[np.int64], size: float, smoothed: bool) -> NDArray[np.float64]:
    """Of how many clusters of so many cells each is one."""
    pairs = np.full(cells.size, 2 * math.log(size))
    if smoothed:
        return pairs
    ways = gammaln(size + 1) - gammaln(cells + 1) - gammaln(size - cells + 1)
    return np.asarray(pairs + TOUCHING * ways)


def settled(
    n_rows: int | None, rows_noise: NoiseSum | None, counted: Counted, exact: bool
) -> Totals:
    """One total, and clusters and the rest that add up to it.

    Parameters
    ----------
    n_rows, rows_noise
        The number of rows, None if it was neither public nor paid for, and the law of its noise.
    counted, exact
        Clusters and the rest; whether nothing carries noise.
    """
    if exact:
        told = np.ones(counted.sizes.size, dtype=np.bool_)
        total = round(float(counted.sizes.sum()))
        return Totals(total, 0, counted.sizes, np.zeros(told.size), told, rows_told=True)
    found = _with_total(n_rows, rows_noise, counted)
    if not any(noise.parts for noise in counted.noise):  # of points drawn anew from noisy cells
        return replace(found, told=found.told & found.rows_told)
    return found


def _with_total(n_rows: int | None, rows_noise: NoiseSum | None, counted: Counted) -> Totals:
    if n_rows is None:  # the cells' own sum is the only one
        assert counted.total is not None  # cells of a full grid
        assert counted.total_noise is not None
        found = settle(max(1, round(counted.total)), None, counted)
        return replace(found, within=math.ceil(counted.total_noise.reach(0.025)))
    if counted.total is None:  # what is in no cluster is what is left over
        clusters = np.maximum(counted.sizes[:-1], 0)
        if rows_noise is None and clusters.sum() > n_rows:  # how many there are is public
            clusters *= n_rows / clusters.sum()
        in_all = max(n_rows, math.ceil(float(clusters.sum()) - 1e-9))
        found = settle(in_all, rows_noise, counted)
        sizes = np.append(clusters, in_all - clusters.sum())
        within = 0 if rows_noise is None else math.ceil(rows_noise.reach(0.025))
        return replace(found, n_rows=in_all, within=within, sizes=sizes)
    return settle(n_rows, rows_noise, counted)


def _times(noise: NoiseSum, count: int) -> NoiseSum:
    """The law of so many such noises."""
    return NoiseSum(tuple((scale, shape * count) for scale, shape in noise.parts))
