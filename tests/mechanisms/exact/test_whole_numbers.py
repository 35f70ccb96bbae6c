from fractions import Fraction

import numpy as np
import pytest

from shoal.errors import InvalidBudget, InvalidSetting, NotNumeric
from shoal.mechanisms.exact._whole_numbers import (
    FARTHEST,
    check_rate,
    check_vectors,
    check_whole_numbers,
    clipped_to_62_bits,
    exact_sensitivity,
)


@pytest.mark.parametrize("value", [3, [1, 2], np.zeros((2, 3), np.uint8), np.int64(4)])
def test_whole_numbers_of_any_shape_pass(value):
    check_whole_numbers(value)


@pytest.mark.parametrize("value", [0.5, [[1], [1, 2]], np.array([True]), "x", None])
def test_anything_else_is_refused(value):
    with pytest.raises(NotNumeric):
        check_whole_numbers(value)


@pytest.mark.parametrize("value", [7, np.zeros((2, 0), int), np.array(3)])
def test_numbers_that_are_no_vectors_are_refused(value):
    with pytest.raises(NotNumeric, match="vectors"):
        check_vectors(value)


def test_no_vectors_at_all_are_taken():
    check_vectors(np.zeros((0, 3), int))


def test_numbers_too_far_out_are_moved_and_no_two_apart():
    far = np.array([2**63 - 1, -(2**63), 5])
    assert clipped_to_62_bits(far).tolist() == [FARTHEST, -FARTHEST, 5]
    assert clipped_to_62_bits(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [FARTHEST]


@pytest.mark.parametrize(
    ("value", "exact"), [(3, 3), (0.1, Fraction(1, 10)), ("5/7", Fraction(5, 7))]
)
def test_a_sensitivity_is_the_number_it_says(value, exact):
    assert exact_sensitivity(value) == exact


def test_a_sensitivity_that_is_none_is_refused():
    with pytest.raises(InvalidSetting):
        exact_sensitivity("many")


@pytest.mark.parametrize("rate", [Fraction(1, 2**41), Fraction(1001)])
def test_noise_that_would_not_fit_is_refused(rate):
    with pytest.raises(InvalidBudget):
        check_rate(rate)
    check_rate(Fraction(1))
