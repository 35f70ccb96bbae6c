"""Which cells belong to clusters: rules that read the noisy grid alone, and so cost nothing.

The rule behind ``selector="auto"``: scale, cut and cover, all read off the noisy grid.

Peaks are looked for at the finest scale at which rows outweigh noise, unless twice that scale shows
far more of them beyond doubt. Passes are cut at the widest gap in their significance, where the
choice matters least. Clusters then cover every cell that stands out at this scale or a coarser one,
since the fringe of a cluster is too thin to be seen at the scale that tells two clusters apart.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shoal.cluster.wave.components import sifted
from shoal.cluster.wave.methods.privqt import positive_quantile
from shoal.cluster.wave.noise import NoiseLaw, NoisyGrid
from shoal.cluster.wave.persistence import PeakTree, Smoothed, smoothed
from shoal.cluster.wave.posterior import chance_of_reaching, deconvolved

__all__ = [
    "AUTO_CELLS",
    "by_scale",
    "density_level",
    "mass_level",
    "noise_guard",
    "percentile_level",
    "posterior_cells",
    "suggested_sigma",
    "widest_gap",
]

Integers = NDArray[np.int64]
AUTO_CELLS = 3.0  # times (n epsilon / 10)^(1/d) cells an axis: a third of the spacing counts need
_SIGMA = 0.7
_COARSER = (1.0, 1.4, 2.0, 2.8)
_CLEAR, _COARSE_CUT = 4.0, 2.5  # standard errors
_SPARED = 1.4  # less than the luckiest of all cells would need: few cells start a cluster
_LEAST, _MOST = 0.85, 1.4  # of the significance that the best of so many chance passes reaches


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


def by_scale(grid: NoisyGrid, min_cells: int) -> tuple[Integers, float, PeakTree]:
    """Labels, the level of the scale they were found at, and the tree of peaks there."""
    sigma = suggested_sigma(grid)
    scale, tree = _whole_tree(grid, sigma)
    coarse_scale, coarse_tree = _whole_tree(grid, 2 * sigma)
    coarse = _clear_peaks(coarse_tree) > 1.5 * _clear_peaks(tree) + 2
    if coarse:
        sigma, scale, tree = 2 * sigma, coarse_scale, coarse_tree
    floor = _floor(scale, 0.25 * grid.values.mean())
    tree = tree.above(floor, scale)
    labels = tree.labels(_COARSE_CUT if coarse else widest_gap(tree.significance))
    grown = sifted(_grown(labels, _covered(grid, sigma)), min_cells)
    return _outweighing(grown, grid), floor, tree


def _whole_tree(grid: NoisyGrid, sigma: float) -> tuple[Smoothed, PeakTree]:
    scale = smoothed(grid.values, grid.variance, sigma)
    return scale, PeakTree.of(scale, 0.0)


def _clear_peaks(tree: PeakTree) -> int:
    """Peaks that are apart from others beyond doubt, valleys without rows included."""
    return 1 + int(np.count_nonzero(tree.significance >= _CLEAR))


def suggested_sigma(grid: NoisyGrid) -> float:
    """The filter's width in cells: 0.7 where cells hold about 1/epsilon rows, more where fewer.

    Examples
    --------
    >>> few, many = np.full((8, 8), 0.1), np.full((8, 8), 10.0)
    >>> [round(suggested_sigma(NoisyGrid(rows, variance=2.0)), 1) for rows in (few, many)]
    [2.3, 0.7]
    """
    if grid.variance == 0:
        return _SIGMA
    epsilon = math.sqrt(2 / grid.variance)  # that of Laplace noise as strong
    rows = max(float(grid.values.mean()), 1e-6)
    finer = math.pow(10 / (rows * epsilon), 1 / grid.values.ndim) / AUTO_CELLS
    return _SIGMA * min(max(finer, 1.0), 8.0)


def widest_gap(significance: NDArray[np.float64]) -> float:
    r"""The cut that is farthest from any pass, near what the largest of them reaches by chance.

    The largest of m standard normal numbers is about :math:`\sqrt{2 \ln m}`.

    Examples
    --------
    >>> passes = np.concatenate([np.linspace(0.1, 1.6, 40), [2.2, 9.0]])
    >>> round(widest_gap(passes), 1)
    3.0
    """
    chance = math.sqrt(2 * math.log(significance.size + 2))
    low, high = _LEAST * chance, _MOST * chance
    within = significance[(significance > low) & (significance < high)]
    logs = np.log(np.sort(np.concatenate([[low, high], within])))
    widest = int(np.argmax(np.diff(logs)))
    return float(np.exp((logs[widest] + logs[widest + 1]) / 2))


def _floor(scale: Smoothed, least: float) -> float:
    return max(float(least), 3 * math.sqrt(scale.noise_variance), 0.0)


def _covered(grid: NoisyGrid, sigma: float) -> NDArray[np.bool_]:
    """Cells that stand out of the noise at some scale, and are not much thinner than the mean."""
    covered = np.zeros(grid.values.shape, dtype=bool)
    for coarser in _COARSER:
        scale = smoothed(grid.values, grid.variance, sigma * coarser)
        covered |= scale.heights > _floor(scale, 0.5 * grid.values.mean())
    return covered


def _grown(labels: Integers, covered: NDArray[np.bool_]) -> Integers:
    """Every covered cell gets the label of the nearest cell that has one."""
    if not (labels >= 0).any():
        return labels
    nearest = ndimage.distance_transform_edt(
        labels < 0, return_distances=False, return_indices=True
    )
    return np.where(covered, labels[tuple(nearest)], -1)


def _outweighing(labels: Integers, grid: NoisyGrid) -> Integers:
    """Without clusters whose rows a background of half the mean, and noise, could explain."""
    inside = labels >= 0
    cells = np.bincount(labels[inside])
    rows = np.bincount(labels[inside], weights=grid.values[inside])
    excess = rows - 0.5 * max(float(grid.values.mean()), 0.0) * cells
    error = np.sqrt(cells * grid.variance + np.maximum(rows, 1))
    luck = math.sqrt(2 * math.log(grid.values.size + 1)) - _SPARED
    kept = excess >= luck * error
    return np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)[labels]
