"""Turn the reports of a local grid into a synopsis, for everything that reads released cells."""

import numpy as np

from shoal.cluster.local.methods._grid import grid_of
from shoal.mechanisms import Reports
from shoal.synopsis import UniformGrid, weights_of
from shoal.synopsis.cells import Cells


def synopsis_of(reports: Reports) -> UniformGrid:
    """Count the cells of a ``LocalGrid`` from its reports, and return them as a fitted synopsis.

    Counts are norm-cut to the number of reports. It costs nothing more, and is used like any fitted
    grid: ``choose.k(synopsis)``, ``WaveCluster.from_synopsis(synopsis)``, ``synopsis.plot()``,
    ``synopsis.save(folder)``.

    Examples
    --------
    >>> from shoal.domain import Box
    >>> from shoal.mechanisms import LocalGrid
    >>> from shoal.randomness import Randomness
    >>> rows = np.repeat([[0.1, 0.1], [0.9, 0.9]], 5_000, axis=0)
    >>> grid = LocalGrid(Box.unit(2), epsilon=2.0, cells=4)
    >>> synopsis = synopsis_of(grid.release(rows, Randomness(7).noise))
    >>> centers, weights = synopsis.points()
    >>> centers[weights > 2_500].tolist(), synopsis.n_rows_
    ([[0.125, 0.125], [0.875, 0.875]], 10000)
    """
    mechanism = grid_of(reports)
    grid, n = mechanism.grid, len(reports)
    counts = np.rint(mechanism.counts(reports).value).astype(np.int64)
    weights = weights_of(counts, n)
    occupied = np.flatnonzero(weights)
    low, high = grid.bounds(occupied)
    synopsis = UniformGrid(epsilon=mechanism.epsilon, domain=mechanism.domain, cells=grid.shape)
    synopsis.cells_ = Cells(occupied, low, high, counts[occupied], weights[occupied])
    synopsis.n_cells_, synopsis.n_rows_, synopsis.view_ = grid.size, n, None
    synopsis.noise_variance_ = mechanism.deviation(n) ** 2
    synopsis.guarantee_ = reports.guarantee
    return synopsis
