import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from shoal.cluster.choose import _density as density
from shoal.cluster.choose._density import reach_distances

rng = np.random.default_rng(1)
X = rng.normal(size=(300, 2))


def test_points_of_one_weight_reach_to_their_neighbours():
    far, _ = reach_distances(X, np.ones(300), [3, 4, 8], 0)
    truth = NearestNeighbors(n_neighbors=8).fit(X).kneighbors(X)[0]
    np.testing.assert_allclose(far, truth[:, [2, 3, 7]])


def test_heavy_points_reach_less_far_by_the_weight_about_them():
    weights = rng.integers(1, 6, 300).astype(float)
    far, _ = reach_distances(X, weights, [4], 0)
    shares = weights / weights.mean()
    apart = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    for i in range(300):
        order = np.argsort(apart[i], kind="stable")
        enough = np.argmax(np.cumsum(shares[order]) >= 4)
        assert far[i, 0] == pytest.approx(apart[i, order[enough]])


def test_only_proportions_of_weights_count():
    weights = rng.uniform(0.1, 5, 300)
    few, many = (
        reach_distances(X, weights / 1e5, [4], 0)[0],
        reach_distances(X, weights * 1e5, [4], 0)[0],
    )
    np.testing.assert_allclose(few, many)


def test_fewer_points_than_neighbours_reach_the_farthest():
    far, _ = reach_distances(np.array([[0.0], [1.0], [5.0]]), np.ones(3), [10], 0)
    assert far.ravel().tolist() == [5, 4, 5]
    assert reach_distances(np.zeros((1, 2)), np.ones(1), [4], 0)[0].tolist() == [[0.0]]


def test_many_points_are_looked_at_in_part_but_neighbours_are_sought_among_all(monkeypatch):
    monkeypatch.setattr(density, "MOST_POINTS", 40)
    far, own = reach_distances(X, np.ones(300), [4], 5)
    assert far.shape == (40, 1)
    assert own.shape == (40,)
    whole = NearestNeighbors(n_neighbors=4).fit(X).kneighbors(X)[0][:, -1]
    assert np.isin(far.ravel().round(9), whole.round(9)).all()
    np.testing.assert_array_equal(far, reach_distances(X, np.ones(300), [4], 5)[0])
