"""Duchi: corners, and how far out they lie."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.mechanisms import Duchi
from shoal.mechanisms.local.bounded._duchi import duchi_law
from shoal.randomness import Randomness


@pytest.mark.parametrize("d", range(1, 13))
def test_the_size_is_that_of_the_sums_written_out(d):
    ratio = math.e
    agreeing = [m for m in range(d + 1) if 2 * m > d]
    leading = sum(math.comb(d, m) for m in agreeing)
    slope = sum(math.comb(d, m) * (2 * m - d) for m in agreeing) / d
    stated = ((ratio - 1) * leading + 2**d) / ((ratio - 1) * slope)
    assert math.isclose(duchi_law(Fraction(1)).size(d), stated)


def test_one_column_is_the_textbook_pair():
    assert math.isclose(duchi_law(Fraction(1)).size(1), (math.e + 1) / (math.e - 1))


@pytest.mark.parametrize("d", [1, 2, 5, 1_500])
def test_reports_are_corners(d):
    values = Duchi(1).release(np.zeros((20, d)), Randomness(1).noise).values
    np.testing.assert_array_equal(np.abs(values), duchi_law(Fraction(1)).size(d))


def test_ties_are_redrawn_at_a_large_budget():
    """At epsilon 20 a tie of two columns is kept four times in a thousand million."""
    values = Duchi(20).release(np.ones((10_000, 2)), Randomness(1).noise).values
    assert np.all(values > 0)
