import numpy as np

from shoal.cluster.prototypes.held_rows import hold_rows
from shoal.domain import Schema

SCHEMA = Schema.of(
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
        SCHEMA,
    )
    np.testing.assert_allclose(rows.numbers, [[-1, -1], [0, 0], [1, 1]])
    assert rows.codes.tolist() == [[0], [0], [0]]


def test_no_rows_are_an_empty_table():
    rows = hold_rows({"age": [], "size": [], "level": []}, SCHEMA)
    assert len(rows) == 0
    assert rows.numbers.shape == (0, 2)
