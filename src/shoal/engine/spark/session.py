"""Where Spark itself is called: sessions, files on its paths, the place of a task, k-means||.

The Java that Spark runs on.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.ml.clustering import KMeans
from pyspark.ml.functions import array_to_vector
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from shoal.engine.spark.failures import translate_errors
from shoal.engine.spark.rows import SparkRows
from shoal.errors import NotInstalled, SessionStopped, UnreadableTable

__all__ = [
    "SparkRows",
    "active_session",
    "check_java",
    "mllib_centers",
    "partition_id",
    "read_table",
    "spark_session",
]

Matrix = NDArray[np.float64]
_SEEDS = 8

_OLDEST = 17


def spark_session(master: str | None = None, **settings: str) -> SparkSession:
    """The session that runs, or a new one.

    Parameters
    ----------
    master
        ``local[4]``, ``spark://host:7077``, ``yarn``, ``k8s://...``; left out, what the environment
        or ``spark-submit`` says, or this machine. ``sc://host`` is Spark Connect.
    **settings
        Of Spark, with dots as double underscores: ``spark__executor__memory="4g"``.
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
    """The Python that is to run tasks; of the settings Spark itself hears only spark-submit's.

    On this machine it is the one that runs here; workers elsewhere have one of their own.
    """
    here = sys.executable if context.master.startswith("local") else context.pythonExec
    named = os.environ.get("PYSPARK_PYTHON", here)
    return str(context.getConf().get("spark.pyspark.python", named))


def active_session() -> SparkSession:
    """The session that runs here."""
    session = SparkSession.getActiveSession()
    if session is None:
        raise SessionStopped(
            "There is no running Spark session.",
            "Start one: SparkSession.builder.getOrCreate().",
        )
    return session


def read_table(session: SparkSession, path: str) -> Any:
    """A frame of the CSV or Parquet files at any path Spark can reach. No row is read yet.

    CSV columns come as text, as everywhere in shoal: each cell is read by itself.

    Parameters
    ----------
    session, path
        By which session; a file, a folder or a pattern whose name says its format.
    """
    name = path.rstrip("/*")
    with translate_errors("opening a table"):
        if name.endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
            mark = "\t" if ".tsv" in name else ","
            return session.read.csv(path, header=True, sep=mark, mode="FAILFAST", escape='"')
        if name.endswith(".parquet") or "." not in name.rsplit("/", 1)[-1]:
            return session.read.parquet(path)
    raise UnreadableTable(
        "The path does not end like a format that Spark reads here.",
        "Use a path that ends in .csv, .csv.gz, .tsv or .parquet.",
    )


def partition_id() -> int:
    """The number of the partition that this task, on a worker, is at."""
    context = TaskContext.get()
    assert context is not None, "only tasks have one"
    return int(context.partitionId())


def mllib_centers(points: Matrix, weights: NDArray[np.float64], k: int, seed: int) -> Matrix:
    """Centres of weighted points by Spark's own k-means||: for more points than one machine likes.

    It has no runs to choose among and stops at poorer optima than scikit-learn's, so the best of
    eight seeds is taken.

    Parameters
    ----------
    points, weights, k, seed
        Released points, what each weighs, how many centres; of the first run.
    """
    with translate_errors("clustering"):
        frame = _weighted(active_session(), points, weights).persist()
        try:
            fits = [_fitted(frame, k, seed + run) for run in range(_SEEDS)]
        finally:
            frame.unpersist()
    return min(fits, key=lambda centers: _cost(points, weights, centers))


def _weighted(session: SparkSession, points: Matrix, weights: NDArray[np.float64]) -> Any:
    each = pa.FixedSizeListArray.from_arrays(pa.array(points.ravel()), points.shape[1])
    table = pa.table({"point": each.cast(pa.list_(pa.float64())), "weight": weights})
    frame = session.createDataFrame(table)
    return frame.select(array_to_vector(col("point")).alias("features"), "weight")


def _fitted(frame: Any, k: int, seed: int) -> Matrix:
    kmeans = KMeans(k=k, seed=seed, initMode="k-means||", weightCol="weight")
    return np.array(kmeans.fit(frame).clusterCenters())


def _cost(points: Matrix, weights: NDArray[np.float64], centers: Matrix) -> float:
    nearest = np.min([((points - center) ** 2).sum(axis=1) for center in centers], axis=0)
    return float(weights @ nearest)


def check_java() -> None:
    """Refuse, in words, what Spark would only stumble over: no Java, or one too old."""
    program = _program()
    if program is None:
        raise NotInstalled(
            "Spark needs Java, which was found neither in JAVA_HOME nor on the PATH.",
            f"Install Java {_OLDEST} or later, e.g. openjdk-{_OLDEST}-jre-headless.",
            reason="java",
        )
    version = _version(program)
    if version is not None and version < _OLDEST:
        raise NotInstalled(
            f"Spark needs Java {_OLDEST} or later; found Java {version}.",
            f"Install Java {_OLDEST}, or set JAVA_HOME to it.",
            reason="java",
        )


def _program() -> str | None:
    home = os.environ.get("JAVA_HOME")
    if home:
        inside = Path(home) / "bin" / "java"
        return str(inside) if inside.exists() else None
    return shutil.which("java")


def _version(program: str) -> int | None:
    """Its major version; none if it does not say."""
    try:
        done = subprocess.run(
            [program, "-version"], check=False, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return None if version is None else int(version[1])
