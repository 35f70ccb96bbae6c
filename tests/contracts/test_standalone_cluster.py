"""A real master and two workers: tasks run twice or die with their worker, and nothing shows."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.anonymize import TopDownSpecialization
from shoal.cluster import PrivateKMeans
from shoal.domain import Box

pytestmark = pytest.mark.slow

_bench = Path(__file__).parents[2] / "bench" / "standalone.py"
_spec = importlib.util.spec_from_file_location("standalone", _bench)
standalone = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(standalone)

NAMES = ["a", "b", "c", "d"]
ROWS = np.clip(np.random.default_rng(1).normal(0.5, 0.15, (8_000, 4)), 0, 1).round(2)
NUMBER = {
    "role": "quasi", "type": "float", "domain": [0, 1],
    "hierarchy": {"kind": "binary", "min_width": 0.125},
}  # fmt: skip
POLICY = {
    "version": 1,
    "attributes": dict.fromkeys(NAMES, NUMBER) | {"visits": {"role": "other", "force": True}},
    "privacy": {"k": 20, "suppression": 0.05},
}
TABLE = pa.table([*ROWS.T.tolist(), np.arange(8_000) % 7], names=[*NAMES, "visits"])
WORK = ["k-means", "reports", "release"]

# What the driver runs. Each task notes that it began. The first of partition 0 never ends, if there
# is to be a second one; or it takes its worker with it, once another stage was seen.
DRIVER = '''
import json, os, signal, sys, time
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

import shoal
from shoal.anonymize import TopDownSpecialization
from shoal.engine import rows_of
from shoal.perturb import Streamed
from shoal.privacy import Ledger

master, folder, fault, policy = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]
SETTINGS = {
    "spark.executor.memory": "700m",
    "spark.driver.memory": "700m",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.speculation": str(fault == "twice").lower(),
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "300ms",
    "spark.speculation.quantile": "0.3",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.task.duration.threshold": "1s",
}


class Troubled:
    """Hands batches on as they are."""

    def __init__(self, about):
        self.about = str(about)

    def __call__(self, batches):
        task, about = TaskContext.get(), Path(self.about)
        stage = str(task.stageId())
        seen = {path.name.split("-")[0] for path in about.glob("*-*-*")}
        (about / f"{stage}-{task.partitionId()}-{task.attemptNumber()}").touch()
        if task.partitionId() == 0 and task.attemptNumber() == 0:
            if fault == "twice":
                time.sleep(60)  # it is killed when the other one ends
            elif fault == f"no worker in {about.name}" and seen - {stage}:
                self.end(about)
        yield from batches

    def end(self, about):
        try:
            (about / "killed").touch(exist_ok=False)
        except FileExistsError:
            return
        worker = "0" if "work-0" in os.getcwd() else "1"
        os.kill(int((about.parent / f"worker-{worker}.pid").read_text()), signal.SIGKILL)
        time.sleep(60)  # its executor follows it


builder = SparkSession.builder.master(master).appName("shoal tests")
for name, value in SETTINGS.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
box = shoal.Box(**dict.fromkeys("abcd", (0, 1)))
told = {}


def troubled(name):
    about = folder / name
    about.mkdir()
    rows = spark.read.parquet(str(folder / "rows"))
    return rows.mapInArrow(Troubled(about), rows.schema)


ledger = Ledger()
model = shoal.PrivateKMeans(4, epsilon=1, domain=box, ledger=ledger, random_state=7)
told["centers"] = model.fit(troubled("k-means")).cluster_centers_.tolist()
told["entries"] = [len(ledger.entries())]

ledger, reports = Ledger(), Streamed(shoal.NDLaplace(5.0, domain=box))
page = ledger.open(reports.guarantee, by="test")
drawn = page.release(reports, rows_of(troubled("reports"), box), shoal.Randomness(7).noise, of="x")
drawn.write(str(folder / "reports.parquet"))
told["entries"] += [len(ledger.entries())]

released = TopDownSpecialization(policy=json.loads(policy)).fit_transform(troubled("release"))
told["released"] = sorted(map(list, released.collect()))
print(json.dumps(told))
spark.stop()
'''


def run(folder, fault):
    folder.mkdir()
    (folder / "rows").mkdir()
    for part in range(8):
        pq.write_table(TABLE.slice(part * 1_000, 1_000), folder / "rows" / f"{part}.parquet")
    hosts = ["127.0.0.1", "127.0.0.2"]  # a task is not run twice on one of them
    with standalone.cluster(folder, hosts, "800m") as master:
        words = [sys.executable, "-c", DRIVER, master, str(folder), fault, json.dumps(POLICY)]
        places = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        done = subprocess.run(
            words, check=False, capture_output=True, text=True, timeout=900,
            env={**os.environ, **places},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    return json.loads(done.stdout.splitlines()[-1])


def reports(folder):
    return np.array(sorted(zip(*pq.read_table(folder / "reports.parquet").to_pydict().values(),
                               strict=True)))  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standalone") / "none"
    return run(folder, "none"), reports(folder)


def test_a_standalone_cluster_finds_what_one_machine_finds(undisturbed):
    told, _ = undisturbed
    box = Box(**dict.fromkeys(NAMES, (0, 1)))
    model = PrivateKMeans(4, epsilon=1, domain=box, random_state=7).fit(ROWS)
    assert told["entries"] == [2, 1]
    assert told["centers"] == model.cluster_centers_.tolist()
    near = TopDownSpecialization(policy=POLICY).fit_transform(TABLE)
    assert told["released"] == sorted(map(list, zip(*near.to_pydict().values(), strict=True)))


def test_a_task_run_twice_by_speculation_changes_nothing(undisturbed, tmp_path):
    folder = tmp_path / "twice"
    told = run(folder, "twice")
    for name in WORK:
        first = [path.name for path in (folder / name).glob("*-0-0")]
        assert first
        assert all((folder / name / f"{stage[:-1]}1").exists() for stage in first)
    assert told == undisturbed[0]
    np.testing.assert_array_equal(reports(folder), undisturbed[1])


@pytest.mark.parametrize("name", WORK)
def test_a_worker_that_dies_in_the_middle_changes_nothing(undisturbed, tmp_path, name):
    folder = tmp_path / "worker"
    told = run(folder, f"no worker in {name}")
    assert (folder / name / "killed").exists()
    assert list((folder / name).glob("*-0-1"))  # what was lost ran again
    assert told == undisturbed[0]
    np.testing.assert_array_equal(reports(folder), undisturbed[1])
