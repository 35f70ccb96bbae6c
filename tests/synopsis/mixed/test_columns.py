import numpy as np
import pytest

from shoal.domain import Box, Schema
from shoal.engine import rows_of
from shoal.errors import InvalidDomain, NotFinite, NotNumeric, UnknownBounds, UnknownCategory
from shoal.synopsis.mixed._columns import LATTICE, mixed_columns

SCHEMA = {
    "age": {"low": 0, "high": 100, "missing": "flag"},
    "visits": {"low": 0, "high": 10, "missing": "middle"},
    "grade": {"levels": ["low", "middle", "high"], "missing": "flag", "weight": 2},
    "sex": {"values": ["F", "M"]},
    "country": {"values": ["here"]},
    "town": {"values": ["a", "b"], "other": "bucket"},
}


def schema_of(columns):
    return Schema.of({"version": 1, "columns": columns})


def encoded(columns, rows):
    schema = schema_of(columns)
    mixed = mixed_columns(schema)

    def kernel(block):
        return tuple(mixed.wholes(block)) + tuple(mixed.codes(block))

    table = rows_of(rows, schema).map(lambda b: [*kernel(b)], mixed.names).frame()
    return {name: table[name].to_pylist() for name in mixed.names}


ROWS = {
    "age": [0.0, 100.0, None],
    "visits": [10.0, None, 0.0],
    "grade": ["low", None, "high"],
    "sex": ["F", "M", "M"],
    "country": ["here"] * 3,
    "town": ["a", "zz", None],
}


def test_numbers_levels_categories_and_marks_are_told_apart():
    seen = encoded(SCHEMA, ROWS)
    assert seen["age"] == [-LATTICE, LATTICE, 0]
    assert seen["visits"] == [LATTICE, 0, -LATTICE]
    assert seen["grade"] == [-LATTICE, 0, LATTICE]
    assert seen["sex"] == [0, 1, 1]
    assert seen["town"] == [0, 2, 2]
    assert seen["age missing"] == [0, 0, 1]
    assert seen["grade missing"] == [0, 1, 0]


def test_a_column_of_one_category_is_left_out():
    assert "country" not in mixed_columns(schema_of(SCHEMA)).names


def test_missing_numbers_raise_where_the_schema_does_not_say_what_they_become():
    with pytest.raises(NotFinite, match="'age'"):
        encoded({"age": {"low": 0, "high": 1}}, {"age": [None]})


def test_text_where_numbers_are_declared_raises():
    with pytest.raises(NotNumeric, match="'age'"):
        encoded({"age": {"low": 0, "high": 1}}, {"age": ["old"]})


def test_a_category_outside_the_list_raises_unless_there_is_a_bucket():
    with pytest.raises(UnknownCategory, match="'sex'"):
        encoded({"sex": {"values": ["F", "M"]}}, {"sex": ["x"]})


@pytest.mark.parametrize("bins", [4, 32])
def test_bins_cover_the_bounds_evenly(bins):
    (age,) = mixed_columns(schema_of({"age": {"low": 0, "high": 1}})).numbers
    wholes = np.linspace(-LATTICE, LATTICE, 10_001).astype(np.int64)
    counts = np.bincount(age.bins_of(wholes, bins), minlength=bins)
    assert counts.size == bins
    assert counts.max() - counts.min() <= 2


def test_levels_are_their_own_bins():
    (grade,) = mixed_columns(schema_of({"grade": {"levels": ["a", "b", "c", "d"]}})).numbers
    wholes = np.trunc(np.linspace(-LATTICE, LATTICE, 4)).astype(np.int64)
    assert grade.bins_of(wholes, 32).tolist() == [0, 1, 2, 3]
    assert grade.unscaled([-1, 1]).tolist() == [0, 3]


def test_weights_are_those_of_the_schema():
    assert mixed_columns(schema_of(SCHEMA)).number_weights.tolist() == [1, 1, 2]


def test_what_is_no_schema_is_refused():
    with pytest.raises(UnknownBounds, match="schema"):
        mixed_columns(None)
    with pytest.raises(InvalidDomain, match="Schema"):
        mixed_columns(Box(age=(0, 1)))
    with pytest.raises(InvalidDomain, match="one category"):
        mixed_columns(schema_of({"country": {"values": ["here"]}}))
