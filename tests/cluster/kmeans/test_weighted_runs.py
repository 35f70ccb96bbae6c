import numpy as np
import pytest
from sklearn.cluster import KMeans

from shoal.cluster.kmeans._weighted_kmeans import (
    best_of_runs,
    find_centers,
    move_until_still,
    seed_runs,
)
from shoal.randomness import Randomness

rng = np.random.default_rng(8)


def inertia(points, weights, centers):
    gaps = ((points[:, None] - centers) ** 2).sum(axis=2)
    return float(weights @ gaps.min(axis=1))


@pytest.mark.heavy
@pytest.mark.parametrize(("n", "d", "k"), [(60, 1, 4), (300, 2, 9), (200, 8, 12)])
def test_the_best_run_is_as_good_as_scikit_learns(n, d, k):
    points, weights = rng.uniform(-1, 1, (n, d)), rng.uniform(1, 50, n)
    ours = best_of_runs(points, weights, k, 20, np.random.default_rng(1))
    plain = KMeans(k, n_init=20, random_state=1).fit(points, sample_weight=weights)
    assert inertia(points, weights, ours) < 1.03 * plain.inertia_


def test_a_run_begins_at_points_and_at_all_of_them_if_there_are_no_more():
    points = rng.uniform(-1, 1, (7, 2))
    for run in seed_runs(points, np.ones(7), 7, 5, np.random.default_rng(2)):
        assert sorted(map(tuple, run)) == sorted(map(tuple, points))


def test_settled_centres_are_the_means_of_their_points():
    points, weights = rng.uniform(-1, 1, (100, 2)), rng.uniform(1, 5, 100)
    seeds = seed_runs(points, weights, 3, 4, np.random.default_rng(3))
    settled, spread = move_until_still(points, weights, seeds)
    again, _ = move_until_still(points, weights, settled)
    assert np.allclose(again, settled, atol=0.02)
    for run, total in zip(settled, spread, strict=True):
        assert inertia(points, weights, run) == pytest.approx(total, rel=1e-2)


def test_a_centre_without_points_stays():
    points = np.array([[-0.5], [-0.4]])
    settled, _ = move_until_still(points, np.ones(2), np.array([[[-0.45], [0.9]]]))
    assert settled[0].ravel().tolist() == pytest.approx([-0.45, 0.9])


@pytest.mark.parametrize("k", [1, 3, 40])
def test_few_equal_or_no_points_give_as_many_centres(k):
    for points in (np.empty((0, 2)), np.zeros((5, 2)), rng.uniform(-1, 1, (3, 2))):
        found = find_centers(points, np.ones(len(points)), k, Randomness(1), 4)
        assert len(np.unique(found, axis=0)) == k


def test_the_same_seed_finds_the_same_centres():
    points = rng.uniform(-1, 1, (50, 3))
    first, second = (find_centers(points, np.ones(50), 5, Randomness(4), 6) for _ in range(2))
    assert np.array_equal(first, second)
