"""The baseline: synthetic points from an adaptive grid, then plain WaveCluster on them."""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.methods.purse import Purse
from shoal.domain import Grid
from shoal.engine import Rows
from shoal.estimator import Spending
from shoal.randomness import Randomness
from shoal.synopsis import AdaptiveGrid

__all__ = ["baseline_counts"]

_MOST_POINTS = 2**23  # a tiny budget's noise would ask for more points than memory holds


def baseline_counts(
    rows: Rows, grid: Grid, n_rows: int, purse: Purse, rng: Randomness
) -> NDArray[np.int64]:
    """Cell counts of points drawn from a private adaptive grid: as many as its counts say.

    From eight million on, a point stands for several rows.

    References
    ----------
    Qardaji, Yang, Li, Differentially private grids for geospatial data, ICDE 2013; the baseline of
    Chen, Yu, Chirkova, WaveCluster with differential privacy, CIKM 2015.
    """
    synopsis = AdaptiveGrid(epsilon=purse.budget.epsilon, domain=grid.box, negative="zero")
    synopsis.spend(Spending(rows, purse.page, purse.budget, rng, n_rows))  # [P1]
    total = round(float(synopsis.points()[1].sum()))
    drawn = min(total, _MOST_POINTS)
    points = synopsis.sample(drawn, rng.compute)  # [P2]
    counts = np.bincount(grid.keys(points), minlength=grid.size).reshape(grid.shape)
    return counts * max(1, round(total / max(drawn, 1)))
