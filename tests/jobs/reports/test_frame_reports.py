"""Reports on Spark are learnt from as those of a file, and refused as those of a file."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.data import write_table
from shoal.errors import NotAReport
from shoal.jobs.reports._frame_reports import load_frame_reports
from shoal.mechanisms import LocalGrid, PlanarLaplace

DOMAIN = "version: 1\ncolumns: {x: {low: 0, high: 10}, y: {low: 0, high: 10}}\n"
CENTERS = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("reports")
    rows = np.random.default_rng(0).normal(np.repeat(CENTERS, 700, axis=0), 0.2)
    write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), place / "rows.csv")
    (place / "domain.yaml").write_text(DOMAIN)
    return place


@pytest.fixture(autouse=True)
def place(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*words, code=0):
    shown = CliRunner().invoke(app, list(map(str, words)))
    assert shown.exit_code == code, shown.output
    return shown


def perturbed(output, *words):
    given = ("--domain", "domain.yaml", "--seed", 7, "--overwrite", "-q", "-o", output)
    run("perturb", "rows.csv", *given, *words)
    return output


def learnt(table, *words, name="model"):
    given = ("-k", 3, "--seed", 7, "-o", name, "--overwrite", "--json")
    return json.loads(run("learn", table, *given, *words).stdout)


def centers(document):
    found = np.array([[group["center"]["x"], group["center"]["y"]] for group in document["groups"]])
    return found[np.argsort(found[:, 1])]


@pytest.mark.heavy
def test_cells_counted_on_spark_give_the_groups_of_the_same_file_here(spark, folder):
    table = perturbed("grid.csv", "--mechanism", "local-grid", "--epsilon", 4)
    here = learnt(table)
    there = learnt((folder / table).as_uri(), "--engine", "spark", name="there")
    assert np.abs(centers(there) - centers(here)).max() < 0.05  # other starts, one density
    for name in ("reports", "reports_used", "method", "guarantee", "simulation"):
        assert there[name] == here[name]
    assert "FrameReports" in Path(there["report"]).read_text()


@pytest.mark.heavy
def test_reports_that_spark_wrote_are_learnt_from_where_they_are(spark):
    perturbed("noisy.parquet", "--mechanism", "planar-laplace", "--epsilon", 6,
              "--clip", "--engine", "spark")  # fmt: skip
    there = learnt("noisy.parquet", "--engine", "spark")
    assert (there["reports"], there["reports_used"]) == (2_100, 2_100)
    assert np.abs(centers(there) - CENTERS[[0, 1, 2]]).max() < 0.5


@pytest.mark.heavy
def test_reports_come_back_as_what_they_are(spark):
    table = perturbed("planar.parquet", "--mechanism", "planar-laplace", "--epsilon", 2, "--clip")
    found = load_frame_reports(table, spark.read.parquet(os.path.abspath(table)), 7)
    assert isinstance(found.reports.mechanism, PlanarLaplace)
    assert (found.total, found.protects, found.box.names) == (2_100, "a row", ("x", "y"))
    assert found.guarantee.simulation
    table = perturbed("cells.parquet", "--mechanism", "local-grid", "--epsilon", 4)
    found = load_frame_reports(table, spark.read.parquet(os.path.abspath(table)), 7)
    assert isinstance(found.reports.mechanism, LocalGrid)
    assert found.total == 2_100


@pytest.mark.heavy
def test_what_is_no_table_of_reports_is_refused(spark):
    def refused(table, words):
        frame = spark.read.csv(os.path.abspath(table), header=True)
        with pytest.raises(NotAReport, match=words):
            load_frame_reports(table, frame, 7)

    refused("rows.csv", "true rows")
    about = Path(f"{perturbed('one.csv', '--mechanism', 'local-grid', '--epsilon', 4)}.json")
    told = about.read_text()
    about.write_text(told.replace("shoal.reports/1", "shoal.reports/0"))
    refused("one.csv", "does not say")
    other = json.loads(told)
    other["file"]["sha256"] = "0" * 64
    about.write_text(json.dumps(other))
    refused("one.csv", "checksum differs")
    del other["file"]["sha256"]
    about.write_text(json.dumps(other))
    refused("one.csv", "does not say")
    about.write_text("")
    refused("one.csv", "does not say")
