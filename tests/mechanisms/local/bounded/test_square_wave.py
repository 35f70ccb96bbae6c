"""SquareWave: the width of the wave, and the distribution behind the reports."""

import math

import numpy as np
import pytest

from shoal import Box
from shoal.errors import DimensionMismatch, NotAReport
from shoal.mechanisms import SquareWave
from shoal.randomness import Randomness


@pytest.mark.parametrize(("epsilon", "half_width"), [(1e-8, 0.5), (1e-4, 0.5), (1, 0.2561)])
def test_the_wave_is_as_wide_as_in_print(epsilon, half_width):
    assert math.isclose(SquareWave(epsilon).half_width, half_width, abs_tol=1e-4)


def test_the_width_has_no_jump_where_the_formula_changes():
    just_below, just_above = SquareWave(0.000999999).half_width, SquareWave(0.001).half_width
    assert math.isclose(just_below, just_above, abs_tol=2e-6)


def test_the_wave_is_for_one_column():
    with pytest.raises(DimensionMismatch):
        SquareWave(1, domain=Box(a=(0, 1), b=(0, 1)))
    with pytest.raises(DimensionMismatch):
        SquareWave(1).check([[0.1, 0.2]])


@pytest.mark.parametrize("smooth", [True, False])
def test_the_distribution_is_recovered(smooth):
    wave = SquareWave(3, domain=Box(age=(0, 100)))
    ages = 100 * np.random.default_rng(1).beta(2, 5, (50_000, 1))
    found = wave.distribution(wave.release(ages, Randomness(1).noise), smooth=smooth)
    assert math.isclose(found.shares.sum(), 1)
    assert np.all(found.shares >= 0)
    truth = np.searchsorted(np.sort(ages[:, 0]), found.centers + 100 / 512) / len(ages)
    assert np.max(np.abs(np.cumsum(found.shares) - truth)) < 0.03
    assert abs(found.mean - ages.mean()) < 1


def test_smoothing_gives_a_steadier_curve():
    wave = SquareWave(1)
    reports = wave.release(np.random.default_rng(1).uniform(0, 1, (5_000, 1)), Randomness(1).noise)
    rough, smooth = (wave.distribution(reports, smooth=s).shares for s in (False, True))
    assert np.abs(np.diff(smooth)).sum() < np.abs(np.diff(rough)).sum()


def test_the_chances_of_all_output_bins_sum_to_one():
    for epsilon in (0.01, 1, 10):
        chances = SquareWave(epsilon)._transfer((np.arange(256) + 0.5) / 256)
        np.testing.assert_allclose(chances.sum(axis=0), 1)


def test_a_distribution_wants_reports():
    with pytest.raises(NotAReport):
        SquareWave(1).distribution(np.array([[0.5]]))
