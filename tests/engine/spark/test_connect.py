"""Spark Connect is another client of Spark: without a JVM beside it, and without a context."""

SCRIPT = """
import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import shoal
from shoal.domain import Box, Grid
from shoal.engine import rows_of
from shoal.errors import AlreadyExists, NotFinite, SessionStopped

builder = SparkSession.builder.remote("local[1]")
session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
box = Box(x=(0, 1), y=(0, 1))
X = np.random.default_rng(0).uniform(0, 1, (300, 2))
table = pa.table({"x": X[:, 0], "y": X[:, 1]})
frame = session.createDataFrame(table).repartition(2)
assert "connect" in type(frame).__module__

rows, grid = rows_of(frame, box), Grid(box, 4)
assert np.array_equal(rows.count(grid), rows_of(table, box).count(grid))
twice = rows.map(lambda block: block.numbers * 2, ["a", "b"])
assert twice.like_input().columns == ["x", "y", "a", "b"]
twice.write("FOLDER/twice.parquet")
assert session.read.parquet("FOLDER/twice.parquet").count() == 300
try:
    twice.write("FOLDER/twice.parquet")
except AlreadyExists:
    print("it was there already")
reports = shoal.Perturb(shoal.NDLaplace(9.0, domain=box), random_state=7).fit_transform(frame)
assert reports.toArrow().equals(reports.toArrow())
try:
    rows_of(session.sql("SELECT CAST('NaN' AS DOUBLE) AS x, 1 AS y"), box).size()
except NotFinite:
    print("NaN was met")
session.stop()
try:
    rows_of(frame, box)
except SessionStopped:
    print("and the end was seen")
"""


def test_frames_of_spark_connect_do_what_classic_ones_do(through_connect, tmp_path):
    told = "it was there already\nNaN was met\nand the end was seen"
    assert told in through_connect(SCRIPT.replace("FOLDER", tmp_path.as_uri()))
