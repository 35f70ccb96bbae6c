import os
import signal
import subprocess
import sys
import time

import pytest

from shoal.experiments.leteo._on_spark import scaling, times


def test_specialization_is_timed_on_spark(spark):
    rows = times(rows=1_000, times=2, runs=1)
    assert [row["draw"] for row in rows] == [0]
    assert rows[0]["seconds"] > 0


@pytest.mark.slow
def test_mllib_is_about_as_good_as_plain_k_means(spark):
    (row,) = scaling("students", times=1)
    assert row["rows"] == 10_000
    assert 0.99 < row["ratio"] < 1.2


@pytest.mark.heavy
@pytest.mark.parametrize(
    "to_group",
    [
        pytest.param(False, id="the run", marks=pytest.mark.slow),
        pytest.param(True, id="the run and its Spark"),
    ],
)
def test_a_run_on_spark_that_is_terminated_is_no_bug(tmp_path, to_group):
    """A service manager sends it to Spark as well, which is gone before the session is closed."""
    words = ["reproduce", "leteo", "--quick", "--engine", "spark", "--jobs", "1", "-o"]
    command = [sys.executable, "-m", "shoal", *words, str(tmp_path), "--only", "spark times"]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, env=env, start_new_session=True
    ) as run:
        _wait_for_a_cell(tmp_path / "cells.jsonl", run)
        (os.killpg if to_group else os.kill)(run.pid, signal.SIGTERM)
        _, said = run.communicate(timeout=120)
    assert run.returncode == 143
    assert "Bug" not in said
    assert "Traceback" not in said
    assert said.endswith("Stopped: nothing half-written was left.\n")


def _wait_for_a_cell(path, run, seconds=240):
    """Wait until the first cell is finished, so that Spark is at work on the second."""
    end = time.monotonic() + seconds
    while not path.exists() or path.read_text().count("\n") < 2:
        assert run.poll() is None, run.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.1)
