"""A released synopsis as a grid to cluster."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shoal.cluster.wave.clustering import (
    Clustering,
    cluster_grid,
    cluster_listed,
    guarded_level,
)
from shoal.cluster.wave.noise_law import NoiseLaw
from shoal.cluster.wave.noisy_grid import NoisyGrid
from shoal.cluster.wave.settings import Settings
from shoal.domain import Grid, SparseCounts
from shoal.errors import ConflictingSettings, InvalidSetting
from shoal.synopsis import UniformGrid
from shoal.synopsis.cells import Cells

__all__ = ["ReleasedGrid", "clustered", "released_grid"]


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
    box, kept = synopsis.domain, synopsis.cells_
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
