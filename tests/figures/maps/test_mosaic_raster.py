import numpy as np
import pytest

from shoal.errors import DimensionMismatch
from shoal.figures import raster_of_cells, raster_of_points

BOX = [[0.0, 0.0], [4.0, 2.0]]


def test_a_cell_is_spread_over_its_area_and_nothing_is_lost():
    counts = raster_of_cells([[0, 0], [2, 0]], [[2, 2], [4, 2]], [40, 80], within=BOX, parts=4)
    assert counts.tolist() == [[5] * 4] * 2 + [[10] * 4] * 2


def test_edges_need_not_meet_the_grid():
    counts = raster_of_cells([[0.5, 0]], [[1.5, 2]], [80], within=BOX, parts=4)
    assert counts.sum(axis=1).tolist() == [40, 40, 0, 0]


def test_shadows_of_cells_in_more_columns_add_up():
    low, high = np.zeros((3, 2)), np.tile([4.0, 2.0], (3, 1))
    assert raster_of_cells(low, high, [16, 16, 16], within=BOX, parts=4).tolist() == [[3] * 4] * 4


def test_no_cells_make_an_empty_picture():
    none = np.empty((0, 2))
    assert not raster_of_cells(none, none, [], within=BOX, parts=3).any()
    assert not raster_of_points(none, [], within=BOX, parts=3).any()


def test_points_outside_count_at_the_edge():
    counts = raster_of_points([[-9, 1], [9, 9]], [2, 3], within=BOX, parts=2)
    assert counts.tolist() == [[0, 2], [0, 3]]


def test_more_than_two_columns_are_refused():
    three = np.zeros((1, 3))
    with pytest.raises(DimensionMismatch, match="shows two"):
        raster_of_cells(three, three + 1, [1], within=BOX)
    with pytest.raises(DimensionMismatch, match="shows two"):
        raster_of_points(three, [1], within=BOX)


def test_one_column_is_added_up_along_it():
    cells = raster_of_cells([[0], [2]], [[2], [4]], [40, 80], within=[[0], [4]], parts=4)
    assert cells.tolist() == [20, 20, 40, 40]
    points = raster_of_points([[-9], [3]], [2, 3], within=[[0], [4]], parts=2)
    assert points.tolist() == [2, 3]
