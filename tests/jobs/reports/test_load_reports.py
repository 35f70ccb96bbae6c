import hashlib
import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.data import write_table
from shoal.errors import NotAReport, NotFinite, UnreadableTable
from shoal.jobs.reports._load_reports import load_reports
from shoal.mechanisms import LocalGrid, PlanarLaplace


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).uniform(1, 9, (500, 2))
    write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1], "z": ["a", "b"] * 250}), "rows.csv")
    columns = "{x: {low: 0, high: 10}, y: {low: 0, high: 10}, z: {values: [a, b]}}"
    (tmp_path / "domain.yaml").write_text(f"version: 1\ncolumns: {columns}\n")
    perturbed("planar.parquet", "--mechanism", "planar-laplace", "--columns", "x,y")
    return tmp_path


def perturbed(output, *words):
    given = ["perturb", "rows.csv", "--epsilon", "2", "--domain", "domain.yaml", "-o", output, "-q"]
    made = CliRunner().invoke(app, [*given, *words])
    assert made.exit_code == 0, made.output


def listened(table, most=10**6):
    return load_reports(table, np.random.default_rng(0), lambda _: None, most)


def retold(name, **changes):
    about = f"{name}.json"
    with open(about) as file:
        told = json.load(file) | changes
    with open(about, "w") as file:
        json.dump(told, file)


@pytest.mark.heavy
def test_reports_come_back_as_what_they_are(folder):
    found = listened("planar.parquet")
    assert isinstance(found.reports.mechanism, PlanarLaplace)
    assert found.reports.values.shape == (500, 2)
    assert found.guarantee == found.reports.mechanism.guarantee
    assert (found.total, len(found.reports), found.protects) == (500, 500, "a row")
    assert found.box.names == ("x", "y")


@pytest.mark.heavy
def test_cells_come_back_as_whole_numbers(folder):
    perturbed("grid.csv", "--mechanism", "local-grid", "--columns", "x,y")
    found = listened("grid.csv")
    assert isinstance(found.reports.mechanism, LocalGrid)
    assert found.reports.values.shape == (500,)
    assert found.reports.values.dtype == np.int64


@pytest.mark.heavy
def test_a_remap_is_remembered(folder):
    for name, remap in (("c.parquet", "clamp"), ("s.parquet", "snap:4")):
        perturbed(name, "--columns", "x,y", "--remap", remap)
        assert type(listened(name).reports.remap).__name__.lower() == remap.partition(":")[0]


@pytest.mark.heavy
def test_too_many_reports_are_sampled(folder):
    found = listened("planar.parquet", most=200)
    assert len(found.reports) < found.total
    assert (len(found.reports), found.total) == (100, 500)


@pytest.mark.heavy
def test_another_file_under_the_same_name_is_refused(folder):
    write_table(pa.table({"x": [1.0], "y": [2.0]}), "planar.parquet", overwrite=True)
    with pytest.raises(NotAReport, match="checksum"):
        listened("planar.parquet")


@pytest.mark.heavy
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "shoal.model/1"}'])
def test_a_file_beside_that_says_nothing_is_refused(folder, text):
    (folder / "planar.parquet.json").write_text(text)
    with pytest.raises(NotAReport, match="does not say"):
        listened("planar.parquet")


@pytest.mark.heavy
@pytest.mark.parametrize("part", ["mechanism", "domain", "file"])
def test_a_file_beside_that_lacks_a_part_is_refused(folder, part):
    retold("planar.parquet", **{part: {}})
    with pytest.raises(NotAReport, match="does not say"):
        listened("planar.parquet")


@pytest.mark.heavy
def test_a_file_beside_with_another_domain_than_the_mechanisms_is_refused(folder):
    domain = {"columns": {"x": {"low": 0.0, "high": 1.0}}, "distance_unit": "1"}
    retold("planar.parquet", domain=domain)
    with pytest.raises(NotAReport, match="does not say"):
        listened("planar.parquet")


@pytest.mark.heavy
@pytest.mark.parametrize("file", [None, "noisy.csv", [], {"sha256": None}])
def test_a_file_beside_without_a_checksum_is_refused(folder, file):
    retold("planar.parquet", file=file)
    with pytest.raises(NotAReport, match="does not say"):
        listened("planar.parquet")


@pytest.mark.heavy
@pytest.mark.parametrize(("mark", "simulation"), [(False, False), (True, True), (None, True)])
def test_reports_are_a_simulation_unless_said_to_be_none(folder, mark, simulation):
    retold("planar.parquet", simulation=mark)
    assert listened("planar.parquet").guarantee.simulation is simulation


@pytest.mark.heavy
def test_categories_are_refused(folder):
    perturbed("sex.parquet", "--mechanism", "randomized-response", "--columns", "z")
    with pytest.raises(NotAReport, match="categories"):
        listened("sex.parquet")


@pytest.mark.heavy
def test_no_table_is_no_table(folder):
    with pytest.raises(UnreadableTable):
        listened("nowhere.parquet")


@pytest.mark.heavy
def test_values_that_are_no_numbers_are_refused(folder):
    write_table(pa.table({"x": [np.nan], "y": [2.0]}), "planar.parquet", overwrite=True)
    digest = hashlib.sha256((folder / "planar.parquet").read_bytes()).hexdigest()
    retold("planar.parquet", file={"name": "planar.parquet", "sha256": digest})
    with pytest.raises(NotFinite):
        listened("planar.parquet")
