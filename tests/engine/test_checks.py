import numpy as np
import pytest

from shoal.domain import Box, Grid
from shoal.engine.checks import add_checked, check_columns, check_partition, integers_of
from shoal.engine.rows import Terms
from shoal.engine.screen import Screen
from shoal.errors import (
    DimensionMismatch,
    DuplicateColumn,
    InvalidDomain,
    InvalidSetting,
    TooManyCells,
    UnknownBounds,
    UnknownColumn,
)

BOX = Box(lat=(0, 1), lon=(0, 1))
SCREEN = Screen(BOX, Terms())


class Halves:
    size = 2

    def keys(self, X):
        if X.shape[1] != 1:
            raise DimensionMismatch("Rows of one column were expected.", "Pass one.")
        return (X[:, 0] > 0).astype(np.int64)


def test_a_dense_count_beyond_memory_is_refused_and_sparse_suggested():
    check_partition(Grid(BOX, 2**12), SCREEN, dense=True)
    with pytest.raises(TooManyCells, match="sparse=True"):
        check_partition(Grid(BOX, 2**12 + 1), SCREEN, dense=True)
    check_partition(Grid(BOX, 2**30), SCREEN, dense=False)


def test_a_grid_with_swapped_columns_is_refused():
    with pytest.raises(DimensionMismatch, match="'lon', 'lat'"):
        check_partition(Grid(Box(lon=(0, 1), lat=(0, 1)), 4), SCREEN, dense=True)


def test_a_grid_over_other_bounds_is_refused():
    with pytest.raises(InvalidDomain, match="'lon'") as caught:
        check_partition(Grid(Box(lat=(0, 1), lon=(0, 2)), 4), SCREEN, dense=True)
    assert "'lat'" not in str(caught.value)
    check_partition(Grid(Box(lat=(0.0, 1.0), lon=(0, 1)), 4), SCREEN, dense=True)


def test_a_partition_of_another_width_is_refused_before_a_row_is_read():
    with pytest.raises(DimensionMismatch):
        check_partition(Halves(), SCREEN, dense=True)


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ([], InvalidSetting),
        ("lat", InvalidSetting),
        (["lat", "lat"], DuplicateColumn),
        (["income"], UnknownBounds),
        (["nowhere"], UnknownColumn),
    ],
)
def test_groups_over_other_than_public_columns_are_refused(columns, error):
    with pytest.raises(error) as caught:
        check_columns(columns, SCREEN, ("lat", "lon", "income"))
    assert caught.value.hint


@pytest.mark.parametrize(
    "parts",
    [
        np.zeros(2, dtype=np.int64),
        [np.zeros(2, dtype=np.int64)],
        (np.zeros(2),),
        (np.zeros(2, dtype=np.uint64),),
        (1,),
        None,
    ],
)
def test_a_kernel_must_return_a_tuple_of_integer_arrays(parts):
    with pytest.raises(InvalidSetting, match="integers"):
        integers_of(parts)


def test_smaller_integers_are_widened():
    (part,) = integers_of((np.array([7], dtype=np.int8),))
    assert part.dtype == np.int64


def test_arrays_of_changing_shape_do_not_add():
    with pytest.raises(InvalidSetting, match="shapes"):
        add_checked((np.zeros(2, dtype=np.int64),), (np.zeros(3, dtype=np.int64),))
    with pytest.raises(InvalidSetting, match="shapes"):
        add_checked((np.zeros(2, dtype=np.int64),), ())
