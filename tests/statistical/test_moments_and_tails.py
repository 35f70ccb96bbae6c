"""Zero mass, moments, symmetry, tails and log-ratios of the noise, also at extreme parameters.

What another library added after its samplers turned out biased, item by item (see
``docs/decisions/exact-samplers.md``). Exact laws are in ``tests/exact``; these draw through the
public ``release``. Seeds fixed; with fresh ones a test would raise a false alarm with probability
at most 1e-6.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms import Gaussian, Geometric, KNorm
from shoal.mechanisms.exact._coins import Coin
from shoal.mechanisms.exact._discrete_laplace import geometric_law
from shoal.privacy import ApproxDP, PureDP
from shoal.randomness import Randomness

ALARM = 1e-6
N = 200_000


def geometric(step):
    mechanism = Geometric(PureDP(Fraction(step)))
    a = math.exp(-float(mechanism.step))

    def tail(t):  # P[|k| >= t], t from 1 up
        return 2 * a**t / (1 + a)

    variance, fourth = mechanism.variance, 2 * a * (1 + 10 * a + a * a) / (1 - a) ** 4
    return mechanism.release(np.zeros(N, int), Randomness(1).noise), tail, variance, fourth


def gaussian(sensitivity):
    mechanism = Gaussian(ApproxDP(1, 1e-6), sensitivity)
    sigma = float(mechanism.sigma)

    def tail(t):
        return 2 * stats.norm.sf((t - 0.5) / sigma)

    drawn = mechanism.release(np.zeros((N, 1), int), Randomness(2).noise)[:, 0]
    return drawn, tail, sigma**2 + 1 / 12, 3 * sigma**4 + sigma**2 / 2 + 1 / 80


def k_norm(scale):
    mechanism = KNorm(PureDP(1), scale)

    def tail(t):  # on a line the noise is Laplace's
        return math.exp(-(t - 0.5) / scale)

    drawn = mechanism.release(np.zeros((N, 1), int), Randomness(3).noise)[:, 0]
    low, masses = np.arange(0, 60 * scale), [1 - tail(1)]
    masses = np.array([1 - tail(1), *(tail(t) - tail(t + 1) for t in low[1:])])
    return drawn, tail, float(masses @ low**2), float(masses @ low**4.0)


LAWS = {
    "geometric, step 2": lambda: geometric("2"),
    "geometric, step 1/2": lambda: geometric("1/2"),
    "geometric, step 1/300": lambda: geometric("1/300"),
    "gaussian, sigma 4": lambda: gaussian(1),
    "gaussian, sigma 400": lambda: gaussian(100),
    "k-norm, scale 2": lambda: k_norm(2),
    "k-norm, scale 50": lambda: k_norm(50),
}


@pytest.fixture(scope="module", params=LAWS)
def law(request):
    return LAWS[request.param]()


def test_zero_has_its_mass(law):
    drawn, tail, _, _ = law
    assert stats.binomtest(int((drawn == 0).sum()), N, 1 - tail(1)).pvalue > ALARM


def test_mean_and_second_moment_are_those_of_the_law(law):
    drawn, _, variance, fourth = law
    errors = stats.norm.isf(ALARM / 4)
    assert abs(drawn.mean()) < errors * math.sqrt(variance / N)
    second = (drawn.astype(float) ** 2).mean()
    assert abs(second - variance) < errors * math.sqrt((fourth - variance**2) / N)


def test_both_signs_have_the_same_law(law):
    drawn, _, _, _ = law
    above, below = drawn[drawn > 0], -drawn[drawn < 0]
    assert stats.binomtest(above.size, above.size + below.size).pvalue > ALARM / 2
    assert stats.ks_2samp(above, below).pvalue > ALARM / 2


def test_tails_are_neither_heavier_nor_lighter(law):
    drawn, tail, variance, _ = law
    for deviations in (1, 2, 3, 4):
        t = max(1, round(deviations * math.sqrt(variance)))
        seen = int((np.abs(drawn) >= t).sum())
        assert stats.binomtest(seen, N, tail(t)).pvalue > ALARM / 4


def test_log_ratios_far_out_are_those_of_the_law(law):
    """P[|k| >= t] / P[|k| >= 2t], where the second is still seen a few dozen times."""
    drawn, tail, variance, _ = law
    t = max(1, round(1.5 * math.sqrt(variance)))
    near, far = int((np.abs(drawn) >= t).sum()), int((np.abs(drawn) >= 2 * t).sum())
    assert far >= 20
    error = math.sqrt(1 / far - 1 / near)
    assert abs(math.log(far / near) - math.log(tail(2 * t) / tail(t))) < 5.2 * error


def test_extreme_steps():
    """At the ends of what is allowed: no noise at all, and noise of 2**40."""
    assert not geometric_law(Fraction(1000)).two_sided(10_000, Randomness(4).noise).any()
    wide = geometric_law(Fraction(1, 2**40)).two_sided(20_000, Randomness(5).noise) / 2**40
    assert stats.kstest(wide, "laplace").pvalue > ALARM


@pytest.mark.parametrize("epsilon", ["1/100000000", "40"])
def test_extreme_coins(epsilon):
    """All but fair, and all but certain."""
    heads = Coin(Fraction(epsilon), lambda E: E / (E + 1)).flip(N, Randomness(6).noise)
    chance = 1 / (1 + math.exp(-float(Fraction(epsilon))))
    assert stats.binomtest(int(heads.sum()), N, chance).pvalue > ALARM
