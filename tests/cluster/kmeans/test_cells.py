import numpy as np
import pytest

from shoal.cluster.kmeans._cells import cell_points, centers_of_cells
from shoal.domain import Box
from shoal.randomness import Randomness
from shoal.synopsis import UniformGrid

BOX = Box(x=(10, 20), y=(0, 1))


def synopsis(X, **settings):
    return UniformGrid(epsilon=50, domain=BOX, cells=10, random_state=1, **settings).fit(X)


X = np.r_[np.full((100, 2), [11.5, 0.25]), np.full((300, 2), [18.5, 0.75])]


def test_cells_are_points_of_the_cube():
    cells = cell_points(synopsis(X))
    assert np.allclose(cells.points, [[-0.7, -0.5], [0.7, 0.5]])
    assert cells.weights.tolist() == [100, 300]
    assert cells.within == pytest.approx(400 * 2 * 0.2**2 / 12)


def test_soft_weights_lose_most_of_the_smallest():
    assert cell_points(synopsis(X), soft=True).weights.tolist() == pytest.approx([20, 220])


def test_soft_weights_leave_the_sizes_as_they_are():
    found = centers_of_cells(cell_points(synopsis(X), soft=True), 2, Randomness(1))
    assert sorted(found.sizes.tolist()) == [100, 300]


def test_points_move_inwards_where_rows_have_a_known_spread():
    plain, moved = (cell_points(synopsis(X), deviation=s).points for s in (None, 0.4))
    assert np.all(np.abs(moved) < np.abs(plain))


def test_centres_of_cells_have_their_weights_and_no_error_if_they_are_one_cell():
    found = centers_of_cells(cell_points(synopsis(X)), 2, Randomness(1))
    order = np.argsort(found.sizes)
    assert np.allclose(found.centers[order], [[-0.7, -0.5], [0.7, 0.5]])
    assert found.sizes[order].tolist() == [100, 300]
    assert np.allclose(found.errors, 0)


def test_a_small_cell_alone_is_not_certain():
    few = UniformGrid(epsilon=0.5, domain=BOX, cells=10, n_public=8, random_state=1).fit(X[:8])
    found = centers_of_cells(cell_points(few), 1, Randomness(1))
    assert found.errors.min() > 0.005


def test_a_centre_without_cells_may_be_anywhere():
    found = centers_of_cells(cell_points(synopsis(X)), 3, Randomness(1))
    order = np.argsort(found.sizes)
    assert found.sizes[order].tolist() == [0, 100, 300]
    assert found.errors[order[0]] == 2 * np.sqrt(2)


def test_there_are_centres_for_an_empty_synopsis():
    found = centers_of_cells(cell_points(synopsis(np.empty((0, 2)))), 3, Randomness(1))
    assert found.centers.shape == (3, 2)
    assert np.isfinite(found.errors).all()
