import numpy as np

from shoal import arrays
from shoal.arrays import nearest_centers


def test_the_nearest_centre_counts_in_units():
    points, centers = np.array([[4.0, 0.0]]), np.array([[0.0, 0.0], [5.0, 3.0]])
    assert nearest_centers(points, centers).tolist() == [1]
    assert nearest_centers(points, centers, np.array([10.0, 1.0])).tolist() == [0]


def test_of_two_centres_equally_near_it_is_the_first():
    assert nearest_centers(np.array([[0.5]]), np.array([[0.0], [1.0], [0.0]])).tolist() == [0]


def test_blocks_do_not_show(monkeypatch):
    points, centers = np.random.default_rng(0).normal(size=(100, 2)), np.eye(2)
    whole = nearest_centers(points, centers)
    monkeypatch.setattr(arrays, "_BLOCK", 7)
    assert np.array_equal(nearest_centers(points, centers), whole)
