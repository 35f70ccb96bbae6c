"""Steps are public powers of two."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InvalidSetting
from shoal.mechanisms.local.laplace._lattice_step import auto_step, checked_step

EPSILONS = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30)


@pytest.mark.heavy
@given(EPSILONS)
def test_the_automatic_step_is_the_largest_power_of_two_that_costs_at_most_2_to_minus_20(epsilon):
    step = auto_step(epsilon)
    assert math.frexp(step)[0] == 0.5
    assert Fraction(1, 2**21) < epsilon * Fraction(step) <= Fraction(1, 2**20)


def test_a_given_step_is_taken_within_its_limits():
    assert checked_step(0.001, Fraction(1)) == 0.001
    assert checked_step(2.0**-30, Fraction(1)) == 2.0**-30
    assert checked_step(1, Fraction(1)) == 1.0


@pytest.mark.parametrize("step", [0, -1, 1.01, 2.0**-31, math.nan, math.inf, True, "fine", [1.0]])
def test_a_step_too_fine_too_coarse_or_no_number_is_refused(step):
    with pytest.raises(InvalidSetting, match="lattice"):
        checked_step(step, Fraction(1))
