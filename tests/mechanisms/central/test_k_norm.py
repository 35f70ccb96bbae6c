import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.errors import InvalidBudget, InvalidSetting, NotNumeric
from shoal.mechanisms import KNorm
from shoal.privacy import LocalDP, PureDP
from shoal.randomness import Randomness


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 1), (0, 3)])
def test_it_keeps_the_shape_and_whole_numbers(shape):
    noisy = KNorm(PureDP(1), 100).release(np.zeros(shape, int), Randomness(1).noise)
    assert noisy.shape == shape
    assert noisy.dtype == np.int64


def test_the_noise_does_not_depend_on_the_value():
    value = np.arange(12).reshape(4, 3) * 1000
    noisy, alone = (
        KNorm(PureDP(1), 50).release(v, Randomness(2).noise) for v in (value, np.zeros_like(value))
    )
    assert np.array_equal(noisy - value, alone)


def test_the_deviation_is_the_one_stated():
    mechanism, m = KNorm(PureDP("0.5"), Fraction(201, 2)), 7
    drawn = mechanism.release(np.zeros((20_000, m), int), Randomness(3).noise)
    assert mechanism.deviation(m) == math.sqrt(8) * 201
    assert drawn.std() == pytest.approx(mechanism.deviation(m), rel=0.03)


def test_noise_of_a_fine_lattice_is_decided_in_decimals():
    """Far beyond what floats can decide: every vector is read on."""
    mechanism = KNorm(PureDP(1), 2**40)
    drawn = mechanism.release(np.zeros((50, 2), int), Randomness(4).noise)
    radii = np.linalg.norm(drawn / 2**40, axis=1)
    assert 1 < radii.mean() < 3
    assert len(set((drawn % 1024).ravel().tolist())) > 80  # the low bits are noise too


@pytest.mark.parametrize("value", [5, np.zeros((3, 0), int), np.zeros(3), np.array([True]), "x"])
def test_what_is_no_array_of_whole_vectors_is_refused(value):
    with pytest.raises(NotNumeric):
        KNorm(PureDP(1), 1).release(value, Randomness(1).noise)


@pytest.mark.parametrize("sensitivity", [0, -1, math.nan, math.inf, "x", None, True])
def test_a_sensitivity_that_is_no_positive_number_is_refused(sensitivity):
    with pytest.raises(InvalidSetting, match="sensitivity"):
        KNorm(PureDP(1), sensitivity)


def test_another_kind_of_promise_is_refused():
    with pytest.raises(InvalidSetting, match="PureDP"):
        KNorm(LocalDP(1), 1)


@pytest.mark.parametrize("sensitivity", [2**41, Fraction(1, 2000)])
def test_noise_too_wide_for_integers_or_none_at_all_is_refused(sensitivity):
    with pytest.raises(InvalidBudget, match="2\\*\\*-40 and 1000"):
        KNorm(PureDP(1), sensitivity)


def test_far_values_do_not_wrap_around():
    far = np.array([[2**63 - 1, -(2**63)]])
    noisy = KNorm(PureDP(1), 10).release(far, Randomness(5).noise)
    assert np.all(np.abs(noisy - np.array([[2**62, -(2**62)]])) < 1000)


@pytest.mark.parametrize(("epsilon", "move"), [(1, 1), (1, 3), ("0.2", 3)])
def test_the_log_ratio_bounds_that_of_the_rounded_noise(epsilon, move):
    """On a line the rounded law is known: the integral of its density over a unit interval."""
    noise = KNorm(PureDP(epsilon), 3)
    scale = float(noise.scale)

    def log_mass(output, value):
        low, high = output - value - 0.5, output - value + 0.5
        below = [
            math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2 for x in (low, high)
        ]
        return math.log(below[1] - below[0])

    for output in range(-12, 15):
        true = log_mass(output, 0) - log_mass(output, move)
        stated = noise.log_ratio([output], np.array([0]), np.array([move]))
        assert true - 1e-12 <= stated <= true + 2 / scale
        assert stated <= noise.worst_ratio(np.array([0]), np.array([move])) == move / scale


def test_only_vectors_that_moved_count_and_their_losses_add_up():
    noise, zero = KNorm(PureDP(1), 100), np.zeros((3, 2), int)
    moved = np.array([[0, 0], [30, 40], [60, 80]])
    assert noise.worst_ratio(zero, moved) == pytest.approx(1.5)
    assert noise.log_ratio(moved, zero, moved) == pytest.approx(-1.5 + 2 * math.sqrt(2) / 100)
    assert noise.log_ratio(zero + 5, zero, zero) == 0
