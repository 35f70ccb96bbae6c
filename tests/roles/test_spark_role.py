"""The first hour of an engineer on Spark, and what the Java machine must not print."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("first_hours", ROOT / "tools" / "first_hours.py")
first_hours = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(first_hours)


def test_a_first_hour_on_spark_runs_as_it_is_typed(tmp_path):
    played = first_hours.play("spark.cells", tmp_path)
    assert played.code == 0, played.printed
    assert "(3, 2)" in played.printed
    assert (tmp_path / "page.html").stat().st_size
