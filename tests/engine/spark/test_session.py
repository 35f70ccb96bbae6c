import sys

import numpy as np
import pytest

from shoal.cluster import PrivateKMeans
from shoal.domain import Box, Grid
from shoal.engine import rows_of
from shoal.engine.spark._session import (
    _python_of,
    active_session,
    check_java,
    read_table,
    spark_session,
)
from shoal.errors import InvalidSetting, NotInstalled, UnreadableTable
from shoal.synopsis import UniformGrid

BOX = Box(x=(0, 1), y=(0, 1))
POINTS = np.random.default_rng(2).permutation(
    np.repeat([[0.2, 0.2], [0.8, 0.3], [0.5, 0.9]], 300, axis=0)
)
POINTS = POINTS + np.random.default_rng(3).normal(0, 0.03, POINTS.shape)


def test_the_session_that_runs_is_found(spark):
    assert active_session().sparkContext.applicationId == spark.sparkContext.applicationId
    assert spark_session().sparkContext is spark.sparkContext


class Context:
    """A Spark context as far as its Python goes."""

    pythonExec = "python3"  # noqa: N815

    def __init__(self, master, **settings):
        self.master, self.settings = master, settings

    def getConf(self):  # noqa: N802
        return self.settings


def test_tasks_run_by_the_python_that_the_settings_name(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", "/named/python")
    settings = {"spark.pyspark.python": "/opt/shoal/bin/python"}
    assert _python_of(Context("yarn", **settings)) == "/opt/shoal/bin/python"
    assert _python_of(Context("yarn")) == "/named/python"
    monkeypatch.delenv("PYSPARK_PYTHON")
    assert _python_of(Context("yarn")) == "python3"
    assert _python_of(Context("local[2]")) == sys.executable


def test_a_session_that_runs_already_keeps_its_python(spark, monkeypatch):
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/its/own/python")
    assert spark_session().sparkContext.pythonExec == "/its/own/python"


def test_a_synopsis_is_clustered_by_spark_if_that_is_asked(spark, monkeypatch):
    monkeypatch.setattr("shoal.engine.spark._session._SEEDS", 2)
    grid = UniformGrid(epsilon=5, domain=BOX, random_state=7).fit(POINTS)
    mine, its = (
        PrivateKMeans.from_synopsis(grid, 3, spark_kmeans=by, random_state=1)
        for by in ("sklearn", "mllib")
    )
    centers = [sorted(model.cluster_centers_.tolist()) for model in (mine, its)]
    np.testing.assert_allclose(*centers, atol=0.05)
    with pytest.raises(InvalidSetting, match="must be 'sklearn' or 'mllib'"):
        PrivateKMeans.from_synopsis(grid, 3, spark_kmeans="mahout")


def test_tables_are_read_on_any_path_that_spark_reaches(spark, tmp_path):
    lines = ["x,y", *(f"{x},{y}" for x, y in POINTS)]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    csv = read_table(spark, f"file://{tmp_path}/rows.csv")
    csv.write.parquet(f"file://{tmp_path}/rows.parquet")
    expected = rows_of(POINTS, BOX).count(Grid(BOX, 5))
    for frame in (csv, read_table(spark, f"file://{tmp_path}/rows.parquet")):
        np.testing.assert_array_equal(rows_of(frame, BOX).count(Grid(BOX, 5)), expected)
    with pytest.raises(UnreadableTable, match="no readable table"):
        read_table(spark, f"file://{tmp_path}/none.parquet")
    with pytest.raises(UnreadableTable, match="does not end like a format"):
        read_table(spark, f"file://{tmp_path}/rows.xls")


def a_java(folder, words):
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{words}' >&2\n")
    program.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("words", ['openjdk version "17.0.15"', 'java version "21"', "who knows"])
def test_a_new_java_or_one_that_does_not_say_is_taken(tmp_path, monkeypatch, words):
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path, words))
    check_java()


@pytest.mark.parametrize(
    ("words", "told"), [('java version "1.8.0_392"', "Java 8"), ('version "11.0.2"', "Java 11")]
)
def test_an_old_java_is_refused_by_its_version(tmp_path, monkeypatch, words, told):
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path, words))
    with pytest.raises(
        NotInstalled, match=told, check=lambda error: error.reason == "java"
    ) as caught:
        check_java()
    assert caught.value.exit_code == 4


def test_no_java_at_all_is_told(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        NotInstalled, match="found neither", check=lambda error: error.reason == "java"
    ):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(
        NotInstalled, match="found neither", check=lambda error: error.reason == "java"
    ):
        check_java()
