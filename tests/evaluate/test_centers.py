"""Centres made by hand: what is missing, what is spurious, how far off the rest are."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from shoal import evaluate
from shoal.errors import DimensionMismatch, NotFinite, TooFewRows
from shoal.mechanisms import NDLaplace
from shoal.randomness import Randomness

SQUARE = [[0.0, 0.0], [0.0, 10.0], [10.0, 0.0], [10.0, 10.0]]

rng = np.random.default_rng(4)
X = rng.normal(size=(600, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 200, axis=0)


def test_one_centre_near_each_is_no_error_at_the_level_of_clusters():
    assert evaluate.centroid_index(SQUARE, np.array(SQUARE)[::-1] + 1) == 0


def test_two_centres_in_one_cluster_leave_another_without():
    found = [[0.0, 0.5], [0.0, -0.5], [10.0, 0.0], [10.0, 10.0]]
    assert evaluate.centroid_index(SQUARE, found) == 1


def test_all_centres_in_one_cluster_leave_three_without():
    assert evaluate.centroid_index(SQUARE, np.array(SQUARE) / 100) == 3


def test_both_directions_count():
    """A subset points home whole: only the other direction tells what is missing."""
    assert evaluate.centroid_index(SQUARE, SQUARE[:1]) == 3
    assert evaluate.centroid_index(SQUARE[:1], SQUARE) == 3
    assert evaluate.centroid_index(SQUARE, SQUARE[:3]) == 1
    assert evaluate.centroid_index(SQUARE[:3], SQUARE) == 1


def test_centres_are_matched_at_the_least_total_distance():
    rng = np.random.default_rng(0)
    for _ in range(10):
        A, B = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
        distances = cdist(A, B)
        least = min(sum(distances[i, j] for i, j in enumerate(p)) for p in permutations(range(4)))
        assert evaluate.center_errors(A, B).absolute.sum() == pytest.approx(least)


def test_errors_are_in_units_and_in_distances_to_the_next_centre():
    errors = evaluate.center_errors([[0.0], [4.0], [20.0]], [[20.0], [1.0], [2.0]])
    assert errors.pairs == ((0, 1), (1, 2), (2, 0))
    assert errors.absolute.tolist() == [1, 2, 0]
    assert errors.relative.tolist() == [1 / 4, 2 / 4, 0]
    assert (errors.aee, errors.relative_aee) == (1, 0.25)


def test_a_shift_of_the_origin_changes_nothing():
    A = np.array(SQUARE)
    B = A + np.array([1.0, 0.0])
    near, far = evaluate.center_errors(A, B), evaluate.center_errors(A + 1e6, B + 1e6)
    assert far.relative_aee == pytest.approx(near.relative_aee) == pytest.approx(0.1)


def test_what_has_no_partner_is_named_on_either_side():
    errors = evaluate.center_errors(SQUARE, SQUARE[2:])
    assert (errors.missing, errors.spurious, errors.aee) == ((0, 1), (), 0)
    errors = evaluate.center_errors(SQUARE[2:], SQUARE)
    assert (errors.missing, errors.spurious, errors.aee) == ((), (0, 1), 0)


def test_one_true_centre_has_no_next_one():
    errors = evaluate.center_errors([[0.0]], [[3.0]])
    assert errors.aee == 3
    assert math.isnan(errors.relative_aee)
    assert math.isnan(evaluate.center_errors([[1.0], [1.0]], [[1.0], [1.0]]).relative_aee)


def test_displacement_is_the_mean_way_from_row_to_report():
    assert evaluate.mean_displacement([[0.0], [5.0]], [[1.0], [2.0]]) == 2
    assert math.isnan(evaluate.mean_displacement(np.empty((0, 2)), np.empty((0, 2))))
    with pytest.raises(DimensionMismatch):
        evaluate.mean_displacement([[0.0], [5.0]], [[1.0]])


@pytest.mark.parametrize("score", [evaluate.centroid_index, evaluate.center_errors])
def test_wrong_centres_are_refused(score):
    with pytest.raises(DimensionMismatch):
        score(SQUARE, [[0.0]])
    with pytest.raises(DimensionMismatch):
        score(SQUARE, np.empty((0, 2)))
    with pytest.raises(NotFinite):
        score(SQUARE, [[0.0, math.nan]])


def test_it_is_the_inertia_of_scikit_learn():
    kmeans = KMeans(3, n_init=1, random_state=0).fit(X)
    assert evaluate.inertia(X, kmeans.cluster_centers_) == pytest.approx(kmeans.inertia_)


def test_blocks_add_up(monkeypatch):
    whole = evaluate.inertia(X, X[:3])
    monkeypatch.setattr("shoal.evaluate._centers._BLOCK", 7)
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


def test_the_area_of_reports_is_their_point_and_their_mean_distance():
    area = evaluate.perturbation_area([1.0, 1.0], [[4.0, 5.0], [1.0, 2.0], [1.0, 1.0]])
    assert area == evaluate.PerturbationArea(center=(1.0, 1.0), radius=2.0)
    with pytest.raises(TooFewRows):
        evaluate.perturbation_area([1.0], np.empty((0, 1)))
    with pytest.raises(DimensionMismatch):
        evaluate.perturbation_area([1.0, 1.0], [[1.0]])


def test_the_area_of_laplace_noise_has_the_radius_of_its_law():
    """Gamma(d, 1/epsilon): of 20,000 draws the mean is within 7 errors of d/epsilon."""
    for d, epsilon in ((2, 0.5), (3, 2.0)):
        noise = NDLaplace(epsilon, scale=[1] * d)
        reports = noise.release(np.zeros((20_000, d)), Randomness(3).noise).values
        radius = evaluate.perturbation_area(np.zeros(d), reports).radius
        assert radius == pytest.approx(d / epsilon, abs=7 * d**0.5 / epsilon / 20_000**0.5)
