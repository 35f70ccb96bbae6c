"""From a released grid to labelled cells: all of it post-processing."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave import selectors
from shoal.cluster.wave.auto import by_scale
from shoal.cluster.wave.components import components, listed_components
from shoal.cluster.wave.noise_law import NoiseLaw
from shoal.cluster.wave.noisy_grid import NoisyGrid
from shoal.cluster.wave.persistence import PeakTree, smoothed, smoothing_error
from shoal.cluster.wave.settings import Settings
from shoal.domain import SparseCounts

__all__ = [
    "Clustering",
    "cluster_grid",
    "cluster_listed",
    "cluster_threshold",
    "guarded_level",
]

Integers = NDArray[np.int64]
_SIGMAS = (0.0, 0.5, 0.7, 1.0, 1.5, 2.0)


@dataclass(frozen=True, eq=False)
class Clustering:
    """Labels of cells, -1 for none, and what led to them."""

    labels: Integers
    threshold: float | None = None
    tree: PeakTree | None = None


def cluster_grid(grid: NoisyGrid, settings: Settings) -> Clustering:
    """Cluster a full grid by the selector asked for."""
    if settings.selector == "auto":
        return Clustering(*by_scale(grid, settings.min_cells))
    if settings.selector == "persistence":
        return _by_peaks(grid, settings, _sigma(grid, settings.smooth))
    if settings.rule == "posterior" and grid.law is not None:
        chosen, level = selectors.posterior_cells(
            grid, grid.law, float(settings.p), settings.context
        )
        return Clustering(_touching(chosen, settings), level)
    return cluster_threshold(grid, _level(grid, settings), settings)


def cluster_threshold(grid: NoisyGrid, level: float | None, settings: Settings) -> Clustering:
    """Groups of touching cells that reach a level; without one there are none."""
    chosen = np.zeros(grid.values.shape, dtype=bool) if level is None else grid.values >= level
    return Clustering(_touching(chosen, settings), level)


def cluster_listed(
    kept: SparseCounts, shape: tuple[int, ...], level: float, settings: Settings
) -> Clustering:
    """The same among listed cells."""
    labels = np.full(kept.keys.size, -1, dtype=np.int64)
    chosen = kept.counts >= level
    labels[chosen] = listed_components(
        kept.keys[chosen], shape, settings.connectivity, settings.min_cells
    )
    return Clustering(labels, level)


def guarded_level(settings: Settings, law: NoiseLaw | None, size: int, n_rows: int) -> float:
    """For listed cells: above what noise alone reaches, and the density asked for."""
    guard = 0.0 if law is None else selectors.noise_guard(law, size)
    return max(guard, settings.density * n_rows / size)


def _level(grid: NoisyGrid, settings: Settings) -> float | None:
    if settings.selector == "density":
        return selectors.density_level(grid, settings.density)
    if settings.selector == "mass":
        return selectors.mass_level(grid, settings.mass)
    return selectors.percentile_level(grid, float(settings.p))


def _touching(chosen: NDArray[np.bool_], settings: Settings) -> Integers:
    return components(chosen, settings.connectivity, settings.min_cells)


def _by_peaks(grid: NoisyGrid, settings: Settings, sigma: float) -> Clustering:
    heights = smoothed(grid.values, grid.variance, sigma)
    floor = max(0.5 * grid.values.mean(), 3 * np.sqrt(heights.noise_variance), 0.0)
    tree = PeakTree.of(heights, float(floor))
    return Clustering(tree.labels(settings.z, settings.min_cells), float(floor), tree)


def _sigma(grid: NoisyGrid, asked: float | Literal["auto"]) -> float:
    """The width asked for, or the one whose estimated error is smallest."""
    if asked != "auto":
        return asked
    errors = [smoothing_error(grid.values, grid.variance, sigma) for sigma in _SIGMAS]
    return _SIGMAS[int(np.argmin(errors))]
