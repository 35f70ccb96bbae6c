"""Grids of far more cells than rows: only cells that stand out are ever made."""

import math

import numpy as np

from shoal.cluster.wave.methods.purse import Purse
from shoal.domain import Grid, SparseCounts
from shoal.engine import Rows
from shoal.estimator import false_cell_level
from shoal.mechanisms import Geometric

__all__ = ["coarsened", "sparse_noise"]

_MOST_FALSE = 2**24  # empty cells worth keeping in memory


def sparse_noise(counts: SparseCounts, n_rows: int, purse: Purse) -> SparseCounts:
    """The cells whose noisy count reaches a level that about as many empty ones do as rows came.

    Guarantee
    ---------
    All that is in the ``purse``. See ``sparse.proof.md``.

    References
    ----------
    Cormode, Procopiuc, Srivastava, Tran, Differentially private summaries for sparse data, ICDT
    2012.
    """
    most_false = min(n_rows, _MOST_FALSE)
    level = false_cell_level(counts.size, purse.budget, most_false)  # [P1]
    noise = Geometric(purse.budget, at_least=level)  # [P2]
    kept: SparseCounts = purse.release(noise, counts, of="cell counts")  # [P3]
    return kept


def coarsened(rows: Rows, grid: Grid, level: int) -> SparseCounts:
    """Occupied blocks of ``2**level`` cells an axis, and how many rows each holds."""
    fine = rows.count(grid, sparse=True)
    if level == 0:
        return fine
    places = [place >> level for place in np.unravel_index(fine.keys, grid.shape)]
    shape = [-(-cells >> level) for cells in grid.shape]
    keys, block = np.unique(np.ravel_multi_index(places, shape), return_inverse=True)
    counts = np.zeros(keys.size, dtype=np.int64)
    np.add.at(counts, block, fine.counts)  # [P4] whole numbers: a row is in one block
    return SparseCounts(keys, counts, math.prod(shape))
