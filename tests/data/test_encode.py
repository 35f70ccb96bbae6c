from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.data import source_of
from shoal.data.encode import (
    encode_codes,
    encode_numbers,
    encode_owners,
    floats_of,
    is_missing,
    odd_cell_kinds,
)
from shoal.domain import Categories
from shoal.errors import InvalidSetting, NotNumeric, UnknownCategory, UnknownColumn

NUMBERS = {
    "int8": pa.array([1, None], pa.int8()),
    "uint64": pa.array([1, None], pa.uint64()),
    "float16": pa.array(np.array([1, np.nan], np.float16)),
    "float32": pa.array([1, None], pa.float32()),
    "decimal": pa.array([Decimal("1.00"), None]),
    "dictionary": pa.array([1, None]).dictionary_encode(),
}

CELLS = st.text(max_size=8) | st.floats().map(repr) | st.integers().map(str)


def cells(**columns):
    """A batch of columns without a type."""
    (batch,) = source_of(columns).batches([*columns])
    return batch


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_any_kind_become_float64_and_nulls_nan(kind):
    block = encode_numbers(pa.record_batch({"a": NUMBERS[kind]}), ["a"])
    assert block.dtype == np.float64
    np.testing.assert_array_equal(block, [[1.0], [np.nan]])


def test_a_column_of_nulls_alone_is_nan():
    assert np.isnan(encode_numbers(pa.record_batch({"a": pa.nulls(2)}), ["a"])).all()


def test_columns_come_in_the_order_asked_for():
    batch = pa.record_batch({"a": [1, 2], "b": [3.0, 4.0]})
    assert encode_numbers(batch, ["b", "a"]).tolist() == [[3.0, 1.0], [4.0, 2.0]]


NOT_NUMBERS = {
    "text": pa.array(["secret"]),
    "dates": pa.array([date(2020, 1, 1)]),
    "truth values": pa.array([True]),
    "lists": pa.array([[1]]),
    "structs": pa.array([{"x": 1}]),
    "binary": pa.array([b"1"]),
    "dictionary": pa.array(["secret"]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_what_is_no_number_is_refused_by_its_columns_name(kind):
    batch = pa.record_batch({"fine": [1], "odd": NOT_NUMBERS[kind]})
    with pytest.raises(NotNumeric, match="'odd'") as caught:
        encode_numbers(batch, ["fine", "odd"])
    assert "secret" not in str(caught.value)
    assert "'fine'" not in str(caught.value)


@pytest.mark.heavy
@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=1))
def test_whole_numbers_of_any_size_convert(values):
    block = encode_numbers(pa.record_batch({"a": pa.array(values, pa.int64())}), ["a"])
    expected = [np.nan if v is None else float(v) for v in values]
    np.testing.assert_array_equal(block[:, 0], expected)


def test_codes_stand_side_by_side():
    batch = pa.record_batch({"sex": ["M", "F"], "level": [2, 9]})
    listed = {"level": Categories([1, 2], other="bucket"), "sex": Categories(["F", "M"])}
    block = encode_codes(batch, listed)
    assert block.dtype == np.int32
    assert block.tolist() == [[1, 1], [2, 0]]


def test_no_categories_give_no_codes():
    assert encode_codes(pa.record_batch({"a": [1, 2]}), {}).shape == (2, 0)


def test_an_unknown_category_is_counted_and_not_quoted():
    batch = pa.record_batch({"sex": ["M", "secret", None]})
    with pytest.raises(UnknownCategory, match="'sex': 2 of 3") as caught:
        encode_codes(batch, {"sex": Categories(["F", "M"])})
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_category_without_its_column_is_refused():
    with pytest.raises(UnknownColumn):
        encode_codes(pa.record_batch({"a": [1]}), {"sex": Categories(["F", "M"])})


def test_text_that_is_no_number_is_missing_if_that_is_asked():
    values = encode_numbers(cells(a=["1.5", "05", "secret", "NA"]), ["a"], text="missing")
    np.testing.assert_array_equal(values[:, 0], [1.5, np.nan, np.nan, np.nan])


def test_the_likely_cause_is_said():
    batch = cells(a=["1,5"], b=["31.12.2020"], c=[date(2020, 1, 1)], d=[1], e=[True])
    causes = (
        r"'a' \(decimal commas.*\), 'b' \(dates\), 'c' \(dates\), 'e' \(other text\) of 5 columns"
    )
    with pytest.raises(NotNumeric, match=causes):
        encode_numbers(batch, [*"abcde"])
    missing = encode_numbers(batch, [*"abcde"], text="missing")
    np.testing.assert_array_equal(missing, [[np.nan, np.nan, np.nan, 1, np.nan]])


@pytest.mark.parametrize("scale", range(1, 30))
def test_a_decimal_is_read_by_its_own_digits(scale):
    for kind in (pa.decimal128(38, scale), pa.decimal256(70, scale)):
        column = pa.array([Decimal("1.1"), Decimal("-7.0"), Decimal(0)], kind)
        values = encode_numbers(pa.record_batch({"a": column}), ["a"])
        assert values[:, 0].tolist() == [1.1, -7.0, 0.0]


def test_objects_of_several_kinds_are_no_categories_and_no_people():
    (batch,) = source_of(pd.DataFrame({"a": pd.Series(["7", 7], dtype=object)})).batches(["a"])
    with pytest.raises(UnknownCategory, match=r"'a'.*objects that are not all text"):
        encode_codes(batch, {"a": Categories(["7"])})
    with pytest.raises(InvalidSetting, match="cannot tell people apart"):
        encode_owners(batch, "a")


OWNERS = {
    "text": pa.array(["7", " 7 ", "7.0", "7.00", "x"]),
    "large text": pa.array(["7", " 7 ", "7.0", "7.00", "x"], pa.large_string()),
    "dictionary": pa.array(["7", " 7 ", "7.0", "7.00", "x"]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", OWNERS)
def test_spellings_of_one_number_are_one_person(kind):
    assert encode_owners(pa.record_batch({"id": OWNERS[kind]}), "id").to_pylist() == [*"7777", "x"]


def test_whole_numbers_and_decimals_tell_people_apart():
    for column in (pa.array([7, None]), pa.array([Decimal("7.00"), None])):
        assert encode_owners(pa.record_batch({"id": column}), "id").to_pylist() == ["7", None]


NOBODIES = {
    "floats": pa.array([7.0]),
    "bytes": pa.array([b"secret"]),
    "bytes of one length": pa.array([b"secret"], pa.binary(6)),
    "lists": pa.array([["secret"]]),
    "structs": pa.array([{"secret": 1}]),
    "floats in a dictionary": pa.array([7.0]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", NOBODIES)
def test_kinds_that_cannot_tell_people_apart_are_refused_by_name(kind):
    with pytest.raises(InvalidSetting, match=r"'id'.*cannot tell people apart") as caught:
        encode_owners(pa.record_batch({"id": NOBODIES[kind]}), "id")
    assert "secret" not in str(caught.value)
    assert "whole numbers or text" in caught.value.hint


@pytest.mark.heavy
@given(st.lists(CELLS, min_size=1), st.randoms())
@example(["9007199254740993", "1e400", "1e-400", "-0", "+5", ".5", "5.", "1e99999999999"], None)
def test_a_cell_is_read_as_it_would_be_alone(cells, random):
    together = floats_of(pa.array(cells))
    alone = [floats_of(pa.array([cell]))[0] for cell in cells]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.heavy
@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_become_the_nearest_double(number):
    assert floats_of(pa.array([f" {number!r}"]))[0] == float(number)


ODD = {
    "05": "zeros in front",
    "-01.5": "zeros in front",
    "1,5": "decimal commas or thousands separators",
    "1.234,5": "decimal commas or thousands separators",
    "1 234": "decimal commas or thousands separators",
    "31.12.2020": "dates",
    "01.02.2020": "dates",
    "2020-12-31": "dates",
    "2020-12-31 10:00": "dates",
    "secret": "other text",
    "1.5 kg": "other text",
}


@pytest.mark.parametrize("cell", ODD)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_no_number_is_named_wherever_it_stands(cell, place):
    cells = ["1.5", "inf", "NA"]
    cells.insert(place, cell)
    column = pa.array(cells)
    assert odd_cell_kinds(column) == [ODD[cell]]
    assert np.isnan(floats_of(column)[place])


@pytest.mark.parametrize("cell", ["", " ", "NA", "nan", "NULL", "#N/A", None])
def test_marks_for_missing_values_are_no_text(cell):
    column = pa.array([cell], pa.string())
    assert is_missing(column).to_pylist() == [True]
    assert odd_cell_kinds(column) == []
    assert np.isnan(floats_of(column)[0])
