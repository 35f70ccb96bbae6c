"""Rows come in checked: counts and column names in errors, never a value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal import Box
from shoal.errors import DimensionMismatch, NotFinite, NotNumeric, OutsideDomain, UnknownBounds
from shoal.mechanisms.local._records import records_of

BOX = Box(age=(0, 110), visits=(0, 20))
ANY_ROWS = arrays(
    np.float64, st.tuples(st.integers(1, 40), st.just(2)), elements=st.floats(width=64)
)


def test_a_single_record_is_one_row():
    assert records_of([43, 7], BOX).tolist() == [[43.0, 7.0]]


def test_float32_and_integers_become_float64():
    for kind in (np.float32, np.int64, np.uint8):
        assert records_of(np.ones((3, 2), dtype=kind), BOX).dtype == np.float64


def test_no_rows_are_an_empty_table():
    assert records_of(np.empty((0, 2)), BOX).shape == (0, 2)


def test_rows_outside_are_counted_and_their_columns_named():
    rows = [[43, 7], [111.25, 7], [50, -3.75], [112.5, 9]]
    with pytest.raises(OutsideDomain) as refused:
        records_of(rows, BOX)
    assert "3 of 4 rows" in str(refused.value)
    assert "'age', 'visits'" in str(refused.value)
    assert not any(value in str(refused.value) for value in ("111", "3.75", "112"))


def test_one_bad_row_among_very_many_is_found_wherever_it_is():
    for place in (0, 255, 256, 9_998, 9_999):
        rows = np.full((10_000, 2), 5.0)
        rows[place, 1] = 20.5
        with pytest.raises(OutsideDomain, match="1 of 10000 rows have values in 'visits'"):
            records_of(rows, BOX)
        rows[place, 1] = np.nan
        with pytest.raises(NotFinite, match="1 of 10000 rows have values in 'visits'"):
            records_of(np.asfortranarray(rows), BOX)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_without_bounds_too(bad):
    with pytest.raises(NotFinite, match="1 of 2 rows have values in 'x1'"):
        records_of([[0, 0], [1, bad]])


def test_clipping_takes_every_number():
    rows = [[-1, 25], [np.inf, -np.inf], [np.nan, 3]]
    assert records_of(rows, BOX, clip=True).tolist() == [[0, 20], [110, 0], [55, 3]]


def test_clipping_needs_bounds():
    with pytest.raises(UnknownBounds, match="public"):
        records_of([[1.0, 2.0]], clip=True)


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "b"]],
        [[True, False]],
        [[1j, 2]],
        np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]]),
        np.array([[1.0, None]], dtype=object),
        [[1.0, 2.0], [3.0]],
        np.array([["2020-01-01", "2020-01-02"]], dtype="M8[D]"),
    ],
)
def test_what_is_no_number_is_refused(rows):
    with pytest.raises(NotNumeric):
        records_of(rows, BOX)


@pytest.mark.parametrize("shape", [(5, 3), (5, 1), (5, 0), (3,), (0,), (2, 2, 2), ()])
def test_a_wrong_width_is_refused(shape):
    with pytest.raises(DimensionMismatch):
        records_of(np.zeros(shape), BOX)


@pytest.mark.heavy
@given(ANY_ROWS)
@settings(max_examples=150, deadline=None)
def test_clipped_rows_lie_in_the_box_whatever_came(rows):
    before = rows.copy()
    assert BOX.contains(records_of(rows, BOX, clip=True)).all()
    assert np.array_equal(rows, before, equal_nan=True)


@pytest.mark.heavy
@given(ANY_ROWS)
@settings(max_examples=150, deadline=None)
def test_unclipped_rows_come_back_as_they_were_or_are_refused_for_a_reason(rows):
    try:
        assert np.array_equal(records_of(rows, BOX), rows)
        assert BOX.contains(rows).all()
    except NotFinite:
        assert not np.isfinite(rows).all()
    except OutsideDomain:
        assert not BOX.contains(rows).all()
