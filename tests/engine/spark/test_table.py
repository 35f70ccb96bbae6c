import logging

import pyarrow as pa
import pytest

from shoal.engine.spark._table import SparkTable
from shoal.errors import (
    ClusterFailed,
    DuplicateColumn,
    InvalidSetting,
    TooLarge,
    UnknownColumn,
)

ROWS = pa.table({"age": [31, 47, 31, None], "id.x": ["7", "7.0", "ada", "bob"]})


def test_what_is_no_spark_frame_is_refused():
    with pytest.raises(InvalidSetting, match="got a Table"):
        SparkTable(ROWS)


def test_combinations_are_counted_nulls_and_people_too(spark):
    table = SparkTable(spark.createDataFrame(ROWS))
    assert table.names == ("age", "id.x")
    found = table.counts(["age"]).to_pylist()
    assert {row["c0"]: row["n"] for row in found} == {31: 2, 47: 1, None: 1}
    people = table.query("SELECT count(DISTINCT owner) AS n FROM rows", [], "id.x")
    assert people.to_pydict() == {"n": [3]}
    with pytest.raises(
        TooLarge,
        match="3 distinct combinations, and 2 may",
        check=lambda error: error.reason == "combinations",
    ):
        SparkTable(spark.createDataFrame(ROWS), collect_limit=2).counts(["age"])


def test_one_name_for_two_columns_is_refused(spark):
    with pytest.raises(DuplicateColumn):
        SparkTable(spark.range(1).selectExpr("id AS a", "id AS a"))


def test_what_spark_says_of_a_row_is_withheld_and_logged_nowhere_here(spark, monkeypatch):
    logged = []
    monkeypatch.setattr(logging.Logger, "callHandlers", lambda _, record: logged.append(record))
    frame = spark.createDataFrame(pa.table({"age": ["secret"]}))
    with pytest.raises(ClusterFailed) as error:
        SparkTable(frame.selectExpr("CAST(age AS INT) AS age")).counts(["age"])
    assert "secret" not in str(error.value)
    assert not [record for record in logged if "secret" in record.getMessage()]


def test_nothing_is_kept_by_spark_afterwards(spark):
    table = SparkTable(spark.createDataFrame(ROWS))
    with table.grouped(["age"]) as found:
        assert found.frame.is_cached
    assert not found.frame.is_cached
    assert not [view for view in spark.catalog.listTables() if view.name.startswith("shoal")]


def test_combinations_come_here_only_if_they_are_few(spark):
    frame = spark.createDataFrame(ROWS)
    assert SparkTable(frame).collected(["age"]).num_rows == 3
    assert SparkTable(frame, collect_limit=2).collected(["age"]) is None
    assert sorted(SparkTable(frame).owners("id.x").to_pylist()) == ["7", "ada", "bob"]
    with pytest.raises(
        TooLarge,
        match="3 people, and 2 may be collected",
        check=lambda error: error.reason == "people",
    ):
        SparkTable(frame, collect_limit=2).owners("id.x")


def test_columns_are_chosen_and_read_as_whole_numbers(spark):
    table = SparkTable(spark.createDataFrame(ROWS))
    assert (table.is_whole("age"), table.is_whole("id.x")) == (True, False)
    assert table.select(["id.x"]).columns == ["id.x"]
    read = table.select(["id.x"], whole=True).toArrow()["id.x"].to_pylist()
    assert read == [7, None, None, None]
    with pytest.raises(UnknownColumn):
        table.select(["name"])


def test_a_sample_is_repeatable_and_no_larger_than_asked(spark):
    table = SparkTable(spark.range(0, 100, 1, 2).toDF("a.b"))
    drawn = table.sample(["a.b"], 10, seed=7)
    assert drawn.column_names == ["a.b"]
    assert len(set(drawn["a.b"].to_pylist())) == 10
    assert table.sample(["a.b"], 10, seed=7).equals(drawn)


def test_what_tasks_make_of_blocks_is_added_up_and_their_words_withheld(spark):
    table = SparkTable(spark.range(0, 6, 1, 2).toDF("x"))
    schema = pa.schema([("half", pa.int64()), ("n", pa.int64())])

    def halves(blocks):  # workers have no tests to import
        for block in blocks:
            half = [value // 2 for value in block.column(0).to_pylist()]
            yield pa.record_batch({"half": half, "n": [1] * len(half)})

    def refusing(blocks):
        raise ValueError(f"no good: {next(iter(blocks)).to_pydict()}")

    with table.added_up(halves, schema) as lines:
        found = lines.query("SELECT c0, c1 FROM rows ORDER BY c0", ["half", "n"])
    assert found.to_pydict() == {"c0": [0, 1, 2], "c1": [2, 2, 2]}
    with pytest.raises(ClusterFailed) as error, table.added_up(refusing, schema) as lines:
        lines.query("SELECT c0 FROM rows", ["half"])
    assert "no good" not in str(error.value)


def test_a_text_beside_a_table_is_read_if_it_is_there(spark, tmp_path):
    table = SparkTable(spark.range(1))
    assert table.text_at(str(tmp_path / "about.json")) is None
    (tmp_path / "about.json").write_text('{"of": "reports"}\n')
    assert table.text_at(str(tmp_path / "about.json")) == '{"of": "reports"}\n'
    (tmp_path / "about.json").write_text("")
    assert table.text_at(str(tmp_path / "about.json")) == ""
