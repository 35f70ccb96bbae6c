"""The page on the documents' claims is what the committed results say."""

import importlib.util
from pathlib import Path

import pytest

from shoal.experiments.tables import NOT_RUN

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("r", ROOT / "tools" / "reproduction_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_as_the_tool_writes_it(tool):
    """If not: ``python tools/reproduction_table.py``."""
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page()


def test_every_document_is_on_it_with_the_command_that_made_it(tool):
    from shoal.experiments import DOCUMENTS

    assert set(tool.TITLES) == set(DOCUMENTS)
    text = tool.page()
    for name in DOCUMENTS:
        assert f"Made by `shoal reproduce {name}" in text


def test_at_most_one_figure_in_ten_of_the_authors_own_has_no_counterpart(tool):
    """Drawings by others are exempt, by name; what was not run yet has one, and says so."""
    lines = [
        line
        for name in tool.TITLES
        for line in tool.lines_of(tool.RESULTS / name / "exhibits.csv")
        if "by other authors" not in line["missing"]
    ]
    missing = [line["number"] for line in lines if line["missing"] not in ("", NOT_RUN)]
    assert len(missing) <= len(lines) / 10, missing


def test_every_verdict_is_one_of_three(tool):
    from shoal.report.reproduction import CANNOT_TEST, DOES_NOT_HOLD, HOLDS

    for name in tool.TITLES:
        verdicts = {c["verdict"] for c in tool.lines_of(tool.RESULTS / name / "claims.csv")}
        assert verdicts <= {HOLDS, DOES_NOT_HOLD, CANNOT_TEST}
