import numpy as np
import pytest

from shoal.cluster.prototypes._mixed_rows import (
    MixedRows,
    Prototypes,
    even_rows,
    every_row,
    hold_rows,
)
from shoal.domain import Schema
from shoal.synopsis.mixed._columns import mixed_columns

COLUMNS = mixed_columns(
    Schema.of(
        {
            "version": 1,
            "columns": {
                "age": {"low": 0, "high": 1},
                "income": {"low": 0, "high": 1, "weight": 4},
                "sex": {"values": ["F", "M"]},
                "town": {"values": ["a", "b", "c"], "weight": 3},
            },
        }
    )
)
RNG = np.random.default_rng(0)
ROWS = MixedRows(COLUMNS, RNG.uniform(-1, 1, (40, 2)), RNG.integers(0, [2, 3], (40, 2)))


def test_a_cost_is_weighted_squares_and_half_the_weight_of_a_mismatch():
    row = MixedRows(COLUMNS, np.array([[0.5, 0.0]]), np.array([[0, 2]]))
    prototypes = Prototypes(np.array([[0.0, 0.5], [0.5, 0.0]]), np.array([[0, 1], [1, 2]]))
    assert row.costs(prototypes) == pytest.approx(np.array([[0.25 + 4 * 0.25 + 1.5, 0.5]]))


def test_prototypes_are_the_means_and_modes_of_their_rows():
    labels = np.arange(40) % 2
    made = ROWS.prototypes_of(labels, Prototypes(np.zeros((2, 2)), np.zeros((2, 2), int)))
    assert made.numbers[1] == pytest.approx(ROWS.numbers[1::2].mean(axis=0))
    assert made.codes[0, 1] == np.bincount(ROWS.codes[::2, 1]).argmax()


def test_a_group_without_rows_keeps_its_prototype():
    old = Prototypes(np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([[1, 2], [0, 1]]))
    made = ROWS.prototypes_of(np.zeros(40, int), old)
    assert made.numbers[1].tolist() == [0.3, 0.4]
    assert made.codes[1].tolist() == [0, 1]


def test_numbers_alone_and_categories_alone_have_costs_too():
    for columns, numbers, codes in (
        ({"x": {"low": 0, "high": 1}}, np.zeros((3, 1)), np.empty((3, 0), int)),
        ({"c": {"values": ["a", "b"]}}, np.empty((3, 0)), np.zeros((3, 1), int)),
    ):
        made = mixed_columns(Schema.of({"version": 1, "columns": columns}))
        rows = MixedRows(made, numbers, codes)
        assert rows.costs(Prototypes(numbers[:1], codes[:1])).tolist() == [[0], [0], [0]]


LEVELS = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100},
            "size": {"levels": ["small", "middle", "large"]},
            "level": {"values": ["basic", "higher"]},
        },
    }
)


def test_rows_are_scaled_by_public_bounds_and_coded_by_public_lists():
    rows = hold_rows(
        {"age": [0.0, 50.0, 900.0], "size": ["small", "middle", "large"], "level": ["basic"] * 3},
        LEVELS,
    )
    np.testing.assert_allclose(rows.numbers, [[-1, -1], [0, 0], [1, 1]])
    assert rows.codes.tolist() == [[0], [0], [0]]


def test_no_rows_are_an_empty_table():
    rows = hold_rows({"age": [], "size": [], "level": []}, LEVELS)
    assert len(rows) == 0
    assert rows.numbers.shape == (0, 2)


def test_scores_are_about_every_row_of_a_person():
    columns = {"city": {"values": ["N", "S"]}}
    limited = Schema.of(
        {"version": 1, "columns": columns, "person": "id", "max_rows_per_person": 1}
    )
    assert every_row(limited).person is None


PEOPLE = Schema.of(
    {
        "version": 1,
        "columns": {"x": {"low": 5, "high": 6}, "c": {"values": ["a", "b"]}},
        "person": "id",
    }
)


def test_rows_are_spread_over_the_schema():
    rows = even_rows(PEOPLE, 400, 1)
    assert rows.column_names == ["x", "c", "id"]
    assert 5 <= min(rows["x"].to_pylist()) < max(rows["x"].to_pylist()) <= 6
    assert 150 < rows["c"].to_pylist().count("a") < 250
    assert len(set(rows["id"].to_pylist())) == 400
