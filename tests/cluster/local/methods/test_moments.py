"""Reports shrunk to the records' covariance.

The covariance of the records behind reports.
"""

import numpy as np
import pytest

from shoal.cluster.local.methods._moments import (
    covariance,
    debiased_covariance,
    learn,
    noise_variance,
    shrink_reports,
    shrink_to_covariance,
)
from shoal.domain import Box
from shoal.errors import NotAReport
from shoal.mechanisms import NDLaplace, Reports, clamp
from shoal.randomness import Randomness


def test_corrected_reports_have_the_mean_and_covariance_of_the_records():
    rows = np.random.default_rng(0).normal(size=(50_000, 2)) @ np.array([[3.0, 1.0], [0.0, 2.0]])
    reports = NDLaplace(1.0).release(rows, Randomness(0).noise)
    moved = shrink_reports(reports)
    assert moved.mean(axis=0) == pytest.approx(reports.values.mean(axis=0))
    assert np.cov(moved.T) == pytest.approx(np.cov(rows.T), abs=0.3)


def test_a_direction_is_never_lost():
    _, found = shrink_to_covariance(np.random.default_rng(0).normal(size=(100, 2)), 50.0)
    assert np.linalg.eigvalsh(found).min() > 0


def test_equal_reports_divide_by_nothing():
    moved, found = shrink_to_covariance(np.full((5, 2), 3.0), 1.0)
    assert np.array_equal(moved, np.full((5, 2), 3.0))
    assert np.isfinite(found).all()


def test_only_those_wanted_are_moved():
    values = np.random.default_rng(0).normal(size=(100, 2))
    assert np.allclose(
        shrink_to_covariance(values, 0.2, values[:7])[0], shrink_to_covariance(values, 0.2)[0][:7]
    )


def test_centres_stay_in_the_box():
    noise = NDLaplace(0.3, domain=Box.unit(2))
    found = learn(
        noise.release(np.full((30, 2), 0.5), Randomness(0).noise), 3, Randomness(0), np.ones(2)
    )
    assert Box.unit(2).contains(found.centers).all()


def test_of_very_many_reports_some_are_shown():
    reports = Reports(np.random.default_rng(0).normal(size=(30_000, 1)), NDLaplace(5.0))
    assert len(learn(reports, 2, Randomness(0), np.ones(1)).points) == 20_000


def test_the_noise_is_taken_off_in_raw_units():
    rows = np.random.default_rng(0).normal(size=(60_000, 2)) @ np.array([[30.0, 1.0], [0.0, 2.0]])
    noise = NDLaplace(1.0, scale=(20, 2))
    found = debiased_covariance(noise.release(rows, Randomness(0).noise))
    assert found == pytest.approx(np.array([[900, 30], [30, 5]]), rel=0.1, abs=8)


def test_what_would_be_negative_is_zero():
    same = Reports(np.zeros((10, 2)), NDLaplace(1.0))
    assert np.array_equal(debiased_covariance(same), np.zeros((2, 2)))


def test_clamped_reports_are_refused():
    reports = clamp(Box.unit(2))(Reports(np.zeros((10, 2)), NDLaplace(1.0)))
    with pytest.raises(NotAReport):
        debiased_covariance(reports)


def test_one_report_has_no_spread():
    assert np.array_equal(covariance(np.array([[3.0, 4.0]])), np.zeros((2, 2)))


def test_a_coordinate_has_variance_d_plus_one_over_epsilon_squared():
    assert noise_variance(NDLaplace(2.0), 3) == 1.0
