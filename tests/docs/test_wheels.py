"""The page on wheels of others says what the last run found."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    spec = importlib.util.spec_from_file_location(
        "audit_wheels", ROOT / "bench" / "audit_wheels.py"
    )
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "audit_wheels", module)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_the_one_of_the_results(bench):
    record = json.loads(bench.KEPT.read_text(encoding="utf-8"))
    assert bench.PAGE.read_text(encoding="utf-8") == bench.page_text(record)


def test_the_mended_version_raises_no_alarm_on_equal_lengths(bench):
    rows = json.loads(bench.KEPT.read_text(encoding="utf-8"))["rows"]
    mended = [row for row in rows if row["wheel"] == "opendp 0.16.0"]
    verdicts = {row["mechanism"]: row["verdict"] for row in mended}
    assert verdicts.pop("bit vector, f = 1, two lengths") == "violated"
    assert set(verdicts.values()) == {"consistent"}
