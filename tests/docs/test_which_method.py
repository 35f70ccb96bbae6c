"""The tables of "Which method for my data?" are what the committed results say."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("w", ROOT / "tools" / "which_method.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_as_the_tool_writes_it(tool):
    """If not: ``python tools/which_method.py``."""
    page = tool.PAGE.read_text(encoding="utf-8")
    assert page == tool.with_tables(page)


def test_the_best_of_a_line_is_bold(tool):
    assert tool.marked([1.204, 1.0, None, 1.001], min, 2) == ["1.20", "**1.00**", "", "**1.00**"]
    assert tool.marked([0.2, 0.9], max, 1) == ["0.2", "**0.9**"]


def test_every_method_in_the_decision_is_measured_below(tool):
    page = tool.PAGE.read_text(encoding="utf-8")
    decision, *measured = page.split("\n## ")
    for name in ("PrivateKMeans", "PrivateKPrototypes", "WaveCluster", "LocalGrid", "LocalRounds"):
        assert name in decision
        assert any(name in part for part in measured), name
