"""What a method hands back."""

import numpy as np

from shoal.cluster.local.methods import _result as result
from shoal.cluster.local.methods._result import nearest
from shoal.mechanisms.local.laplace.prior import thinned


def test_nearest_counts_in_units():
    points, centers = np.array([[4.0, 0.0]]), np.array([[0.0, 0.0], [5.0, 3.0]])
    assert nearest(points, centers, np.array([1.0, 1.0])).tolist() == [1]
    assert nearest(points, centers, np.array([10.0, 1.0])).tolist() == [0]


def test_blocks_do_not_show(monkeypatch):
    points, centers = np.random.default_rng(0).normal(size=(100, 2)), np.eye(2)
    whole = nearest(points, centers, np.ones(2))
    monkeypatch.setattr(result, "_BLOCK", 7)
    assert np.array_equal(nearest(points, centers, np.ones(2)), whole)


def test_few_points_are_all_kept():
    points = np.arange(6.0).reshape(3, 2)
    assert thinned(points, 3) is points
    assert len(thinned(points, 2)) == 2
