"""Sparse and dense grids have one law. False alarms: 1e-6, seeds fixed."""

import numpy as np
import pytest
from scipy import stats

from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile
from shoal.cluster.wave._release_methods import count_blocks, release_sparse
from shoal.domain import Box, Grid, SparseCounts
from shoal.engine import rows_of
from shoal.estimator import Spending, false_cell_level
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP, Unprotected
from shoal.randomness import Randomness

PLAIN = Unprotected("Exact counts, to compare with.")

CELLS, ROWS = 900, 20
COUNTS = SparseCounts(np.array([3, 400, 880]), np.array([2, 9, 5]), CELLS)
DRAWS = 1500


def released(seed: int) -> SparseCounts:
    page = Ledger.of(None).open(PureDP(1), by="test")
    nobody = rows_of(np.zeros((0, 1)), Box.unit(1))  # the counts are given
    return release_sparse(Spending(nobody, page, page.budget, Randomness(seed), ROWS), COUNTS)


@pytest.mark.heavy
def test_as_many_cells_stand_out_as_on_the_full_grid():
    level = false_cell_level(CELLS, PureDP(1), ROWS)
    noise = Randomness(1).noise
    dense = Geometric(PureDP(1)).release(np.tile(COUNTS.dense(), (DRAWS, 1)), noise) >= level
    sparse = np.zeros((DRAWS, CELLS), dtype=bool)
    for draw in range(DRAWS):
        sparse[draw, released(draw).keys] = True
    assert stats.ks_2samp(dense.sum(axis=1), sparse.sum(axis=1)).pvalue > 1e-6
    for cell in COUNTS.keys:
        kept = np.array([dense[:, cell].sum(), sparse[:, cell].sum()])
        assert stats.fisher_exact(np.stack([kept, DRAWS - kept])).pvalue > 1e-6


def test_what_stands_out_is_sorted_and_above_the_level():
    out = released(7)
    assert (np.diff(out.keys) > 0).all()
    assert out.counts.min() >= false_cell_level(CELLS, PureDP(1), ROWS)


@pytest.mark.parametrize("level", [1, 2])
def test_blocks_of_listed_cells_are_those_of_the_full_grid(level):
    X = np.random.default_rng(2).random((500, 3))
    grid = Grid(Box.unit(3), (7, 9, 5))
    sparse = count_blocks(rows_of(X, grid.box), grid, level)
    dense = rows_of(X, grid.box).count(grid).reshape(grid.shape)
    for axis, side in enumerate(grid.shape):
        dense = np.add.reduceat(dense, np.arange(0, side, 2**level), axis=axis)
    assert (sparse.dense() == dense.ravel()).all()


def six_blobs(d: int, n: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """At corners of a cube, no two of them next to each other."""
    rng = np.random.default_rng(d)
    corners = np.array([c for c in np.ndindex((2,) * d) if sum(c) % 2 == 0][:6])
    y = rng.integers(0, 6, n)
    return 0.2 + 0.6 * corners[y] + rng.normal(0, 0.03, (n, d)), y


@pytest.mark.parametrize("d", [4, 6, 8])
def test_blobs_of_many_columns_are_found_among_millions_of_cells(d):
    from sklearn.metrics import adjusted_rand_score

    X, y = six_blobs(d)
    model = WaveCluster(domain=Box.unit(d), epsilon=1, cells=8, random_state=3).fit(X)
    assert model.cell_keys_ is not None
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(y, model.predict(X)) > 0.8


def test_points_in_cells_that_were_not_kept_belong_to_nothing():
    X, _ = six_blobs(5)
    model = WaveCluster(domain=Box.unit(5), epsilon=1, cells=6, random_state=3).fit(X)
    assert model.predict(np.zeros((1, 5))).tolist() == [-1]


def test_plain_clusters_of_many_columns_are_the_percentiles():
    X, _ = six_blobs(4)
    model = WaveCluster(privacy=PLAIN, domain=Box.unit(4), cells=8, selector=Percentile(0.3)).fit(X)
    counts = np.unique(Grid(Box.unit(4), 8).keys(X), return_counts=True)[1]
    assert model.threshold_ == np.quantile(counts, 0.3)


def test_the_size_is_paid_for_and_all_is_spent():
    X, _ = six_blobs(5, n=2000)
    model = WaveCluster(domain=Box.unit(5), epsilon=1, cells=6, random_state=3).fit(X)
    assert model.guarantee_.epsilon == 1
    assert model.n_rows_ != 2000
    assert model.n_rows_ == pytest.approx(2000, abs=1500)
