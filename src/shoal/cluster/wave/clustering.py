"""From a released grid to labelled cells: all of it post-processing.

A released synopsis as a grid to cluster.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shoal.cluster.wave import selectors
from shoal.cluster.wave.components import components, listed_components
from shoal.cluster.wave.noise import NoiseLaw, NoisyGrid
from shoal.cluster.wave.persistence import PeakTree, smoothed, smoothing_error
from shoal.cluster.wave.selectors import by_scale
from shoal.cluster.wave.settings import Settings
from shoal.domain import Grid, SparseCounts
from shoal.errors import ConflictingSettings, InvalidSetting
from shoal.synopsis import UniformGrid
from shoal.synopsis.cells import Cells

__all__ = [
    "Clustering",
    "ReleasedGrid",
    "cluster_grid",
    "cluster_listed",
    "cluster_threshold",
    "clustered",
    "guarded_level",
    "released_grid",
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


@dataclass(frozen=True, eq=False)
class ReleasedGrid:
    """The cells a synopsis kept, and the grid they are cells of."""

    grid: Grid
    cells: Cells
    variance: float
    n_rows: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each axis."""
        return self.grid.shape


def released_grid(synopsis: Any) -> ReleasedGrid:
    """The grid of a fitted ``UniformGrid``; other synopses have cells of many sizes."""
    if not isinstance(synopsis, UniformGrid):
        raise InvalidSetting(
            f"A {type(synopsis).__name__} came; clusters need equal cells.",
            "Give a fitted UniformGrid.",
        )
    check_is_fitted(synopsis)
    if synopsis.view_ is not None:
        raise InvalidSetting(
            "The synopsis was counted through a view.", "Fit one on the columns themselves."
        )
    box, kept = synopsis.box, synopsis.cells_
    assert box is not None  # it was fitted
    if len(kept):
        side = kept.high[0] - kept.low[0]
        shape = np.rint((box.high - box.low) / side).astype(int).tolist()
    else:
        shape = [round(synopsis.n_cells_ ** (1 / box.d))] * box.d
    return ReleasedGrid(Grid(box, shape), kept, synopsis.noise_variance, synopsis.n_rows_)


def clustered(
    released: ReleasedGrid, settings: Settings
) -> tuple[NoisyGrid, Clustering, NDArray[np.int64] | None]:
    """Its clusters; cells that were not kept count as empty."""
    if settings.rule == "posterior" or settings.method != "block" or settings.level:
        raise ConflictingSettings(
            "A synopsis has its counts, and its noise, already.",
            "Leave out method, level and rule.",
        )
    cells, law = released.cells, NoiseLaw.of_variance(released.variance)
    if settings.sparse:
        kept = SparseCounts(cells.key, cells.noisy_count, released.grid.size)
        level = guarded_level(settings, law, kept.size, released.n_rows)
        found = cluster_listed(kept, released.shape, level, settings)
        return NoisyGrid(kept.counts), found, kept.keys
    values = np.zeros(released.grid.size)
    values[cells.key] = cells.weight
    noisy = NoisyGrid(values.reshape(released.shape), released.variance)
    return noisy, cluster_grid(noisy, settings), None
