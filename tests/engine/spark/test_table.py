import logging

import pyarrow as pa
import pytest

from shoal.engine.spark.table import SparkTable
from shoal.errors import ClusterFailed, DuplicateColumn, InvalidSetting, TooLarge

ROWS = pa.table({"age": [31, 47, 31, None], "id.x": ["7", "7.0", "ada", "bob"]})


def test_what_is_no_spark_frame_is_refused():
    with pytest.raises(InvalidSetting, match="Table came"):
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
