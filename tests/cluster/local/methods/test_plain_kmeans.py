"""k-means on the reports as they came."""

import numpy as np

from shoal.cluster.local.methods import _plain_kmeans as plain_kmeans
from shoal.cluster.local.methods._plain_kmeans import centers_of, learn
from shoal.mechanisms import NDLaplace, Reports
from shoal.randomness import Randomness

POINTS = np.repeat([[0.0, 0.0], [0.0, 9.0], [50.0, 0.0]], 20, axis=0)


def test_units_say_which_clusters_are_far_apart():
    narrow = centers_of(POINTS, np.ones(60), 2, Randomness(0), np.array([100.0, 1.0]))
    assert sorted(narrow[:, 1].round(6).tolist()) == [0, 9]


def test_points_without_weight_do_not_count():
    weights = np.repeat([1.0, 1.0, 0.0], 20)
    centers = centers_of(POINTS, weights, 2, Randomness(0), np.ones(2))
    assert centers[:, 0].tolist() == [0, 0]


def test_very_many_points_start_from_some(monkeypatch):
    few = centers_of(POINTS, np.ones(60), 3, Randomness(0), np.ones(2))
    monkeypatch.setattr(plain_kmeans, "_MANY", 50)
    many = centers_of(POINTS, np.ones(60), 3, Randomness(0), np.ones(2))
    assert sorted(many.round(6).tolist()) == sorted(few.round(6).tolist())


def test_reports_are_clustered_as_they_are():
    found = learn(Reports(POINTS, NDLaplace(1.0)), 3, Randomness(0), np.ones(2))
    assert sorted(found.centers.round(6).tolist()) == [[0, 0], [0, 9], [50, 0]]
    assert found.labels is None
