"""Reports shrunk to the records' covariance."""

import numpy as np
import pytest

from shoal.cluster.local.moments import corrected, corrected_reports, learn
from shoal.domain import Box
from shoal.mechanisms import NDLaplace, Reports
from shoal.randomness import Randomness


def test_corrected_reports_have_the_mean_and_covariance_of_the_records():
    rows = np.random.default_rng(0).normal(size=(50_000, 2)) @ np.array([[3.0, 1.0], [0.0, 2.0]])
    reports = NDLaplace(1.0).release(rows, Randomness(0).noise)
    moved = corrected_reports(reports)
    assert moved.mean(axis=0) == pytest.approx(reports.values.mean(axis=0))
    assert np.cov(moved.T) == pytest.approx(np.cov(rows.T), abs=0.3)


def test_a_direction_is_never_lost():
    _, found = corrected(np.random.default_rng(0).normal(size=(100, 2)), 50.0)
    assert np.linalg.eigvalsh(found).min() > 0


def test_equal_reports_divide_by_nothing():
    moved, found = corrected(np.full((5, 2), 3.0), 1.0)
    assert np.array_equal(moved, np.full((5, 2), 3.0))
    assert np.isfinite(found).all()


def test_only_those_wanted_are_moved():
    values = np.random.default_rng(0).normal(size=(100, 2))
    assert np.allclose(corrected(values, 0.2, values[:7])[0], corrected(values, 0.2)[0][:7])


def test_centres_stay_in_the_box():
    noise = NDLaplace(0.3, bounds=Box.unit(2))
    found = learn(
        noise.release(np.full((30, 2), 0.5), Randomness(0).noise), 3, Randomness(0), np.ones(2)
    )
    assert Box.unit(2).contains(found.centers).all()


def test_of_very_many_reports_some_are_shown():
    reports = Reports(np.random.default_rng(0).normal(size=(30_000, 1)), NDLaplace(5.0))
    assert len(learn(reports, 2, Randomness(0), np.ones(1)).points) == 20_000
