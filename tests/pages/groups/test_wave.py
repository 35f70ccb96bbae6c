import json

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.cli._output import render_text
from shoal.cluster.group_sizes import NO_ROWS_DETECTED
from shoal.data import write_table
from shoal.domain import Box
from shoal.jobs._cluster_methods import METHODS, ClusterOptions, WaveOptions
from shoal.pages import findings, render
from shoal.pages.groups import WaveGroups, page
from shoal.pages.groups._wave import CHOSEN, PAGE_GROUPS
from shoal.privacy import Ledger

BOX = Box(age=(0, 110), visits=(0, 20))


def rows(n=4_000):
    rng = np.random.default_rng(0)
    return 0.25 + 0.5 * (np.arange(n) % 2)[:, None] + rng.normal(0, 0.03, (n, 2))


def fitted(box=BOX, X=None, waves=None, **settings):
    given = {"epsilon": "1", "seed": 1, "waves": waves or WaveOptions()} | settings
    X = box.unscale(rows()) if X is None else X
    return METHODS["wave"].build(ClusterOptions("wave", box=box, **given)).fit(X)


def made(box=BOX, X=None, waves=None, title=None, publisher=None):
    return page(fitted(box, X, waves), title=title, publisher=publisher)


def test_the_page_has_words_for_everything_on_the_label():
    label = findings(made().to_result(), ledger=Ledger())["label"]
    assert not [field["name"] for field in label if field["value"] == "not stated"]


def test_the_page_shows_map_tree_sizes_and_boxes():
    shown = findings(made().to_result())
    assert shown["kind"] == "wave cluster"
    figure, density = shown["figures"][2:]
    assert (figure["kind"], density["kind"]) == ("cluster_map", "cell_map")
    assert figure["data"]["branches"]
    (table,) = shown["result"]["tables"]
    assert table["columns"] == ["Group", "Age", "Visits", "Cells", "Rows, about"]
    assert len(table["rows"]) == 2
    assert shown["errors"][0] == CHOSEN
    assert shown["settings"]["algorithm"] == "block"
    values = shown["result"]["values"]
    assert set(values) >= {"cluster_sizes_", "boxes_", "threshold_"}
    assert not set(values) & {"tree_", "cell_labels_", "noisy_counts_"}  # files of their own


def test_the_page_is_plain_json():
    shown = findings(made().to_result(), ledger=Ledger())
    assert json.loads(json.dumps(shown)) == shown


def test_titles_and_names_from_outside_are_escaped():
    hostile = '</script><b onload="x">'
    box = Box.of([hostile, "=1+1"], [0, 0], [1, 1])
    text = render(findings(made(box, title=hostile, publisher=hostile).to_result()))
    assert "<b onload" not in text
    assert "</script>" not in text


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_that_nothing_stands_out_is_said_everywhere():
    none = made(X=np.zeros((0, 2)), waves=WaveOptions(cells="8"))
    shown = findings(none.to_result())
    assert shown["errors"][0] == NO_ROWS_DETECTED
    assert shown["result"]["tables"] == []
    assert "No group can be distinguished" in " ".join(render_text(*none.lines).split())
    assert none.values["groups"] == []


def test_many_groups_are_cut_where_they_are_listed_and_kept_where_they_are_counted():
    middles = (np.stack(np.meshgrid(np.arange(7), np.arange(7)), -1).reshape(-1, 2) + 0.5) / 7
    many = made(X=BOX.unscale(np.repeat(middles, 300, axis=0)), waves=WaveOptions(cells="35"))
    (table,) = many.tables
    assert len(table.rows) == PAGE_GROUPS
    assert "9 more groups are in cells.parquet" in table.note
    assert many.values["n_clusters"] == 49
    assert "and 37 more" in render_text(*many.lines)


def test_json_has_the_box_and_the_noise_of_each_group():
    shown = made().values
    assert shown["simulation"] is True
    assert len(shown["groups"]) == shown["n_clusters"] == 2
    group = shown["groups"][0]
    assert set(group) == {
        "box", "cells", "rows_about", "rows_interval", "stable", "noise_deviation", "certain",
        "noise_reach",
    }  # fmt: skip
    assert set(group["box"]) == {"age", "visits"}
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.heavy
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"waves": WaveOptions("privthr", "32", "percentile", 1, "db2")},
        {"waves": WaveOptions(cells="20,30"), "neighbours": "replace-one", "drop": True},
    ],
    ids=["default", "published", "cells"],
)
def test_the_code_on_the_page_does_the_same(settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(pa.table(dict(zip(BOX.names, BOX.unscale(rows()).T, strict=True))), "table.csv")
    model = fitted(X="table.csv", **settings)
    exec(WaveGroups(model).code(), {})
    again = shoal.load_model("model")
    np.testing.assert_array_equal(again.cell_labels_, model.cell_labels_)
    np.testing.assert_array_equal(again.noisy_counts_, model.noisy_counts_)
    assert again.guarantee_ == model.guarantee_
