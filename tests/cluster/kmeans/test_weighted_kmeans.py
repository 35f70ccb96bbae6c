from itertools import pairwise

import numpy as np
import pytest

from shoal.cluster.kmeans._weighted_kmeans import (
    FAINT,
    add_farthest_points,
    gaussian_cell_means,
    pad_points,
    part_beyond_noise,
    public_points,
    shrink_counts,
    soften_weights,
    weighted_centers,
)
from shoal.randomness import Randomness

rng = np.random.default_rng(6)


def test_weights_count():
    points = np.array([[-0.5], [0.1], [0.5]])
    centers = weighted_centers(points, np.array([100.0, 30.0, 10.0]), 2, Randomness(1))
    assert sorted(centers.round(3).ravel().tolist()) == [-0.5, 0.2]


def test_one_mean_is_found_without_spark_which_refuses_to():
    points = np.array([[-0.5], [0.5]])
    centers = weighted_centers(points, np.array([3.0, 1.0]), 1, Randomness(1), by="mllib")
    assert centers.tolist() == [[-0.25]]


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("k", [1, 4, 40])
def test_there_are_always_centres_enough_and_they_differ(n, k):
    centers = weighted_centers(np.full((n, 2), 0.25), np.ones(n), k, Randomness(1))
    assert len(np.unique(centers, axis=0)) == k
    assert np.abs(centers).max() <= 1


def test_many_equal_points_are_one():
    points, weights = pad_points(np.zeros((100, 2)), np.ones(100), 3)
    assert len(points) == 3
    assert weights.tolist() == [100, FAINT, FAINT]


def test_padding_avoids_points_that_are_there():
    public = pad_points(np.empty((0, 1)), np.empty(0), 3)[0]
    points, _ = pad_points(public[:2], np.ones(2), 3)
    assert len(np.unique(points)) == 3


def test_weightless_points_are_left_out():
    assert len(pad_points(np.arange(5.0)[:, None] / 9, np.array([1.0, 0, 1, 1, 0]), 2)[0]) == 3


def test_softening_keeps_order_and_drops_nothing_kept():
    weights = rng.uniform(5, 50, 100)
    soft = soften_weights(weights)
    assert np.array_equal(np.argsort(soft), np.argsort(weights))
    assert (soft > 0).all()
    assert soften_weights(np.zeros(3)).tolist() == [0, 0, 0]


def test_gaussian_middles_are_means_of_gaussian_rows_in_their_cells():
    rows = np.clip(rng.normal(0, 0.4, 400_000), -1, 1)
    edges = np.linspace(-1, 1, 4)
    found = gaussian_cell_means(edges[:-1, None], edges[1:, None], 0.4).ravel()
    means = [rows[(rows >= a) & (rows <= b)].mean() for a, b in pairwise(edges)]
    assert np.allclose(found, means, atol=0.02)
    assert np.isfinite(gaussian_cell_means(np.array([[0.999]]), np.array([[1.0]]), 0.001)).all()


def test_the_farthest_heavy_cells_complete_the_centres():
    points = np.array([[0.0], [0.1], [0.9], [-0.8]])
    found = add_farthest_points(np.array([[0.0]]), points, np.array([9.0, 9, 9, 1]), 3)
    assert found.ravel().tolist() == [0, 0.9, -0.8]
    assert len(add_farthest_points(np.zeros((1, 1)), np.empty((0, 1)), np.empty(0), 4)) == 4


def test_centres_that_coincide_are_no_warning():
    """Two points are one to scikit-learn; whether there are such depends on the noise."""
    points = np.array([[0.0], [1e-17], [1.0]])
    assert weighted_centers(points, np.ones(3), 3, Randomness(1)).shape == (3, 1)


def test_public_points_fill_the_cube_evenly():
    points = public_points(3, 800)
    assert np.abs(points).max() < 1
    octants = np.bincount((points > 0) @ [1, 2, 4], minlength=8)
    assert octants.min() > 90


def test_counts_that_are_noise_become_even_and_others_stay():
    noise = rng.normal(0, 10, 400)
    assert np.ptp(shrink_counts(50 + noise, 100.0)) < 0.4 * np.ptp(noise)
    sure = np.array([1_000.0, 0.0, 0.0, 0.0])
    assert np.allclose(shrink_counts(sure, 1.0), sure, atol=1)
    assert (shrink_counts(np.array([-5.0, -7.0]), 1.0) >= 0).all()
    assert shrink_counts(np.array([3.0]), 1.0).tolist() == [3.0]


def test_a_small_count_is_noise_where_all_others_are_none_and_not_where_many_are_small():
    noise = rng.laplace(0, 5, 400)
    alone = part_beyond_noise(np.append(noise[:100], 14.0), 5.0)[-1]
    among = part_beyond_noise(np.append(14.0 + noise, 14.0), 5.0)[-1]
    assert alone < 0.4
    assert among > 0.8


def test_parts_of_counts_lie_between_none_and_all_and_large_counts_stay():
    counts = np.append(rng.laplace(0, 5, 200), [500.0, 4_000.0])
    parts = part_beyond_noise(counts, 5.0)
    assert parts.min() == 0
    assert parts[counts <= 0].max() == 0
    assert parts.max() <= 1
    assert parts[-2:].min() > 0.8
