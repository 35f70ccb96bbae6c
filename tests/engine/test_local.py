import numpy as np
import pytest

from shoal.data import source_of
from shoal.domain import Box, Grid, SparseCounts
from shoal.engine import Block, rows_of
from shoal.engine._rows import Terms
from shoal.engine.local import LocalRows
from shoal.errors import InvalidSetting, NotFinite, OutsideDomain, TooLarge

BOX = Box.unit(2)
X = np.random.default_rng(1).random((1_000, 2))


def small_blocks(rows, **terms):
    return LocalRows(source_of(rows), BOX, Terms(**terms), block_rows=64)


def test_size_is_the_number_of_rows_and_is_found_by_any_pass():
    rows = small_blocks(X)
    rows.count(Grid(BOX, 2))
    rows._source = None  # nothing more is read
    assert rows.size() == 1_000


def test_dense_and_sparse_counts_agree():
    rows = small_blocks(X)
    sparse = rows.count(Grid(BOX, 50), sparse=True)
    assert isinstance(sparse, SparseCounts)
    np.testing.assert_array_equal(sparse.dense(), rows.count(Grid(BOX, 50)))


def test_a_grid_too_fine_for_memory_is_refused_before_reading():
    rows = rows_of(np.full((3, 2), np.nan), BOX)
    with pytest.raises(TooLarge, check=lambda error: error.reason == "cells"):
        rows.count(Grid(BOX, 2**20))
    assert small_blocks(X).count(Grid(BOX, 2**31), sparse=True).counts.sum() == 1_000


def test_a_kernels_integers_are_added_over_blocks():
    def kernel(block: Block):
        return np.array(len(block)), np.floor(block.numbers * 1024).astype(np.int64).sum(axis=0)

    n, total = small_blocks(X).sum(kernel)
    assert n == 1_000
    np.testing.assert_array_equal(total, np.floor(X * 1024).astype(np.int64).sum(axis=0))


def test_a_kernel_cannot_change_the_rows_that_later_passes_read():
    def kernel(block: Block):
        if block.numbers.size:  # it is tried without rows first
            block.numbers[:] = 5.0
        return (np.array(len(block)),)

    rows = rows_of(X, BOX)
    with pytest.raises(ValueError, match="read-only"):
        rows.sum(kernel)
    assert rows.count(Grid(BOX, 2)).sum() == 1_000


def test_a_kernel_of_floats_is_refused_before_a_row_is_read():
    rows = rows_of(np.full((3, 2), np.nan), BOX)
    with pytest.raises(InvalidSetting, match="integers"):
        rows.sum(lambda block: (block.numbers.sum(axis=0),))


def test_a_kernel_whose_shape_follows_the_rows_is_refused():
    with pytest.raises(InvalidSetting, match="shapes"):
        small_blocks(X).sum(lambda block: (np.zeros(len(block), dtype=np.int64),))


@pytest.mark.parametrize("n", [0, 1])
def test_no_row_and_one_row_work_with_every_verb(n, tmp_path):
    rows, grid = rows_of(X[:n], BOX), Grid(BOX, 4)
    assert rows.size() == n
    assert rows.count(grid).sum() == n
    assert rows.count(grid, sparse=True).counts.sum() == n
    assert rows.sum(lambda block: (np.array([len(block), 7 * len(block)]),))[0].tolist() == [
        n,
        7 * n,
    ]
    assert rows.sizes(["x0"]).num_rows == n
    assert rows.take(5, np.random.default_rng(0)).shape == (n, 2)
    assert sum(b.num_rows for b in rows.map(lambda b: b.numbers, ["a", "b"]).batches()) == n


@pytest.mark.heavy
def test_every_verb_meets_a_nan_on_the_last_row_before_it_returns_anything():
    bad, grid = np.vstack([X, [[0.5, np.nan]]]), Grid(BOX, 4)
    verbs = [
        lambda rows: rows.size(),
        lambda rows: rows.count(grid),
        lambda rows: rows.count(grid, sparse=True),
        lambda rows: rows.sum(lambda block: (np.array(len(block)),)),
        lambda rows: rows.sizes(["x0"]),
        lambda rows: rows.take(3, np.random.default_rng(0)),
        lambda rows: next(rows.map(lambda block: block.numbers, ["a", "b"]).batches()),
    ]
    for verb in verbs:
        with pytest.raises(NotFinite, match=r"1 of 1001 rows .* 'x1'"):
            verb(small_blocks(bad))


def test_a_dropped_row_vanishes_from_every_verb():
    odd = np.vstack([X[:500], [[np.inf, 0.5], [0.5, 3.0]], X[500:]])
    rows, grid = small_blocks(odd, nonfinite="drop", outside="drop"), Grid(BOX, 4)
    np.testing.assert_array_equal(rows.count(grid), small_blocks(X).count(grid))
    assert rows.size() == rows.sizes(["x0"])["n"].to_numpy().sum() == 1_000
    np.testing.assert_array_equal(rows.take(9_999, np.random.default_rng(0)), X)


def test_rows_outside_are_refused_when_that_is_asked():
    with pytest.raises(OutsideDomain, match="1 of 1001"):
        small_blocks(np.vstack([X, [[2, 0]]]), outside="refuse").size()


def test_a_seeded_sample_is_the_same_whatever_the_blocks():
    one = rows_of(X, BOX).take(20, np.random.default_rng(4))
    np.testing.assert_array_equal(one, small_blocks(X).take(20, np.random.default_rng(4)))


def test_progress_is_told_in_rows_after_every_block():
    told = []
    rows = small_blocks(X)
    rows.on_progress(told.append)
    rows.size()
    assert told == [*range(64, 1_000, 64), 1_000]


def test_an_array_is_not_changed_by_reading_it():
    outside = np.array([[5.0, -1.0]])
    rows_of(outside, BOX).size()
    assert outside.tolist() == [[5.0, -1.0]]


@pytest.mark.heavy
def test_what_the_first_pass_met_is_there_for_the_holder():
    ages = {"age": [31.0, float("nan"), 200.0, -5.0, 40.0], "who": ["a", "a", "b", "b", "b"]}
    rows = rows_of(ages, Box(age=(0, 110)), nonfinite="drop", person="who", max_rows_per_person=1)
    assert rows.tally is None
    assert rows.size() == 2
    assert (rows.tally.read, rows.tally.admitted) == (5, 4)
    assert (rows.tally.nonfinite, rows.tally.outside) == (1, 2)
    rows.size()
    assert rows.tally.read == 5  # not of the rows that were kept
