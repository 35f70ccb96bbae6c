import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.domain import Box, Grid, SparseCounts
from shoal.errors import DimensionMismatch, InvalidDomain, NotFinite, TooLarge

GRID = Grid(Box(x=(-1, 1), y=(0, 10)), (3, 7))


@pytest.mark.heavy
@given(arrays(float, st.tuples(st.integers(0, 30), st.just(2)), elements=st.floats(-20, 20)))
def test_every_row_falls_into_the_cell_that_holds_it(X):
    keys = GRID.keys(X)
    low, high = GRID.bounds(keys)
    inside = GRID.box.clip(X)
    assert np.all((low <= inside + 1e-12) & (inside <= high + 1e-12))
    assert np.all((keys >= 0) & (keys < GRID.size))


@pytest.mark.heavy
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_centres_are_numbered_by_their_own_keys(shape):
    grid = Grid(Box.unit(len(shape)), tuple(shape))
    assert np.array_equal(grid.keys(grid.centers()), np.arange(grid.size))
    places = itertools.product(*[[(i + 0.5) / m for i in range(m)] for m in shape])
    assert np.allclose(grid.centers(), list(places))


def test_points_on_an_upper_bound_belong_to_the_last_cell():
    assert GRID.keys([[1, 10]]).tolist() == [20]
    assert GRID.keys([[5, 99], [-5, -99]]).tolist() == [20, 0]


def test_sizes_are_exact_integers():
    assert Grid(Box.unit(2), 2**31).size == 2**62
    assert Grid(Box.unit(62), 2).keys(np.ones((1, 62))).tolist() == [2**62 - 1]
    with pytest.raises(
        TooLarge, match=r"more than 2\*\*62", check=lambda error: error.reason == "cells"
    ):
        Grid(Box.unit(63), 2)


@pytest.mark.parametrize("cells", [2**53 + 1, 2**55, 2**62 - 1, 2**62])
def test_a_row_on_the_edge_of_very_many_cells_is_in_the_last(cells):
    grid = Grid(Box.unit(1), cells)
    assert grid.keys([[1.0], [0.0]]).tolist() == [cells - 1, 0]


def test_nan_has_no_cell():
    with pytest.raises(NotFinite):
        GRID.keys([[np.nan, 0.5]])


def test_bounds_of_neighbours_touch():
    low, high = GRID.bounds(np.arange(GRID.size))
    assert np.allclose(high[0], low[8])
    assert np.array_equal(high[-1], GRID.box.high)


def test_centres_of_a_huge_grid_are_refused():
    with pytest.raises(TooLarge, match="memory", check=lambda error: error.reason == "cells"):
        Grid(Box.unit(9), 10).centers()


def test_it_pickles_and_compares():
    assert pickle.loads(pickle.dumps(GRID)) == GRID
    assert Grid(Box.unit(2), 3) == Grid(Box.unit(2), [3, 3]) == Grid(Box.unit(2), np.array([3, 3]))


@pytest.mark.parametrize("cells", [0, -1, 1.5, True, (3,), (3, 0), "3", None, (3, 3, 3)])
def test_cells_that_make_no_grid_are_refused(cells):
    with pytest.raises(InvalidDomain):
        Grid(Box.unit(2), cells)


def test_a_grid_over_no_box_is_refused():
    with pytest.raises(InvalidDomain, match="NoneType"):
        Grid(None, 2)


def test_rows_of_another_width_are_refused():
    with pytest.raises(DimensionMismatch):
        GRID.keys(np.zeros((2, 3)))


def test_keys_of_no_cell_are_refused():
    for keys in ([-1], [21], [1.7], ["alice"], [[1]]):
        with pytest.raises(InvalidDomain):
            GRID.bounds(keys)


def test_sparse_counts_are_the_dense_ones():
    sparse = SparseCounts.of([5, 2, 5, 5], 8)
    assert sparse.keys.tolist() == [2, 5]
    assert sparse.dense().tolist() == [0, 0, 1, 0, 0, 3, 0, 0]


@pytest.mark.parametrize(
    ("keys", "counts", "size"),
    [([2, 1], [1, 1], 4), ([1, 1], [1, 1], 4), ([4], [1], 4), ([-1], [1], 4), ([1], [1, 2], 4),
     ([1], [1], 0), ([1], [1], 2**62 + 1), ([[1]], [[1]], 4), ([1], [2.9], 4), ([1], [np.nan], 4),
     (["alice smith"], [1], 4), ([1], [1], "4"), ([1], [1], 4.5)],
)  # fmt: skip
def test_keys_out_of_order_or_place_are_refused(keys, counts, size):
    with pytest.raises(InvalidDomain) as caught:
        SparseCounts(np.array(keys), np.array(counts), size)
    assert "alice" not in str(caught.value)


def test_huge_sparse_counts_are_not_made_dense():
    with pytest.raises(TooLarge, check=lambda error: error.reason == "cells"):
        SparseCounts.of([1], 2**40).dense()
