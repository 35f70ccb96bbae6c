"""Staircase: domains, budgets and steps."""

import math

import numpy as np
import pytest

from shoal import Box
from shoal.errors import DimensionMismatch, InvalidDomain, OutsideDomain
from shoal.mechanisms import Staircase
from shoal.randomness import Randomness


@pytest.mark.parametrize("width", [0, -2, math.inf, math.nan])
def test_a_width_must_be_positive(width):
    with pytest.raises(InvalidDomain):
        Staircase(1, width=width)


def test_width_and_bounds_do_not_go_together():
    with pytest.raises(InvalidDomain):
        Staircase(1, width=2, domain=Box(x=(0, 2)))


def test_staircase_is_for_one_column():
    with pytest.raises(DimensionMismatch):
        Staircase(1, domain=Box(a=(0, 1), b=(0, 1)))


def test_values_lie_within_half_the_width():
    Staircase(1, width=10).check([[-5.0], [5.0]])
    with pytest.raises(OutsideDomain):
        Staircase(1, width=10).check([[5.1]])


def test_reports_are_whole_numbers_of_half_steps():
    values = Staircase(1, width=2).release(np.full((1_000, 1), 0.3), Randomness(1).noise).values
    halves = values * 2**20
    assert np.array_equal(halves, np.rint(halves))
    assert np.all(halves % 2 == 1)
