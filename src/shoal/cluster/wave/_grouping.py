"""Rules that turn the noisy cells of ``WaveCluster`` into groups: its selectors.

They read the noisy grid only, so they cost no budget. A selector is a set of ``Options`` with the
rule it stands for; the rules themselves are functions on arrays, below and in ``thresholds``.
"""

import math
from abc import abstractmethod
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shoal.arrays import Floats, Integers
from shoal.cluster._grouped_settings import Options
from shoal.cluster.wave._noise import NoiseLaw, NoisyGrid
from shoal.cluster.wave._scale import suggested_sigma
from shoal.cluster.wave._segmentation import (
    Connectivity,
    LabelledCells,
    PeakTree,
    SmoothGrid,
    components,
    drop_small,
    smooth_grid,
    smoothing_error,
)
from shoal.cluster.wave._thresholds import (
    density_level,
    label_above,
    mass_level,
    noise_guard,
    percentile_level,
    positive_quantile,
    posterior_cells,
)
from shoal.domain import SparseCounts
from shoal.errors import ConflictingSettings, setting

Rule = Literal["threshold", "posterior"]
# All constants of the automatic selector: docs/decisions/wave-selector.md.
_SIGMAS = (0.0, 0.5, 0.7, 1.0, 1.5, 2.0)  # what smooth="auto" chooses from
_FRINGE_SCALES = (1.0, 1.4, 2.0, 2.8)  # times the scale of the peaks
_CLEAR, _COARSE_CUT = 4.0, 2.5  # standard errors
# Standard errors less than the luckiest of all cells would need, since few cells start a cluster.
_FEWER_STARTS = 1.4
# The range of the cut, times the significance that the largest of as many chance passes reaches.
_LEAST, _MOST = 0.85, 1.4


class Selector(Options):
    """Base of the selectors: the rule that says which cells belong to clusters."""

    @abstractmethod
    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> LabelledCells:
        """Label the cells of a full grid.

        Parameters
        ----------
        connectivity
            Whether cells touch by corners too ("full") or by "faces" only; selectors of peaks
            ignore it, since slopes always touch by corners too.
        """

    def listed_level(self, cells: SparseCounts, law: NoiseLaw | None, n_rows: int) -> float:
        """Return the least count of a listed cell in a cluster; few selectors can.

        Parameters
        ----------
        law
            Of the noise in one of them; None without noise.
        """
        raise ConflictingSettings(
            f"{type(self).__name__} needs all cells of a grid, and there are too many.",
            "Use " + setting("selector", "density") + ", fewer cells or fewer columns.",
        )


class Auto(Selector):
    """Label peaks at a scale and a significance that are chosen from the noisy grid itself.

    ``selector="auto"``; it has no settings.
    """

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> LabelledCells:
        """Label the cells of a full grid by ``label_automatically``."""
        return label_automatically(grid, min_cells)


class Persistence(Selector):
    """Label peaks of the smoothed grid that rise significantly above the passes between them.

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

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> LabelledCells:
        """Label the cells of a full grid by ``label_peaks``."""
        sigma = best_sigma(grid) if self.smooth == "auto" else self.smooth
        return label_peaks(grid, self.z, sigma, min_cells)


class Percentile(Selector):
    """Label cells whose count reaches a quantile of the cells that have rows.

    Parameters
    ----------
    p
        The quantile, between 0 and 1.
    rule
        "threshold": the noisy count reaches it. "posterior": the true count more likely than not
        does, which needs whole counts under noise (``variant="block"``, Haar).
    context
        Whether "posterior" judges a cell with its neighbours.
    strict
        Whether "threshold" leaves out cells that lie at the quantile itself. Whole counts often tie
        there; as published they are left out, and shapes then fall apart.
    """

    def __init__(
        self,
        p: float = 0.5,
        *,
        rule: Rule = "threshold",
        context: bool = False,
        strict: bool = False,
    ) -> None:
        self.p = p
        self.rule = rule
        self.context = context
        self.strict = strict

    def least(self, level: float | None) -> float | None:
        """Return the least coefficient of a cell in a cluster, given the quantile."""
        # Why ties belong to clusters unless asked otherwise: docs/decisions/wave-selector.md.
        return math.nextafter(level, math.inf) if self.strict and level is not None else level

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> LabelledCells:
        """Label groups of touching cells that reach the quantile."""
        if self.rule == "posterior" and grid.law is not None:
            chosen, level = posterior_cells(grid, grid.law, float(self.p), self.context)
            return LabelledCells(components(chosen, connectivity, min_cells), level)
        level_reached = self.least(percentile_level(grid, float(self.p)))
        return label_above(grid, level_reached, connectivity, min_cells)

    def listed_level(self, cells: SparseCounts, law: NoiseLaw | None, n_rows: int) -> float:
        """Return the quantile of the listed cells that have rows."""
        return self.least(positive_quantile(cells.counts, float(self.p))) or math.inf


class Density(Selector):
    """Label cells whose count is at least so many times the mean.

    Parameters
    ----------
    times
        How many times the mean. None stands for 1, and on sparse grids for 0, which selects every
        cell above what noise alone reaches.
    """

    def __init__(self, times: float | None = None) -> None:
        self.times = times

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> LabelledCells:
        """Label groups of touching cells that are at least this dense."""
        level = density_level(grid, 1.0 if self.times is None else self.times)
        return label_above(grid, level, connectivity, min_cells)

    def listed_level(self, cells: SparseCounts, law: NoiseLaw | None, n_rows: int) -> float:
        """Return the density, or the level that noise alone reaches if that is higher."""
        guard = 0.0 if law is None else noise_guard(law, cells.size)
        return max(guard, (self.times or 0.0) * n_rows / cells.size)


class Mass(Selector):
    """Label the densest cells that together hold a share of all rows.

    Parameters
    ----------
    share
        Of all rows, between 0 and 1.
    """

    def __init__(self, share: float = 0.9) -> None:
        self.share = share

    def label(self, grid: NoisyGrid, connectivity: Connectivity, min_cells: int) -> LabelledCells:
        """Label groups of touching cells that are among the densest."""
        return label_above(grid, mass_level(grid, float(self.share)), connectivity, min_cells)


SELECTORS: dict[str, type[Selector]] = {
    "auto": Auto,
    "persistence": Persistence,
    "percentile": Percentile,
    "density": Density,
    "mass": Mass,
}


def label_peaks(grid: NoisyGrid, z: float, sigma: float, min_cells: int) -> LabelledCells:
    """Label the cells of peaks that rise significantly above the passes between them."""
    heights = smooth_grid(grid.values, grid.variance, sigma)
    floor = max(0.5 * grid.values.mean(), 3 * np.sqrt(heights.noise_variance), 0.0)
    tree = PeakTree.of(heights, float(floor))
    return LabelledCells(tree.labels(z, min_cells), float(floor), tree)


def best_sigma(grid: NoisyGrid) -> float:
    """Choose the width of the filter whose estimated error is smallest.

    Returns
    -------
    One of the candidate widths, in cells.
    """
    errors = [smoothing_error(grid.values, grid.variance, sigma) for sigma in _SIGMAS]
    return _SIGMAS[int(np.argmin(errors))]


def label_automatically(grid: NoisyGrid, min_cells: int) -> LabelledCells:
    """Label peaks at a scale and a significance that are chosen from the noisy grid.

    Peaks are looked for at the finest scale at which rows outweigh noise and chance, unless twice
    that scale shows far more of them beyond doubt. Passes are cut at the widest gap in their
    significance, where the choice matters least. Clusters then cover every cell that stands out at
    this scale or a coarser one, since the fringe of a cluster is too thin to be seen at the scale
    that tells two clusters apart.
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
    return LabelledCells(_drop_insignificant(labels, grid), floor, tree)


def _whole_tree(grid: NoisyGrid, sigma: float) -> tuple[SmoothGrid, PeakTree]:
    scale = smooth_grid(grid.values, grid.variance, sigma)
    return scale, PeakTree.of(scale, 0.0)


def _clear_peaks(tree: PeakTree) -> int:
    """Count the peaks that are clearly separate, valleys without rows included."""
    return 1 + int(np.count_nonzero(tree.significance >= _CLEAR))


def widest_gap(significance: Floats) -> float:
    r"""Choose the cut in the middle of the widest gap between the passes' significances.

    Only cuts near :math:`\sqrt{2 \ln m}` are considered, which is about the largest of m standard
    normal numbers: what the most significant of m passes reaches by chance.

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
    """Return the height that cells of the least density reach by noise and chance."""
    least = max(float(least), 0.0)
    return max(least, 3 * math.sqrt(scale.noise_variance + scale.shrink * least))


def _covered(grid: NoisyGrid, sigma: float) -> NDArray[np.bool_]:
    """Find the cells above the noise at some scale that hold at least half the mean."""
    covered = np.zeros(grid.values.shape, dtype=bool)
    for times in _FRINGE_SCALES:
        scale = smooth_grid(grid.values, grid.variance, sigma * times)
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
    needed = math.sqrt(2 * math.log(grid.values.size + 1)) - _FEWER_STARTS
    is_clear = excess >= needed * error
    return np.append(np.where(is_clear, np.cumsum(is_clear) - 1, -1), -1)[labels]
