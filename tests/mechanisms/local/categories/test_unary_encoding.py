"""UnaryEncoding: bits; and which oracle is used when."""

import math

import numpy as np
import pytest

from shoal import Categories
from shoal.mechanisms import RandomizedResponse, UnaryEncoding, frequency_oracle
from shoal.randomness import Randomness


def test_reports_are_bits():
    bits = UnaryEncoding(1, 6).release([0, 5, 3], Randomness(1).noise).values
    assert bits.shape == (3, 6)
    assert set(np.unique(bits)) <= {0, 1}


def test_long_tables_are_drawn_in_parts():
    """More bits than one part holds: the last rows are drawn like the first."""
    bits = UnaryEncoding(1, 1_024).release(np.zeros(3_000, dtype=int), Randomness(1).noise).values
    for part in (bits[:1_024, 1:], bits[2_048:, 1:]):
        assert math.isclose(part.mean(), 1 / (math.e + 1), abs_tol=0.003)
    assert math.isclose(bits[:, 0].mean(), 0.5, abs_tol=0.05)


@pytest.mark.parametrize(("epsilon", "size"), [(0.5, 6), (1, 10), (3, 62)])
def test_the_oracle_with_the_smaller_error_is_chosen(epsilon, size):
    assert isinstance(frequency_oracle(epsilon, size), RandomizedResponse)
    assert isinstance(frequency_oracle(epsilon, size + 2), UnaryEncoding)
    below = RandomizedResponse(epsilon, size).variance(), UnaryEncoding(epsilon, size).variance()
    assert below[0] < below[1]


def test_the_oracle_takes_lists_too():
    assert frequency_oracle(1, ["F", "M"]) == RandomizedResponse(1, Categories(["F", "M"]))
