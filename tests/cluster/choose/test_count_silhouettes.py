import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from shoal.cluster.choose._count import silhouettes

rng = np.random.default_rng(8)
PLACES = np.array([[0.2, 0.2], [0.8, 0.2], [0.2, 0.8], [0.8, 0.8], [0.5, 0.5]])
X = rng.normal(0, 0.03, (700, 2)) + np.repeat(PLACES, 140, axis=0)


def test_silhouettes_of_weight_one_are_scikit_learns():
    labels = rng.integers(0, 4, 700)
    ours = silhouettes(X[:700], np.ones(700), [labels, labels % 2])
    assert ours[0] == pytest.approx(silhouette_score(X[:700], labels))
    assert ours[1] == pytest.approx(silhouette_score(X[:700], labels % 2))


def test_a_weight_is_as_many_points():
    points, times = X[:60], rng.integers(1, 5, 60)
    labels = rng.integers(0, 3, 60)
    ours = silhouettes(points, times.astype(float), [labels])[0]
    repeated = np.repeat(points, times, axis=0)
    assert ours == pytest.approx(silhouette_score(repeated, np.repeat(labels, times)))


def test_a_point_alone_has_no_silhouette():
    assert silhouettes(np.array([[0.0], [1.0]]), np.ones(2), [np.array([0, 1])]) == [0.0]
