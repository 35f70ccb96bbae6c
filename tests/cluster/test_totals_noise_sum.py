import math

import numpy as np
import pytest

from shoal.cluster.group_sizes import NoiseSum
from shoal.mechanisms import Gaussian, Geometric, KNorm
from shoal.privacy import ApproxDP, PureDP
from shoal.randomness import Randomness


@pytest.mark.parametrize("chance", [0.025, 1e-3, 1e-6])
def test_one_laplace_noise_reaches_what_its_tail_says(chance):
    """P[X > x] = e^(-x / scale) / 2."""
    exact = math.log(0.5 / chance) / 0.03
    assert NoiseSum.geometric(0.03).reach(chance) == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("step", [0.03, 1.0, 5.0])
def test_geometric_noise_passes_no_more_often_than_it_may(step):
    """P[X >= m] = a^m / (1 + a), exactly; a count is told if it is above the reach."""
    least = math.floor(NoiseSum.geometric(step).reach(1e-3)) + 1
    a = math.exp(-step)
    assert a**least / (1 + a) <= 1.01e-3


def test_parts_of_sums_and_multiples_add_up_in_variance():
    one, other = NoiseSum.geometric(0.5), NoiseSum.k_norm(3.0, 4)
    assert one.plus(other).variance == pytest.approx(one.variance + other.variance)
    assert one.times(-3).variance == pytest.approx(9 * one.variance)
    assert NoiseSum.geometric(0.5, times=7).variance == pytest.approx(7 * one.variance)
    assert NoiseSum.normal(2.0).variance == pytest.approx(4)


def test_without_noise_nothing_is_reached():
    assert NoiseSum(()).reach(1e-3) == NoiseSum.of_variance(0).reach(1e-3) == 0


def test_the_variance_of_geometric_noise_gives_its_step_back():
    for step in (1 / 50, 1, 6):
        noise = Geometric(PureDP(step))
        found = NoiseSum.of_variance(noise.variance)
        assert found.parts[0][0] == pytest.approx(1 / step)


def test_chances_too_small_for_a_float_are_bounded():
    law = NoiseSum.geometric(1.0, times=10)
    assert law.far_reach(-1_000) == pytest.approx(1_000, rel=0.1)
    assert law.far_reach(-25.1) >= law.far_reach(-24.9)


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [
        (KNorm(PureDP(1), 100), NoiseSum.k_norm(100.0, 3)),
        (Gaussian(ApproxDP(1, 1e-6), 100), None),
    ],
    ids=["k-norm", "gaussian"],
)
def test_mechanisms_have_the_law_that_is_named_for_them(mechanism, law):
    """The share of 20,000 draws beyond the 1 % reach: binomial, six deviations are 1e-9."""
    law = law or NoiseSum.normal(mechanism.deviation(3))
    zeros = np.zeros((20_000, 3), dtype=np.int64)
    drawn = mechanism.release(zeros, Randomness(7).noise)[:, -1]
    passed = np.count_nonzero(drawn > law.reach(0.01))
    assert abs(passed - 200) < 6 * math.sqrt(200)
