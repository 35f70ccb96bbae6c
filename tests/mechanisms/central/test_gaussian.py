import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from shoal.errors import InvalidBudget, InvalidSetting, NotNumeric
from shoal.mechanisms import Gaussian
from shoal.mechanisms.central._gaussian import (
    _normal_cdf,
    _pi,
    inverse_root,
    least_deviation,
    most_delta,
)
from shoal.mechanisms.exact._inversion import decimal_precision
from shoal.privacy import ApproxDP, GaussianShare, PureDP
from shoal.randomness import Randomness

AMOUNTS = [("1", "1e-6"), ("0.1", "1e-8"), ("0.001", "1e-9"), ("10", "1e-5"), ("1", "0.3")]


def trade_off(sigma: float, epsilon: float) -> float:
    """The mass by which N(1, sigma) exceeds e^epsilon times N(0, sigma): the definition."""

    def excess(x):
        p, q = stats.norm.pdf(x, 1, sigma), stats.norm.pdf(x, 0, sigma)
        return max(p - math.exp(epsilon) * q, 0.0)

    start = epsilon * sigma**2 + 0.5  # where the two densities meet
    return integrate.quad(excess, start, max(start, 1) + 12 * sigma, limit=500, epsabs=0)[0]


@pytest.mark.parametrize(("epsilon", "delta"), AMOUNTS)
def test_the_deviation_keeps_delta_and_a_little_less_does_not(epsilon, delta):
    sigma = float(least_deviation(Fraction(epsilon), Fraction(delta)))
    assert trade_off(sigma, float(epsilon)) == pytest.approx(float(delta), rel=1e-5)
    assert (
        trade_off(sigma * 0.9999, float(epsilon))
        > float(delta)
        > trade_off(sigma * 1.0001, float(epsilon))
    )


@pytest.mark.parametrize(("epsilon", "delta"), [*AMOUNTS, ("50", "1e-12"), ("1e-6", "1e-6")])
def test_the_delta_computed_is_never_too_small(epsilon, delta):
    """Against the same formula with three times the digits, and above it by next to nothing."""
    e, d = Fraction(epsilon), Fraction(delta)
    sigma = least_deviation(e, d)
    finer = most_delta(sigma, e, d**3)
    assert finer <= most_delta(sigma, e, d) <= finer + d / 10**10
    assert most_delta(sigma, e, d) <= d < most_delta(sigma * (1 - Fraction(1, 10**9)), e, d)


@pytest.mark.heavy
def test_smaller_budgets_take_more_noise_to_the_ends_of_the_range():
    ends = [("100", "1e-100"), ("1", "1e-100"), ("0.00001", "1e-100")]
    sigmas = [least_deviation(Fraction(e), Fraction(d)) for e, d in ends]
    assert sigmas == sorted(sigmas)


def test_the_normal_law_and_pi_are_right_to_the_digits_asked_for():
    for digits in (30, 70):
        with localcontext(decimal_precision(digits)):
            assert str(_pi()).startswith("3.1415926535897932384626433")
            for x in (-7, -1, 0, 2, 9):
                value = _normal_cdf(Decimal(x))
                assert float(value) == pytest.approx(stats.norm.cdf(x), rel=1e-11)


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 1), (0, 3)])
def test_it_keeps_the_shape_and_whole_numbers(shape):
    noisy = Gaussian(ApproxDP(1, 1e-6), 100).release(np.zeros(shape, int), Randomness(1).noise)
    assert noisy.shape == shape
    assert noisy.dtype == np.int64


def test_the_noise_does_not_depend_on_the_value():
    value = np.arange(12).reshape(4, 3) * 1000
    mechanism = Gaussian(ApproxDP(1, 1e-6), 50)
    noisy, alone = (mechanism.release(v, Randomness(2).noise) for v in (value, 0 * value))
    assert np.array_equal(noisy - value, alone)


def test_the_deviation_scales_with_the_sensitivity():
    one, many = (Gaussian(ApproxDP(1, 1e-6), s) for s in (1, Fraction(1000, 3)))
    assert many.sigma == one.sigma * Fraction(1000, 3)
    assert many.deviation(3) == many.deviation(50) == float(many.sigma)


@pytest.mark.parametrize("fraction", [Fraction(1, 4), Fraction(1, 13), Fraction(99, 100), 1])
def test_the_variance_of_a_part_is_never_below_that_of_the_whole_over_it(fraction):
    budget = ApproxDP(1, 1e-6)
    whole, part = (Gaussian(each, 7) for each in (budget, GaussianShare.of(budget, fraction)))
    times = part.sigma**2 * Fraction(fraction) / whole.sigma**2
    assert 1 <= times < 1 + Fraction(1, 2**60)


def test_roots_are_rounded_up_and_exact_where_they_can_be():
    assert inverse_root(Fraction(9, 16)) >= Fraction(4, 3)
    assert inverse_root(Fraction(1, 16)) == 4
    for fraction in (Fraction(1, 2), Fraction(2, 3), Fraction(10**40 - 1, 10**40)):
        root = inverse_root(fraction)
        assert (root - Fraction(1, 2**64)) ** 2 < 1 / fraction <= root**2


def test_thirteen_parts_need_a_quarter_of_the_noise_of_thirteen_promises():
    budget, each = ApproxDP(1, 1e-6), Fraction(1, 13)
    assert round(Gaussian(GaussianShare.of(budget, each), 1).deviation(1), 1) == 15.2
    assert round(Gaussian(budget * each, 1).deviation(1), 1) == 53.7


def test_another_kind_of_promise_and_values_that_are_no_vectors_are_refused():
    with pytest.raises(InvalidSetting, match="ApproxDP"):
        Gaussian(PureDP(1), 1)
    with pytest.raises(NotNumeric):
        Gaussian(ApproxDP(1, 1e-6), 1).release(np.zeros(3), Randomness(1).noise)
    with pytest.raises(InvalidSetting, match="sensitivity"):
        Gaussian(ApproxDP(1, 1e-6), 0)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0), (101, 1e-6), (1, "1e-101")])
def test_a_promise_out_of_reach_is_refused(epsilon, delta):
    with pytest.raises(InvalidBudget, match="at most 100"):
        Gaussian(ApproxDP(epsilon, delta), 1)


@pytest.mark.heavy
def test_the_log_ratio_is_that_of_the_densities_and_its_mean_half_its_variance():
    noise, value, other = Gaussian(ApproxDP(1, 1e-6), 10), np.zeros((1, 2), int), np.array([[3, 4]])
    drawn = noise.release(np.zeros((20_000, 2), int), Randomness(5).noise)
    ratios = [noise.log_ratio(output[None], value, other) for output in drawn]
    mean = noise.mean_ratio(value, other)
    assert mean == pytest.approx(25 / (2 * float(noise.sigma) ** 2))
    assert np.mean(ratios) == pytest.approx(mean, abs=6 * math.sqrt(2 * mean / 20_000))
    assert np.var(ratios) == pytest.approx(2 * mean, rel=0.1)
    assert noise.log_ratio(other, other, value) == pytest.approx(mean)


def test_the_worst_ratio_of_a_move_has_no_limit():
    noise, value = Gaussian(ApproxDP(1, 1e-6), 10), np.zeros((1, 2), int)
    assert noise.worst_ratio(value, value) == 0
    assert noise.worst_ratio(value, value + 1) == math.inf
