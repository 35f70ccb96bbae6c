import numpy as np
import pytest

from shoal.cluster.wave._fitted import CellLabels
from shoal.cluster.wave._transform import Lookup, Transform
from shoal.domain import Box, Grid

GRID = Grid(Box(x=(0, 10), y=(-5, 5)), (13, 9))
POINTS = np.random.default_rng(0).uniform([0, -5], [10, 5], (70_000, 2))


@pytest.mark.parametrize("wavelet", ["haar", "db2", "bior2.2"])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_points_lie_within_the_bounds_of_their_coefficient(wavelet, level):
    lookup = Lookup(GRID, Transform(GRID.shape, level, wavelet))
    keys = lookup.keys(POINTS)
    low, high = lookup.bounds(keys)
    assert (POINTS - low).min() >= -1e-9
    assert (high - POINTS).min() >= -1e-9


def test_labels_do_not_depend_on_how_many_points_come_at_once():
    lookup = Lookup(GRID, Transform(GRID.shape))
    label = CellLabels(lookup, np.arange(GRID.size).reshape(GRID.shape))
    assert (label.of(POINTS) == GRID.keys(POINTS)).all()
    assert label.of(POINTS[:1]).tolist() == GRID.keys(POINTS[:1]).tolist()


def test_listed_cells_answer_and_others_do_not():
    lookup = Lookup(GRID, Transform(GRID.shape))
    listed = np.array([5, 40, 116])
    found = CellLabels(lookup, np.array([7, 8, 9]), listed).of(POINTS)
    keys = GRID.keys(POINTS)
    assert (found[keys == 40] == 8).all()
    assert (found[~np.isin(keys, listed)] == -1).all()


def test_cells_cover_the_box():
    for level in (0, 1, 2):
        lookup = Lookup(GRID, Transform(GRID.shape, level))
        low, high = lookup.bounds(np.arange(np.prod(lookup.shape)))
        assert (low[0] == GRID.box.low).all()
        assert (high[-1] == GRID.box.high).all()
        assert np.prod(high - low, axis=1).sum() == pytest.approx(100)  # none twice, none left out


@pytest.mark.parametrize("level", [0, 3])
def test_an_axis_may_have_more_cells_than_memory(level):
    grid = Grid(Box(x=(0, 10)), 2**60)
    lookup = Lookup(grid, Transform(grid.shape, level))
    keys = lookup.keys(np.array([[2.5], [10.0]]))
    low, high = lookup.bounds(keys)
    np.testing.assert_allclose(low.ravel(), [2.5, 10.0])
    assert high[-1, 0] == 10.0
