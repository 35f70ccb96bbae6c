"""Selectors: which cells belong to clusters, and to which.

They read the noisy grid alone, and so cost nothing. A selector is a set of ``Options`` with the
rule that it stands for; the rules themselves are the functions below, on arrays.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shoal.cluster.options import Options
from shoal.cluster.wave.noise import (
    NoiseLaw,
    NoisyGrid,
    estimate_counts,
    probability_of_reaching,
)
from shoal.cluster.wave.segmentation import (
    Connectivity,
    PeakTree,
    SmoothGrid,
    components,
    drop_small,
    listed_components,
    smooth_grid,
    smoothing_error,
)
from shoal.domain import SparseCounts

__all__ = [
    "AUTO_CELLS",
    "SELECTORS",
    "Auto",
    "Clustering",
    "Density",
    "Mass",
    "Percentile",
    "Persistence",
    "Rule",
    "Selector",
    "best_sigma",
    "density_level",
    "label_above",
    "label_automatically",
    "label_listed",
    "label_peaks",
    "listed_level",
    "mass_level",
    "noise_guard",
    "percentile_level",
    "positive_quantile",
    "posterior_cells",
    "suggested_sigma",
    "widest_gap",
]

Integers = NDArray[np.int64]
Rule = Literal["threshold", "posterior"]
AUTO_CELLS = 3.0  # times (n epsilon / 10)^(1/d) cells an axis: a third of the spacing counts need
_SIGMA = 0.7  # cells: the width of the filter where rows are many
_SIGMAS = (0.0, 0.5, 0.7, 1.0, 1.5, 2.0)  # what smooth="auto" chooses from
_COARSER = (1.0, 1.4, 2.0, 2.8)  # times the scale of the peaks: where the fringe is looked for
_CLEAR, _COARSE_CUT = 4.0, 2.5  # standard errors
_SPARED = 1.4  # less than the luckiest of all cells would need: few cells start a cluster
_LEAST, _MOST = 0.85, 1.4  # of the significance that the best of so many chance passes reaches


@dataclass(frozen=True, eq=False)
class Clustering:
    """Labels of cells, and what led to them.

    Parameters
    ----------
    labels
        The cluster of each cell, -1 for none.
    threshold
        The level that cells had to reach, if there was one.
    tree
        Peaks and passes, if clusters are peaks.
    """

    labels: Integers
    threshold: float | None = None
    tree: PeakTree | None = None


class Selector(Options):
    """What makes a cell part of a cluster."""

    @abstractmethod
    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> Clustering:
        """Label the cells of a full grid.

        Parameters
        ----------
        grid
            Released coefficients.
        connectivity
            Whether cells touch by corners too ("full") or by "faces" only.
        min_cells
            The fewest cells of a cluster.
        """


class Auto(Selector):
    """Peaks at the scale, and cut at the significance, that the noisy grid itself suggests.

    ``selector="auto"``; it has no settings.
    """

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> Clustering:
        """Label the cells of a full grid; see ``label_automatically``."""
        return label_automatically(grid, min_cells)


class Persistence(Selector):
    """Peaks of the smoothed grid that rise significantly above the passes between them.

    Parameters
    ----------
    z
        The significance from which two peaks are two clusters, in standard errors.
    smooth
        Width of the Gaussian filter in cells, from 0 to 32; "auto" estimates the best.

    Examples
    --------
    >>> Persistence(z=2).get_params()
    {'smooth': 1.0, 'z': 2}
    """

    def __init__(self, z: float = 3.0, *, smooth: float | Literal["auto"] = 1.0) -> None:
        self.z = z
        self.smooth = smooth

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> Clustering:
        """Label the cells of a full grid; see ``label_peaks``."""
        sigma = best_sigma(grid) if self.smooth == "auto" else self.smooth
        return label_peaks(grid, self.z, sigma, min_cells)


class Percentile(Selector):
    """Cells from a quantile of the cells that have rows.

    Parameters
    ----------
    p
        The quantile, between 0 and 1.
    rule
        "threshold": the noisy count reaches it. "posterior": the true count more likely than not
        does, which needs whole counts under noise (``method="block"``, Haar).
    context
        Whether "posterior" judges a cell with its neighbours.
    """

    def __init__(self, p: float = 0.5, *, rule: Rule = "threshold", context: bool = False) -> None:
        self.p = p
        self.rule = rule
        self.context = context

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> Clustering:
        """Label the groups of touching cells of a full grid that reach the quantile."""
        if self.rule == "posterior" and grid.law is not None:
            chosen, level = posterior_cells(grid, grid.law, float(self.p), self.context)
            return Clustering(components(chosen, connectivity, min_cells), level)
        level_reached = percentile_level(grid, float(self.p))
        return label_above(grid, level_reached, connectivity, min_cells)


class Density(Selector):
    """Cells of so many times the mean count.

    Parameters
    ----------
    times
        How many times. None is 1; on sparse grids 0, which leaves all that noise cannot explain.
    """

    def __init__(self, times: float | None = None) -> None:
        self.times = times

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> Clustering:
        """Label the groups of touching cells of a full grid that are so dense."""
        level = density_level(grid, 1.0 if self.times is None else self.times)
        return label_above(grid, level, connectivity, min_cells)


class Mass(Selector):
    """The densest cells that together hold a share of all rows.

    Parameters
    ----------
    share
        Of all rows, between 0 and 1.
    """

    def __init__(self, share: float = 0.9) -> None:
        self.share = share

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> Clustering:
        """Label the groups of touching cells of a full grid that are among the densest."""
        return label_above(grid, mass_level(grid, float(self.share)), connectivity, min_cells)


SELECTORS: dict[str, type[Selector]] = {
    "auto": Auto,
    "persistence": Persistence,
    "percentile": Percentile,
    "density": Density,
    "mass": Mass,
}


def label_above(
    grid: NoisyGrid, level: float | None, connectivity: Connectivity, min_cells: int
) -> Clustering:
    """Label groups of touching cells that reach a level; without a level there are none.

    Parameters
    ----------
    grid
        Released coefficients.
    level
        The least coefficient of a cell in a cluster.
    connectivity
        Whether cells touch by corners too ("full") or by "faces" only.
    min_cells
        The fewest cells of a cluster.
    """
    chosen = np.zeros(grid.values.shape, dtype=bool) if level is None else grid.values >= level
    return Clustering(components(chosen, connectivity, min_cells), level)


def label_listed(
    cells: SparseCounts,
    shape: tuple[int, ...],
    level: float,
    connectivity: Connectivity,
    min_cells: int,
) -> Clustering:
    """Label groups of touching cells that reach a level, among listed cells.

    Parameters
    ----------
    cells
        Their keys and released counts.
    shape
        Cells of the whole grid along each axis.
    level
        The least count of a cell in a cluster.
    connectivity
        Whether cells touch by corners too ("full") or by "faces" only.
    min_cells
        The fewest cells of a cluster.
    """
    labels = np.full(cells.keys.size, -1, dtype=np.int64)
    chosen = cells.counts >= level
    labels[chosen] = listed_components(cells.keys[chosen], shape, connectivity, min_cells)
    return Clustering(labels, level)


def listed_level(
    selector: Selector, cells: SparseCounts, law: NoiseLaw | None, n_rows: int
) -> float:
    """Find the level for listed cells: a density above what noise alone reaches, or a percentile.

    Parameters
    ----------
    selector
        ``Percentile``, or ``Density``.
    cells
        Keys and released counts of the cells.
    law
        Of the noise in one of them; None without noise.
    n_rows
        The number of rows, public or released.
    """
    if isinstance(selector, Percentile):
        return positive_quantile(cells.counts, float(selector.p)) or np.inf
    assert isinstance(selector, Density)  # others are refused before rows are read
    guard = 0.0 if law is None else noise_guard(law, cells.size)
    return max(guard, (selector.times or 0.0) * n_rows / cells.size)


def label_peaks(grid: NoisyGrid, z: float, sigma: float, min_cells: int) -> Clustering:
    """Label the cells of peaks that rise significantly above the passes between them.

    Parameters
    ----------
    grid
        Released coefficients.
    z
        The significance at which passes are cut, in standard errors.
    sigma
        Width of the Gaussian filter in cells.
    min_cells
        The fewest cells of a cluster.
    """
    heights = smooth_grid(grid.values, grid.variance, sigma)
    floor = max(0.5 * grid.values.mean(), 3 * np.sqrt(heights.noise_variance), 0.0)
    tree = PeakTree.of(heights, float(floor))
    return Clustering(tree.labels(z, min_cells), float(floor), tree)


def best_sigma(grid: NoisyGrid) -> float:
    """Choose the width of the filter whose estimated error is smallest."""
    errors = [smoothing_error(grid.values, grid.variance, sigma) for sigma in _SIGMAS]
    return _SIGMAS[int(np.argmin(errors))]


def positive_quantile(values: NDArray[Any], p: float, drop: int = 0) -> float | None:
    """Return the quantile of the positive values but for the smallest; None if none is positive.

    Parameters
    ----------
    values
        Any numbers.
    p
        The quantile.
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

    Parameters
    ----------
    grid
        Released coefficients.
    p
        The quantile.

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
    """Multiply the mean of all cells."""
    return float(times * max(grid.values.mean(), 0))


def mass_level(grid: NoisyGrid, share: float) -> float:
    """Find the level above which the densest cells hold this share of all rows.

    Under noise the densest cells look denser than they are; so the level is looked for in the
    estimated true counts.

    Parameters
    ----------
    grid
        Released coefficients.
    share
        Of all rows.

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

    Parameters
    ----------
    grid
        Released counts.
    law
        Of the noise on them.
    p
        The quantile, of the cells that have rows.
    context
        Whether a cell is judged with its neighbours.

    Returns
    -------
    Whether each cell is chosen, and the level it had to reach.
    """
    prior = estimate_counts(grid.counts.ravel(), law)
    level = prior.quantile(p)
    return probability_of_reaching(grid.counts, level, prior, law, context) > 0.5, float(level)


def noise_guard(law: NoiseLaw, empty_cells: int) -> float:
    """Return the level which at most one empty cell is expected to reach."""
    return law.height_reached(1 / max(empty_cells, 1))


def label_automatically(grid: NoisyGrid, min_cells: int) -> Clustering:
    """Label peaks at the scale, and cut at the significance, that the noisy grid suggests.

    Peaks are looked for at the finest scale at which rows outweigh noise, unless twice that scale
    shows far more of them beyond doubt. Passes are cut at the widest gap in their significance,
    where the choice matters least. Clusters then cover every cell that stands out at this scale or
    a coarser one, since the fringe of a cluster is too thin to be seen at the scale that tells two
    clusters apart.

    Parameters
    ----------
    grid
        Released coefficients.
    min_cells
        The fewest cells of a cluster.
    """
    sigma = suggested_sigma(grid)
    scale, tree = _whole_tree(grid, sigma)
    coarse_scale, coarse_tree = _whole_tree(grid, 2 * sigma)
    coarse = _clear_peaks(coarse_tree) > 1.5 * _clear_peaks(tree) + 2
    if coarse:
        sigma, scale, tree = 2 * sigma, coarse_scale, coarse_tree
    floor = _floor(scale, 0.25 * grid.values.mean())
    tree = tree.above(floor, scale)
    labels = tree.labels(_COARSE_CUT if coarse else widest_gap(tree.significance))
    labels = drop_small(_extend_labels(labels, _covered(grid, sigma)), min_cells)
    return Clustering(_drop_insignificant(labels, grid), floor, tree)


def _whole_tree(grid: NoisyGrid, sigma: float) -> tuple[SmoothGrid, PeakTree]:
    scale = smooth_grid(grid.values, grid.variance, sigma)
    return scale, PeakTree.of(scale, 0.0)


def _clear_peaks(tree: PeakTree) -> int:
    """Peaks that are apart from others beyond doubt, valleys without rows included."""
    return 1 + int(np.count_nonzero(tree.significance >= _CLEAR))


def suggested_sigma(grid: NoisyGrid) -> float:
    """Suggest the filter's width: 0.7 cells where they hold about 1/epsilon rows, else more.

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
    r"""Choose the cut farthest from any pass, near what the largest of them reaches by chance.

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


def _floor(scale: SmoothGrid, least: float) -> float:
    return max(float(least), 3 * math.sqrt(scale.noise_variance), 0.0)


def _covered(grid: NoisyGrid, sigma: float) -> NDArray[np.bool_]:
    """Cells that stand out of the noise at some scale, and are not much thinner than the mean."""
    covered = np.zeros(grid.values.shape, dtype=bool)
    for coarser in _COARSER:
        scale = smooth_grid(grid.values, grid.variance, sigma * coarser)
        covered |= scale.heights > _floor(scale, 0.5 * grid.values.mean())
    return covered


def _extend_labels(labels: Integers, covered: NDArray[np.bool_]) -> Integers:
    """Give every covered cell the label of the nearest cell that has one."""
    if not (labels >= 0).any():
        return labels
    nearest = ndimage.distance_transform_edt(
        labels < 0, return_distances=False, return_indices=True
    )
    return np.where(covered, labels[tuple(nearest)], -1)


def _drop_insignificant(labels: Integers, grid: NoisyGrid) -> Integers:
    """Drop clusters whose rows a background of half the mean, and noise, could explain."""
    inside = labels >= 0
    cells = np.bincount(labels[inside])
    rows = np.bincount(labels[inside], weights=grid.values[inside])
    excess = rows - 0.5 * max(float(grid.values.mean()), 0.0) * cells
    error = np.sqrt(cells * grid.variance + np.maximum(rows, 1))
    luck = math.sqrt(2 * math.log(grid.values.size + 1)) - _SPARED
    is_clear = excess >= luck * error
    return np.append(np.where(is_clear, np.cumsum(is_clear) - 1, -1), -1)[labels]
