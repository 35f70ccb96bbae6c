"""Hybrid: the coin between two mechanisms."""

import numpy as np

from shoal.mechanisms import Hybrid, Piecewise
from shoal.mechanisms.local.bounded._harmony import one_sign
from shoal.randomness import Randomness


def test_small_budgets_report_signs_only():
    made = Hybrid(0.6)
    values = made.release(np.zeros((1_000, 1)), Randomness(1).noise).values
    np.testing.assert_array_equal(np.abs(values), one_sign(made.exact_epsilon).size)


def test_the_limit_is_by_the_budget_of_a_column():
    """At epsilon 5 two columns get 2.5 each: both mechanisms are seen."""
    made = Hybrid(5)
    values = np.abs(made.release(np.zeros((2_000, 2)), Randomness(1).noise).values)
    signs = np.isclose(values, one_sign(made.exact_epsilon / 2).size)
    assert 0.2 < signs.mean() < 0.4  # e^-1.25 = 0.29


def test_the_worst_case_is_no_worse_than_piecewise():
    x = np.linspace(-1, 1, 41).reshape(-1, 1)
    for epsilon in (0.3, 0.7, 1, 3):
        assert Hybrid(epsilon).variance(x).max() <= Piecewise(epsilon).variance(x).max()
