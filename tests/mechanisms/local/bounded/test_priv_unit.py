"""PrivUnit: balls, thresholds, short rows."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

from shoal import Box
from shoal.errors import InvalidDomain, OutsideDomain
from shoal.mechanisms import PrivUnit
from shoal.mechanisms.local.bounded._priv_unit import _lean
from shoal.randomness import Randomness


@pytest.mark.parametrize("epsilon", [0.01, 1, 5, 12, 20])
def test_the_threshold_is_the_best_one(epsilon):
    """As found by scipy's search for the largest mean along the row."""
    ratio = math.exp(epsilon)

    def mean(t):
        return (ratio - 1) * stats.norm.pdf(t) / (ratio * stats.norm.sf(t) + stats.norm.cdf(t))

    best = optimize.minimize_scalar(lambda t: -mean(t), bounds=(0, 10), method="bounded")
    lean = _lean(Fraction(str(epsilon)))
    assert math.isclose(lean.threshold, best.x, abs_tol=1e-4)
    assert math.isclose(mean(lean.threshold), lean.threshold, rel_tol=1e-9)
    tail = stats.norm.sf(lean.threshold)
    assert math.isclose(lean.past, ratio * tail / (ratio * tail + 1 - tail), rel_tol=1e-9)


@pytest.mark.parametrize("radius", [0, -1, math.inf, math.nan])
def test_a_radius_must_be_positive(radius):
    with pytest.raises(InvalidDomain):
        PrivUnit(1, radius=radius)


def test_rows_beyond_the_ball_are_counted():
    with pytest.raises(OutsideDomain, match="1 of 2 rows"):
        PrivUnit(1, radius=1).check([[0.6, 0.8], [0.9, 0.9]])


def test_the_ball_around_the_box_holds_its_corners():
    PrivUnit(1).check(np.ones((2, 7)))
    PrivUnit(1, domain=Box(a=(0, 0.1), b=(3, 7))).check([[0.1, 7.0]])


def test_clip_moves_rows_to_the_edge_of_the_ball():
    made = PrivUnit(20, radius=2, clip=True)
    values = made.release(np.tile([2.0, 2.0], (20_000, 1)), Randomness(1).noise).values
    assert np.all(np.abs(values.mean(axis=0) - math.sqrt(2)) < 0.05)


def test_a_row_at_the_centre_is_taken():
    values = PrivUnit(5).release(np.zeros((20_000, 2)), Randomness(1).noise).values
    error = values.std(axis=0) / math.sqrt(20_000)
    assert np.all(np.abs(values.mean(axis=0)) < 5 * error)


def test_reports_are_whole_numbers_of_a_public_step():
    lean = _lean(Fraction(1))
    step = math.sqrt(2) * math.sqrt(2) / lean.threshold / 2**20
    values = PrivUnit(1).release(np.full((1_000, 2), 0.3), Randomness(1).noise).values
    assert np.array_equal(np.rint(values / step) * step, values)
