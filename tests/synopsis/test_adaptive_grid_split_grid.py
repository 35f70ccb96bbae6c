import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.domain import Box, Grid
from shoal.errors import InvalidDomain, NotFinite, TooLarge
from shoal.synopsis._adaptive_grid import SplitGrid, total_parts

rng = np.random.default_rng(4)


def splits(d, cells, most=4):
    box = Box.of([f"c{i}" for i in range(d)], np.full(d, -3.0), np.linspace(1, 5, d))
    grid = Grid(box, cells)
    return SplitGrid(grid, rng.integers(1, most + 1, grid.size))


@pytest.mark.heavy
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 4))
def test_every_cell_holds_its_own_centre_and_no_other(d, cells):
    split = splits(d, cells, most=3)
    keys = np.arange(split.size)
    low, high = split.bounds(keys)
    np.testing.assert_array_equal(split.keys((low + high) / 2), keys)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_rows_lie_in_the_bounds_of_their_cell(d):
    split = splits(d, 5)
    X = rng.uniform(split.box.low, split.box.high, (2000, d))
    low, high = split.bounds(split.keys(X))
    assert np.all((low - 1e-12 <= X) & (high + 1e-12 >= X))


def test_parts_make_up_their_coarse_cell():
    split = splits(2, 3)
    np.testing.assert_array_equal(
        split.parents(np.arange(split.size)), np.repeat(np.arange(9), split.inside)
    )
    X = rng.uniform(split.box.low, split.box.high, (500, 2))
    np.testing.assert_array_equal(split.parents(split.keys(X)), split.grid.keys(X))


def test_cells_cover_the_box_once():
    split = splits(3, 3)
    low, high = split.bounds(np.arange(split.size))
    volume = np.prod(high - low, axis=1).sum()
    np.testing.assert_allclose(volume, np.prod(split.box.high - split.box.low))


def test_rows_on_upper_bounds_and_outside_belong_to_the_nearest_cell():
    split = splits(2, 4)
    last = split.keys([split.box.high])[0]
    assert last == split.size - 1
    assert split.keys([split.box.high + 9])[0] == last
    assert split.keys([split.box.low - 9])[0] == 0


def test_keys_beyond_what_floats_hold_are_exact():
    split = SplitGrid(Grid(Box.unit(2), 1), [2**30])
    assert split.size == 2**60
    assert split.keys([[1.0, 1.0], [0.0, 1.0]]).tolist() == [2**60 - 1, 2**30 - 1]


def test_more_cells_than_keys_have_room_for_are_refused():
    with pytest.raises(TooLarge, check=lambda error: error.reason == "cells"):
        SplitGrid(Grid(Box.unit(8), 1), [1000])
    assert total_parts(np.array([1000]), 8) == 10**24


def test_parts_that_do_not_fit_the_grid_are_refused():
    for parts in ([1], [1, 0], [[1, 1]]):
        with pytest.raises(InvalidDomain):
            SplitGrid(Grid(Box.unit(1), 2), parts)


def test_nan_is_in_no_cell():
    with pytest.raises(NotFinite):
        splits(2, 2).keys([[0.0, np.nan]])
