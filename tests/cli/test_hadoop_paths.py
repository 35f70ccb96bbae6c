"""Any Hadoop path: `viewfs` is a file system with its own scheme, names and rules of renaming."""

import json
from secrets import token_hex

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

pytest.importorskip("pyspark", reason="pyspark is not installed; pip install 'shoal[spark]'")

import shoal
from shoal import spark_ml
from shoal.cli._main import app
from shoal.data import write_table
from shoal.domain import Box, Grid
from shoal.engine import rows_of
from shoal.engine.spark._files import digest_of, files_of
from shoal.engine.spark._session import read_table

BOX = Box(age=(0, 110), visits=(0, 20))
DOMAIN = "version: 1\ncolumns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}\n"
POLICY = """
version: 1
input: {path: TABLE}
attributes:
  age: {role: quasi, type: float, domain: [0, 110], hierarchy: {kind: interval, width: 10}}
  visits: {role: sensitive}
privacy: {k: 5}
output: {path: OUT}
"""
ROWS = np.random.default_rng(5).uniform([20, 0], [90, 20], (300, 2)).round(1)


@pytest.fixture
def far(spark, tmp_path):
    """A folder of this machine that Hadoop knows by another name only, with a table in it."""
    name, folder = f"m{token_hex(4)}", tmp_path / "far"
    folder.mkdir()
    conf = spark._jsc.hadoopConfiguration()
    conf.set(f"fs.viewfs.mounttable.{name}.link./data", folder.as_uri())
    table = pa.table(dict(zip(BOX.names, ROWS.T, strict=True)))
    write_table(table, folder / "rows.csv")
    write_table(table, folder / "rows.parquet")
    for part in range(2):
        (folder / "parts.csv").mkdir(exist_ok=True)
        write_table(table.slice(150 * part, 150), folder / "parts.csv" / f"{part}.csv")
    return f"viewfs://{name}/data"


def run(*words, code=0):
    shown = CliRunner().invoke(app, [*map(str, words), "--engine", "spark"])
    assert shown.exit_code == code, shown.output
    return shown


def left(folder):
    """What is there, Hadoop's checksums and the table left out."""
    names = {file.name for file in folder.iterdir() if not file.name.endswith(".crc")}
    return names - {"rows.csv", "rows.parquet", "parts.csv"}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "parts.csv", "parts.csv/*.csv"])
def test_a_file_a_folder_and_a_pattern_are_read_there(spark, far, name):
    counts = rows_of(read_table(spark, f"{far}/{name}"), BOX).count(Grid(BOX, 4))
    np.testing.assert_array_equal(counts, rows_of(ROWS, BOX).count(Grid(BOX, 4)))


@pytest.mark.heavy
def test_reports_are_written_there_whole_and_never_over_their_table(spark, far, tmp_path):
    (tmp_path / "visits.yaml").write_text(DOMAIN)
    words = ("perturb", f"{far}/rows.parquet", "--epsilon", 1, "--domain", tmp_path / "visits.yaml")
    run(*words, "-o", f"{far}/noisy.parquet")
    about = json.loads((tmp_path / "far" / "noisy.parquet.json").read_text())
    assert about["file"]["sha256"] == digest_of(spark, f"{far}/noisy.parquet")
    assert read_table(spark, f"{far}/noisy.parquet").count() == len(ROWS)
    assert "exists already" in run(*words, "-o", f"{far}/noisy.parquet", code=2).stderr
    run(*words, "-o", f"{far}/noisy.parquet", "--overwrite")
    itself = run(*words, "-o", f"{far}/rows.parquet", "--overwrite", code=2)
    assert "overwrite the table" in itself.stderr
    assert left(tmp_path / "far") == {"noisy.parquet", "noisy.parquet.json"}


@pytest.mark.heavy
def test_a_release_with_all_its_files_is_written_there(far, tmp_path):
    text = POLICY.replace("TABLE", f"{far}/rows.parquet").replace("OUT", f"{far}/out.csv")
    (tmp_path / "policy.yaml").write_text(text)
    words = ("anonymize", "--policy", tmp_path / "policy.yaml")
    said = json.loads(run(*words, "--json").stdout)
    assert said["files"]["table"] == f"{far}/out.csv"
    names = {"csv", "manifest.json", "mapping.csv", "report.html", "report.json"}
    expected = {f"out.{name}" for name in {*names, "report.curator.html"}}
    assert left(tmp_path / "far") == expected
    assert (tmp_path / "far" / "out.report.curator.html").stat().st_mode & 0o077 == 0
    assert "AlreadyExists" in run(*words, code=2).stderr
    checked = run("anonymize", "check", f"{far}/out.csv", *words[1:], "--json")
    assert json.loads(checked.stdout)["kept"]


@pytest.mark.heavy
def test_a_stage_is_saved_and_loaded_there(spark, far, tmp_path):
    groups = spark_ml.PrivateKMeans(n_clusters=2, epsilon=1, domain=BOX, random_state=1)
    model = groups.fit(spark.read.parquet(f"{far}/rows.parquet"))
    for _ in range(2):
        model.write().overwrite().save(f"{far}/models/visits")
    back = spark_ml.PrivateKMeansModel.load(f"{far}/models/visits").fitted
    np.testing.assert_array_equal(back.cluster_centers_, model.fitted.cluster_centers_)
    files_of(spark).download(f"{far}/models/visits/shoal", tmp_path / "near")
    assert shoal.load_model(tmp_path / "near").guarantee_ == model.fitted.guarantee_
    assert left(tmp_path / "far") == {"models"}
    assert left(tmp_path / "far" / "models") == {"visits"}
