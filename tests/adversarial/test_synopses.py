"""Our audit turned on the synopses, with broken twins it must catch. alpha = 1e-6, seeds fixed.

Cells that are noised independently are each a draw: one fit of a table with nobody, or with one
row in each of thousands of cells, is thousands of draws of "an empty cell" and "a cell of one".
"""

import numpy as np
import pytest

import shoal
from shoal.audit import lower_bound_of
from shoal.audit.cases._estimator_cases import ArrayRows
from shoal.domain import Box, Grid, SparseCounts
from shoal.estimator import Spending
from shoal.mechanisms import Geometric
from shoal.mechanisms.central._tree_splits import TreeSplits
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Randomness

ALPHA = 1e-6
LINE = Box.unit(1)
CELLS = 20_000
NOBODY = np.empty((0, 1))
ONE_EACH = (np.arange(CELLS)[:, None] + 0.5) / CELLS
GRIDS = {
    "uniform": lambda: shoal.UniformGrid(epsilon=1, domain=LINE, cells=CELLS, negative="zero"),
    "sparse": lambda: shoal.UniformGrid(
        epsilon=1, domain=LINE, cells=CELLS, negative="zero", sparse=True
    ),
    "adaptive": lambda: shoal.AdaptiveGrid(
        epsilon=1, domain=LINE, cells=CELLS, negative="zero", consistency=False
    ),
}


def told_of_cells(grid, X, seed):
    """For each coarse cell: how many parts are published, and their noisy counts' sum, bounded."""
    fitted = grid.set_params(n_public=CELLS, random_state=seed).fit(X)
    coarse = Grid(LINE, CELLS).keys(fitted.cells_.centers)
    parts = np.bincount(coarse, minlength=CELLS)
    sums = np.bincount(coarse, weights=fitted.cells_.noisy_count, minlength=CELLS)
    return np.column_stack([np.minimum(parts, 3), np.minimum(sums, 12)]).astype(int)


def audited_cells(grid, first=NOBODY, second=ONE_EACH):
    A, B = (told_of_cells(grid, X, seed) for seed, X in enumerate((first, second), start=5))
    return lower_bound_of(A, B, claim=1.0, alpha=ALPHA)


def audited(draw, first, second, draws=1000):
    """A bound from ``draw(rows, seed)``, a thousand times for each table."""
    A, B = (
        [draw(rows, seed + 10**6 * side) for seed in range(draws)]
        for side, rows in enumerate((ArrayRows(first, LINE), ArrayRows(second, LINE)))
    )
    return lower_bound_of(A, B, claim=1.0, alpha=ALPHA)


@pytest.mark.parametrize("make", GRIDS.values(), ids=GRIDS)
def test_a_cell_and_one_row_more_certify_no_more_than_epsilon(make):
    found = audited_cells(make())
    assert found.verdict == "consistent"
    assert found.epsilon > 0.2  # and the instrument sees some of it


@pytest.mark.parametrize("make", GRIDS.values(), ids=GRIDS)
def test_a_cell_of_many_and_one_row_more_certify_no_more_than_epsilon(make):
    many = np.repeat(ONE_EACH, 4, axis=0)
    assert audited_cells(make(), many, np.r_[many, ONE_EACH]).verdict == "consistent"


def test_a_twin_that_noises_occupied_cells_alone_is_caught(monkeypatch):
    def occupied_only(self, cells, *, of, most_false):
        counts = self.rows.count(cells, sparse=True)
        noisy = self.page.release(Geometric(self.budget), counts.counts, self.rng.noise, of=of)
        return SparseCounts(counts.keys, noisy, counts.size)

    monkeypatch.setattr(Spending, "count_sparse", occupied_only)
    assert audited_cells(GRIDS["sparse"]()).verdict == "violated"


def test_a_twin_that_splits_by_true_counts_is_caught(monkeypatch):
    """Parts chosen by the rows themselves: their number tells the count."""
    seen, count = [], Spending.count

    def looking(self, cells, *, of):
        seen.append(self.exact_counts(cells))
        return count(self, cells, of=of)

    monkeypatch.setattr(Spending, "count", looking)
    monkeypatch.setattr(shoal.AdaptiveGrid, "_parts", lambda *_: np.where(seen[-1] > 0, 8, 1))
    assert audited_cells(GRIDS["adaptive"]()).verdict == "violated"


def test_a_twin_that_spends_three_times_what_it_says_is_caught():
    twin = shoal.AdaptiveGrid(epsilon=3, domain=LINE, cells=CELLS, negative="zero")
    assert audited_cells(twin).verdict == "violated"


def test_the_number_of_rows_certifies_no_more_than_epsilon_and_an_exact_one_is_caught():
    def noisy(rows, seed):
        page = Ledger().open(PureDP(1), by="test")
        return min(Spending(rows, page, page.budget, Randomness(seed)).count_rows(), 9)

    assert audited(noisy, NOBODY, ONE_EACH[:1]).verdict == "consistent"
    assert audited(lambda rows, _: rows.size(), NOBODY, ONE_EACH[:1]).verdict == "violated"


def test_a_twin_that_lists_counted_cells_before_drawn_ones_is_caught():
    grid, last = Grid(LINE, 16), np.array([[0.99]])

    def first_key(rows, seed, as_drawn):
        page = Ledger().open(PureDP(1), by="test")
        spending = Spending(rows, page, page.budget, Randomness(seed), n_rows=9)
        keys = spending.count_sparse(grid, of="cell counts", most_false=99).keys
        if as_drawn:
            counted = np.isin(keys, rows.count(grid, sparse=True).keys)
            keys = keys[np.argsort(~counted, kind="stable")]
        return int(keys[0]) if keys.size else -1

    honest = audited(lambda rows, seed: first_key(rows, seed, False), NOBODY, last)
    assert honest.verdict == "consistent"
    twin = audited(lambda rows, seed: first_key(rows, seed, True), NOBODY, last)
    assert twin.verdict == "violated"


def grown(rows, seed):
    tree = shoal.PrivTree(epsilon=1, domain=LINE, n_public=1, clipping="accept", random_state=seed)
    return min(tree.fit(rows).n_cells_, 9)


def test_the_shape_of_a_tree_certifies_no_more_than_epsilon():
    assert audited(grown, NOBODY, ONE_EACH[:1]).verdict == "consistent"


def test_a_twin_that_skips_empty_siblings_is_caught(monkeypatch):
    test = TreeSplits._test
    monkeypatch.setattr(
        TreeSplits,
        "_test",
        lambda self, counts, depth, rng: test(self, counts, depth, rng) & (counts > 0),
    )
    assert audited(grown, NOBODY, ONE_EACH[:1]).verdict == "violated"
