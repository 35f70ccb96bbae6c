"""Stages of ``pyspark.ml`` through Spark Connect, which has its own data frames and no JVM here."""

import pytest

SCRIPT = """
import sys

import numpy as np
import pyarrow as pa
from pyspark.ml import Pipeline, PipelineModel
from pyspark.sql import SparkSession

import shoal
from shoal import spark_ml

session = SparkSession.builder.remote("local[1]").getOrCreate()
session.conf.set("spark.sql.shuffle.partitions", "1")
box = shoal.Box(x=(0, 1), y=(0, 1))
X = np.random.default_rng(0).uniform(0, 1, (500, 2))
frame = session.createDataFrame(pa.table({"x": X[:, 0], "y": X[:, 1]}))
assert "connect" in type(frame).__module__

groups = spark_ml.PrivateKMeans(n_clusters=3, epsilon=1, domain=box, random_state=1)
fitted = Pipeline(stages=[groups]).fit(frame)
fitted.write().overwrite().save(sys.argv[1])
labels = PipelineModel.load(sys.argv[1]).transform(frame).toPandas()["prediction"]
near = shoal.PrivateKMeans(3, epsilon=1, domain=box, random_state=1).fit(X)
assert np.array_equal(labels, near.predict(X))

noise = shoal.NDLaplace(3.0, domain=box)
reports = spark_ml.Perturb(mechanism=noise).transform(frame).toPandas()
assert list(reports.columns) == ["x", "y"]
assert reports.shape == X.shape
assert np.mean(np.abs(reports.to_numpy() - X)) > 0.1
session.stop()
print("all the same")
"""


@pytest.mark.slow
def test_stages_do_through_connect_what_they_do_beside_a_jvm(through_connect, tmp_path):
    assert "all the same" in through_connect(SCRIPT, tmp_path / "model")
