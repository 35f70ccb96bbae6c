"""The first hour of an engineer on Spark, and what the Java machine must not print."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import shoal

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("first_hours", ROOT / "tools" / "first_hours.py")
first_hours = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(first_hours)


def test_a_first_hour_on_spark_runs_as_it_is_typed(tmp_path):
    played = first_hours.play("spark.cells", tmp_path)
    assert played.code == 0, played.printed
    assert "(3, 2)" in played.printed
    assert (tmp_path / "page.html").stat().st_size


def test_the_java_machine_is_silent_unless_asked(tmp_path):
    first_hours.write_tables(tmp_path)
    (tmp_path / "visits.yaml").write_text(
        "version: 1\ncolumns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}\n"
    )
    command = [Path(sys.executable).with_name("shoal"), "cluster", "visits.csv", "-k", "3"]
    command += ["--epsilon", "1", "--domain", "visits.yaml", "--engine", "spark"]
    source = str(Path(shoal.__file__).parents[1])
    done = subprocess.run(
        [*command, "--master", "local[1]", "-o", "groups"], cwd=tmp_path, capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONPATH": source},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Found " in done.stdout
    chatter = ("WARN", "log4j", "NativeCodeLoader", "Setting default log level", "Using Spark")
    assert [word for word in chatter if word in done.stderr + done.stdout] == []
