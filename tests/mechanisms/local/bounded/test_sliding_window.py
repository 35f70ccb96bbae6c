"""The sliding window, place by place. False-alarm rate a test: 1e-6, seeds fixed."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from shoal.mechanisms.local.bounded import _sliding_window as sliding_window
from shoal.randomness import Randomness


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("step", [0, 5, 8])
def test_places_inside_are_exactly_so_much_likelier(monkeypatch, step, width):
    """With eight steps instead of a million every place can be counted."""
    monkeypatch.setattr(sliding_window, "STEPS", 8)
    law = sliding_window.SlidingWindow(Fraction(1), width)
    drawn = law.draw(np.full(100_000, step), Randomness(step).noise)
    mass = np.ones(8 + width)
    mass[step : step + width] = math.e
    observed = np.bincount(drawn, minlength=mass.size)
    assert observed.size == mass.size
    assert stats.chisquare(observed, 100_000 * mass / mass.sum()).pvalue > 1e-6


def test_shapes_are_kept():
    law = sliding_window.SlidingWindow(Fraction(1), 1000)
    assert law.draw(np.zeros((3, 4), dtype=np.int64), Randomness(1).noise).shape == (3, 4)
