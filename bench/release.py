"""Whole releases from file to file, pages included, beside the one GROUP BY that they need.

- ``1M``, ``10M``: Adult drawn again and jittered, nine quasi-identifiers;
- ``wide``: 100,000 rows of 30 quasi-identifiers that share three hidden causes;
- ``distinct``: two million rows, nearly all different: day of birth, postcode and three more.

Each task runs in a process of its own, so that the peak of one says nothing about another; times
are CPU seconds of the task, imports left out. The GROUP BY is DuckDB's own, with nothing of ours
around it: ``python bench/release.py [TABLE ...]``.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from adult_rows import DATA, QUASI, write_rows
from measure import write

HERE = Path(__file__).parent / "data"
TASKS = ("group by", "release, 0 %", "release, 2 %")
WIDE = np.random.default_rng(0)
SIZES, FANOUTS = WIDE.integers(3, 60, 30), WIDE.integers(2, 6, 30)


def main(wanted: list[str]) -> None:
    if not DATA.is_dir():
        print("the Adult table is not here; set SHOAL_DATA")
        return
    HERE.mkdir(exist_ok=True)
    rows = []
    for table in wanted or TABLES:
        path = HERE / f"release-{table}.parquet"
        if not path.exists():
            TABLES[table](path)
        figures = {task: _apart(task, table, path) for task in TASKS}
        for task, figure in figures.items():
            ratio = figure["cpu s"] / figures["group by"]["cpu s"]
            rows.append({"table": table, "task": task, **figure, "over group by": round(ratio, 2)})
    write("release", rows)


def _wide(path: Path) -> None:
    rng = np.random.default_rng(0)
    causes, effects = rng.standard_normal((100_000, 3)), rng.standard_normal((3, 30))
    values = causes @ effects + 0.5 * rng.standard_normal((100_000, 30))
    ranks = values.argsort(axis=0).argsort(axis=0) / 100_000
    codes = (ranks**2 * SIZES).astype(np.int64)
    pq.write_table(pa.table({f"q{i}": codes[:, i] for i in range(30)}), path)


def _distinct(path: Path) -> None:
    rng, n = np.random.default_rng(0), 2_000_000
    births = np.datetime64("1920-01-01") + rng.integers(0, 36_500, n)
    places = (50_000 * rng.beta(0.5, 2, n)).astype(np.int64)  # more people in few places
    table = {
        "birth": pa.array(births.astype("datetime64[D]")),
        "postcode": pa.array(np.char.zfill(places.astype(str), 5)),
        "sex": pa.array(rng.integers(0, 2, n)),
        "level": pa.array(rng.integers(0, 20, n) * rng.integers(0, 2, n)),
        "size": pa.array(rng.integers(0, 8, n)),
    }
    pq.write_table(pa.table(table), path)


TABLES: dict[str, Callable[[Path], Any]] = {
    "1M": lambda path: write_rows(path, 1_000_000),
    "10M": lambda path: write_rows(path, 10_000_000),
    "wide": _wide,
    "distinct": _distinct,
}


def _apart(task: str, table: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--task", task, table, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figure: dict[str, Any] = json.loads(done.stdout)
    return figure


def _task(task: str, table: str, path: Path) -> dict[str, Any]:
    run = _grouped if task == "group by" else _released
    found = run(table, path, 0.02 if "2" in task else 0.0)
    # Not ru_maxrss, which starts at what the parent held when it forked.
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
    return {"cpu s": round(found.pop("cpu s"), 2), "peak MB": peak, **found}


def _grouped(table: str, path: Path, _: float) -> dict[str, Any]:
    import duckdb

    names = ", ".join(f'"{name}"' for name in _attributes(table))
    start = time.process_time()
    sql = f"SELECT {names}, count(*) AS n FROM read_parquet('{path}') GROUP BY ALL"
    found = duckdb.connect().sql(sql).to_arrow_table()
    return {"cpu s": time.process_time() - start, "lines": len(found)}


def _released(table: str, path: Path, suppression: float) -> dict[str, Any]:
    import shoal.pages._render  # noqa: F401 - imports are not what is measured
    from shoal.anonymize import Policy, run_policy
    from shoal.pages.table import page, page_files

    with tempfile.TemporaryDirectory() as folder:
        policy = Policy.of(
            {
                "version": 1,
                "attributes": _attributes(table),
                "privacy": {"k": 10, "suppression": suppression},
                "search": {"restarts": 0},
                "output": {"path": "release.parquet"},
            },
            folder,
        )
        start = time.process_time()
        done = run_policy(
            policy, str(path), pages=lambda finished: page_files(finished, page(finished))
        )
        cpu = time.process_time() - start
    lines = len(done.frequency.problem.n)
    return {"cpu s": cpu, "lines": lines, "ncp": round(done.outcome.metrics.ncp, 4)}


def _attributes(table: str) -> dict[str, Any]:
    if table == "wide":
        return {f"q{i}": _whole(int(SIZES[i]), int(FANOUTS[i])) for i in range(30)}
    if table == "distinct":
        periods = {"kind": "date", "levels": ["day", "month", "year", "decade"]}
        days = {"type": "date", "domain": ["1920-01-01", "2019-12-31"]}
        return {
            "birth": {"role": "quasi", **days, "hierarchy": periods},
            "postcode": {"role": "quasi", "hierarchy": {"kind": "prefix", "keep": [5, 4, 3, 2, 1]}},
            "sex": _whole(2, 2),
            "level": _whole(20, 4),
            "size": _whole(8, 2),
        }
    files = {name: DATA / "hierarchies" / f"adult_hierarchy_{name}.csv" for name in QUASI}
    files["income"] = DATA / "hierarchies" / "adult_hierarchy_salary-class.csv"
    return {
        name: {"role": "quasi", "hierarchy": {"file": str(file.resolve()), "labels": "opaque"}}
        for name, file in files.items()
    }


def _whole(size: int, fanout: int) -> dict[str, Any]:
    steps = {"kind": "interval", "width": 1, "fanout": fanout}
    return {"role": "quasi", "type": "int", "domain": [0, size - 1], "hierarchy": steps}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        print(json.dumps(_task(sys.argv[2], sys.argv[3], Path(sys.argv[4]))))
    else:
        main(sys.argv[1:])
