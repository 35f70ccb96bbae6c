import math

import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal import evaluate
from shoal.errors import TooFewRows

rng = np.random.default_rng(4)
X = rng.normal(size=(600, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 200, axis=0)


def test_it_is_the_inertia_of_scikit_learn():
    kmeans = KMeans(3, n_init=1, random_state=0).fit(X)
    assert evaluate.inertia(X, kmeans.cluster_centers_) == pytest.approx(kmeans.inertia_)


def test_blocks_add_up(monkeypatch):
    whole = evaluate.inertia(X, X[:3])
    monkeypatch.setattr("shoal.evaluate.distortion._BLOCK", 7)
    assert evaluate.inertia(X, X[:3]) == pytest.approx(whole)


def test_plain_centres_are_as_good_as_plain_centres():
    plain = evaluate.plain_centers(X, 3)
    assert evaluate.normalised_inertia(X, plain) == pytest.approx(1)
    assert evaluate.normalised_inertia(X, plain + 1) == pytest.approx(
        evaluate.inertia(X, plain + 1) / evaluate.inertia(X, plain)
    )


def test_it_is_measured_against_the_centres_given():
    assert evaluate.normalised_inertia([[0.0], [2.0]], [[0.0]], [[1.0]]) == 2


def test_rows_that_all_lie_on_plain_centres_leave_nothing_to_divide_by():
    same = np.ones((5, 2))
    assert evaluate.normalised_inertia(same, [[1.0, 1.0]]) == 1
    assert math.isnan(evaluate.normalised_inertia(same, [[2.0, 1.0]]))


def test_fewer_different_rows_than_clusters_make_fewer_centres():
    assert evaluate.plain_centers([[1.0], [1.0], [4.0]], 3).tolist() == [[1.0], [4.0]]


def test_no_rows_have_no_plain_centres():
    with pytest.raises(TooFewRows):
        evaluate.plain_centers(np.empty((0, 2)), 2)
