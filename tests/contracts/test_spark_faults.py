"""Executors die, tasks run twice: results and ledger are as if nothing had happened."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal.cluster import PrivateKMeans
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.engine._rows import Terms
from shoal.engine.spark._rows import SparkRows
from shoal.mechanisms import NDLaplace
from shoal.perturb import Streamed
from shoal.privacy import Ledger
from shoal.randomness import Randomness

BOX = Box.unit(4)
X = np.clip(np.random.default_rng(1).normal(0.5, 0.15, (8_000, 4)), 0, 1)


@pytest.fixture(scope="module")
def frame(spark):
    table = pa.table({name: X[:, i] for i, name in enumerate(BOX.names)})
    return spark.createDataFrame(table).repartition(9)


def executors(spark):
    """The processes of this session's executors."""
    port = spark.sparkContext.getConf().get("spark.driver.port")  # ids are the same within a second
    mine = f":{port}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in words and mine in words:
            found.append(int(folder.name))
    return found


class Killing(SparkRows):
    """Rows, one of whose executors is killed soon after the second pass began."""

    killed: int | None = None

    def _pass(self, frame, screen_batch, work):
        if self._size is not None and self.killed is None:
            self.killed = executors(frame.sparkSession)[0]
            threading.Timer(0.4, os.kill, (self.killed, signal.SIGKILL)).start()
        return super()._pass(frame, screen_batch, work)


def gone(process):
    """Whether the process ends within a minute; one that only waits to be buried has ended."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def fitted(rows):
    ledger = Ledger()
    model = PrivateKMeans(4, epsilon=1, domain=BOX, ledger=ledger, random_state=7).fit(rows)
    return model, ledger


def test_an_executor_killed_in_the_middle_changes_neither_centres_nor_ledger(spark, frame):
    undisturbed, _ = fitted(X)
    rows = Killing(frame, BOX, Terms())
    model, ledger = fitted(rows)
    assert rows.killed is not None
    assert gone(rows.killed)
    np.testing.assert_array_equal(model.cluster_centers_, undisturbed.cluster_centers_)
    assert len(ledger.entries()) == 2
    assert ledger.totals() == [undisturbed.guarantee_]


def released(rows, path):
    ledger, reports = Ledger(), Streamed(NDLaplace(5.0, domain=BOX), keep_order=True)
    page = ledger.open(reports.guarantee, by="test")
    page.release(reports, rows, Randomness(7).noise, of="reports").write(path)
    assert len(ledger.entries()) == 1
    return path


def test_an_executor_killed_in_the_middle_draws_no_report_twice(spark, tmp_path):
    table = pa.table({name: X[:, i] for i, name in enumerate(BOX.names)})
    spark.createDataFrame(table).repartition(9).write.parquet(str(tmp_path / "rows"))
    frame = spark.read.parquet(str(tmp_path / "rows"))  # in the same order whoever reads it
    expected = spark.read.parquet(str(released(rows_of(frame, BOX), tmp_path / "a.parquet")))
    victim = executors(spark)[0]
    rows = rows_of(frame, BOX)
    rows.size()
    threading.Timer(0.4, os.kill, (victim, signal.SIGKILL)).start()
    found = spark.read.parquet(str(released(rows, tmp_path / "b.parquet")))
    assert gone(victim)
    order = [(name, "ascending") for name in BOX.names]
    assert found.toArrow().sort_by(order).equals(expected.toArrow().sort_by(order))


def stages_that_read_rows(spark, group, partitions):
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    tracker = spark.sparkContext.statusTracker()
    stages = {
        stage
        for job in tracker.getJobIdsForGroup(group)
        for stage in tracker.getJobInfo(job).stageIds
    }
    known = [info for stage in stages if (info := tracker.getStageInfo(stage)) is not None]
    return sum(info.numTasks == partitions and info.numCompletedTasks > 0 for info in known)


def test_private_k_means_reads_the_rows_in_six_jobs_at_most(spark, frame):
    spark.sparkContext.setJobGroup("counted", "private k-means")
    try:
        fitted(frame)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert 2 <= stages_that_read_rows(spark, "counted", 9) <= 6
