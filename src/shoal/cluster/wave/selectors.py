"""Which cells belong to clusters: rules that read the noisy grid alone, and so cost nothing."""

import math

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.bayes import chance_of_reaching
from shoal.cluster.wave.deconvolve import deconvolved
from shoal.cluster.wave.noise_law import NoiseLaw
from shoal.cluster.wave.noisy_grid import NoisyGrid
from shoal.cluster.wave.privqt import positive_quantile

__all__ = ["density_level", "mass_level", "noise_guard", "percentile_level", "posterior_cells"]


def percentile_level(grid: NoisyGrid, p: float) -> float | None:
    """The ``p``-quantile of the cells that have rows, as far as the noise lets one tell.

    Empty cells come out positive almost half of the time. How many there are is estimated from
    the noisy values themselves, and as many of the smallest positives are left out.

    Examples
    --------
    >>> grid = NoisyGrid(np.array([[0, 0, 1], [2, 3, 4]]))
    >>> percentile_level(grid, 0.5)
    2.5
    """
    if grid.law is not None:
        empty = deconvolved(grid.counts.ravel(), grid.law).empty * grid.values.size
        return positive_quantile(grid.values, p, drop=round(empty * grid.law.above_zero))
    # Noise that is as often above as below leaves as many false positives as negatives.
    negatives = int(np.count_nonzero(grid.values < 0)) if grid.variance else 0
    return positive_quantile(grid.values, p, drop=negatives)


def density_level(grid: NoisyGrid, density: float) -> float:
    """So many times the mean of all cells."""
    return float(density * max(grid.values.mean(), 0))


def mass_level(grid: NoisyGrid, mass: float) -> float:
    """The level above which the densest cells hold this share of all rows.

    Under noise the densest cells look denser than they are; so the level is found on the
    estimated true counts.

    Examples
    --------
    >>> mass_level(NoisyGrid(np.array([1, 2, 3, 4])), 0.7)
    3.0
    """
    if grid.law is None:
        counts, cells = np.unique(np.maximum(grid.values, 0), return_counts=True)
        shares = cells.astype(float)
    else:
        prior = deconvolved(grid.counts.ravel(), grid.law)
        counts, shares = prior.counts, prior.shares
    held = np.cumsum((counts * shares)[::-1])[::-1]
    if held[0] <= 0:
        return math.inf
    return float(counts[np.flatnonzero(held >= mass * held[0])[-1]])


def posterior_cells(
    grid: NoisyGrid, law: NoiseLaw, p: float, context: bool
) -> tuple[NDArray[np.bool_], float]:
    """Cells whose true count more likely than not reaches the ``p``-quantile, and that level."""
    prior = deconvolved(grid.counts.ravel(), law)
    level = prior.quantile(p)
    return chance_of_reaching(grid.counts, level, prior, law, context) > 0.5, float(level)


def noise_guard(law: NoiseLaw, empty_cells: int) -> float:
    """The level which at most one empty cell is expected to reach."""
    return law.reached(1 / max(empty_cells, 1))
