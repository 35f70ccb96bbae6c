"""Centres from the reports of a local grid: a density behind the noisy counts, then k-means.

The inertia to expect of some centres is that on the expected density, so what counts is a good
estimate of the density, not of the cells one by one. Round groups, fitted from several starts and
weighed by how well they explain the counts, give it; where the counts say more than such groups
can, the rest is added as far as it is more than noise.
"""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.kmeans.weighted import weighted_centers
from shoal.cluster.local.distributed_frames import sum_over_reports
from shoal.cluster.local.methods.gaussian_groups import Cells, GaussianGroups, fit_from_many_starts
from shoal.cluster.local.methods.result import LearningResult, Progress, Row
from shoal.domain.box import Matrix
from shoal.errors import NotAReport, setting, value_text
from shoal.mechanisms.local.categories.local_grid import LocalGrid
from shoal.mechanisms.local.reports import Reports, as_raw_reports
from shoal.randomness import Randomness

__all__ = ["cells_of", "density_of", "grid_of", "learn"]

_RUNS = 10
_SURE = 4  # deviations of the noise


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Row, progress: Progress = None
) -> LearningResult:
    """k-means on the density behind reports of a ``LocalGrid``.

    Parameters
    ----------
    reports, n_clusters, rng
        Of a local grid, untouched; how many centres; of the starts.
    units
        How much of each column counts as one unit of distance.
    progress
        Hears which share of the work is done.

    Examples
    --------
    >>> from shoal.domain import Box
    >>> grid = LocalGrid(Box.unit(2), epsilon=2.0, cells=10)
    >>> rows = np.repeat([[0.25, 0.25], [0.75, 0.75]], 5_000, axis=0)
    >>> reports = grid.release(rows, Randomness(7).noise)
    >>> result = learn(reports, 2, Randomness(7), np.ones(2))
    >>> bool(np.all(abs(np.sort(result.centers, axis=0) - [[0.25], [0.75]]) < 0.06))
    True
    """
    grid, cells = grid_of(reports), cells_of(reports, units)
    points, weights = density_of(
        cells, fit_from_many_starts(cells, n_clusters, rng.compute, progress)
    )
    centers = weighted_centers(points, weights, n_clusters, rng, _RUNS)
    labels = _report_labels(grid, reports, weights, _nearest(points, centers))
    middle = (grid.domain.low + grid.domain.high) / 2
    some = weights > 0
    return LearningResult(
        grid.domain.clip(centers * units + middle),
        points[some] * units + middle,
        weights[some] / weights[some].sum(),
        labels,
        counted=True,
    )


def grid_of(reports: object) -> LocalGrid:
    """The grid that made these reports, untouched since."""
    mechanism = as_raw_reports(reports).mechanism
    if isinstance(mechanism, LocalGrid):
        return mechanism
    raise NotAReport(
        f"This method needs reports of a LocalGrid; got reports of {value_text(mechanism)}.",
        "Choose another method, or " + setting("method", "auto") + ".",
    )


def cells_of(reports: Reports, units: Row) -> Cells:
    """Unbiased counts of all cells, with the box's centre at 0 and distances in ``units``."""
    grid = grid_of(reports)
    box, shape = grid.domain, grid.grid.shape
    half = (box.high - box.low) / 2 / units
    edges = tuple(np.linspace(-h, h, m + 1) for h, m in zip(half, shape, strict=True))
    n = len(reports)
    tally = np.rint(sum_over_reports(reports, grid.oracle.tally)).astype(np.int64)
    return Cells(edges, grid.counts_from_tally(tally).value, grid.deviation(n), n)


def density_of(cells: Cells, fits: list[GaussianGroups]) -> tuple[Matrix, Row]:
    """The mean place of those in each cell, and how many there are, for all cells.

    Parameters
    ----------
    cells, fits
        Noisy counts, and groups that may be behind them.
    """
    masses, moments = _averaged(fits, cells)
    added = _surplus(cells, masses)
    beside = np.maximum(added, 0)  # evenly in their cells, for all that is known
    moments += beside[:, None] * cells.middles
    people = np.maximum(masses + beside, np.finfo(float).tiny)[:, None]
    low = cells.middles - cells.sides / 2
    points = np.clip(moments / people, low, low + cells.sides)
    return points, np.maximum(masses + added, 0)


def _averaged(fits: list[GaussianGroups], cells: Cells) -> tuple[Row, Matrix]:
    """People in each cell and the sum of their places, each fit weighed by its likelihood."""
    costs = np.array([fit.cost for fit in fits])
    odds = np.exp((costs.min() - costs) / 2)
    odds /= odds.sum()
    likely = [(fit, share) for fit, share in zip(fits, odds, strict=True) if share > 1e-4]
    masses = sum(share * fit.masses(cells) for fit, share in likely)
    moments = sum(share * fit.moments(cells) for fit, share in likely)
    return cast("Row", masses), cast("Matrix", moments)


def _surplus(cells: Cells, masses: Row) -> Row:
    """What counts have beyond the groups, in the cells where that is surely more than noise.

    A little of every remainder would do harm: there are many cells, and what noise adds to the
    empty ones lies far from all groups.
    """
    rest = cells.counts - masses
    return np.where(np.abs(rest) > _SURE * cells.deviation, rest, 0.0)


def _nearest(points: Matrix, centers: Matrix) -> NDArray[np.int64]:
    halves = (centers**2).sum(axis=1) / 2
    return np.asarray(np.argmin(halves - points @ centers.T, axis=1), dtype=np.int64)


def _report_labels(
    grid: LocalGrid, reports: Reports, weights: Row, nearest: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The cluster from which each report most likely came: looked up by the report's number."""
    best = likeliest = np.zeros(0)
    for cluster in range(nearest.max() + 1):
        chances = grid.chances(np.where(nearest == cluster, weights, 0.0))
        if not cluster:
            best, likeliest = chances, np.zeros(chances.size, dtype=np.int64)
        likeliest[chances > best] = cluster
        best = np.maximum(best, chances)
    return np.asarray(likeliest[reports.values], dtype=np.int64)
