"""The covariance of the records behind reports."""

import numpy as np
import pytest

from shoal.cluster.local.covariance import covariance, debiased_covariance, noise_variance
from shoal.domain import Box
from shoal.errors import NotAReport
from shoal.mechanisms import NDLaplace, Reports, clamp
from shoal.randomness import Randomness


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
