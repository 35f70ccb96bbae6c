"""Thresholds on noisy coefficients, and the groups of touching cells that reach them."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave._noise import (
    NoiseLaw,
    NoisyGrid,
    estimate_counts,
    probability_of_reaching,
)
from shoal.cluster.wave._segmentation import (
    Connectivity,
    LabelledCells,
    components,
    listed_components,
)
from shoal.domain import SparseCounts


def label_above(
    grid: NoisyGrid, level: float | None, connectivity: Connectivity, min_cells: int
) -> LabelledCells:
    """Label groups of touching cells that reach a level; without a level there are none."""
    chosen = np.zeros(grid.values.shape, dtype=bool) if level is None else grid.values >= level
    return LabelledCells(components(chosen, connectivity, min_cells), level)


def label_listed(
    cells: SparseCounts,
    shape: tuple[int, ...],
    level: float,
    connectivity: Connectivity,
    min_cells: int,
) -> LabelledCells:
    """Label groups of touching cells that reach a level, among listed cells."""
    labels = np.full(cells.keys.size, -1, dtype=np.int64)
    chosen = cells.counts >= level
    labels[chosen] = listed_components(cells.keys[chosen], shape, connectivity, min_cells)
    return LabelledCells(labels, level)


def positive_quantile(values: NDArray[Any], p: float, drop: int = 0) -> float | None:
    """Return a quantile of the positive values, leaving out the smallest; None if there are none.

    Parameters
    ----------
    drop
        How many of the smallest positive values are left out; one at least stays.

    Examples
    --------
    >>> positive_quantile(np.array([0, 1, 2, 3, 4]), 0.5, drop=2)
    3.5
    """
    positive = np.sort(values[values > 0])
    if not positive.size:
        return None
    return float(np.quantile(positive[min(max(drop, 0), positive.size - 1) :], p))


def percentile_level(grid: NoisyGrid, p: float) -> float | None:
    """Estimate the quantile of the cells that have rows.

    Empty cells come out positive almost half of the time. How many there are is estimated from
    the noisy values themselves, and as many of the smallest positives are left out.

    Examples
    --------
    >>> grid = NoisyGrid(np.array([[0, 0, 1], [2, 3, 4]]))
    >>> percentile_level(grid, 0.5)
    2.5
    """
    if grid.law is not None:
        empty = estimate_counts(grid.counts.ravel(), grid.law).empty * grid.values.size
        return positive_quantile(grid.values, p, drop=round(empty * grid.law.above_zero))
    # Noise that is as often above as below leaves as many false positives as negatives.
    negatives = int(np.count_nonzero(grid.values < 0)) if grid.variance else 0
    return positive_quantile(grid.values, p, drop=negatives)


def density_level(grid: NoisyGrid, times: float) -> float:
    """Return so many times the mean of all cells."""
    return float(times * max(grid.values.mean(), 0))


def mass_level(grid: NoisyGrid, share: float) -> float:
    """Find the level above which the densest cells hold this share of all rows.

    Under noise the densest cells look denser than they are; so the level is looked for in the
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
        prior = estimate_counts(grid.counts.ravel(), grid.law)
        counts, shares = prior.counts, prior.shares
    held = np.cumsum((counts * shares)[::-1])[::-1]
    if held[0] <= 0:
        return math.inf
    return float(counts[np.flatnonzero(held >= share * held[0])[-1]])


def posterior_cells(
    grid: NoisyGrid, law: NoiseLaw, p: float, context: bool
) -> tuple[NDArray[np.bool_], float]:
    """Choose the cells whose true count more likely than not reaches a quantile.

    Returns
    -------
    Whether each cell is chosen, and the level it had to reach.
    """
    prior = estimate_counts(grid.counts.ravel(), law)
    level = prior.quantile(p)
    return probability_of_reaching(grid.counts, level, prior, law, context) > 0.5, float(level)


def noise_guard(law: NoiseLaw, empty_cells: int) -> float:
    """Return the level that at most one empty cell is expected to reach by its noise."""
    return law.height_reached(1 / max(empty_cells, 1))
