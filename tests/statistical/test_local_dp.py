"""Local reports have the law their proofs name. False-alarm rate a test: 1e-6, seeds fixed."""

import math

import numpy as np
import pytest
from scipy import stats

from shoal.domain import Box
from shoal.mechanisms import (
    Duchi,
    Harmony,
    Hybrid,
    Piecewise,
    PrivUnit,
    RandomizedResponse,
    SquareWave,
    Staircase,
    UnaryEncoding,
)
from shoal.mechanisms.local.bounded._duchi import duchi_law
from shoal.randomness import Randomness

ALARM = 1e-6
UNBIASED = [Piecewise, Duchi, Hybrid, Harmony, PrivUnit]
COLUMNS = [1, 2, 3, 4, 7, 10, 50]


def limit(tests: int) -> float:
    """How many standard errors one of so many means may be off."""
    return float(stats.norm.isf(ALARM / 2 / tests))


def off_by(sample: np.ndarray, expected: np.ndarray | float) -> float:
    """The largest distance of a column's mean from what it should be, in standard errors."""
    error = sample.std(axis=0, ddof=1) / math.sqrt(len(sample))
    return float(np.max(np.abs(sample.mean(axis=0) - expected) / error))


def copies(x: np.ndarray, n: int) -> np.ndarray:
    return np.tile(x, (n, 1))


@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("mechanism", UNBIASED)
@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_reports_are_unbiased_and_vary_as_stated(mechanism, epsilon, d):
    x = np.linspace(-0.9, 0.8, d)
    made = mechanism(epsilon)
    values = made.release(copies(x, max(20_000, 200_000 // d)), Randomness(d).noise).values
    assert off_by(values, x) < limit(d)
    assert off_by((values - x) ** 2, made.variance(x)) < limit(d)


@pytest.mark.parametrize("mechanism", UNBIASED)
def test_the_ends_of_the_range_are_unbiased_too(mechanism):
    x = np.array([-1.0, 1.0, 1.0])
    made = mechanism(2.0)
    values = made.release(copies(x, 100_000), Randomness(3).noise).values
    assert off_by(values, x) < limit(3)
    assert off_by((values - x) ** 2, made.variance(x)) < limit(3)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_piecewise_varies_as_the_continuous_law(epsilon):
    x, z = np.array([[0.0], [0.5], [1.0]]), math.exp(epsilon / 2)
    stated = x**2 / (z - 1) + (z + 3) / (3 * (z - 1) ** 2)
    np.testing.assert_allclose(Piecewise(epsilon).variance(x), stated, rtol=1e-5)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_piecewise_reaches_just_the_range_it_names(epsilon):
    values = Piecewise(epsilon).release(np.full((200_000, 1), 0.3), Randomness(5).noise).values
    largest = 1 / math.tanh(epsilon / 4)
    assert np.abs(values).max() <= largest * (1 + 1e-5)
    assert values.max() > 0.99 * largest


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_duchi_draws_every_corner_with_its_probability(d):
    n, ratio = 200_000, math.e
    x = np.ones(d)
    signs = Duchi(1).release(copies(x, n), Randomness(d).noise).values > 0
    corners = signs @ 2 ** np.arange(d)
    leads = np.array([2 * bin(corner).count("1") > d for corner in range(2**d)])
    mass = np.where(leads, ratio, 1.0)
    observed = np.bincount(corners, minlength=2**d)
    assert stats.chisquare(observed, n * mass / mass.sum()).pvalue > ALARM


def test_duchi_takes_thousands_of_columns():
    assert math.isclose(duchi_law(1).size(4_000) / duchi_law(1).size(1_000), 2, rel_tol=1e-2)
    x = np.linspace(-1, 1, 2_001)
    values = Duchi(5).release(copies(x, 200), Randomness(4).noise).values
    assert abs(float((values @ x).mean()) - x @ x) < limit(1) * (values @ x).std() / math.sqrt(200)


def test_hybrid_varies_equally_for_every_value():
    x = np.linspace(-1, 1, 21).reshape(-1, 1)
    assert np.ptp(Hybrid(2.0).variance(x)) < 1e-5


def test_hybrid_turns_to_signs_where_both_variances_meet():
    z = math.exp(0.6094 / 2)
    assert math.isclose((z + 3) * (z + 1) ** 2, 3 * (z**2 + 1) ** 2, rel_tol=1e-4)
    assert len(np.unique(Hybrid(0.6).release(np.zeros((999, 1)), Randomness(1).noise).values)) == 2


def test_priv_unit_leans_past_its_threshold_as_often_as_stated():
    epsilon, n = 3.0, 200_000
    direction = np.array([0.6, 0.0, 0.8])
    along = PrivUnit(epsilon, radius=1).release(copies(direction, n), Randomness(6).noise).values
    past = int(np.count_nonzero(along @ direction >= 1.0))  # t, in units of R/t
    t = 1 / math.sqrt(PrivUnit(epsilon, radius=1).variance(direction)[1])
    tail = stats.norm.sf(t)
    chance = math.exp(epsilon) * tail / (math.exp(epsilon) * tail + 1 - tail)
    assert stats.binomtest(past, n, chance).pvalue > ALARM


def test_priv_unit_is_gaussian_across_the_row():
    values = (
        PrivUnit(1.0, radius=1).release(copies([0.0, 1.0], 100_000), Randomness(7).noise).values
    )
    spread = math.sqrt(PrivUnit(1.0, radius=1).variance([0.0, 1.0])[0])
    assert stats.kstest(values[:, 0] / spread, "norm").pvalue > ALARM


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_square_wave_has_its_moments_and_its_range(epsilon):
    wave = SquareWave(epsilon)
    values = wave.release(np.full((200_000, 1), 0.2), Randomness(8).noise).values
    b = wave.half_width
    assert -b <= values.min() < -0.9 * b
    assert 1 + 0.9 * b < values.max() <= 1 + b
    inside = int(np.count_nonzero(np.abs(values - 0.2) <= b))
    chance = 2 * b * math.exp(epsilon) / (2 * b * math.exp(epsilon) + 1)
    assert stats.binomtest(inside, len(values), chance).pvalue > ALARM
    assert off_by((values - values.mean()) ** 2, wave.variance([0.2])) < limit(1)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_staircase_noise_has_its_size_and_its_stairs(epsilon):
    noise = Staircase(epsilon, width=2)
    values = noise.release(np.full((200_000, 1), 0.25), Randomness(9).noise).values - 0.25
    assert off_by(values, 0.0) < limit(1)
    assert off_by(np.abs(values), noise.mean_size) < limit(1)
    assert off_by(values**2, noise.variance([0.25])) < limit(1)
    flights, rest = np.divmod(np.abs(values) / 2, 1)
    tread = 1 / (1 + math.exp(epsilon / 2))
    before = int(np.count_nonzero(rest < tread))
    chance = tread / (tread + (1 - tread) * math.exp(-epsilon))
    assert stats.binomtest(before, len(values), chance).pvalue > ALARM
    assert (
        stats.binomtest(
            int(np.count_nonzero(flights == 0)), len(values), -math.expm1(-epsilon)
        ).pvalue
        > ALARM
    )


def test_staircase_noise_of_width_two_has_the_size_in_print():
    assert math.isclose(Staircase(1, width=2).mean_size, 1.919, abs_tol=5e-4)


@pytest.mark.parametrize("oracle", [RandomizedResponse, UnaryEncoding])
@pytest.mark.parametrize("size", [2, 8, 40])
def test_shares_are_estimated_without_bias(oracle, size):
    made, people = oracle(1.0, size), 2_000
    codes = np.minimum(np.arange(people) % (2 * size), size - 1)
    truth = np.bincount(codes, minlength=size) / people
    rng = Randomness(size).noise
    found = np.array([made.frequencies(made.release(codes, rng)).value for _ in range(150)])
    stated = np.array([made.variance(share) for share in truth]) / people
    assert np.max(np.abs(found.mean(axis=0) - truth) / np.sqrt(stated / 150)) < limit(size)
    spread = found.var(axis=0, ddof=1) / stated * 149
    assert np.all(stats.chi2.sf(spread, 149) > ALARM / size)
    assert np.all(stats.chi2.cdf(spread, 149) > ALARM / size)


def test_rare_categories_vary_as_the_literature_says():
    ratio = math.e
    assert math.isclose(UnaryEncoding(1, 30).variance(), 4 * ratio / (ratio - 1) ** 2)
    assert math.isclose(RandomizedResponse(1, 30).variance(), (28 + ratio) / (ratio - 1) ** 2)


# Mean squared error at equal LocalDP, rows uniform on the cube.
TABLE = {
    (2, 1): (64, 37.8, 17.5, 17.8, 18.1, 21.5, 26.7),
    (2, 5): (2.56, 0.97, 0.97, 1.29, 3.44, 1.44, 2.50),
    (7, 1): (2744, 1766, 220, 224, 227, 333, 315),
    (7, 5): (110, 61.5, 17.7, 21.7, 48.0, 71.3, 19.0),
    (10, 1): (8000, 5202, 450, 459, 465, 604, 640),
    (10, 5): (320, 189, 37.5, 45.7, 99.4, 93.9, 35.9),
}
MECHANISMS = [Piecewise, Hybrid, Harmony, Duchi, PrivUnit]


@pytest.mark.parametrize(("d", "epsilon"), TABLE)
def test_the_error_table_comes_out_of_the_formulas(d, epsilon):
    x = np.random.default_rng(1).uniform(-1, 1, (20_000, d))
    laplace = d * 2 * (2 * d / epsilon) ** 2
    split = Piecewise(epsilon / d).variance(x.reshape(-1, 1)).mean() * d
    errors = [float(made(epsilon).variance(x).sum(axis=1).mean()) for made in MECHANISMS]
    np.testing.assert_allclose([laplace, split, *errors], TABLE[d, epsilon], rtol=0.05)


@pytest.mark.parametrize(("d", "epsilon"), TABLE)
def test_the_error_table_comes_out_of_a_simulation(d, epsilon):
    x = np.random.default_rng(2).uniform(-1, 1, (60_000, d))
    rng = Randomness(d).noise
    errors = [
        ((made(epsilon).release(x, rng).values - x) ** 2).sum(1).mean() for made in MECHANISMS
    ]
    np.testing.assert_allclose(errors, TABLE[d, epsilon][2:], rtol=0.05)


def test_raw_units_are_scaled_and_scaled_back():
    box = Box(age=(0, 110), visits=(-5, 20))
    x = np.array([30.0, 4.0])
    for mechanism in UNBIASED:
        values = mechanism(2.0, domain=box).release(copies(x, 50_000), Randomness(10).noise).values
        assert off_by(values, x) < limit(2 * len(UNBIASED))
