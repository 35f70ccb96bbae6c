"""Figures of a release: trees shaded by published rows alone, risk before and after."""

import numpy as np
import pytest

from shoal.anonymize import run_policy
from shoal.anonymize.risk._reidentification import leaf_class_sizes
from shoal.pages._table_figures import hierarchy_figures, risk_histogram

TREE = {"*": {"low": ["1", "2"], "high": ["3", "4"]}}


def run(tmp_path, values, **hierarchy):
    of = {"role": "quasi", "hierarchy": hierarchy or {"tree": TREE}}
    content = {"version": 1, "attributes": {"x": of}, "privacy": {"k": 3, "suppression": 0.2},
               "output": {"path": str(tmp_path / "out.csv")}}  # fmt: skip
    return run_policy(content, {"x": values}, overwrite=True)


@pytest.mark.heavy
def test_a_tree_shows_the_share_of_published_rows_under_each_label(tmp_path):
    (figure,) = hierarchy_figures(run(tmp_path, ["1"] * 6 + ["3"] * 3 + ["4"] * 3))
    shares = {box[3]: box[4] for box in figure.data["boxes"]}
    assert shares["1"] == 0.5
    assert sum(shares.values()) == pytest.approx(1.0)


@pytest.mark.heavy
def test_labels_that_nobody_has_are_boxes_without_a_name(tmp_path):
    (figure,) = hierarchy_figures(run(tmp_path, ["1"] * 6 + ["2"] * 4))
    assert [box[3] for box in figure.data["boxes"]] == ["*", "low", "1", "2", "", "", ""]


@pytest.mark.heavy
def test_rows_that_are_left_out_do_not_show_missing_values_included(tmp_path):
    rows = ["1"] * 6 + ["3"] * 4
    without = hierarchy_figures(run(tmp_path, rows))
    done = run(tmp_path, [*rows, None])
    assert done.outcome.metrics.suppressed == 1
    assert [figure.to_dict() for figure in hierarchy_figures(done)] == [
        figure.to_dict() for figure in without
    ]


@pytest.mark.heavy
def test_labels_that_nobody_is_published_under_are_not_named(tmp_path):
    (figure,) = hierarchy_figures(run(tmp_path, ["1"] * 6 + ["3"] * 3 + ["4"] * 3))
    names = [box[3] for box in figure.data["boxes"] if box[3]]
    assert names == ["*", "low", "1", "high", "3", "4"]


@pytest.mark.heavy
def test_missing_values_that_are_published_have_a_box(tmp_path):
    (figure,) = hierarchy_figures(run(tmp_path, ["1"] * 6 + [None] * 4))
    assert {box[3]: box[4] for box in figure.data["boxes"]}["<null>"] == 0.4


@pytest.mark.heavy
def test_learnt_trees_are_not_drawn(tmp_path):
    assert hierarchy_figures(run(tmp_path, ["12"] * 5 + ["13"] * 5, kind="prefix", keep=[1])) == []


@pytest.mark.heavy
def test_the_histogram_counts_people_by_their_chance(tmp_path):
    done = run(tmp_path, ["1"] * 6 + ["3"] * 3 + ["4"])
    figure = risk_histogram(done, leaf_class_sizes(done.frequency.problem))
    before = dict(zip(figure.data["names"], figure.data["before"], strict=True))
    after = dict(zip(figure.data["names"], figure.data["after"], strict=True))
    assert before["1 in 1"] == 0.1
    assert after["1 in 1"] == 0
    assert np.isclose(sum(figure.data["after"]), 1)
