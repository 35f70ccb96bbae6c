"""Searching for a cut: CPU time, loss and memory, each table in a process of its own.

- ``adult``: the complete rows of Adult's train part, nine quasi-identifiers, k = 10;
- ``million``: a million rows of it, drawn again and jittered;
- ``wide``: 100,000 rows of 30 quasi-identifiers that share three hidden causes;
- ``distinct``: two million rows, nearly all different: day of birth, postcode and three more.

Time and memory are those of the search alone, from the table of distinct combinations on; the
peak is that of the process less what it held before.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: CPU time, not waiting threads

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from adult_rows import DATA, QUASI, adult, write_rows
from measure import write

from shoal.anonymize.search._run_search import search_portfolio
from shoal.anonymize.search_problem import Problem, problem_of
from shoal.domain import Taxonomy


def _of_adult(table: pa.Table) -> Problem:
    taxonomies = {name: _hierarchy(name) for name in QUASI}
    columns = []
    for name, tree in taxonomies.items():
        values = table[name].cast(pa.string()).combine_chunks().dictionary_encode()
        columns.append(tree.codes(values.dictionary.to_pylist())[values.indices.to_numpy()])
    return problem_of(taxonomies, np.stack(columns, axis=1), k=10)


def _hierarchy(name: str) -> Taxonomy:
    file = "salary-class" if name == "income" else name
    with (DATA / "hierarchies" / f"adult_hierarchy_{file}.csv").open() as lines:
        return Taxonomy.paths(list(csv.reader(lines, delimiter=";")))


def _million() -> Problem:
    with tempfile.TemporaryDirectory() as folder:
        return _of_adult(pq.read_table(write_rows(Path(folder) / "rows.parquet", 1_000_000)))


def _wide() -> Problem:
    rng = np.random.default_rng(0)
    sizes, fanouts = rng.integers(3, 60, 30), rng.integers(2, 6, 30)
    trees = {f"q{i}": _tree(int(sizes[i]), int(fanouts[i])) for i in range(30)}
    causes, effects = rng.standard_normal((100_000, 3)), rng.standard_normal((3, 30))
    values = causes @ effects + 0.5 * rng.standard_normal((100_000, 30))
    ranks = values.argsort(axis=0).argsort(axis=0) / 100_000
    return problem_of(trees, (ranks**2 * sizes).astype(np.int32), k=10)


def _distinct() -> Problem:
    rng, n = np.random.default_rng(0), 2_000_000
    sizes, fanouts = (36_500, 50_000, 2, 20, 8), (10, 10, 2, 4, 2)
    trees = {f"q{i}": _tree(sizes[i], fanouts[i]) for i in range(5)}
    columns = [rng.integers(0, m, n) for m in sizes]
    columns[1] = (sizes[1] * rng.beta(0.5, 2, n)).astype(np.int64)  # more people in few places
    columns[3] *= rng.integers(0, 2, n)
    return problem_of(trees, np.stack(columns, axis=1), k=10)


def _tree(leaves: int, fanout: int) -> Taxonomy:
    """Neighbouring leaves merged, level by level."""
    paths, width = [[str(leaf)] for leaf in range(leaves)], 1
    while width < leaves:
        width *= fanout
        for leaf, path in enumerate(paths):
            path.append(f"{width}/{leaf // width}" if width < leaves else "*")
    return Taxonomy.paths(paths)


TABLES: dict[str, Callable[[], Problem]] = {
    "adult": lambda: _of_adult(adult()),
    "million": _million,
    "wide": _wide,
    "distinct": _distinct,
}
RUNS = [
    *(("adult", share, restarts) for share in (0.0, 0.02, 0.05) for restarts in (0, 32)),
    *((name, share, 0) for name in ("million", "wide", "distinct") for share in (0.0, 0.02)),
]


def _apart(name: str, suppression: float, restarts: int) -> dict[str, Any]:
    asked = [name, str(suppression), str(restarts)]
    command = [sys.executable, __file__, "--search", *asked]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _here(name: str, suppression: float, restarts: int) -> dict[str, Any]:
    problem = replace(TABLES[name](), suppression=suppression)
    before, start = _memory("VmRSS"), time.process_time()
    outcome = search_portfolio(problem, restarts=restarts)
    cpu = time.process_time() - start
    return {
        "table": name,
        "lines": len(problem.n),
        "QIDs": problem.d,
        "suppression": suppression,
        "runs": outcome.compared,
        "score": outcome.method,
        "ncp": round(outcome.metrics.ncp, 4),
        "classes": outcome.metrics.classes,
        "cpu s": round(cpu, 3),
        "more MB": round(max(_memory("VmHWM") - before, 0)),
        "peak MB": round(_memory("VmHWM")),
    }


def _memory(which: str) -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{which}:")[1].split()[0]) / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--search", nargs=3, help="one table, share and restarts; prints JSON")
    chosen = parser.parse_args().search
    if chosen:
        print(json.dumps(_here(chosen[0], float(chosen[1]), int(chosen[2]))))
    else:
        write("anonymize", [_apart(*run) for run in RUNS])
