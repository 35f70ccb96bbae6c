"""Files larger than memory, counted and clustered: time linear in the rows, memory flat.

Every task runs in a process of its own, so that the peak of one says nothing about another. Times
are given as ratios to a bare read of the same file in the same run: ``python bench/streaming.py``.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from measure import write

from shoal.cluster import PrivateKMeans
from shoal.data import source_of
from shoal.domain import Box, Grid
from shoal.engine import rows_of

DATA = Path(__file__).parent / "data"
BOX = Box.unit(4)
MILLION = 1_000_000
FILES = {
    "1M.parquet": 1 * MILLION,
    "5M.parquet": 5 * MILLION,
    "20M.parquet": 20 * MILLION,
    "1M.csv": 1 * MILLION,
    "10M.csv": 10 * MILLION,
}
TASKS: dict[str, Callable[[Any], object]] = {
    "bare read": lambda X: sum(batch.num_rows for batch in source_of(X).batches(BOX.names)),
    "dense 16^4": lambda X: rows_of(X, BOX).count(Grid(BOX, 16)),
    "sparse 100^4": lambda X: rows_of(X, BOX).count(Grid(BOX, 100), sparse=True),
    "private k-means": lambda X: PrivateKMeans(10, epsilon=1, domain=BOX).fit(X),
}


def main() -> dict[str, Any]:
    """Make the files that are missing, run every task on each, write and print the figures."""
    DATA.mkdir(exist_ok=True)
    cases = []
    for name, rows in FILES.items():
        path = DATA / f"streaming-{name}"
        if not path.exists():
            _make(path, rows)
        figures = {task: _run_apart(task, path) for task in TASKS}
        bare = figures["bare read"]["wall s"]
        for task, figure in figures.items():
            case = {"file": name, "task": task, **figure}
            case["us a row"] = round(figure["wall s"] / rows * 1e6, 3)
            case["over bare read"] = round(figure["wall s"] / bare, 2)
            cases.append(case)
    write("streaming", cases)
    return {"rows": cases}


def _make(path: Path, rows: int) -> None:
    """Twenty blobs and a tenth of even background, a million rows at a time."""
    rng = np.random.default_rng(7)
    centres = rng.uniform(0.2, 0.8, size=(20, BOX.d))
    schema = pa.schema([(name, pa.float64()) for name in BOX.names])
    part = path.with_suffix(".part")
    opened = pq.ParquetWriter if path.suffix == ".parquet" else pa_csv.CSVWriter
    with opened(part, schema) as writer:
        for _ in range(rows // MILLION):
            X = centres[rng.integers(20, size=MILLION)] + rng.normal(0, 0.04, (MILLION, BOX.d))
            X[: MILLION // 10] = rng.uniform(0, 1, (MILLION // 10, BOX.d))
            writer.write_table(pa.Table.from_arrays(list(X.T), schema=schema))
    part.rename(path)


def _run_apart(task: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--task", task, "--path", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figure: dict[str, float] = json.loads(done.stdout)
    return figure


def _run_here(task: str, path: Path) -> dict[str, float]:
    """The task's own time, after what is imported late has been; the peak of the process."""
    TASKS[task](np.full((2, BOX.d), 0.5))
    wall, cpu = time.perf_counter(), time.process_time()
    TASKS[task](path)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall s": round(wall, 3), "cpu s": round(cpu, 3), "peak MB": round(_peak_mb())}


def _peak_mb() -> float:
    # Not getrusage: a process started from a large one inherits that one's peak there.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("--path", type=Path)
    asked = parser.parse_args()
    if asked.task:
        print(json.dumps(_run_here(asked.task, asked.path)))
    else:
        main()
