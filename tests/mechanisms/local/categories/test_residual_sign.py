"""ResidualSign: nearest centre and a side of it. False-alarm rate of a test: 1e-6."""

import numpy as np
import pytest

from shoal.audit.bound._lower_bound import lower_bound_of
from shoal.domain import Box
from shoal.errors import DimensionMismatch, InvalidBudget, InvalidDomain, InvalidSetting, NotAReport
from shoal.mechanisms import RandomizedResponse
from shoal.mechanisms.local.categories._residual_sign import ResidualSign
from shoal.privacy import LocalDP
from shoal.randomness import Randomness

BOX = Box(x=(0, 10), y=(-1, 1))
CENTERS = [[2.0, -0.5], [8.0, 0.5]]


def signs(epsilon: float = 1.0, reach: float = 0.4) -> ResidualSign:
    return ResidualSign(BOX, CENTERS, reach, epsilon=epsilon)


def test_shifts_are_those_of_the_means():
    """60,000 rows a column, so 0.01 of the reach's unit is six standard errors."""
    rng = np.random.default_rng(0)
    means = np.array([[2.5, -0.45], [7.8, 0.5]])
    rows = np.repeat(means, 60_000, axis=0) + rng.normal(size=(120_000, 2)) * [0.3, 0.05]
    mechanism = signs(epsilon=3.0)
    shifts = mechanism.shifts(mechanism.release(rows, Randomness(1).noise))
    assert np.abs((shifts - (means - CENTERS)) / [5, 1]).max() < 0.02


def test_rows_beyond_the_reach_count_as_at_its_end():
    mechanism = signs(epsilon=4.0, reach=0.1)
    rows = np.tile([4.0, -0.5], (40_000, 1))
    shift = mechanism.shifts(mechanism.release(rows, Randomness(1).noise))[0, 0]
    assert 0.4 < shift <= 0.5  # of 2.0, cut to a tenth of half the side


def test_a_centre_without_rows_stays():
    mechanism = signs()
    rows = np.tile(CENTERS[0], (40_000, 1))
    assert mechanism.shifts(mechanism.release(rows, Randomness(1).noise))[1].tolist() == [0.0, 0.0]


def test_shares_are_those_of_the_people_near_each_centre():
    """30,000 reports: 0.06 is five standard errors and more."""
    mechanism = signs(epsilon=2.0)
    rows = np.repeat(CENTERS, [21_000, 9_000], axis=0)
    found = mechanism.shares(mechanism.release(rows, Randomness(1).noise))
    assert np.abs(found.value - [0.7, 0.3]).max() < 5.5 * found.standard_error.max() < 0.06


def test_a_column_nobody_drew_stays():
    mechanism = signs()
    reports = mechanism.release([CENTERS[0]], Randomness(1).noise)
    assert np.count_nonzero(mechanism.shifts(reports)) <= 1


@pytest.mark.parametrize("reach", [0.2, 2.0])
def test_the_audit_finds_no_more_than_is_promised(reach):
    mechanism = signs(reach=reach)
    first, second = (
        mechanism.release(np.tile(corner, (40_000, 1)), Randomness(seed).noise).values
        for seed, corner in enumerate(([0, -1], [10, 1]))
    )
    codes = [values @ [4, 1] for values in (first, second)]
    assert lower_bound_of(*codes, claim=LocalDP(1)).verdict == "consistent"


def test_the_audit_catches_an_oracle_each():
    cluster, side = RandomizedResponse(1, 2), RandomizedResponse(1, 2)
    codes = [
        2 * cluster.release(np.full(40_000, at), Randomness(at).noise).values
        + side.release(np.full(40_000, at), Randomness(2 + at).noise).values
        for at in (0, 1)
    ]
    assert lower_bound_of(*codes, claim=LocalDP(1)).verdict == "violated"


def test_rows_outside_and_nan_report_too():
    assert len(signs().release([[np.nan, 5.0], [-9.0, np.inf]], Randomness(1).noise)) == 2


@pytest.mark.parametrize(
    ("error", "settings"),
    [
        (InvalidBudget, {"epsilon": 0}),
        (InvalidDomain, {"domain": None}),
        (InvalidSetting, {"reach": 0}),
        (InvalidSetting, {"centers": [[np.nan, 0]]}),
        (InvalidSetting, {"centers": np.empty((0, 2))}),
        (DimensionMismatch, {"centers": [[1.0]]}),
    ],
)
def test_settings_that_are_none_are_refused(error, settings):
    with pytest.raises(error):
        ResidualSign(**({"domain": BOX, "centers": CENTERS, "reach": 1, "epsilon": 1} | settings))


def test_shifts_want_their_own_reports():
    with pytest.raises(NotAReport):
        signs().shifts(signs(epsilon=2).release([[1, 0]], Randomness(1).noise))
