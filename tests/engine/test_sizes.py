import numpy as np
import pytest

from shoal.domain import Box, Schema
from shoal.engine import rows_of
from shoal.errors import NotFinite, UnknownCategory

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "sex": {"values": ["M", "F"]},
            "level": {"values": [1, 2], "other": "bucket"},
            "age": {"low": 0, "high": 110},
        },
    }
)
TABLE = {
    "sex": ["F", "M", "F", "F"],
    "level": [2, 1, 2, 9],
    "age": [30.0, 200.0, 30.0, 150.0],
}


def test_groups_carry_labels_in_the_order_of_the_public_list():
    sizes = rows_of(TABLE, SCHEMA).sizes(["sex", "level"])
    assert sizes.to_pydict() == {
        "sex": ["M", "F", "F"],
        "level": ["1", "2", "<other>"],
        "n": [1, 2, 1],
    }


def test_numbers_are_grouped_after_they_were_moved_to_the_box():
    sizes = rows_of(TABLE, SCHEMA).sizes(["age"])
    assert sizes.to_pydict() == {"age": [30.0, 110.0], "n": [2, 2]}


def test_zero_with_either_sign_is_one_group():
    sizes = rows_of(np.array([[0.0], [-0.0]]), Box.unit(1)).sizes(["x0"])
    assert sizes.to_pydict() == {"x0": [0.0], "n": [2]}


def test_no_rows_have_no_groups():
    sizes = rows_of(np.empty((0, 2)), Box.unit(2)).sizes(["x1"])
    assert sizes.column_names == ["x1", "n"]
    assert sizes.num_rows == 0


def test_a_dropped_row_is_in_no_group():
    rows = rows_of({"age": [1.0, None, 1.0]}, Box(age=(0, 110)), nonfinite="drop")
    assert rows.sizes(["age"])["n"].to_pylist() == [2]


def test_refused_rows_come_out_of_the_query_as_named_errors():
    with pytest.raises(NotFinite, match="1 of 3"):
        rows_of({"age": [1.0, None, 1.0]}, Box(age=(0, 110))).sizes(["age"])
    with pytest.raises(UnknownCategory):
        rows_of(TABLE | {"sex": ["F", "x", "F", "F"]}, SCHEMA).sizes(["age"])


def test_columns_may_have_any_name():
    box = Box(**{'an "odd" name; --': (0, 1), "n'": (0, 1)})
    sizes = rows_of(np.array([[0.5, 0.5]]), box).sizes(list(box.names))
    assert sizes.column_names == [*box.names, "n"]
