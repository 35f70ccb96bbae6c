"""Private clustering on Spark beside MLlib's KMeans: jobs that read rows, and what they cost.

Rows are a mixture of eight groups in four columns, written as Parquet to a temporary folder. On
``local-cluster[2,1,2048]``, and on a standalone master with two workers of one core and 2 GB each,
started for the run by ``bin/spark-class``. In one session, one after the other:

- MLlib's ``KMeans`` (k = 8, its defaults: k-means||, 20 iterations at most), as it comes and on
  rows that were cached before, the caching not counted;
- ours on the same frames: ``PrivateKMeans``, ``UniformGrid``, ``WaveCluster`` in two columns.

*Jobs* are all that Spark ran; *read rows* those of them with a stage that read at least half of
the records (Spark counts blocks, not records, of cached rows: left out there). CPU seconds are
those of all processes of the run together. Of 50M rows only what is read from files, and
MLlib once: they do not fit in memory, and its run takes more than ten minutes.

``python bench/spark.py [1M 10M 50M] [--on local-cluster standalone]``
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measure import RESULTS, write
from spark_anonymize import _measured
from standalone import cluster

import shoal
from shoal.domain import Box
from shoal.synopsis import UniformGrid

ROWS = {"1M": 1_000_000, "10M": 10_000_000, "50M": 50_000_000}
ONCE = ("50M",)
NAMES = ("a", "b", "c", "d")
BOX = Box(**dict.fromkeys(NAMES, (0, 1)))
PLANE = Box(a=(0, 1), b=(0, 1))
K = 8
CLUSTERS = ("local-cluster", "standalone")
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.executor.memory": "2g",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.port": "0",
    "spark.log.level": "ERROR",
}


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("sizes", nargs="*", choices=[*ROWS, []])
    asked.add_argument("--on", nargs="+", choices=CLUSTERS, default=list(CLUSTERS))
    words = asked.parse_args()
    sizes = words.sizes or list(ROWS)
    rows = _kept(sizes, words.on)
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        for size in sizes:
            path = _written(Path(folder) / size, ROWS[size])
            for on in words.on:
                with _session(on, Path(folder)) as spark:
                    for row in _compared(spark, path, size):
                        rows.append({"rows": size, "on": on, **row})
                        print(rows[-1], flush=True)
                write("spark", rows)


def _kept(sizes: list[str], on: list[str]) -> list[dict[str, Any]]:
    """What an earlier run measured of other sizes and clusters."""
    file = RESULTS / "spark.json"
    if not file.exists():
        return []
    rows = json.loads(file.read_text())["rows"]
    return [row for row in rows if row["rows"] not in sizes or row["on"] not in on]


def _written(folder: Path, size: int) -> str:
    """Rows of eight groups, in files of a million."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    centers = rng.uniform(0.15, 0.85, (K, len(NAMES)))
    for part in range(size // 1_000_000):
        group = rng.integers(K, size=1_000_000)
        points = np.clip(centers[group] + rng.normal(0, 0.04, (len(group), len(NAMES))), 0, 1)
        table = pa.table({name: points[:, i] for i, name in enumerate(NAMES)})
        pq.write_table(table, folder / f"part-{part:03}.parquet")
    return folder.as_uri()


@contextmanager
def _session(on: str, folder: Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with _master(on, folder) as master:
        builder = SparkSession.builder.master(master).appName("shoal bench")
        for name, value in SETTINGS.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()


@contextmanager
def _master(on: str, folder: Path) -> Iterator[str]:
    """The URL of a cluster; a standalone one lives as long as the block."""
    if on == "local-cluster":
        yield "local-cluster[2,1,2048]"
        return
    with cluster(folder, ["127.0.0.1"] * 2, "2g") as url:
        yield url


def _compared(spark: Any, path: str, size: str) -> Iterator[dict[str, Any]]:
    frame = spark.read.parquet(path)
    _ours(frame.limit(1000))  # the first jobs of a session start more than themselves
    _mllib(frame.limit(1000))
    yield from _both(spark, frame, size, "files")
    if size not in ONCE:
        cached = frame.persist()
        cached.count()
        yield from _both(spark, cached, size, "cached")
        cached.unpersist()
    yield _timed(spark, frame, size, "files", "UniformGrid", _grid)
    yield _timed(spark, frame, size, "files", "WaveCluster, 2 columns", _wave)


def _both(spark: Any, frame: Any, size: str, of: str) -> Iterator[dict[str, Any]]:
    """Ours between two runs of MLlib's, so that a machine that slows down or warms up shows."""
    theirs = [_timed(spark, frame, size, of, "MLlib KMeans", _mllib)]
    ours = _timed(spark, frame, size, of, "PrivateKMeans", _ours)
    if size not in ONCE:
        theirs.append(_timed(spark, frame, size, of, "MLlib KMeans", _mllib))
    for unit in ("wall s", "cpu s"):
        mean = float(np.mean([each[unit] for each in theirs]))
        ours[f"{unit} over MLlib"] = round(ours[unit] / mean, 2)
    yield from (*theirs[:1], ours, *theirs[1:])


def _timed(
    spark: Any, frame: Any, size: str, of: str, task: str, call: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    figures = _measured(spark, ROWS[size], lambda: call(frame))
    if of == "cached":
        del figures["read rows"]
    return {"from": of, "task": task, **figures}


def _ours(frame: Any) -> dict[str, Any]:
    model = shoal.PrivateKMeans(K, epsilon=1, domain=BOX).fit(frame)
    return {"least rows of a group": int(model.cluster_sizes_.min())}


def _mllib(frame: Any) -> dict[str, Any]:
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler

    points = VectorAssembler(inputCols=list(NAMES), outputCol="features").transform(frame)
    model = KMeans(k=K, seed=1).fit(points)
    return {"iterations": model.summary.numIter}


def _grid(frame: Any) -> dict[str, Any]:
    grid = UniformGrid(epsilon=1, domain=BOX).fit(frame)
    return {"cells": grid.n_cells_}


def _wave(frame: Any) -> dict[str, Any]:
    model = shoal.WaveCluster(domain=PLANE, epsilon=1).fit(frame)
    return {"groups": model.n_clusters_}


if __name__ == "__main__":
    main()
