"""Harmony: one column, one sign."""

import math

import numpy as np

from shoal.mechanisms import Harmony
from shoal.randomness import Randomness


def test_there_are_two_reports_a_column():
    values = Harmony(1).release(np.zeros((5_000, 3)), Randomness(1).noise).values
    assert np.all(np.count_nonzero(values, axis=1) == 1)
    assert len(np.unique(values, axis=0)) == 6
    assert math.isclose(values.max(), 3 * (math.e + 1) / (math.e - 1))


def test_the_error_is_that_of_the_text():
    assert math.isclose(Harmony(1).variance([-0.8, 0.9]).sum(), 17.3, abs_tol=0.05)
