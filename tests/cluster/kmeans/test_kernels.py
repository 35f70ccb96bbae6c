import pickle

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances_argmin

from shoal.cluster.kmeans._kernels import Cube, Distances, Labels, LeastSquares, Nearest, ViewedCube
from shoal.domain import Box, View
from shoal.engine._rows import Block

rng = np.random.default_rng(3)

CUBE = Cube(Box(x=(0, 4), y=(0, 2)))
CENTERS = np.array([[-1.0, -1.0], [1.0, 0.0]])
BLOCK = Block(np.array([[0.0, 0.0], [4.0, 1.0], [4.0, 2.0]]), np.empty((3, 0), dtype=np.int32))
NONE = Block(np.empty((0, 2)), np.empty((0, 0), dtype=np.int32))


def test_labels_are_those_of_the_nearest_centres():
    X, centers = rng.uniform(-1, 1, (5_000, 6)), rng.uniform(-1, 1, (17, 6))
    box = Box.of([f"x{i}" for i in range(6)], -np.ones(6), np.ones(6))
    labels = Nearest(centers).labels(Cube(box).columns(X))
    agree = labels == pairwise_distances_argmin(X, centers)
    assert agree.mean() > 0.999  # rows within 2^-21 of a border may fall either way


@pytest.mark.parametrize("d", [1, 4, 256])
def test_a_label_depends_on_the_row_alone_not_on_its_place_or_neighbours(d):
    """Worst case: rows on the border of two centres, numbers that use every bit."""
    columns = np.rint(rng.uniform(-1, 1, (d, 4_099)) * 2**22) / 2**22
    centers = np.rint(rng.uniform(-1, 1, (9, d)) * 2**21) / 2**21
    centers[5] = centers[4]
    nearest = Nearest(centers)
    labels = nearest.labels(columns)
    for shift in (1, 7, 2_047):
        moved = nearest.labels(np.ascontiguousarray(np.roll(columns, shift, axis=1)))
        assert np.array_equal(np.roll(moved, -shift), labels)
    alone = [nearest.labels(columns[:, [i]])[0] for i in range(0, 4_099, 41)]
    assert alone == labels[::41].tolist()


def test_every_partial_sum_is_exact_in_the_widest_table():
    d = 256
    columns = np.full((d, 3), 1 - 2.0**-22)
    centers = np.vstack([np.full(d, 1 - 2.0**-21), np.ones(d)])
    exact = [sum((1 - 2.0**-22 - c) ** 2 for c in center) for center in centers.tolist()]
    assert Nearest(centers).labels(columns).tolist() == [int(np.argmin(exact))] * 3


def test_equally_near_centres_go_to_the_first():
    assert Nearest([[0.5], [-0.5], [0.5]]).labels(np.array([[0.0, 0.5]])).tolist() == [0, 0]


def test_a_cube_clips_and_maps_any_box():
    box = Box(a=(100, 102), b=(0, 10))
    seen = Cube(box).columns(np.array([[100.0, 5.0], [103.0, 10.0]]))
    assert seen.tolist() == [[-1, 1], [0, 1]]


@pytest.mark.parametrize("shape", [(5, 1), (1, 5), (4, 3)])
def test_the_rows_that_came_stay_as_they_are(shape):
    rows = rng.uniform(0, 1, shape)
    before = rows.copy()
    Cube(Box.unit(shape[1])).columns(rows)
    assert np.array_equal(rows, before)


def test_a_viewed_cube_rounds_what_the_view_sees():
    box = Box(a=(0, 10), b=(0, 10))
    view = View(box, axes=[[1.0], [0.0]], width=0.3)
    seen = ViewedCube(view).columns(np.array([[5.1, 1.0]]))
    assert seen.shape == (1, 1)
    assert seen * 2**22 == np.rint(seen * 2**22)


def test_they_travel_to_other_machines():
    cube, nearest = pickle.loads(pickle.dumps((Cube(Box.unit(2)), Nearest([[0.0, 0.0]]))))
    assert nearest.labels(cube.columns(np.array([[0.5, 0.5]]))).tolist() == [0]


def test_rows_get_the_nearest_centre_and_their_distances():
    assert Labels(CUBE, Nearest(CENTERS))(BLOCK)[0].tolist() == [0, 1, 1]
    first, second = Distances(CUBE, CENTERS)(BLOCK)
    assert first.tolist() == [0.0, 5**0.5, 8**0.5]
    assert second.tolist() == [5**0.5, 0.0, 1.0]


def test_squares_are_summed_in_steps_and_no_rows_are_nothing():
    kernel = LeastSquares(np.array([2.0, 1.0]), np.array([[0.0, 0.0], [2.0, 1.0]]), 2**24)
    assert kernel(BLOCK)[0].tolist() == [2**24]
    assert kernel(NONE)[0].tolist() == [0]
