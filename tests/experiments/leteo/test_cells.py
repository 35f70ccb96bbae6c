import pytest

from shoal.experiments._cells import Cell
from shoal.experiments._results import Results
from shoal.experiments.leteo._cells import METHODS, QUASI
from shoal.experiments.leteo._printed_gains import ENTROPY_CORRECTED, ENTROPY_DISTINCT
from shoal.experiments.leteo._run import run


@pytest.mark.heavy
def test_the_students_are_published_and_columns_that_keep_their_values_are_told():
    (row,) = run(Cell("tables", {"rows": 2_000, "score": "leteo", "suppression": 0.02}))
    assert row["unique"] > 0
    assert row["suppressed"] <= 40
    assert {row[f"full_{name}"] for name in QUASI} <= {0, 1}


@pytest.mark.heavy
def test_corrected_gains_keep_more_detail_than_printed_ones():
    printed, corrected = (
        run(Cell("gains", {"rows": 2_000, "gain": gain}))[0]
        for gain in (ENTROPY_DISTINCT, ENTROPY_CORRECTED)
    )
    assert corrected["ncp"] < printed["ncp"]
    assert printed["smallest"] >= 10


@pytest.mark.heavy
def test_every_method_has_a_ratio_to_plain_k_means():
    common = {"data": "blobs 2-D", "epsilon": 1.0, "draws": 1}
    ratios = {name: run(Cell("methods", {**common, "method": name}))[0]["ratio"]
              for name in METHODS}  # fmt: skip
    assert all(ratio > 0.99 for ratio in ratios.values())
    assert ratios["ours"] < ratios["DPLloyd"]


@pytest.mark.heavy
def test_the_share_of_the_coarse_level_reaches_the_synopsis():
    common = {"data": "blobs 2-D", "epsilon": 0.1, "draws": 1}
    first, second = (run(Cell("alpha", {**common, "alpha": a}))[0]["ratio"] for a in (0.1, 0.9))
    assert first != second


def test_pictures_come_from_releases_with_a_histogram_and_a_table():
    rows = run(Cell("pictures", {"epsilon": 1.0}))
    names = [row["picture"] for row in rows]
    assert names[:4] == ["k-means", "uniform", "adaptive", "histogram"]
    total = Results([{"part": "pictures", **row} for row in rows])
    counted = total.rows("pictures", picture="contingency")
    assert abs(sum(row["released"] for row in counted) - 10_000) < 2_000


@pytest.mark.heavy
def test_a_run_on_copies_is_timed():
    rows = run(Cell("times", {"rows": 500, "times": 2, "runs": 2}))
    assert len(rows) == 2
    assert all(row["seconds"] > 0 for row in rows)


def test_the_sizes_of_cells_reach_the_synopsis():
    common = {"data": "blobs 2-D", "epsilon": 1.0, "draws": 1, "coarse_rows": 10}
    first, second = (
        run(Cell("granularity", {**common, "part_rows": rows}))[0]["ratio"] for rows in (1, 50)
    )
    assert first != second
