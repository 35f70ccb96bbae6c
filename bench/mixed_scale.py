"""Groups in large mixed tables: seconds beside plain passes, memory, and jobs on Spark.

Parts of ``bench/mixed.py``: ``speed`` fits rows drawn from Adult (nine columns, k = 4, epsilon 1)
in files of 1 and 4 million and compares CPU seconds with a plain pass, one group-by of all nine
columns by the same engine; each fit is a process of its own, whose memory is its peak. ``spark``
does the same with 10 million rows on ``local-cluster[2,1,2048]`` and counts jobs.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyarrow.parquet as pq

from shoal.cluster import PrivateKPrototypes
from shoal.domain import Schema
from shoal.engine import rows_of

PART = 1_000_000
ROUNDS = 4  # at level 2: counts of columns and pairs, small groups, one step, profiles
K = 4


def speed() -> list[dict[str, Any]]:
    """A plain pass and a fit at two sizes."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        for millions in (1, 4):
            place = written(Path(folder) / str(millions), millions)
            figures = {task: _alone(place, task) for task in ("start", "plain pass", "fit")}
            passes = figures["fit"]["cpu s"] / figures["plain pass"]["cpu s"]
            lines.append(
                {"set": "speed", "rows": millions * PART, "rounds": ROUNDS, "passes": passes}
                | {"passes allowed": 3 * ROUNDS}
                | {f"{task}, {unit}": v for task, f in figures.items() for unit, v in f.items()}
            )
            print(lines[-1], flush=True)
    return lines


def spark() -> list[dict[str, Any]]:
    """A group-by and a fit of 10 million rows on two executors."""
    from spark_anonymize import _measured, _session

    with tempfile.TemporaryDirectory(prefix="shoal-bench-") as folder:
        place, session = written(Path(folder) / "10", 10), _session()
        frame, schema = session.read.parquet(place.as_uri()), schema_in(place)
        names = [f"`{name}`" for name in schema.columns]
        tasks: dict[str, Callable[[], dict[str, Any]]] = {
            "plain pass": lambda: {"lines": frame.groupBy(*names).count().toArrow().num_rows},
            "fit": lambda: {"level": fit(frame, schema).level_},
        }
        fit(frame.limit(1000), schema)  # the first jobs of a session start more than themselves
        lines = []
        for task, call in tasks.items():
            figures = _measured(session, 10 * PART, call)
            lines.append({"set": "spark", "rows": 10 * PART, "task": task} | figures)
            print(lines[-1], flush=True)
        session.stop()
    return lines


def written(folder: Path, millions: int) -> Path:
    """Rows drawn from Adult with replacement, in files of a million, beside their schema."""
    from mixed import SETS

    table, schema = SETS["adult"]()
    rng = np.random.default_rng(0)
    folder.mkdir()
    for part in range(millions):
        drawn = table.take(rng.integers(table.num_rows, size=PART))
        pq.write_table(drawn, folder / f"part-{part:03}.parquet")
    folder.with_suffix(".json").write_text(json.dumps(schema.to_dict()))
    return folder


def schema_in(folder: Path) -> Schema:
    """The schema beside a folder of rows."""
    return Schema.of(json.loads(folder.with_suffix(".json").read_text()))


def fit(rows: Any, schema: Schema) -> PrivateKPrototypes:
    """The fit that is measured."""
    return PrivateKPrototypes(K, epsilon=1, domain=schema, random_state=1).fit(rows)


def _alone(folder: Path, task: str) -> dict[str, float]:
    """Seconds and peak memory of a task in a process of its own."""
    command = [sys.executable, __file__, str(folder), task]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def _task(folder: Path, task: str) -> dict[str, float]:
    schema = schema_in(folder)
    rows = rows_of(str(folder), schema)
    wall, cpu = time.perf_counter(), time.process_time()
    if task == "plain pass":
        rows.sizes(list(schema.columns))
    elif task == "fit":
        fit(rows, schema)
    return {
        "wall s": round(time.perf_counter() - wall, 2),
        "cpu s": round(time.process_time() - cpu, 2),
        "peak MB": _peak(),
    }


def _peak() -> int:
    """The most memory this process has had, in MB: getrusage would count its parent's too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3)


if __name__ == "__main__":
    print(json.dumps(_task(Path(sys.argv[1]), sys.argv[2])))
