"""The page on the documents' claims is what the committed results say."""

import importlib.util
import re
from pathlib import Path

import pytest

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


def test_the_gallery_is_as_the_tool_writes_it(tool):
    """If not: ``python tools/reproduction_table.py``."""
    assert tool.GALLERY_PAGE.read_text(encoding="utf-8") == tool.gallery()


def test_full_runs_are_committed_and_nothing_was_left_out(tool):
    for name in tool.TITLES:
        command = (tool.RESULTS / name / "command.txt").read_text(encoding="utf-8")
        assert "--quick" not in command, name
        exhibits = tool.lines_of(tool.RESULTS / name / "exhibits.csv")
        assert not [line["number"] for line in exhibits if line["missing"].startswith("Not run")]


def test_every_document_is_on_it_with_the_command_that_made_it(tool):
    from shoal.experiments import DOCUMENTS

    assert set(tool.TITLES) == set(DOCUMENTS)
    text = tool.page()
    for name in DOCUMENTS:
        assert f"Made by `shoal reproduce {name}" in text


def test_every_document_says_beside_its_verdicts_how_it_was_run(tool):
    from shoal.experiments import document_named

    text = tool.PAGE.read_text(encoding="utf-8")
    for name in tool.TITLES:
        setting = document_named(name).setting(False)
        assert setting, name
        assert [each for each in setting if f"- {each}\n" not in text] == []


def test_at_most_one_figure_in_ten_of_the_authors_own_has_no_counterpart(tool):
    """Drawings by others are exempt, by name; what was not run yet has one, and says so."""
    lines = [
        line
        for name in tool.TITLES
        for line in tool.lines_of(tool.RESULTS / name / "exhibits.csv")
        if "by other authors" not in line["missing"]
    ]
    missing = [line["number"] for line in lines if line["missing"]]
    assert len(missing) <= len(lines) / 10, missing


def test_every_claim_is_judged_by_one_of_four_verdicts(tool):
    from shoal.pages._reproduction import VERDICTS

    for name in tool.TITLES:
        verdicts = {c["verdict"] for c in tool.lines_of(tool.RESULTS / name / "claims.csv")}
        assert verdicts <= set(VERDICTS)


@pytest.mark.heavy
def test_every_verdict_follows_from_the_committed_tables(tool):
    """If not: ``python tools/reproduction_table.py``."""
    for name in tool.TITLES:
        assert tool.lines_of(tool.RESULTS / name / "claims.csv") == tool.judged(name)


def test_a_part_that_was_not_run_again_keeps_its_former_entry(tool):
    new = [{"number": "Figure 1", "missing": "Not run, or"}, {"number": "Figure 2", "missing": ""}]
    old = [{"number": "Figure 1", "missing": ""}]
    assert tool.with_former(new, old) == [{"number": "Figure 1", "missing": ""}, new[1]]


# An independent rerun of the thesis has these; ours must lie within 0.03 of them.
HEART = {
    "laplace": {0.5: 0.76, 1: 0.88, 2: 0.91, 3: 0.94, 5: 0.98, 9: 0.99},
    "piecewise": {0.5: 0.01, 1: 0.04, 2: 0.16, 3: 0.33, 5: 0.63, 9: 0.91},
    "bayes": {0.5: 0.74, 1: 0.86, 2: 0.91, 3: 0.92, 5: 0.93, 9: 0.94},
}


@pytest.mark.parametrize("mechanism", HEART)
def test_heart_in_two_columns_comes_out_as_an_independent_rerun_has_it(tool, mechanism):
    rows = tool.lines_of(tool.RESULTS / "nd-laplace" / "utility-means.csv")
    ours = {float(row["epsilon"]): float(row["ami"]) for row in rows
            if (row["data"], row["mechanism"]) == ("heart-2d", mechanism)}  # fmt: skip
    for epsilon, expected in HEART[mechanism].items():
        assert ours[epsilon] == pytest.approx(expected, abs=0.03)


def test_every_numbered_figure_and_table_of_the_thesis_has_an_entry(tool):
    listed = {
        number
        for line in tool.lines_of(tool.RESULTS / "nd-laplace" / "exhibits.csv")
        for number in re.findall(r"\d+\.\d+|\b3[12]\b", line["number"])
    }
    chapters = {2: 6, 3: 14, 4: 2, 5: 3, 6: 30}
    wanted = {f"{chapter}.{i}" for chapter, last in chapters.items() for i in range(1, last + 1)}
    assert wanted | {"31", "32"} <= listed
