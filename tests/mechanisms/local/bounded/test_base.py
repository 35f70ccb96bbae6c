"""What every mechanism on bounded numbers shares: checks, units, shapes, the estimate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal import Box, Ledger, LocalDP
from shoal.errors import (
    DimensionMismatch,
    InvalidBudget,
    InvalidDomain,
    NotAReport,
    NotFinite,
    NotNumeric,
    OutsideDomain,
    TooFewRows,
)
from shoal.mechanisms import (
    Duchi,
    Harmony,
    Hybrid,
    Piecewise,
    PrivUnit,
    Reports,
    SquareWave,
    Staircase,
    clamp,
)
from shoal.mechanisms.local.bounded._base import STEPS, scaled_of, steps_of
from shoal.randomness import Randomness

ALL = [Piecewise, Duchi, Hybrid, Harmony, PrivUnit, SquareWave, Staircase]
ONE_COLUMN = Box(age=(0, 110))
mechanisms = pytest.mark.parametrize("mechanism", ALL)


def noise():
    return Randomness(5).noise


@mechanisms
@pytest.mark.parametrize(
    "epsilon", [0, -1, float("nan"), float("inf"), "much", True, None, 20.01, 1e6, 1e-10, 1e-320]
)
def test_a_budget_that_is_none_is_refused(mechanism, epsilon):
    with pytest.raises(InvalidBudget):
        mechanism(epsilon)


@mechanisms
def test_the_smallest_budget_still_works(mechanism):
    values = mechanism(1e-9, domain=ONE_COLUMN).release(np.full((50, 1), 30.0), noise()).values
    assert np.isfinite(values).all()


@mechanisms
def test_the_promise_is_local_and_exact(mechanism):
    assert mechanism(0.1).guarantee + mechanism(0.2).guarantee == LocalDP(0.3)
    assert mechanism("1/3").guarantee == LocalDP("1/3")


@mechanisms
def test_bounds_must_be_a_box(mechanism):
    with pytest.raises(InvalidDomain):
        mechanism(1, domain=(0, 110))


@mechanisms
@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([[np.nan]], NotFinite),
        ([[np.inf]], NotFinite),
        ([[111.25]], OutsideDomain),
        ([[1.0, 2.0]], DimensionMismatch),
        (np.empty((3, 0)), DimensionMismatch),
        (np.zeros((2, 2, 2)), DimensionMismatch),
        (5.0, DimensionMismatch),
        ([["1"]], NotNumeric),
        ([[True]], NotNumeric),
        ([[1j]], NotNumeric),
        (np.ma.masked_array([[1.0]], mask=[[True]]), NotNumeric),
        (np.array([[1.0]], dtype=object), NotNumeric),
        ([[1.0], [1.0, 2.0]], NotNumeric),
    ],
)
def test_bad_rows_get_a_named_error_that_quotes_none(mechanism, rows, error):
    made = mechanism(1, domain=ONE_COLUMN)
    with pytest.raises(error) as refused:
        made.check(rows)
    assert "111.25" not in str(refused.value)
    with pytest.raises(error):
        made.release(rows, noise())


@mechanisms
def test_bad_rows_leave_no_entry_in_the_ledger(mechanism):
    ledger = Ledger()
    made = mechanism(1, domain=ONE_COLUMN)
    with pytest.raises(OutsideDomain):
        ledger.open(LocalDP(1), by="test").release(made, [[200.0]], noise(), of="ages")
    assert ledger.totals() == []


@mechanisms
def test_one_table_is_one_entry_in_the_ledger(mechanism):
    ledger = Ledger()
    page = ledger.open(LocalDP(1), by="test")
    reports = page.release(mechanism(1, domain=ONE_COLUMN), [[1.0], [2.0]], noise(), of="ages")
    assert len(reports) == 2
    assert page.total() == LocalDP(1).simulated()
    assert len(ledger.entries()) == 1


@mechanisms
def test_no_rows_give_no_reports(mechanism):
    assert mechanism(1, domain=ONE_COLUMN).release(np.empty((0, 1)), noise()).values.shape == (0, 1)


@mechanisms
def test_a_flat_record_is_a_table_of_one_row(mechanism):
    reports = mechanism(1, domain=ONE_COLUMN).release([30.0], noise())
    assert isinstance(reports, Reports)
    assert reports.values.shape == (1, 1)


@mechanisms
def test_clip_takes_every_number(mechanism):
    rows = [[-5.0], [np.inf], [np.nan], [3.0]]
    values = mechanism(1, domain=ONE_COLUMN, clip=True).release(rows, noise()).values
    assert np.isfinite(values).all()


@mechanisms
def test_float32_and_integers_are_taken(mechanism):
    made = mechanism(1, domain=ONE_COLUMN)
    plain = made.release([[30.0], [40.0]], noise()).values
    for kind in (np.float32, np.int64, np.uint8):
        other = made.release(np.array([[30], [40]], dtype=kind), noise()).values
        assert np.array_equal(plain, other)


@mechanisms
def test_the_rows_are_not_written_to(mechanism):
    rows = np.array([[30.0], [40.0]])
    mechanism(1, domain=ONE_COLUMN).release(rows, noise())
    assert rows.tolist() == [[30.0], [40.0]]


@mechanisms
def test_a_seed_repeats_a_release_and_a_stream_goes_on(mechanism):
    made, rng, rows = mechanism(1, domain=ONE_COLUMN), noise(), np.full((50, 1), 30.0)
    first, second = made.release(rows, rng).values, made.release(rows, rng).values
    assert np.array_equal(first, made.release(rows, noise()).values)
    assert not np.array_equal(first, second)


@mechanisms
def test_means_want_their_own_raw_reports(mechanism):
    made = mechanism(1, domain=ONE_COLUMN)
    reports = made.release(np.full((10, 1), 30.0), noise())
    for wrong in (
        np.full((10, 1), 30.0),
        clamp(ONE_COLUMN)(reports),
        mechanism(2, domain=ONE_COLUMN).release([[1.0]], noise()),
    ):
        with pytest.raises(NotAReport):
            made.mean(wrong)
    with pytest.raises(TooFewRows):
        made.mean(made.release(np.empty((0, 1)), noise()))


@mechanisms
def test_the_standard_error_is_that_of_the_mean(mechanism):
    made = mechanism(2, domain=ONE_COLUMN)
    estimate = made.mean(made.release(np.full((20_000, 1), 30.0), noise()))
    assert abs(estimate.value[0] - 30) < 5 * estimate.standard_error[0]
    one = made.mean(made.release([30.0], noise()))
    assert np.isinf(one.standard_error).all()


def test_without_bounds_rows_lie_between_minus_one_and_one():
    with pytest.raises(OutsideDomain, match="1 of 2 rows have values in 'x1'"):
        Piecewise(1).check([[0.0, 0.0], [0.0, 1.5]])


def test_the_ends_of_the_box_are_the_first_and_the_last_step():
    box = Box(a=(0.1, 0.7), b=(-1e300, 1e300))
    steps = steps_of(np.array([box.low, box.high]), box)
    assert steps.tolist() == [[0, STEPS], [0, STEPS]]
    assert scaled_of(np.array([0, STEPS // 2, STEPS])).tolist() == [-1, 0, 1]


@pytest.mark.heavy
@given(
    arrays(np.float64, st.tuples(st.integers(0, 20), st.integers(1, 6)), elements=st.floats(-1, 1)),
    st.floats(0.01, 20),
    st.sampled_from([Piecewise, Duchi, Hybrid, Harmony, PrivUnit]),
)
@settings(max_examples=60, deadline=None)
def test_any_rows_of_the_cube_give_finite_reports_of_their_shape(rows, epsilon, mechanism):
    values = mechanism(epsilon).release(rows, noise()).values
    assert values.shape == rows.shape
    assert np.isfinite(values).all()


@given(st.floats(0, 1), st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
@settings(max_examples=60, deadline=None)
def test_steps_are_whole_and_within_the_range(place, width, low):
    box = Box(x=(low, low + max(width, abs(low) * 1e-9)))
    x = np.clip(box.low + place * (box.high - box.low), box.low, box.high)
    steps = int(steps_of(x.reshape(1, 1), box)[0, 0])
    assert 0 <= steps <= STEPS


@mechanisms
@pytest.mark.parametrize("far", [(1e308, 1.5e308), (0, 1e308)])
def test_reports_from_a_far_box_stay_finite(mechanism, far):
    box = Box(x=far)
    values = mechanism(1, domain=box).release([[1e308]] * 50, noise()).values
    assert np.isfinite(values).all()
