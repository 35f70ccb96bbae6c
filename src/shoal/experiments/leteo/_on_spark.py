"""The LETEO experiments that need a Spark session: run times there, and MLlib's k-means||."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.anonymize import TopDownSpecialization
from shoal.engine.spark import session_module
from shoal.evaluate import normalised_inertia, plain_centers
from shoal.experiments._cells import Cell, Row
from shoal.experiments.leteo._cells import OTHER, K, clustered_table, hierarchies, students_table


def cells(quick: bool) -> list[Cell]:
    """Return the cells that are run with ``--engine spark`` only."""
    return list(_planned(quick))


def _planned(quick: bool) -> Iterator[Cell]:
    rows = 5_000 if quick else 20_000
    for copies in (1, 5, 10) if quick else range(1, 11):
        yield Cell("spark times", {"rows": rows, "times": copies, "runs": 2}, cost=10)
    for data in ("students", "blobs 2-D") if quick else ("students", "blobs 2-D", "blobs 4-D"):
        for copies in (1, 10):
            yield Cell("spark scaling", {"data": data, "times": copies}, cost=10)


def times(rows: int, times: int, runs: int) -> list[Row]:
    """Take the time of a whole run of specialization on Spark, on a table made larger.

    The first run of a session starts more than itself, and is not counted.
    """
    table = pa.concat_tables([students_table(rows, seed) for seed in range(1, times + 1)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "students.parquet")
        pq.write_table(table, path)
        seconds = [_specialize(str(path)) for _ in range(runs + 1)]
    return [{"draw": draw, "seconds": value} for draw, value in enumerate(seconds[1:])]


def _specialize(path: str) -> float:
    model = TopDownSpecialization(
        K, hierarchies=hierarchies(), sensitive=["income_quintile"], other=list(OTHER)
    ).set_params(search__score="leteo", search__restarts=0)
    session = session_module()
    frame = session.read_table(session.active_session(), path)
    begin = time.perf_counter()
    model.fit_transform(frame).count()
    return time.perf_counter() - begin


def scaling(data: str, times: int) -> list[Row]:
    """Cluster rows and copies of them by MLlib's k-means|| and by k-means++."""
    X, _, k = clustered_table(data)
    X = np.tile(X, (times, 1))
    by_mllib = session_module().mllib_centers
    begin = time.perf_counter()
    plain = plain_centers(X, k)
    plain_seconds = time.perf_counter() - begin
    by_mllib(X[:1000], np.ones(1000), k, seed=1)  # the first jobs start more than themselves
    begin = time.perf_counter()
    centers = by_mllib(X, np.ones(len(X)), k, seed=1)
    seconds = time.perf_counter() - begin
    ratio = normalised_inertia(X, centers, plain)
    return [{"rows": len(X), "seconds": seconds, "plain_seconds": plain_seconds, "ratio": ratio}]
