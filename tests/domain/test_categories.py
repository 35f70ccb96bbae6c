from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.domain import Categories
from shoal.errors import InvalidDomain, UnknownCategory

COLUMNS = {
    "list": ["M", "F", "M"],
    "tuple": ("M", "F", "M"),
    "array": np.array(["M", "F", "M"]),
    "objects": np.array(["M", "F", "M"], dtype=object),
    "series": pd.Series(["M", "F", "M"]),
    "category": pd.Series(["M", "F", "M"], dtype="category"),
    "arrow": pa.array(["M", "F", "M"]),
    "large strings": pa.array(["M", "F", "M"], pa.large_string()),
    "dictionary": pa.array(["M", "F", "M"]).dictionary_encode(),
    "chunks": pa.chunked_array([["M"], ["F", "M"]]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_any_kind_is_coded(kind):
    codes = Categories(["F", "M"]).codes(COLUMNS[kind])
    assert codes.dtype == np.int32
    assert codes.tolist() == [1, 0, 1]


def test_values_keep_their_order_and_the_bucket_comes_last():
    listed = Categories(["b", "a"], other="bucket")
    assert listed.values == ("b", "a")
    assert listed.size == 3
    assert listed.codes(["a", "?", None, "b"]).tolist() == [1, 2, 2, 0]
    assert listed.labels([0, 1, 2]).tolist() == ["b", "a", "<other>"]


def test_unknown_and_missing_values_are_counted_and_not_quoted():
    with pytest.raises(UnknownCategory, match="3 of 4") as caught:
        Categories(["F", "M"]).codes(["secret", None, "F", float("nan")])
    assert "secret" not in str(caught.value)


WRITTEN = {
    "numbers as text": ([1, 2], ["2", "1"]),
    "text as numbers": (["1", "2"], [2, 1]),
    "whole floats": ([1, 2], [2.0, 1.0]),
    "floats": ([0.5, 1.0], [1, 0.5]),
    "whole numbers in float categories": ([0.5, 1.0, 2.0], [2, 1]),
    "truth values": ([True, False], [False, True]),
    "truth values as text": (["true", "false"], [False, True]),
    "dates": ([date(2020, 1, 1), date(2021, 1, 1)], ["2021-01-01", date(2020, 1, 1)]),
    "large whole numbers": ([2**53, 2**53 + 1], [2**53 + 1, 2**53]),
    "mixed": (["1", "x"], ["x", 1]),
    "whole numbers with a point": ([1, 2], ["2.0", "1.00"]),
    "blanks around": ([1, 2], [" 2", "1 "]),
    "blanks around in the list": (["F ", " M"], ["M", "F"]),
    "versions": (["1.1", "1.10"], ["1.10", "1.1"]),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_values_meet_as_people_write_them(kind):
    values, column = WRITTEN[kind]
    codes = Categories(values).codes(column)
    assert codes[0] > codes[1]


@pytest.mark.parametrize(
    "column",
    [pa.array([[1]]), pa.array([{"x": 1}]), pa.array([b"x"]), pa.array([b"x"], pa.binary(1))],
)
def test_values_that_cannot_be_written_down_are_refused(column):
    with pytest.raises(UnknownCategory, match="takes columns of text; this one holds"):
        Categories(["F"], other="bucket").codes(column)


@pytest.mark.parametrize("odd", ["x", "1.5", "", None, "99999999999999999999", " 1", "01"])
def test_one_odd_value_changes_nobody_elses_code(odd):
    listed = Categories([1, 2, 123456789012345678, 123456789012345679], other="bucket")
    values = ["1.0", "2.00", " 2", "123456789012345678", "123456789012345679", "01"]
    assert listed.codes(values).tolist() == [0, 1, 1, 2, 3, 4]
    assert listed.codes([*values, odd]).tolist()[:-1] == [0, 1, 1, 2, 3, 4]


LISTS = {
    "text": ["1", "2"],
    "numbers": [1, 2.5],
    "large numbers": [1, 2**53],
    "dates": [date(2020, 1, 1)],
    "truth values": [True],
    "several kinds": [1, "x"],
}
TYPED = {
    "text": pa.array(["1"]),
    "large text": pa.array(["1"], pa.large_string()),
    "text objects": np.array(["1", None], dtype=object),
    "coded text": pd.Series(["1"], dtype="category"),
    "whole numbers": pa.array([1], pa.uint8()),
    "nullable numbers": pd.Series([1, None], dtype="Int64"),
    "floats": np.array([1.0]),
    "decimals": pa.array([Decimal("1.00")]),
    "dates": pa.array([date(2020, 1, 1)]),
    "times": pd.Series([datetime(2020, 1, 1)]),
    "truth values": np.array([True]),
    "mixed objects": pd.Series([1, "1"], dtype=object),
    "bytes": pa.array([b"1"]),
    "nothing": pa.nulls(1),
}
TAKEN = {
    "text": {"text", "large text", "text objects", "coded text"},
    "numbers": {"whole numbers", "nullable numbers", "floats", "decimals"},
    "large numbers": {"whole numbers", "nullable numbers", "decimals"},
    "dates": {"dates"},
    "truth values": {"truth values"},
    "several kinds": {"text", "large text", "text objects", "coded text"},
}


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("listed", LISTS)
def test_a_list_takes_columns_of_its_own_kind_alone(listed, kind):
    categories, column = Categories(LISTS[listed], other="bucket"), TYPED[kind]
    if kind in {*TAKEN[listed], "nothing"}:
        assert categories.codes(column)[0] == (kind == "nothing") * len(LISTS[listed])
        return
    with pytest.raises(UnknownCategory, match="by its path"):
        categories.codes(column)


@pytest.mark.parametrize("scale", [0, 2, 9])
def test_decimals_are_looked_up_by_their_digits_whatever_the_scale(scale):
    column = pa.array([Decimal(7), Decimal(0), None], pa.decimal128(38, scale))
    for large in (1, 2**60):
        listed = Categories([0, 7, large], other="bucket")
        assert listed.codes(column).tolist() == [1, 0, 3]


def test_floats_cannot_tell_large_labels_apart_and_are_refused():
    with pytest.raises(UnknownCategory, match="takes columns of whole numbers"):
        Categories([2**60, 2**60 + 1], other="bucket").codes(pa.array([1.5, 2.0**60]))


INVALID = {
    "none": [],
    "text": "FM",
    "number": 3,
    "a missing value": ["F", None],
    "not a number": ["F", float("nan")],
    "twice": ["F", "M", "F"],
    "twice as written": [1, "1"],
    "lists": [["F"], ["M"]],
    "twice as a number": [1, 1.0],
    "twice but for blanks": ["F", " F"],
}


@pytest.mark.parametrize("kind", INVALID)
def test_what_is_no_list_of_values_is_refused(kind):
    with pytest.raises(InvalidDomain) as caught:
        Categories(INVALID[kind])
    assert caught.value.hint


def test_another_rule_for_other_values_is_refused():
    with pytest.raises(InvalidDomain):
        Categories(["F"], other="keep")


def test_the_buckets_own_name_is_no_value_beside_it():
    assert Categories(["<other>"]).size == 1
    with pytest.raises(InvalidDomain):
        Categories(["<other>"], other="bucket")


@pytest.mark.parametrize("codes", [[2], [-1], [0.5], ["F"]])
def test_codes_outside_have_no_label(codes):
    with pytest.raises(UnknownCategory):
        Categories(["F", "M"]).labels(codes)


def test_equal_lists_are_equal_and_hash():
    assert Categories(["F", "M"]) == Categories(("F", "M"))
    assert len({Categories(["F"]), Categories(["F"]), Categories(["F"], other="bucket")}) == 2


@pytest.mark.heavy
@given(
    st.lists(st.text() | st.integers(), min_size=1, unique_by=lambda v: str(v).strip()), st.data()
)
def test_labels_undo_codes(values, data):
    listed = Categories(values)
    codes = data.draw(st.lists(st.integers(0, len(values) - 1)))
    assert listed.codes(listed.labels(codes).tolist()).tolist() == codes


def test_no_values_have_no_codes():
    assert Categories(["F"]).codes([]).tolist() == []
