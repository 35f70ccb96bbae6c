import logging

import pyarrow as pa
import pytest

from shoal.domain import Box
from shoal.engine import rows_of
from shoal.engine.spark._failures import check_session_runs, translate_errors
from shoal.errors import (
    AlreadyExists,
    ClusterFailed,
    DuplicateColumn,
    InvalidSetting,
    NotFinite,
    NotInstalled,
    SessionStopped,
    UnreadableTable,
)


class SparksOwn(Exception):
    """As pyspark raises them, whose words quote rows."""

    __module__ = "pyspark.errors.exceptions.captured"


@pytest.mark.parametrize(
    ("words", "kind", "told"),
    [
        (
            "Traceback ... ModuleNotFoundError: No module named 'pyarrow'",
            NotInstalled,
            "pyarrow",
        ),
        ('java.io.IOException: Cannot run program "/opt/python"', NotInstalled, "cannot run"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has 3.12", NotInstalled, "version"),
        ("[PATH_ALREADY_EXISTS] Path hdfs:/x already exists", AlreadyExists, "already"),
        ("[PATH_NOT_FOUND] Path does not exist", UnreadableTable, "no readable table"),
        ("Cannot call methods on a stopped SparkContext", SessionStopped, "stopped"),
        ("could not cast 'Ada, 31, HIV'", ClusterFailed, "SparksOwn"),
    ],
)
def test_what_spark_raises_is_named_without_its_words(words, kind, told):
    with pytest.raises(kind, match=told) as caught, translate_errors("reading rows"):
        raise SparksOwn(words)
    assert "Ada" not in str(caught.value)
    assert caught.value.__suppress_context__  # or a traceback would show them all the same


def test_what_arrow_says_of_what_came_is_withheld_too():
    with pytest.raises(ClusterFailed) as caught, translate_errors("reading rows"):
        pa.array(["Ada, 31, HIV"]).cast(pa.int64())
    assert "Ada" not in str(caught.value)


@pytest.mark.parametrize("error", [NotFinite("NaN came.", "Fill it."), KeyError("x")])
def test_what_is_not_sparks_comes_through(error):
    with pytest.raises(type(error)) as caught, translate_errors("reading rows"):
        raise error
    assert caught.value is error


class Gone:
    """A frame of Spark Connect whose session was stopped."""

    class sparkSession:  # noqa: N801
        is_stopped = True


def test_a_stopped_session_is_told_before_anything_is_asked_of_it():
    with pytest.raises(SessionStopped, match="was stopped"):
        check_session_runs(Gone())


class Heard(logging.Handler):
    """What was logged."""

    def __init__(self):
        super().__init__()
        self.words = []

    def emit(self, record):
        self.words.append(record.getMessage())


def test_what_pyspark_logs_of_a_failed_query_is_kept_back_too(spark):
    from pyspark.logger import PySparkLogger

    logger, heard = PySparkLogger.getLogger("DataFrameQueryContextLogger"), Heard()
    names = spark.createDataFrame([("Ada",)], "name string")
    ages = names.select(names["name"].cast("int").alias("age"))
    logger.addHandler(heard)
    try:
        with pytest.raises(ClusterFailed):
            rows_of(ages, Box(age=(0, 110))).size()
        assert not heard.words
        with pytest.raises(Exception, match="Ada"):
            ages.collect()
    finally:
        logger.removeHandler(heard)
    assert "Ada" in heard.words[0]  # as of anybody else's query


def test_a_worker_without_the_python_that_was_named_is_told_of(spark, monkeypatch):
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/nowhere/python")
    with pytest.raises(
        NotInstalled, match="cannot run the Python", check=lambda error: error.reason == "worker"
    ):
        rows_of(spark.range(3).toDF("age"), Box(age=(0, 110))).size()


def test_frames_that_have_no_end_and_names_that_spark_confuses_are_named(spark):
    stream = spark.readStream.format("rate").load().withColumnRenamed("value", "age")
    with pytest.raises(InvalidSetting, match="Streaming"):
        rows_of(stream, Box(age=(0, 110))).size()
    twice = spark.range(3).selectExpr("id AS age", "id AS AGE")
    with pytest.raises(DuplicateColumn, match="capitals"):
        rows_of(twice, Box(age=(0, 110))).size()
