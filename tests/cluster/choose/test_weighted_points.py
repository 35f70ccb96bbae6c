from types import SimpleNamespace

import numpy as np
import pytest

import shoal
from shoal.cluster.choose._weighted_points import cloud_of, weighted_points
from shoal.errors import DimensionMismatch, NotFinite
from shoal.privacy import LocalDP, Unprotected

X = np.random.default_rng(0).uniform(size=(500, 2))


@pytest.fixture(scope="module")
def synopsis():
    return shoal.UniformGrid(epsilon=1, domain=shoal.Box.unit(2), random_state=1).fit(X)


def test_a_synopsis_brings_its_points_and_its_promise(synopsis):
    points, weights, promise = weighted_points(synopsis)
    np.testing.assert_array_equal(points, synopsis.points()[0])
    np.testing.assert_array_equal(weights, synopsis.points()[1])
    assert promise == synopsis.guarantee_


def test_what_was_learnt_from_reports_brings_its_density_and_its_promise():
    density = SimpleNamespace(atoms=X[:3], weights=np.array([0.5, 0.5, 0.0]))
    model = SimpleNamespace(density_=density, guarantee_=LocalDP(1), units_=np.array([2.0, 1.0]))
    points, weights, promise = weighted_points(model)
    assert (len(points), weights.tolist(), promise) == (2, [0.5, 0.5], LocalDP(1))
    cloud, _ = cloud_of(model, None, None)
    assert cloud.points.tolist() == (X[:2] / [2, 1]).tolist()


def test_points_released_elsewhere_may_bring_their_promise():
    assert weighted_points(X, guarantee=LocalDP(2))[2] == LocalDP(2)
    assert isinstance(weighted_points(X)[2], Unprotected)


def test_shares_are_as_good_as_counts():
    shares, _ = cloud_of(X, np.full(500, 1 / 500), None)
    assert shares.weights == pytest.approx(1)
    counts, _ = cloud_of(X, np.full(500, 7.0), None)
    assert counts.weights.tolist() == [7.0] * 500


def test_no_more_clusters_are_sought_than_there_are_places():
    cloud, _ = cloud_of([[1.0], [1.0], [4.0]], None, None)
    assert cloud.n_distinct == 2
    assert len(cloud.fit_kmeans(6, np.random.default_rng(0)).cluster_centers_) == 2
    assert cloud.log_inertia(6, np.random.default_rng(0)) == cloud.log_inertia(
        2, np.random.default_rng(0)
    )


@pytest.mark.heavy
def test_a_synopsis_that_kept_nothing_is_a_point():
    nothing = shoal.UniformGrid(epsilon=0.001, domain=shoal.Box.unit(2), negative="threshold",
                                cells=2, random_state=3).fit(np.empty((0, 2)))  # fmt: skip
    assert len(nothing.points()[0]) == 0
    assert shoal.choose.k(nothing, among=range(2, 5)).value == 2


@pytest.mark.parametrize("weights", [[1.0], np.zeros(500), -np.ones(500)])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(DimensionMismatch):
        weighted_points(X, weights)


def test_points_that_are_nowhere_are_refused():
    with pytest.raises(NotFinite):
        weighted_points([[0.0], [np.nan]])
