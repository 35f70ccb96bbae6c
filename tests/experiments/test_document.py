import csv

import pyarrow.parquet as pq
import pytest

from shoal.errors import InvalidSetting
from shoal.experiments._cells import Cell
from shoal.experiments.document import Document, reproduce
from shoal.figures import dots
from shoal.pages import Claim, Exhibit, Reproduction

CALLS = []


def cells(quick):
    return [Cell(part, {"x": x}) for part in ("first", "second") for x in range(1 if quick else 3)]


def run(cell):
    CALLS.append(cell)
    return [{"draw": i, "value": cell.settings["x"] + i, "curve": [1, 2]} for i in range(2)]


def conclude(results, quick):
    mean = results.mean("first", "value")
    claims = [Claim("Section 1", "Some.", "holds" if mean else "cannot be told here")]
    exhibits = [Exhibit("Figure 1", "Dots", [dots(10, 24)])]
    return Reproduction(title="Test", lead="", claims=claims, exhibits=exhibits, setting=[],
                        again="", quick=quick)  # fmt: skip


def judge(results, quick):
    return conclude(results, quick).claims


DOCUMENT = Document("test", 1, cells, run, conclude, judge)


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


@pytest.mark.heavy
def test_a_run_leaves_tables_figures_and_the_page(tmp_path):
    outcome = reproduce(DOCUMENT, tmp_path, jobs=1)
    assert (outcome.ran, outcome.finished, outcome.cells) == (6, 6, 6)
    assert (tmp_path / "figures" / "figure-1-1.svg").exists()
    assert "holds" in (tmp_path / "report.html").read_text()
    table = pq.read_table(tmp_path / "tables" / "first.parquet")
    assert table.num_rows == 6
    with (tmp_path / "tables" / "first.csv").open() as file:
        assert "curve" not in next(csv.reader(file))
    with (tmp_path / "tables" / "claims.csv").open() as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["holds"]


def test_a_second_run_does_nothing_at_all(tmp_path):
    reproduce(DOCUMENT, tmp_path, jobs=1)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    outcome = reproduce(DOCUMENT, tmp_path, jobs=1)
    assert (outcome.ran, outcome.reproduction) == (0, None)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == before


@pytest.mark.heavy
def test_a_page_that_is_missing_is_written_without_running_a_cell(tmp_path):
    reproduce(DOCUMENT, tmp_path, jobs=1)
    (tmp_path / "report.html").unlink()
    CALLS.clear()
    assert reproduce(DOCUMENT, tmp_path, jobs=1).reproduction is not None
    assert CALLS == []


@pytest.mark.heavy
def test_parts_can_be_run_one_after_the_other(tmp_path):
    outcome = reproduce(DOCUMENT, tmp_path, only=["second"], jobs=1)
    assert (outcome.ran, outcome.finished) == (3, 3)
    assert outcome.reproduction.claims[0].verdict == "cannot be told here"
    outcome = reproduce(DOCUMENT, tmp_path, jobs=1)
    assert outcome.reproduction.claims[0].verdict == "holds"


def test_a_part_that_is_not_there_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(InvalidSetting, match="no part 'third'"):
        reproduce(DOCUMENT, tmp_path / "new", only=["third"], jobs=1)
    assert not (tmp_path / "new").exists()


def test_cells_of_spark_run_when_asked_and_stay_on_the_page(tmp_path):
    with_spark = Document(
        "test", 1, cells, run, conclude, judge, lambda quick: [Cell("spark", {"x": 9})]
    )
    assert reproduce(with_spark, tmp_path, jobs=1).cells == 6
    assert not (tmp_path / "tables" / "spark.csv").exists()
    assert reproduce(with_spark, tmp_path, jobs=1, on_spark=True).ran == 1
    assert (tmp_path / "tables" / "spark.csv").exists()
    (tmp_path / "report.html").unlink()
    (tmp_path / "tables" / "spark.csv").unlink()
    assert reproduce(with_spark, tmp_path, jobs=1).ran == 0
    assert (tmp_path / "tables" / "spark.csv").exists()
