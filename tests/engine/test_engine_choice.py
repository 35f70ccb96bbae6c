import numpy as np
import pandas as pd
import pytest

from shoal.domain import Box, Grid, Schema
from shoal.engine import Rows, rows_of
from shoal.engine._engine_choice import by_engine, frame_table, is_rows, unbounded_box
from shoal.errors import (
    DimensionMismatch,
    InvalidDomain,
    InvalidSetting,
    ShoalError,
    UnknownColumn,
    UnreadableTable,
)

BOX = Box(age=(0, 110), visits=(0, 20))


class Unread:
    """A source whose rows nobody may read."""

    names = ("age", "visits")

    def batches(self, columns, size=0):
        raise AssertionError("a row was read")


def test_no_row_is_read_until_a_verb_asks(monkeypatch):
    monkeypatch.setattr("shoal.engine._engine_choice.source_of", lambda X, names: Unread())
    rows = rows_of("file", BOX)
    with pytest.raises(AssertionError, match="a row was read"):
        rows.size()


def test_named_columns_are_picked_by_name_whatever_their_order():
    frame = pd.DataFrame({"visits": [3], "note": ["x"], "age": [30]})
    assert rows_of(frame, BOX).take(1, np.random.default_rng(0)).tolist() == [[30, 3]]


def test_the_columns_of_an_array_are_the_domains():
    assert rows_of([[30, 3]], BOX).sizes(["visits"])["visits"].to_pylist() == [3]


def test_an_array_of_another_width_is_refused_at_once():
    with pytest.raises(DimensionMismatch):
        rows_of(np.zeros((3, 3)), BOX)


def test_missing_columns_are_named():
    with pytest.raises(UnknownColumn, match="'visits' of the 2 columns selected"):
        rows_of({"age": [1]}, BOX)
    with pytest.raises(UnknownColumn, match="'id' of the 3 columns selected"):
        rows_of(np.zeros((1, 2)), BOX, person="id", max_rows_per_person=1)


def test_a_person_column_without_a_limit_limits_nothing_and_is_refused():
    with pytest.raises(InvalidSetting, match="max_rows_per_person"):
        rows_of({"age": [1], "visits": [1], "id": [1]}, BOX, person="id")


@pytest.mark.heavy
def test_a_schemas_person_column_without_a_limit_is_refused_too():
    content = {"version": 1, "columns": {"age": {"low": 0, "high": 110}}, "person": "id"}
    schema = Schema.of(content)
    with pytest.raises(InvalidSetting, match="max_rows_per_person"):
        rows_of({"age": [1, 2], "id": [1, 1]}, schema)
    assert rows_of({"age": [1, 2], "id": [1, 1]}, schema, max_rows_per_person=1).size() == 1


def test_a_file_without_a_header_is_refused_at_once_and_nobody_in_it_quoted(tmp_path):
    (tmp_path / "t.csv").write_text("1973-April-02,CANARY7731\n1980-May-01,x\n")
    with pytest.raises(UnknownColumn) as caught:
        rows_of(tmp_path / "t.csv", BOX)
    assert "CANARY" not in str(caught.value)
    assert "April" not in str(caught.value)


def test_rows_pass_through():
    rows = rows_of([[30, 3]], BOX, outside="refuse")
    assert rows_of(rows, BOX) is rows
    assert rows_of(rows, BOX, outside="refuse") is rows


def test_rows_on_other_terms_or_of_another_domain_do_not_pass():
    rows = rows_of([[30, 3]], BOX)
    with pytest.raises(InvalidSetting, match="other settings"):
        rows_of(rows, BOX, outside="refuse")
    with pytest.raises(InvalidSetting, match="domain"):
        rows_of(rows, Box.unit(2))


@pytest.mark.parametrize(
    ("X", "domain", "error"),
    [
        ([[1, 2]], (0, 1), InvalidDomain),
        (object(), BOX, UnreadableTable),
        ("no such file.csv", BOX, UnreadableTable),
    ],
)
def test_what_is_no_table_or_no_domain_is_refused_with_a_next_step(X, domain, error):
    with pytest.raises(error) as caught:
        rows_of(X, domain)
    assert isinstance(caught.value, ShoalError)
    assert caught.value.hint


def test_a_schemas_columns_are_those_of_an_array_in_order():
    schema = Schema.of(
        {
            "version": 1,
            "columns": {"level": {"values": [1, 2]}, "age": {"low": 0, "high": 110}},
        }
    )
    rows = rows_of(np.array([[2, 30.0], [1, 50.0]]), schema)
    assert rows.count(Grid(schema.box, 2)).tolist() == [2, 0]
    assert rows.sizes(["level"])["n"].to_pylist() == [1, 1]


def test_no_number_that_occurs_is_moved_or_refused():
    far = np.array([[-1e299], [0.0], [1e-300], [1e299]])
    rows = rows_of({"x": far[:, 0]}, unbounded_box(["x"]), outside="refuse")
    np.testing.assert_array_equal(np.sort(rows.take(4, np.random.default_rng(1)), axis=0), far)


def test_tables_of_this_machine_are_handed_on_as_they_came():
    for table in ([[1.0]], pd.DataFrame({"x": [1]}), "rows.csv", None):
        assert by_engine(table, embedded=lambda X: X, distributed=None) is table


def test_a_frame_is_handed_on_behind_the_verbs_of_a_table(spark):
    frame = spark.range(3).toDF("x")
    table = by_engine(frame, embedded=None, distributed=lambda table: table)
    assert (table.frame is frame, table.names) == (True, ("x",))
    assert by_engine(table, embedded=None, distributed=lambda table: table) is table
    assert frame_table(table) is table


def test_what_is_no_frame_is_refused_where_a_frame_belongs():
    with pytest.raises(InvalidSetting, match="needs a Spark DataFrame; got a list"):
        frame_table([[1.0]])


def test_a_frame_that_claims_every_attribute_is_not_taken_for_rows():
    parts = {
        "__module__": "pyspark.sql.connect.dataframe",
        "__getattr__": lambda frame, name: name,
    }
    frame = type("DataFrame", (), parts)()
    assert isinstance(frame, Rows)  # as its attributes alone tell
    assert not is_rows(frame)
