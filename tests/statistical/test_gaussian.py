"""The noise is normal, rounded, and independent. Seeds fixed; false alarms at most 1e-6 a test."""

import math

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms import Gaussian
from shoal.privacy import ApproxDP
from shoal.randomness import Randomness

ALARM = 1e-6
MANY = 200_000


def noise(sensitivity: int, m: int, seed: int) -> tuple[np.ndarray, float]:
    mechanism = Gaussian(ApproxDP(1, 1e-6), sensitivity)
    drawn = mechanism.release(np.zeros((MANY // m, m), int), Randomness(seed).noise)
    return drawn, float(mechanism.sigma)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_each_coordinate_is_normal(m):
    drawn, sigma = noise(2**16, m, seed=m)
    for axis in range(m):
        assert stats.kstest(drawn[:, axis] / sigma, "norm").pvalue > ALARM / m


def test_a_deviation_four_in_a_hundred_off_is_caught():
    drawn, sigma = noise(2**16, 1, seed=3)
    for wrong in (0.96, 1.04):
        assert stats.kstest(drawn[:, 0] / (wrong * sigma), "norm").pvalue < ALARM


def test_on_a_coarse_lattice_it_is_the_normal_law_rounded():
    drawn, sigma = noise(1, 2, seed=4)
    edges = np.arange(-15.5, 16) / sigma
    masses = np.diff([0, *stats.norm.cdf(edges), 1])
    seen = np.bincount(np.clip(drawn.ravel(), -16, 16) + 16, minlength=33)
    assert stats.chisquare(seen, masses * drawn.size).pvalue > ALARM


def test_coordinates_and_vectors_have_nothing_to_do_with_each_other():
    drawn, _ = noise(2**16, 4, seed=5)
    values = drawn.astype(float)
    bound = 6 / math.sqrt(len(values))
    across = np.corrcoef(np.hstack([values[1:], values[:-1], values[1:] ** 2]).T)
    np.fill_diagonal(across, 0)
    assert np.abs(across).max() < bound
