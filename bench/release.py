"""A whole release of Adult at 1 and 10 million rows, beside the one GROUP BY it needs.

Each task runs in a process of its own, so that the peak of one says nothing about another; times
are CPU seconds of the task, imports left out: ``python bench/release.py``.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from adult_rows import DATA, QUASI, write_rows
from measure import write

HERE = Path(__file__).parent / "data"
SIZES = {"1M": 1_000_000, "10M": 10_000_000}
TASKS = ("group by", "release, 0 %", "release, 2 %")


def main() -> None:
    if not DATA.is_dir():
        print("the Adult table is not here; set SHOAL_DATA")
        return
    HERE.mkdir(exist_ok=True)
    rows = []
    for size, n in SIZES.items():
        path = HERE / f"adult-{size}.parquet"
        if not path.exists():
            write_rows(path, n)
        figures = {task: _apart(task, path) for task in TASKS}
        for task, figure in figures.items():
            ratio = figure["cpu s"] / figures["group by"]["cpu s"]
            rows.append({"rows": size, "task": task, **figure, "over group by": round(ratio, 2)})
    write("release", rows)


def _apart(task: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, task, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figure: dict[str, Any] = json.loads(done.stdout)
    return figure


def _task(task: str, path: Path) -> dict[str, Any]:
    import shoal.anonymize.run as anonymize
    from shoal.anonymize.table import Table

    start = time.process_time()
    if task == "group by":
        named = ", ".join(f"c{i}" for i in range(len(QUASI)))
        sql = f"SELECT {named}, count(*) AS n FROM rows GROUP BY ALL"
        found: dict[str, Any] = {"lines": len(Table(str(path)).query(sql, QUASI))}
    else:
        with tempfile.TemporaryDirectory() as folder:
            done = anonymize.run_policy(_policy(0.02 if "2" in task else 0, folder), str(path))
        found = {"lines": len(done.frequency.problem.n), "ncp": round(done.outcome.metrics.ncp, 4)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"cpu s": round(time.process_time() - start, 2), "peak MB": peak, **found}


def _policy(suppression: float, folder: str) -> Any:
    from shoal.anonymize import Policy

    files = {name: DATA / "hierarchies" / f"adult_hierarchy_{name}.csv" for name in QUASI}
    files["income"] = DATA / "hierarchies" / "adult_hierarchy_salary-class.csv"
    attributes = {
        name: {"role": "quasi", "hierarchy": {"file": str(file.resolve()), "labels": "opaque"}}
        for name, file in files.items()
    }
    return Policy.of(
        {
            "version": 1,
            "attributes": attributes,
            "privacy": {"k": 10, "suppression": suppression},
            "search": {"restarts": 0},
            "output": {"path": "release.parquet"},
        },
        folder,
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_task(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
