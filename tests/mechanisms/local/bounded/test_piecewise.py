"""Piecewise: its window, its range, its variance."""

import math

import numpy as np
import pytest

from shoal import Box
from shoal.mechanisms import Piecewise
from shoal.mechanisms.local.bounded._piecewise import piecewise_law
from shoal.randomness import Randomness


def test_the_law_of_a_budget_is_made_once():
    assert piecewise_law(Piecewise(1).exact_epsilon) is piecewise_law(Piecewise("1").exact_epsilon)


@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 20])
def test_small_and_large_budgets_work(epsilon):
    values = Piecewise(epsilon).release(np.full((1_000, 1), 1.0), Randomness(1).noise).values
    assert np.abs(values).max() <= 1 / math.tanh(epsilon / 4) * 1.02


def test_variance_is_in_raw_units():
    scaled = Piecewise(1).variance([[0.0, 1.0]])
    raw = Piecewise(1, domain=Box(a=(0, 20), b=(-3, 3))).variance([[10.0, 3.0]])
    np.testing.assert_allclose(raw, scaled * [100, 9])


def test_at_a_large_budget_reports_are_close_to_the_row():
    rows = np.random.default_rng(1).uniform(-1, 1, (1_000, 1))
    values = Piecewise(20).release(rows, Randomness(1).noise).values
    assert np.median(np.abs(values - rows)) < 1e-3
