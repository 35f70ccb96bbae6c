"""A release on Spark beside the one groupBy it needs, and a search that asks for every candidate.

- ``1M``, ``10M``: Adult drawn again and jittered, nine quasi-identifiers. ``fit`` counts and
  searches; ``release`` also writes the table and counts it again; ``+ visits`` has one
  sensitive column more, so that rows are read again to be written. Beside them
  stands a plain ``groupBy`` of the same columns, brought to the driver, before and after. Each is
  run once before it is measured.
- ``a job per candidate``: Adult's complete rows, k = 10; each candidate of each step is one Spark
  job, as in published implementations. The same search over the frequency table stands beside it.

On ``local-cluster[2,1,2048]``: two executors of one core and 2 GB. *Jobs* are all that Spark ran,
*read rows* those of them with a stage that read at least half as many records as the table has.
CPU seconds are those of all processes of the cluster together, driver included:
``python bench/spark_anonymize.py [1M 10M naive]``.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pyarrow as pa
from adult_rows import DATA, QUASI, adult, write_rows
from measure import RESULTS, write
from release import _attributes

from anonymize import _of_adult
from shoal.anonymize import Policy, run_policy
from shoal.anonymize._frequency_table import FrequencyTable
from shoal.anonymize.search._greedy_splits import (
    Candidates,
    NodeGains,
    Nodes,
    best_candidate,
    cut_after,
    score_candidates,
)
from shoal.anonymize.search._run_search import search_portfolio
from shoal.anonymize.search_problem import Cut, SearchOutcome
from shoal.anonymize.spark._search import find_outcome_on_spark
from shoal.engine.spark._table import SparkTable

HERE = Path(__file__).parent / "data"
ROWS = {"1M": 1_000_000, "10M": 10_000_000}
SUPPRESSION = 0.02
TICKS = os.sysconf("SC_CLK_TCK")


def main(wanted: list[str]) -> None:
    if not DATA.is_dir():
        print("the Adult table is not here; set SHOAL_DATA")
        return
    HERE.mkdir(exist_ok=True)
    spark = _session()
    rows = _kept(wanted)
    for name in wanted or [*ROWS, "naive"]:
        rows += _naive(spark) if name == "naive" else _sized(spark, name)
        write("spark-anonymize", rows)
    spark.stop()


def _kept(wanted: list[str]) -> list[dict[str, Any]]:
    """What an earlier run measured of other tables."""
    file = RESULTS / "spark-anonymize.json"
    if not wanted or not file.exists():
        return []
    return [row for row in json.loads(file.read_text())["rows"] if row["table"] not in wanted]


def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,2048]").appName("shoal bench")
    settings = {
        "spark.executor.memory": "2g",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.port": "0",
        "spark.log.level": "ERROR",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _sized(spark: Any, name: str) -> list[dict[str, Any]]:
    path = HERE / f"release-{name}.parquet"
    if not path.exists():
        write_rows(path, ROWS[name])
    frame = spark.read.parquet(path.resolve().as_uri())
    wide = frame.selectExpr("*", "CAST(pmod(hash(age, education), 50) AS INT) AS visits")
    rows: list[dict[str, Any]] = []
    for once in (_grouped, _released):  # the first of a session compiles more than itself
        once(frame)
        once(wide)
    plain = [_measured(spark, ROWS[name], lambda: _grouped(frame))]
    found = {
        "fit, 2 %": _measured(spark, ROWS[name], lambda: _fitted(frame)),
        "release, 2 %": _measured(spark, ROWS[name], lambda: _released(frame)),
        "release, 2 %, + visits": _measured(spark, ROWS[name], lambda: _released(wide)),
    }
    plain.append(_measured(spark, ROWS[name], lambda: _grouped(frame)))
    for figure in plain:
        rows.append({"table": name, "task": "groupBy", **figure})
    for task, figure in found.items():
        ratios = {
            f"{unit} over groupBy": round(figure[unit] / np.mean([p[unit] for p in plain]), 2)
            for unit in ("wall s", "cpu s")
        }
        rows.append({"table": name, "task": task, **figure, **ratios})
    return rows


def _grouped(frame: Any) -> dict[str, Any]:
    found = frame.groupBy(*(f"`{name}`" for name in QUASI)).count().toArrow()
    return {"lines": len(found)}


def _fitted(frame: Any) -> dict[str, Any]:
    return _told(*find_outcome_on_spark(_policy(frame, "."), SparkTable(frame)))


def _released(frame: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        done = run_policy(_policy(frame, folder), frame)
    return _told(done.frequency, done.outcome)


def _policy(frame: Any, folder: str) -> Policy:
    attributes = _attributes("1M")
    if "visits" in frame.columns:
        attributes["visits"] = {"role": "sensitive"}
    content = {
        "version": 1,
        "attributes": attributes,
        "privacy": {"k": 10, "suppression": SUPPRESSION},
        "search": {"restarts": 0},
        "output": {"path": "release.parquet"},
    }
    return Policy.of(content, folder)


def _told(frequency: FrequencyTable, outcome: SearchOutcome) -> dict[str, Any]:
    return {"lines": len(frequency.problem.n), "ncp": round(outcome.metrics.ncp, 4)}


def _naive(spark: Any) -> list[dict[str, Any]]:
    """The search by ``sq`` without suppression, a job for each candidate of each step."""
    problem = _of_adult(adult())
    codes = np.repeat(problem.codes, problem.n, axis=0)
    frame = spark.createDataFrame(pa.table({f"q{q}": codes[:, q] for q in range(problem.d)}))
    frame = frame.persist()
    size = frame.count()
    cuts: list[Cut] = []
    figure = _measured(spark, size, lambda: _candidate_by_candidate(frame, problem, cuts))
    asked = search_portfolio(replace(problem, suppression=0.0), restarts=0)
    start = time.process_time()
    search_portfolio(replace(problem, suppression=0.0), restarts=0)
    cpu = round(time.process_time() - start, 2)
    same = cuts[0] == asked.cut
    task = {"table": "naive", "task": "a job per candidate", **figure, "same cut as ours": same}
    ours = {"table": "naive", "task": "our search of the frequency table", "cpu s": cpu}
    return [task, {**ours, "nodes of the cut": sum(map(len, asked.cut.nodes))}]


def _candidate_by_candidate(frame: Any, problem: Any, cuts: list[Cut]) -> dict[str, Any]:
    gains, nodes = NodeGains(problem, "sq").of_nodes, Nodes(problem)
    splits: list[tuple[int, int]] = []
    live = set(np.flatnonzero(nodes.inner).tolist())
    while True:
        cut = cut_after(problem, splits)
        on = {int(nodes.first[q]) + p for q, places in enumerate(cut.nodes) for p in places}
        now = _smallest(frame, problem, cut)
        least = {}
        for node in sorted(on & live):
            least[node] = _smallest(frame, problem, cut_after(problem, [*splits, nodes.home(node)]))
            if least[node] < problem.k:
                live.remove(node)
        valid = sorted(on & live)
        if not valid:
            cuts.append(cut)
            return {"steps": len(splits)}
        smallest, zero = np.array([least[node] for node in valid]), np.zeros(len(valid), int)
        of = Candidates(gains[valid], zero.astype(float), zero, now, smallest)
        splits.append(
            nodes.home(
                valid[best_candidate(score_candidates("sq", of, "rows", problem.k), of.gain)]
            )
        )


def _smallest(frame: Any, problem: Any, cut: Cut) -> int:
    covers = [tree.partition(nodes) for tree, nodes in zip(problem.trees, cut.nodes, strict=True)]
    labels = [
        f"element_at(array({', '.join(map(str, cover.tolist()))}), q{q} + 1) AS q{q}"
        for q, cover in enumerate(covers)
    ]
    names = [f"q{q}" for q in range(problem.d)]
    return int(frame.selectExpr(*labels).groupBy(*names).count().agg({"count": "min"}).first()[0])


def _measured(spark: Any, size: int, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    before, cpu, start = _jobs(spark), _cpu(), time.time()
    found = call()
    wall, used = time.time() - start, _cpu() - cpu
    time.sleep(3)  # the status of the last stages comes late
    after_all = _jobs(spark)
    reading = _reading(spark, size / 2)
    new = [ids for job, ids in after_all.items() if job not in before]
    return {
        "wall s": round(wall, 1),
        "cpu s": round(used, 1),
        "jobs": len(new),
        "read rows": sum(bool(reading & set(ids)) for ids in new),
        **found,
    }


def _jobs(spark: Any) -> dict[int, list[int]]:
    return {job["jobId"]: job["stageIds"] for job in _status(spark, "jobs")}


def _reading(spark: Any, least: float) -> set[int]:
    stages = _status(spark, "stages")
    return {stage["stageId"] for stage in stages if stage["inputRecords"] >= least}


def _status(spark: Any, what: str) -> Any:
    context = spark.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/{what}"
    with urlopen(url) as answer:
        return json.load(answer)


def _cpu() -> float:
    """CPU seconds of this process and everything it started."""
    parents, used = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parts = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(parts[1])
        used[int(folder.name)] = sum(map(int, parts[11:15])) / TICKS
    family, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        family, grown = family | more, bool(more)
    return sum(used.get(pid, 0.0) for pid in family)


if __name__ == "__main__":
    main(sys.argv[1:])
