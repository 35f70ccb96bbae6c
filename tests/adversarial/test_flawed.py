"""The flawed forms are caught: each bound is above the epsilon they claim.

Events are fixed in advance. False-alarm rate of each test: 1e-6, seeds fixed.
"""

import math

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.mechanisms.flawed import (
    FlawedAngles2D,
    FlawedAngles3D,
    FlawedAnglesND,
    FlawedDuchi,
    FlawedGridRemap,
    FlawedOptimalRemap,
    FlawedPiecewise,
    FlawedUnionRemap,
)
from shoal.randomness import Randomness

ALPHA = 1e-6
N = 200_000


def caught(A, B, event=None):
    found = lower_bound_of(A, B, claim=1.0, event=event, alpha=ALPHA)
    assert found.verdict == "violated"
    return float(found)


def draws(mechanism, x, seed):
    rows = np.tile(np.asarray(x, dtype=float), (N, 1))
    return mechanism.release(rows, Randomness(seed).noise).values


def axis(d, j):
    return np.eye(d)[j]


def test_an_angle_in_a_quarter_circle_is_caught():
    A, B = draws(FlawedAngles2D(1), [0, 0], 1), draws(FlawedAngles2D(1), [1, 0], 2)
    assert caught(A, B, lambda z: z[:, 0] < 1) > 8


def test_swapped_angles_are_caught():
    """Noise piles up along the third axis through the row."""
    A, B = draws(FlawedAngles3D(1), [0, 0, 0], 1), draws(FlawedAngles3D(1), axis(3, 1), 2)
    assert caught(A, B, lambda z: np.hypot(z[:, 0], z[:, 1]) < 0.03) > 2.5


@pytest.mark.parametrize("d", [4, 7, 10])
def test_a_unit_vector_read_as_angles_is_caught(d):
    A, B = draws(FlawedAnglesND(1), np.zeros(d), 1), draws(FlawedAnglesND(1), axis(d, d - 1), 2)
    assert caught(A, B, lambda z: np.abs(z[:, -1]) < 0.2) > 2.5


@pytest.mark.parametrize("d", [2, 4])
def test_ties_in_both_halves_are_caught(d):
    flipped = np.where(np.arange(d) < d // 2, 1.0, -1.0)
    A, B = draws(FlawedDuchi(1), -np.ones(d), 1), draws(FlawedDuchi(1), flipped, 2)
    assert 1.15 < caught(A, B) < math.log(math.e + 1)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_epsilon_on_every_column_is_caught(d):
    """Two more rows fix the extremes, so the bounds are the same for both."""
    ends = np.array([-np.ones(d), np.ones(d)])

    def reports(x, seed):
        rows = np.concatenate([np.tile(x, (N, 1)), ends])
        return FlawedPiecewise(1).release(rows, Randomness(seed).noise).values[:N]

    A, B = reports(-np.ones(d), 1), reports(np.ones(d), 2)
    assert caught(A, B, lambda z: (z < -1).all(axis=1)) > 0.9 * d


OTHERS = np.random.default_rng(0).uniform(0, 10, (25, 2))
EXTREME, FARTHER = np.array([12.0, 4.7]), np.array([13.0, 4.7])


def first_reports(mechanism, x, seed, n=1_500):
    """The report of a user at x among twenty-five others, n times."""
    rng, rows = Randomness(seed).noise, np.vstack([x, OTHERS])
    return np.array([mechanism.release(rows, rng).values[0] for _ in range(n)])


def test_a_grid_from_the_rows_is_caught():
    """The last line of nodes lies at the largest row: at 12 or at 13."""
    made = FlawedGridRemap(1)
    A, B = first_reports(made, EXTREME, 1), first_reports(made, FARTHER, 2)
    assert caught(A, B, lambda z: np.isclose(z[:, 0], 12, rtol=1e-12)) > 2.5


@pytest.mark.parametrize("mechanism", [FlawedUnionRemap, FlawedOptimalRemap])
def test_a_report_that_is_the_row_itself_is_caught(mechanism):
    A, B = first_reports(mechanism(1), EXTREME, 1), first_reports(mechanism(1), FARTHER, 2)
    assert caught(A, B, lambda z: np.isclose(z, EXTREME, rtol=1e-12).all(axis=1)) > 1.5
