"""The noise has the law the proof names: radius Gamma(d), direction uniform, axes alike.

Seeds are fixed. With fresh seeds every test here would raise a false alarm with probability at
most 1e-6: p-values are held against 1e-6 over the number of looks, means against 6 standard
errors (2e-9 each).
"""

import math

import numpy as np
import pytest
from scipy import stats

from shoal import NDLaplace, Randomness
from shoal.domain import Box

DIMENSIONS = [1, 2, 3, 7, 10, 50]
EPSILON = 0.5
ALARM = 1e-6
MANY = 200_000


def noise(d: int, n: int = MANY, seed: int = 1) -> np.ndarray:
    box = Box.of([f"x{i}" for i in range(d)], np.full(d, -1.0), np.ones(d))
    return NDLaplace(EPSILON, domain=box).release(np.zeros((n, d)), Randomness(seed).noise).values


@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_radius_is_gamma_of_shape_d(d):
    radius = np.linalg.norm(noise(d), axis=1)
    assert stats.kstest(radius * EPSILON, stats.gamma(d).cdf).pvalue > ALARM


@pytest.mark.slow
@pytest.mark.parametrize("d", DIMENSIONS)
def test_the_radius_is_gamma_of_shape_d_for_a_million_reports(d):
    radius = np.linalg.norm(noise(d, n=1_000_000, seed=2), axis=1)
    assert stats.kstest(radius * EPSILON, stats.gamma(d).cdf).pvalue > ALARM


def test_a_radius_of_another_shape_is_caught():
    radius = np.linalg.norm(noise(7), axis=1) * EPSILON
    for shape in (6.9, 7.1):
        assert stats.kstest(radius, stats.gamma(shape).cdf).pvalue < ALARM


@pytest.mark.parametrize("d", DIMENSIONS)
def test_each_axis_has_mean_0_and_the_variance_of_the_law(d):
    axes = noise(d, seed=3)
    variance = (d + 1) / EPSILON**2
    assert np.abs(axes.mean(axis=0)).max() < 6 * math.sqrt(variance / MANY)
    error = math.sqrt(2 * (d + 1) * (d + 4) / MANY) / EPSILON**2
    assert np.abs(axes.var(axis=0) - variance).max() < 6 * error


@pytest.mark.parametrize("d", DIMENSIONS[1:])
def test_the_direction_is_uniform_on_the_sphere(d):
    points = noise(d, seed=4)
    directions = points / np.linalg.norm(points, axis=1, keepdims=True)
    law = stats.beta((d - 1) / 2, (d - 1) / 2)  # of (1 + one coordinate) / 2
    diagonal = directions @ (np.ones(d) / math.sqrt(d))
    for seen in (directions[:, 0], directions[:, -1], diagonal):
        assert stats.kstest((1 + seen) / 2, law.cdf).pvalue > ALARM / 3


def test_in_one_dimension_both_sides_are_alike():
    above = np.count_nonzero(noise(1, seed=5) > 0)
    assert abs(above - MANY / 2) < 6 * math.sqrt(MANY) / 2


@pytest.mark.parametrize("d", [2, 3, 10])
def test_radius_and_direction_have_nothing_to_do_with_each_other(d):
    points = noise(d, seed=6)
    radius = np.linalg.norm(points, axis=1)
    correlation = np.corrcoef(radius, (points[:, 0] / radius) ** 2)[0, 1]
    assert abs(correlation) < 6 / math.sqrt(MANY)


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_the_mixture_is_the_polar_definition(d):
    mixture, polar = noise(d, seed=7), _polar(d, Randomness(8).compute)
    for direction in (np.eye(d)[0], np.ones(d) / math.sqrt(d)):
        assert stats.ks_2samp(mixture @ direction, polar @ direction).pvalue > ALARM / 2


def _polar(d: int, rng: np.random.Generator) -> np.ndarray:
    """A Gamma(d) radius in a uniform direction: the definition, drawn by plain NumPy."""
    directions = rng.standard_normal((MANY, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return rng.gamma(d, 1 / EPSILON, (MANY, 1)) * directions
