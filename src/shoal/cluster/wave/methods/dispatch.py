"""Each method's way from rows to a released grid and its clusters."""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.clustering import (
    Clustering,
    cluster_grid,
    cluster_listed,
    cluster_threshold,
    guarded_level,
)
from shoal.cluster.wave.methods.baseline import baseline_counts
from shoal.cluster.wave.methods.block import block_noise
from shoal.cluster.wave.methods.privqt import positive_quantile, privqt
from shoal.cluster.wave.methods.privthr import privthr
from shoal.cluster.wave.methods.privthrem import privthrem
from shoal.cluster.wave.methods.purse import Purse
from shoal.cluster.wave.methods.sparse import coarsened, sparse_noise
from shoal.cluster.wave.noise import NoiseLaw, NoisyGrid, Unnoised
from shoal.cluster.wave.settings import Settings
from shoal.cluster.wave.transform import Transform
from shoal.domain import Grid, SparseCounts
from shoal.engine import Rows
from shoal.randomness import Randomness

__all__ = ["run_dense", "run_sparse"]


def run_dense(
    rows: Rows, grid: Grid, transform: Transform, n_rows: int, settings: Settings,
    purse: Purse, rng: Randomness,
) -> tuple[NoisyGrid, Clustering]:  # fmt: skip
    """On a full grid."""
    if settings.method == "baseline":
        counts = baseline_counts(rows, grid, n_rows, purse, rng)
        noisy = NoisyGrid(_in_rows(transform(counts), transform))
        return noisy, cluster_grid(noisy, settings)
    counts = rows.count(grid).reshape(grid.shape)
    if settings.method in ("plain", "block"):
        noisy = _released(counts, transform, settings, purse)
        return noisy, cluster_grid(noisy, settings)
    noisy, level = _published_method(counts, transform, settings, purse)
    return noisy, cluster_threshold(noisy, level, settings)


def run_sparse(
    rows: Rows, grid: Grid, shape: tuple[int, ...], n_rows: int, settings: Settings, purse: Purse
) -> tuple[SparseCounts, Clustering]:
    """Where cells are too many to make them all."""
    counts = coarsened(rows, grid, settings.level)
    if settings.method == "plain":
        kept = purse.release(Unnoised(purse.budget), counts, of="cell counts")
        level = positive_quantile(kept.counts, float(settings.p)) or np.inf
    else:
        kept = sparse_noise(counts, n_rows, purse)
        law = NoiseLaw(float(purse.budget.epsilon))
        level = guarded_level(settings, law, kept.size, n_rows)
    return kept, cluster_listed(kept, shape, level, settings)


def _released(
    counts: NDArray[np.int64], transform: Transform, settings: Settings, purse: Purse
) -> NoisyGrid:
    if settings.method == "block":
        return block_noise(counts, transform, purse)
    exact = purse.release(Unnoised(purse.budget), transform(counts), of="coefficients")
    return NoisyGrid(_in_rows(exact, transform))


def _in_rows(units: NDArray[np.int64], transform: Transform) -> NDArray[np.generic]:
    return units if transform.is_blocks else units * transform.unit


def _published_method(
    counts: NDArray[np.int64], transform: Transform, settings: Settings, purse: Purse
) -> tuple[NoisyGrid, float | None]:
    p, alpha, noise = settings.p, settings.alpha, settings.noise
    if settings.method == "privqt":
        return privqt(counts, transform, float(p), noise, purse)
    if settings.method == "privthr":
        return privthr(counts, transform, float(p), alpha, noise, purse)
    return privthrem(counts, transform, p, alpha, noise, purse)
