import pytest

from shoal.experiments._cells import Cell
from shoal.experiments.nd_laplace._run import run

SCORES = {"ami", "ari", "nmi", "mi", "mirkin", "rand", "fm", "silhouette", "chi",
          "davies_bouldin", "displacement", "aee", "re", "client_ami"}  # fmt: skip


def test_noise_is_as_long_as_its_law_says():
    rows = run(Cell("noise", {"d": 5, "epsilon": 2.0, "draws": 20_000}))
    mean = sum(row["length"] for row in rows) / len(rows)
    assert mean == pytest.approx(2.5, abs=0.05)  # d / epsilon, sd 0.008
    assert rows[0]["axis_sd"] == pytest.approx(6**0.5 / 2, abs=0.05)


@pytest.mark.heavy
def test_utility_has_every_score_and_rises_with_the_budget():
    common = {"data": "blobs-200-2d", "mechanism": "laplace", "draws": 3}
    low, high = (run(Cell("utility", {**common, "epsilon": e})) for e in (0.1, 9.0))
    assert set(low[0]) >= SCORES
    labels = {"ami", "ari", "nmi", "mi", "mirkin", "rand", "fm", "client_ami"}
    assert set(low[0]) >= {f"control_{name}" for name in labels}
    assert max(row["ami"] for row in low) < min(row["ami"] for row in high)


def test_a_mechanism_that_refuses_leaves_a_row_that_says_so():
    settings = {"data": "blobs-50-5d", "mechanism": "restrict", "epsilon": 0.05, "draws": 2}
    assert run(Cell("utility", settings)) == [{"draw": 0, "refused": 1}]


@pytest.mark.heavy
def test_each_clusterer_is_held_against_its_own_clusters():
    settings = {"data": "blobs-50-2d", "mechanism": "piecewise", "epsilon": 9.0, "draws": 1,
                "ap": True}  # fmt: skip
    rows = run(Cell("clusterers", settings))
    assert {row["clusterer"] for row in rows} >= {"KMeans, k chosen", "DBSCAN, chosen"}
    assert {row["clusterer"] for row in rows} >= {"KMeans", "KMeans, k = 4", "OPTICS", "DBSCAN",
                                                  "AP"}  # fmt: skip


@pytest.mark.heavy
def test_at_one_promise_laplace_is_scaled_by_the_diameter():
    common = {"data": "blobs-200-2d", "epsilon": 5.0, "draws": 2}
    laplace, piecewise = (
        run(Cell("equal", {**common, "mechanism": name}))
        for name in ("laplace", "piecewise on records")
    )
    # E|u| = d / rate = 2 * 2 sqrt(2) / 5 in the cube [-1, 1]^2
    assert laplace[0]["displacement"] == pytest.approx(1.13, abs=0.2)
    assert piecewise[0]["displacement"] < laplace[0]["displacement"]


def test_stages_keep_the_rows_first():
    rows = run(Cell("stages", {"data": "blobs-50-3d", "epsilon": 1.0}))
    assert [row["stage"] for row in rows] == ["data", "noise", "grid remap", "optimal remap"]
    assert len(rows[0]["points"]) == 50


def test_forms_that_read_the_rows_have_no_control():
    settings = {"data": "blobs-50-2d", "mechanism": "piecewise", "epsilon": 1.0, "draws": 1}
    assert not [name for name in run(Cell("utility", settings))[0] if name.startswith("control")]


def test_more_nodes_of_a_grid_move_reports_less():
    common = {"data": "blobs-200-2d", "epsilon": 5.0, "draws": 3}
    coarse, fine = (run(Cell("nodes", {**common, "nodes": n})) for n in (2, 24))
    assert max(row["ami"] for row in coarse) < min(row["ami"] for row in fine)


def test_one_cluster_has_no_separation():
    settings = {"data": "blobs-50-2d", "mechanism": "laplace", "epsilon": 0.05, "draws": 1,
                "ap": False}  # fmt: skip
    rows = {row["clusterer"]: row for row in run(Cell("clusterers", settings))}
    assert "silhouette" in rows["KMeans"]
    assert all("silhouette" in row for row in rows.values() if row["clusters"] > 1)
    assert "AP" not in rows
