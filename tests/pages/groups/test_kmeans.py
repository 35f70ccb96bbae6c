import json

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.cli._output import render_text
from shoal.cluster.group_sizes import NO_ROWS_DETECTED
from shoal.data import write_table
from shoal.domain import Box
from shoal.jobs._cluster_methods import METHODS, ClusterOptions
from shoal.pages import findings, render
from shoal.pages.groups import KMeansGroups, page
from shoal.pages.groups._kmeans import WEAK
from shoal.privacy import Ledger

BOX = Box(age=(0, 110), visits=(0, 20))


def rows(d=2, n=2_000):
    rng = np.random.default_rng(0)
    return 0.3 + 0.4 * (np.arange(n) % 2)[:, None] + rng.normal(0, 0.03, (n, d))


def fitted(box=BOX, X=None, **settings):
    given = {"epsilon": "1", "n_clusters": range(2, 3), "seed": 1} | settings
    X = box.unscale(rows(box.d)) if X is None else X
    return METHODS["kmeans"].build(ClusterOptions("kmeans", box=box, **given)).fit(X)


def made(box=BOX, X=None, title=None, publisher=None, **settings):
    return page(fitted(box, X, **settings), title=title, publisher=publisher)


@pytest.mark.heavy
def test_the_page_has_words_for_everything_on_the_label():
    label = findings(made().to_result(), ledger=Ledger())["label"]
    assert not [field["name"] for field in label if field["value"] == "not stated"]


@pytest.mark.heavy
def test_the_page_shows_map_table_facts_and_what_noise_costs():
    shown = findings(made().to_result())
    assert shown["kind"] == "private k-means"
    assert [figure["kind"] for figure in shown["figures"][2:]] == ["cell_map"]
    (table,) = shown["result"]["tables"]
    assert table["columns"] == ["Group", "Age", "Visits", "Rows, about"]
    assert len(table["rows"]) == 2
    assert shown["errors"]
    assert shown["settings"]["algorithm"] == "auto"
    assert "synopsis_" not in shown["result"]["values"]  # it would name a ledger's path


@pytest.mark.heavy
def test_the_page_is_plain_json():
    shown = findings(made().to_result(), ledger=Ledger())
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.heavy
def test_titles_and_names_from_outside_are_escaped():
    hostile = '</script><b onload="x">'
    box = Box.of([hostile, "=1+1"], [0, 0], [1, 1])
    text = render(findings(made(box, title=hostile, publisher=hostile).to_result()))
    assert "<b onload" not in text
    assert "</script>" not in text


@pytest.mark.filterwarnings("ignore::shoal.errors.NoGroupsDetected")
def test_that_no_group_can_be_told_is_said_first_on_terminal_page_and_in_json():
    few = made(X=BOX.unscale(rows(n=40)), epsilon="0.05")
    assert findings(few.to_result())["result"]["values"] == {}  # a public page shows none
    shown = findings(few.to_result(publish_anyway=True))
    assert shown["errors"][0] == NO_ROWS_DETECTED
    assert shown["result"]["summary"].startswith(NO_ROWS_DETECTED)
    assert shown["settings"]["title"] == "No clear groups by age and visits"
    assert shown["result"]["values"]["is_certain_"] == [False, False]
    assert all(row[-1].endswith("(uncertain)") for row in shown["result"]["tables"][0]["rows"])
    text = " ".join(render_text(*few.lines).split())
    assert "No group can be distinguished" in text
    assert "in 2 groups" not in text
    assert "Group " not in text  # centres of noise are no news; they are in the folder
    assert few.values["certain_groups"] == 0
    assert few.values["rows_detected"] is False
    assert len(few.values["groups"]) == 2  # paid for, and kept


@pytest.mark.heavy
def test_few_rows_for_the_noise_are_told_before_other_errors():
    wide = Box.of([f"c{i}" for i in range(60)], [0] * 60, [1] * 60)
    few = made(wide, X=rows(60, n=380))
    assert few.values["certain_groups"] == 2
    assert findings(few.to_result())["errors"][0] == WEAK
    assert WEAK not in findings(made().to_result())["errors"]


@pytest.mark.heavy
def test_many_columns_are_cut_where_they_are_listed_and_kept_where_they_are_counted():
    box = Box.of([f"c{i}" for i in range(20)], [0] * 20, [1] * 20)
    shown = made(box)
    (table,) = shown.tables
    assert len(table.columns) == 14
    assert "8 more columns are in centers.csv" in table.note
    assert len(shown.values["groups"][0]["center"]) == 20
    assert "c19" not in render_text(*shown.lines)


@pytest.mark.heavy
def test_a_simulation_promises_nothing():
    shown = made()
    assert "Promised Nothing. With real noise:" in " ".join(render_text(*shown.lines).split())
    assert shown.values["simulation"] is True


@pytest.mark.heavy
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"neighbours": "replace-one", "n_public": 2_000, "drop": True},
        {"delta": "1e-9"},
        {"box": Box.geo(lat=(40.4, 41.0), lon=(-74.3, -73.6))},
    ],
    ids=["plain", "replaced", "delta", "map"],
)
def test_the_code_on_the_page_does_the_same(settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    box = settings.pop("box", BOX)
    X = dict(zip(box.names, box.unscale(rows()).T, strict=True))
    write_table(pa.table(X), "table.csv")
    model = fitted(box, X="table.csv", **settings)
    exec(KMeansGroups(model).code(), {})
    again = shoal.load_model("model")
    np.testing.assert_array_equal(again.cluster_centers_, model.cluster_centers_)
    assert again.guarantee_ == model.guarantee_
