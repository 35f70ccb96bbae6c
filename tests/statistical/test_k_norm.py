"""The noise has the law the proof names: radius Gamma(m), direction uniform, vectors independent.

Seeds are fixed. With fresh seeds every test here would raise a false alarm with probability at
most 1e-6: p-values are held against 1e-6 over the number of looks, correlations against 6
standard errors (2e-9 each).
"""

import math

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms import KNorm
from shoal.privacy import PureDP
from shoal.randomness import Randomness

ALARM = 1e-6
MANY = 20_000
SCALE = 2.0**17
DIMENSIONS = [1, 2, 3, 8, 33]


def noise(m: int, n: int = MANY, seed: int = 1) -> np.ndarray:
    zeros = np.zeros((n, m), dtype=np.int64)
    return KNorm(PureDP("0.5"), 2**16).release(zeros, Randomness(seed).noise) / SCALE


@pytest.mark.parametrize("m", DIMENSIONS)
def test_the_radius_is_gamma_of_shape_m(m):
    radius = np.linalg.norm(noise(m, seed=m), axis=1)
    assert stats.kstest(radius, stats.gamma(m).cdf).pvalue > ALARM


def test_a_radius_of_another_shape_is_caught():
    radius = np.linalg.norm(noise(8), axis=1)
    for shape in (7.7, 8.3):
        assert stats.kstest(radius, stats.gamma(shape).cdf).pvalue < ALARM


@pytest.mark.parametrize("m", DIMENSIONS[1:])
def test_the_direction_is_uniform_on_the_sphere(m):
    points = noise(m, seed=4)
    directions = points / np.linalg.norm(points, axis=1, keepdims=True)
    law = stats.beta((m - 1) / 2, (m - 1) / 2)  # of (1 + one coordinate) / 2
    diagonal = directions @ (np.ones(m) / math.sqrt(m))
    for seen in (directions[:, 0], directions[:, -1], diagonal):
        assert stats.kstest((1 + seen) / 2, law.cdf).pvalue > ALARM / 3


@pytest.mark.parametrize("m", DIMENSIONS)
def test_each_sign_is_as_likely_as_the_other(m):
    above = np.count_nonzero(noise(m, seed=5) > 0, axis=0)
    assert np.abs(above - MANY / 2).max() < 6 * math.sqrt(MANY) / 2


@pytest.mark.parametrize("m", [2, 3, 8])
def test_radius_direction_and_the_next_vector_have_nothing_to_do_with_each_other(m):
    points = noise(m, seed=6)
    radius = np.linalg.norm(points, axis=1)
    bound = 6 / math.sqrt(MANY)
    assert abs(np.corrcoef(radius, (points[:, 0] / radius) ** 2)[0, 1]) < bound
    assert abs(np.corrcoef(radius[1:], radius[:-1])[0, 1]) < bound
    assert abs(np.corrcoef(points[1:, 0], points[:-1, 0])[0, 1]) < bound


def test_on_a_coarse_lattice_it_is_the_real_law_rounded():
    """One dimension: rounded Laplace noise, chi-square against the masses of the unit cells."""
    drawn = KNorm(PureDP(1), 1).release(np.zeros((200_000, 1), int), Randomness(7).noise)[:, 0]
    law = stats.laplace()
    edges = np.arange(-6.5, 7)
    masses = np.diff([0, *law.cdf(edges), 1])
    seen = np.bincount(np.clip(drawn, -7, 7) + 7, minlength=15)
    assert stats.chisquare(seen, masses * drawn.size).pvalue > ALARM


def test_the_low_bits_are_uniform():
    drawn = (noise(2, seed=8) * SCALE).astype(np.int64).ravel() % 64
    assert stats.chisquare(np.bincount(drawn, minlength=64)).pvalue > ALARM
