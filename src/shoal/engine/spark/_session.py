"""The one module that imports pyspark: sessions, reading tables, task numbers, k-means||."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.ml.clustering import KMeans
from pyspark.ml.functions import array_to_vector
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from shoal.arrays import Floats
from shoal.data.untyped_cells import UNTYPED
from shoal.engine.spark._failures import translate_errors
from shoal.engine.spark._schema import quote_name
from shoal.errors import NotInstalled, SessionStopped, UnreadableTable

_SEEDS = 8  # runs of k-means||, the best of which is taken: each stops at another optimum
_OLDEST_JAVA = 17  # that Spark 4 runs on


def spark_session(master: str | None = None, **settings: str) -> SparkSession:
    """Return the running Spark session, or start one.

    Parameters
    ----------
    master
        ``local[4]``, ``spark://host:7077``, ``yarn``, ``k8s://...``; left out, what the environment
        or ``spark-submit`` says, or this machine. ``sc://host`` is Spark Connect.
    **settings
        Spark's settings, with dots as double underscores: ``spark__executor__memory="4g"``.
    """
    builder = SparkSession.builder.appName("shoal")
    for name, value in settings.items():
        builder = builder.config(name.replace("__", "."), value)
    running = SparkSession.getActiveSession()
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        check_java()
        builder = builder if master is None else builder.master(master)
    with translate_errors("starting a session"):
        session = builder.getOrCreate()
        if running is None and hasattr(session, "_jsc"):  # a session of ours, and no server's
            session.sparkContext.pythonExec = _python_of(session.sparkContext)
    return session


def _python_of(context: Any) -> str:
    """Return the Python that is to run tasks.

    On this machine it is the one that runs here; workers elsewhere have one of their own.
    """
    here = sys.executable if context.master.startswith("local") else context.pythonExec
    named = os.environ.get("PYSPARK_PYTHON", here)
    return str(context.getConf().get("spark.pyspark.python", named))


def active_session() -> SparkSession:
    """Return the session that runs here; raise ``SessionStopped`` if there is none."""
    session = SparkSession.getActiveSession()
    if session is None:
        raise SessionStopped(
            "There is no running Spark session.",
            "Start one: SparkSession.builder.getOrCreate().",
        )
    return session


def read_table(session: SparkSession, path: str) -> Any:
    """Return a frame of the CSV or Parquet files at a path Spark can reach; no row is read.

    CSV columns come as text, as everywhere in shoal: each cell is read by itself.
    """
    name = path.rstrip("/*")
    with translate_errors("opening a table"):
        if name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
            mark = "\t" if ".tsv" in name else ","
            frame = session.read.csv(path, header=True, sep=mark, mode="FAILFAST", escape='"')
            return frame.select(
                *(col(quote_name(name)).alias(name, metadata=UNTYPED) for name in frame.columns)
            )
        if name.endswith(".parquet") or "." not in name.rsplit("/", 1)[-1]:
            return session.read.parquet(path)
    raise UnreadableTable(
        "The path does not end like a format that Spark reads here.",
        "Use a path that ends in .csv, .csv.gz, .tsv or .parquet.",
    )


def partition_id() -> int:
    """Return the number of the partition that this task, on a worker, works on."""
    context = TaskContext.get()
    assert context is not None, "only tasks have one"
    return int(context.partitionId())


def mllib_centers(points: Floats, weights: Floats, k: int, seed: int) -> Floats:
    """Cluster weighted points with Spark's own k-means||, the best of eight seeds.

    It has no runs to choose among and stops at poorer optima than scikit-learn's, so the best of
    eight seeds is taken.
    """
    with translate_errors("clustering"):
        frame = _weighted(active_session(), points, weights).persist()
        try:
            fits = [_fitted(frame, k, seed + run) for run in range(_SEEDS)]
        finally:
            frame.unpersist()
    return min(fits, key=lambda centers: _cost(points, weights, centers))


def _weighted(session: SparkSession, points: Floats, weights: Floats) -> Any:
    each = pa.FixedSizeListArray.from_arrays(pa.array(points.ravel()), points.shape[1])
    table = pa.table({"point": each.cast(pa.list_(pa.float64())), "weight": weights})
    frame = session.createDataFrame(table)
    return frame.select(array_to_vector(col("point")).alias("features"), "weight")


def _fitted(frame: Any, k: int, seed: int) -> Floats:
    kmeans = KMeans(k=k, seed=seed, initMode="k-means||", weightCol="weight")
    return np.array(kmeans.fit(frame).clusterCenters())


def _cost(points: Floats, weights: Floats, centers: Floats) -> float:
    nearest = np.min([((points - center) ** 2).sum(axis=1) for center in centers], axis=0)
    return float(weights @ nearest)


def check_java() -> None:
    """Refuse to start Spark without Java, or with one too old."""
    program = _java_program()
    if program is None:
        raise NotInstalled(
            "Spark needs Java, which was found neither in JAVA_HOME nor on the PATH.",
            f"Install Java {_OLDEST_JAVA} or later, e.g. openjdk-{_OLDEST_JAVA}-jre-headless.",
            reason="java",
        )
    version = _java_version(program)
    if version is not None and version < _OLDEST_JAVA:
        raise NotInstalled(
            f"Spark needs Java {_OLDEST_JAVA} or later; found Java {version}.",
            f"Install Java {_OLDEST_JAVA}, or set JAVA_HOME to it.",
            reason="java",
        )


def _java_program() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home:
        inside = Path(home) / "bin" / "java"
        return str(inside) if inside.exists() else None
    return shutil.which("java")


def _java_version(program: str) -> int | None:
    """Return the major version of a Java program; None if it does not say."""
    try:
        done = subprocess.run(
            [program, "-version"], check=False, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return None if version is None else int(version[1])
