from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize.hierarchies._hierarchy import (
    DateLeaves,
    NumberLeaves,
    TextLeaves,
    as_text,
    mask_text,
    parse_days,
    parse_numbers,
)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([39, 40]),
        pa.array([39.0, 40.0]),
        pa.array(["39", "40.0"]),
        pa.array([" 39", "40 "]).dictionary_encode(),
        pa.array(["39", "40"], pa.large_string()),
    ],
)
def test_a_number_is_the_leaf_it_equals_however_it_is_stored(column):
    assert TextLeaves(["40", "39"])(column).tolist() == [1, 0]


def test_leaves_that_are_equal_as_numbers_are_told_apart_by_their_spelling():
    assert TextLeaves(["1.1", "1.10"])(pa.array(["1.10", "1.1", "1.100"])).tolist() == [1, 0, -1]


def test_zeros_in_front_are_part_of_a_code():
    assert TextLeaves(["1219", "01219"])(pa.array(["01219", "1219"])).tolist() == [1, 0]


def test_numbers_beyond_the_domain_belong_to_its_ends():
    leaves = NumberLeaves(np.array([0.0, 10.0, 20.0]), whole=False)
    assert leaves(pa.array([-5.0, 9.99, 10.0, 300.0])).tolist() == [0, 0, 1, 1]


def test_text_that_is_no_number_has_no_leaf():
    leaves = NumberLeaves(np.array([0.0, 10.0, 20.0]), whole=True)
    assert leaves(pa.array(["ten", "1,5", "15"])).tolist() == [-1, -1, 1]
    assert leaves(pa.array([True])).tolist() == [-1]
    assert np.isnan(parse_numbers(pa.array(["x"]))).all()


def test_days_are_read_from_text_dates_and_times():
    column = pa.array(["2001-03-05", "2001-03-05 12:30:00", "2001-02-30", "5.3.2001", ""])
    assert parse_days(column) == [date(2001, 3, 5)] * 2 + [None] * 3
    assert parse_days(pa.array([date(2001, 3, 5)])) == [date(2001, 3, 5)]


def test_a_day_outside_the_learnt_periods_has_no_leaf_but_a_declared_domain_takes_it():
    periods = np.array([2001, 2003])
    days = pa.array(["2001-05-05", "2002-05-05", "2009-01-01", "never"])
    assert DateLeaves(periods, lambda day: day.year, clip=False)(days).tolist() == [0, -1, -1, -1]
    declared = np.array([2001, 2002])
    assert DateLeaves(declared, lambda day: day.year, clip=True)(days).tolist() == [0, 1, 1, -1]


def test_text_is_cut_short_by_characters_not_bytes():
    assert mask_text(pa.array(["Zürich", "Zü", "Bern"]), 2).to_pylist() == ["Zü*", "Zü", "Be*"]


def test_what_cannot_be_written_down_is_no_text():
    assert as_text(pa.array([b"x"])).to_pylist() == [None]
    assert as_text(pa.array([[1]])).to_pylist() == [None]


def test_the_same_time_is_the_same_text_whatever_zone_names_it():
    noon = pa.array([datetime(2001, 3, 5, 23, 30, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    there = noon.cast(pa.timestamp("us", "Asia/Kolkata"))
    assert as_text(there).to_pylist() == as_text(noon).to_pylist()
    assert parse_days(there) == [date(2001, 3, 5)]
