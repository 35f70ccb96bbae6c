"""Cluster centres from the reports of a local grid: estimate a density, then k-means.

The expected inertia of centres is their inertia on the expected density, so the density as a whole
must be estimated well, not each cell. It is the mean of fits of round groups, weighted by how well
they explain the counts; counts beyond them are added where they are more than noise.
"""

from typing import cast

import numpy as np

from shoal.arrays import Floats, Integers, nearest_centers
from shoal.cluster.kmeans._weighted_kmeans import weighted_centers
from shoal.cluster.local._distributed_frames import sum_over_reports
from shoal.cluster.local.methods._gaussian_groups import CellCounts, GaussianGroups
from shoal.cluster.local.methods._group_posterior import likely_groups
from shoal.cluster.local.methods._result import LearningResult, Progress
from shoal.errors import NotAReport, setting, value_text
from shoal.mechanisms import LocalGrid, Reports
from shoal.mechanisms.local import as_raw_reports
from shoal.randomness import Randomness

_RUNS = 10
# Deviations of the noise beyond which a count is not noise: with many cells, a lower level would
# add noise far from all groups.
_SURE = 4


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Floats, progress: Progress = None
) -> LearningResult:
    """Find cluster centres by k-means on the density behind reports of a ``LocalGrid``.

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
    points, weights = density_of(cells, likely_groups(cells, n_clusters, rng.compute, progress))
    centers = weighted_centers(points, weights, n_clusters, rng, _RUNS)
    labels = _report_labels(grid, reports, weights, nearest_centers(points, centers))
    middle = (grid.domain.low + grid.domain.high) / 2
    occupied = weights > 0
    return LearningResult(
        grid.domain.clip(centers * units + middle),
        points[occupied] * units + middle,
        weights[occupied] / weights[occupied].sum(),
        labels,
        counted=True,
    )


def grid_of(reports: object) -> LocalGrid:
    """Return the grid that made these reports, which must be as released.

    Raises
    ------
    NotAReport
        If they were made by another mechanism, or changed since.
    """
    mechanism = as_raw_reports(reports).mechanism
    if isinstance(mechanism, LocalGrid):
        return mechanism
    raise NotAReport(
        f"This method needs reports of a LocalGrid; got reports of {value_text(mechanism)}.",
        "Choose another method, or " + setting("method", "auto") + ".",
    )


def cells_of(reports: Reports, units: Floats) -> CellCounts:
    """Return unbiased counts of all cells, with the box's centre at 0."""
    grid = grid_of(reports)
    box, shape = grid.domain, grid.grid.shape
    half = (box.high - box.low) / 2 / units
    edges = tuple(np.linspace(-h, h, m + 1) for h, m in zip(half, shape, strict=True))
    n = len(reports)
    tally = np.rint(sum_over_reports(reports, grid.oracle.tally)).astype(np.int64)
    return CellCounts(edges, grid.counts_from_tally(tally).value, grid.deviation(n), n)


def density_of(cells: CellCounts, fits: list[GaussianGroups]) -> tuple[Floats, Floats]:
    """Return the mean place and the number of the people in each cell.

    Parameters
    ----------
    cells
        Noisy counts.
    fits
        Fits of groups that may be behind them.
    """
    masses, moments = _average_fits(fits, cells)
    added = _surplus(cells, masses)
    extra = np.maximum(added, 0)  # taken to lie evenly in their cells
    moments += extra[:, None] * cells.middles
    people = np.maximum(masses + extra, np.finfo(float).tiny)[:, None]
    low = cells.middles - cells.sides / 2
    points = np.clip(moments / people, low, low + cells.sides)
    return points, np.maximum(masses + added, 0)


def _average_fits(fits: list[GaussianGroups], cells: CellCounts) -> tuple[Floats, Floats]:
    """Return the people of each cell and the sum of their places, averaged by likelihood."""
    costs = np.array([fit.cost for fit in fits])
    odds = np.exp((costs.min() - costs) / 2)
    odds /= odds.sum()
    likely = [(fit, share) for fit, share in zip(fits, odds, strict=True) if share > 1e-4]
    masses = sum(share * fit.masses(cells) for fit, share in likely)
    moments = sum(share * fit.moments(cells) for fit, share in likely)
    return cast("Floats", masses), cast("Floats", moments)


def _surplus(cells: CellCounts, masses: Floats) -> Floats:
    """Return the counts beyond the groups, in cells where they are clearly more than noise.

    A little of every remainder would do harm: there are many cells, and what noise adds to the
    empty ones lies far from all groups.
    """
    rest = cells.counts - masses
    return np.where(np.abs(rest) > _SURE * cells.deviation, rest, 0.0)


def _report_labels(
    grid: LocalGrid, reports: Reports, weights: Floats, nearest: Integers
) -> Integers:
    """Return the cluster from which each report most likely came, looked up by its number."""
    best = likeliest = np.zeros(0)
    for cluster in range(nearest.max() + 1):
        chances = grid.chances(np.where(nearest == cluster, weights, 0.0))
        if not cluster:
            best, likeliest = chances, np.zeros(chances.size, dtype=np.int64)
        likeliest[chances > best] = cluster
        best = np.maximum(best, chances)
    return np.asarray(likeliest[reports.values], dtype=np.int64)
