import numpy as np

from shoal.cluster.kernels import Distances, Labels, LeastSquares
from shoal.cluster.nearest import Cube, Nearest
from shoal.domain import Box
from shoal.engine.rows import Block

CUBE = Cube(Box(x=(0, 4), y=(0, 2)))
CENTERS = np.array([[-1.0, -1.0], [1.0, 0.0]])
BLOCK = Block(np.array([[0.0, 0.0], [4.0, 1.0], [4.0, 2.0]]), np.empty((3, 0), dtype=np.int32))
NONE = Block(np.empty((0, 2)), np.empty((0, 0), dtype=np.int32))


def test_rows_get_the_nearest_centre_and_their_distances():
    assert Labels(CUBE, Nearest(CENTERS))(BLOCK)[0].tolist() == [0, 1, 1]
    first, second = Distances(CUBE, CENTERS)(BLOCK)
    assert first.tolist() == [0.0, 5**0.5, 8**0.5]
    assert second.tolist() == [5**0.5, 0.0, 1.0]


def test_squares_are_summed_in_steps_and_no_rows_are_nothing():
    kernel = LeastSquares(np.array([2.0, 1.0]), np.array([[0.0, 0.0], [2.0, 1.0]]), 2**24)
    assert kernel(BLOCK)[0].tolist() == [2**24]
    assert kernel(NONE)[0].tolist() == [0]
