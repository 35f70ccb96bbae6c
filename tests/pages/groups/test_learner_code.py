"""The Python that a page shows runs as it stands, and learns what the page says."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.cluster import load_model
from shoal.data import write_table

CENTERS = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])
DOMAIN = "version: 1\ncolumns: {'a.b': {low: 0, high: 10.123456789}, y: {low: 0, high: 10}}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(np.repeat(CENTERS, 300, axis=0), 0.2)
    write_table(pa.table({"a.b": rows[:, 0], "y": rows[:, 1]}), "rows.csv")
    Path("domain.yaml").write_text(DOMAIN)
    return tmp_path


def run(*words):
    shown = CliRunner().invoke(app, list(map(str, words)))
    assert shown.exit_code == 0, shown.output
    return shown.stdout


def reported(output, mechanism, *words):
    made = ("--mechanism", mechanism, "--epsilon", 4, "--clip", "--domain", "domain.yaml")
    run("perturb", "rows.csv", *made, "-o", output, "-q", *words)


def learnt_again(table, *words):
    """The groups that a run found, those that the code on its page finds, and the code."""
    told = json.loads(run("learn", table, "-k", 3, "--seed", 7, "-o", "found", "--json", *words))
    page = json.loads(Path(told["report"]).with_suffix(".json").read_text())
    code = page["settings"]["code"]
    exec(compile(code, "page", "exec"), {})
    return load_model("found"), load_model("model"), code


def assert_same_groups(one, other):
    assert one.mechanism == other.mechanism
    assert (one.n_reports_, one.n_used_) == (other.n_reports_, other.n_used_) == (900, 900)
    places = [
        model.cluster_centers_[model.cluster_centers_[:, 1].argsort()] for model in (one, other)
    ]
    np.testing.assert_allclose(*places, atol=0.1)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("ending", "mechanism"),
    [
        ("parquet", "planar-laplace"),
        ("parquet", "local-grid"),
        ("csv", "local-grid"),
        ("csv.gz", "planar-laplace"),
    ],
)
def test_it_reads_a_file_here_whatever_its_format(ending, mechanism):
    reported(f"noisy.{ending}", mechanism)
    found, again, _ = learnt_again(f"noisy.{ending}")
    assert_same_groups(found, again)


@pytest.mark.heavy
def test_on_spark_it_reads_a_folder_that_spark_wrote(spark):
    reported("noisy.parquet", "planar-laplace", "--engine", "spark")
    found, again, code = learnt_again("noisy.parquet", "--engine", "spark")
    assert_same_groups(found, again)
    assert "FrameReports" in code


@pytest.mark.heavy
def test_on_spark_it_reads_cells_that_are_text_by_their_whole_path(spark, folder):
    reported("grid.csv", "local-grid")
    uri = (folder / "grid.csv").as_uri()
    found, again, code = learnt_again(uri, "--engine", "spark")
    assert_same_groups(found, again)
    assert uri in code
