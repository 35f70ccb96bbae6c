import numpy as np
import pytest

from shoal.domain import Box, Grid
from shoal.engine._rows import Terms
from shoal.engine.row_screening import Screen
from shoal.errors import (
    DimensionMismatch,
    DuplicateColumn,
    InvalidDomain,
    InvalidSetting,
    TooLarge,
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
    SCREEN.check_partition(Grid(BOX, 2**12), dense=True)
    with pytest.raises(TooLarge, match="sparse=True", check=lambda error: error.reason == "cells"):
        SCREEN.check_partition(Grid(BOX, 2**12 + 1), dense=True)
    SCREEN.check_partition(Grid(BOX, 2**30), dense=False)


def test_a_grid_with_swapped_columns_is_refused():
    with pytest.raises(DimensionMismatch, match="'lon', 'lat'"):
        SCREEN.check_partition(Grid(Box(lon=(0, 1), lat=(0, 1)), 4), dense=True)


def test_a_grid_over_other_bounds_is_refused():
    with pytest.raises(InvalidDomain, match="'lon'") as caught:
        SCREEN.check_partition(Grid(Box(lat=(0, 1), lon=(0, 2)), 4), dense=True)
    assert "'lat'" not in str(caught.value)
    SCREEN.check_partition(Grid(Box(lat=(0.0, 1.0), lon=(0, 1)), 4), dense=True)


def test_a_partition_of_another_width_is_refused_before_a_row_is_read():
    with pytest.raises(DimensionMismatch):
        SCREEN.check_partition(Halves(), dense=True)


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
        SCREEN.check_columns(columns, ("lat", "lon", "income"))
    assert caught.value.hint
