"""What is said of a release's use, for the holder."""

import numpy as np
import pytest

from shoal.anonymize import run_policy
from shoal.anonymize.utility import ClassificationReport, _ModelScore
from shoal.pages.table_utility import association_table, change_figures, classification_summary


def run(tmp_path, values):
    tree = {"*": {"low": [*"01234567"], "high": [*"89", *map(str, range(10, 20))]}}
    other = {"*": ["F", "M"]}
    attributes = {
        "x": {"role": "quasi", "hierarchy": {"tree": tree}},
        "s": {"role": "quasi", "hierarchy": {"tree": other}},
    }
    content = {"version": 1, "attributes": attributes, "privacy": {"k": 3, "suppression": 0.2},
               "output": {"path": str(tmp_path / "out.csv")}}  # fmt: skip
    rows = {"x": values, "s": ["F" if int(v) < 8 else "M" for v in values]}
    return run_policy(content, rows, overwrite=True)


@pytest.mark.heavy
def test_columns_are_drawn_before_and_after_in_few_bars(tmp_path):
    values = np.random.default_rng(1).integers(0, 20, 90).astype(str).tolist()
    figures = change_figures(run(tmp_path, values))
    assert {figure.title.split(":")[0] for figure in figures} == {"x", "s"}
    assert all(len(figure.data["names"]) <= 12 for figure in figures)
    assert all(abs(sum(figure.data["after"]) - 1) < 1e-4 for figure in figures)


@pytest.mark.heavy
def test_columns_that_go_together_are_listed(tmp_path):
    values = np.random.default_rng(1).integers(0, 20, 90).astype(str).tolist()
    ((columns, before, _),) = association_table(run(tmp_path, values)).rows
    assert (columns, before) == ("x and s", "1.00")


def test_the_report_compares_original_release_and_majority():
    report = ClassificationReport(
        "income", _ModelScore(0.8, 0.88, 100), _ModelScore(0.7, 0.9, 90), 0.75, ("Beware.",)
    )
    table, note, warning = classification_summary(report).lines
    assert [row[1] for row in table.rows] == ["0.800", "0.700", "0.750"]
    assert "only" in note.text
    assert warning.text == "Beware."
