import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.data import write_table
from shoal.data._generate import students, students_schema
from shoal.engine.spark._files import digest_of
from shoal.errors import ConflictingSettings
from shoal.jobs._engine import Engines
from shoal.jobs._progress import Progress
from shoal.privacy import Ledger

VISITS = """
version: 1
columns: {age: {low: 0, high: 110}, visits: {low: 0, high: 20}}
"""
POLICY = """
version: 1
input: {path: visits.parquet}
attributes:
  age: {role: quasi, type: float, domain: [0, 110], hierarchy: {kind: interval, width: 10}}
  visits: {role: sensitive}
privacy: {k: 5}
output: {path: OUT}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    group = np.arange(2_000) % 2
    people = {
        "age": (30 + 40 * group + rng.normal(0, 3, 2_000)).round(),
        "visits": (4 + 10 * group + rng.normal(0, 1, 2_000)).round(2),
    }
    write_table(pa.table(people), tmp_path / "visits.csv")
    write_table(pa.table(people), tmp_path / "visits.parquet")
    (tmp_path / "visits.yaml").write_text(VISITS)
    for name in ("here", "there"):
        text = POLICY.replace("OUT", f"{name}.parquet")
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def run(*words, code=0, **more):
    shown = CliRunner().invoke(app, list(map(str, words)), **more)
    assert shown.exit_code == code, shown.output
    return shown


@pytest.mark.heavy
def test_groups_found_on_spark_are_those_found_here(spark, folder):
    known = (
        "-k",
        2,
        "--epsilon",
        1,
        "--domain",
        "visits.yaml",
        "--seed",
        3,
        "--ledger",
        "rows.ledger",
    )
    run("cluster", "visits.csv", *known, "-o", "here")
    run("cluster", folder.as_uri() + "/visits.csv", *known, "-o", "there", "--engine", "spark")
    here, there = (pa_csv.read_csv(f"{name}/centers.csv") for name in ("here", "there"))
    assert here.equals(there)
    assert Ledger("rows.ledger").entries().num_rows == 4
    spark.range(1).count()  # the session was not ours to stop


@pytest.mark.heavy
def test_groups_of_a_table_with_categories_are_the_same_on_spark(spark, folder):
    write_table(students(1_000), folder / "students.csv")
    content = students_schema().to_dict()
    (folder / "students.yaml").write_text(json.dumps(content))
    known = ("-k", 2, "--epsilon", 2, "--domain", "students.yaml", "--seed", 3)
    run("cluster", "students.csv", *known, "-o", "here")
    place = folder.as_uri() + "/students.csv"
    run("cluster", place, *known, "-o", "there", "--engine", "spark")
    here, there = (Path(name, "profiles.csv").read_text() for name in ("here", "there"))
    assert here == there


@pytest.mark.heavy
def test_reports_are_written_by_spark_and_told_of_beside_them(spark, folder):
    words = ("--epsilon", 1, "--domain", "visits.yaml", "-o", "noisy.parquet", "--engine", "spark")
    shown = run("perturb", "visits.parquet", *words, "--clip", "--json")
    about = json.loads(Path("noisy.parquet.json").read_text())
    assert json.loads(shown.stdout)["sidecar"] == "noisy.parquet.json"
    assert about["file"]["name"] == "noisy.parquet"
    place = (folder / "noisy.parquet").as_uri()
    assert about["file"]["sha256"] == digest_of(spark, place)
    reports = spark.read.parquet(place)
    assert (reports.columns, reports.count()) == (["age", "visits"], 2_000)
    assert not list(folder.glob(".shoal-*"))
    assert "exists already" in run("perturb", "visits.parquet", *words, code=2).stderr
    run("perturb", "visits.parquet", *words, "--clip", "--overwrite")
    itself = ("--engine", "spark", "--overwrite", "-o", "visits.parquet")
    run("perturb", "visits.parquet", *words[:4], *itself, code=2)


def test_guesses_are_made_by_spark_too(spark, folder):
    words = ("--epsilon", 0.1, "--domain", "visits.yaml", "-o", "guessed.parquet", "--clip")
    run("perturb", "visits.parquet", *words, "--remap", "bayes", "--engine", "spark")
    assert json.loads(Path("guessed.parquet.json").read_text())["remap"]["class"] == "BayesRemap"
    reports = spark.read.parquet((folder / "guessed.parquet").as_uri())
    assert (reports.columns, reports.count()) == (["age", "visits"], 2_000)
    ages = np.array(reports.select("age").toArrow()["age"])
    assert ages.min() >= 0  # a mean of places within the bounds
    words = ("-k", 2, "--engine", "spark")
    assert "moved to guesses" in run("learn", "guessed.parquet", *words, code=2).stderr


@pytest.mark.heavy
def test_a_policy_is_run_on_spark_as_here(spark, folder, monkeypatch):
    run("anonymize", "--policy", "here.yaml")
    monkeypatch.setenv("SHOAL_ENGINE", "spark")
    valid = json.loads(run("anonymize", "--policy", "there.yaml", "--dry-run", "--json").stdout)
    assert (valid["valid"], valid["rows"]) == (True, 2_000)
    said = json.loads(run("anonymize", "--policy", "there.yaml", "--json").stdout)
    here = json.loads(Path("here.manifest.json").read_text())
    assert said["manifest"]["metrics"] == here["metrics"]
    assert said["files"]["table"] == str(folder / "there.parquet")
    checked = run("anonymize", "check", "there.parquet", "--policy", "there.yaml", "--json")
    assert json.loads(checked.stdout)["kept"]


def test_a_cluster_is_named_for_spark_alone():
    with pytest.raises(ConflictingSettings, match="master"):
        Engines("local", "yarn")
    words = ("cluster", "-", "-k", 2, "--epsilon", 1, "--domain", "visits.yaml")
    shown = run(*words, "--engine", "spark", "--json", code=2, input="age,visits\n")
    assert json.loads(shown.stdout)["error"] == "ConflictingSettings"


def test_a_server_that_runs_already_is_told_no_settings():
    assert not Engines("spark", "sc://host")._settings
    assert Engines("spark", "spark://host:7077")._settings["spark__log__level"] == "OFF"


@pytest.mark.heavy
def test_without_pyspark_the_exit_code_says_that_a_part_is_missing(monkeypatch):
    monkeypatch.delitem(sys.modules, "shoal.engine.spark._session", raising=False)
    monkeypatch.delattr("shoal.engine.spark._session", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    words = ("cluster", "visits.csv", "-k", 2, "--epsilon", 1, "--domain", "visits.yaml")
    shown = run(*words, "--engine", "spark", "--ledger", "rows.ledger", code=4)
    assert "pip install 'shoal[spark]'" in shown.stderr
    assert not Path("model").exists()


@pytest.mark.heavy
def test_tables_that_spark_does_not_find_are_named(spark):
    words = ("cluster", "nowhere.parquet", "-k", 2, "--epsilon", 1, "--domain", "visits.yaml")
    assert "UnreadableTable" in run(*words, "--engine", "spark", code=2).stderr


def test_the_table_is_a_path_unless_spark_reads_it():
    with Engines().table("visits.csv", Progress()) as source:
        assert source == "visits.csv"


@pytest.mark.heavy
@pytest.mark.parametrize("verbose", ["0", "1"])
def test_processes_that_are_started_for_a_table_print_nothing_unless_asked(verbose, capfd):
    code = (
        "import subprocess, sys\n"
        "from shoal.jobs._engine import _silent_children\n"
        "with _silent_children():\n"
        "    child = [sys.executable, '-c', 'import sys; print(\"chatter\", file=sys.stderr)']\n"
        "    subprocess.run(child)\n"
        "    print('ours', file=sys.stderr)\n"
        "print('after', file=sys.stderr)\n"
    )
    environment = {**os.environ, "SHOAL_VERBOSE": verbose}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr.split() == ["chatter"] * (verbose == "1") + ["ours", "after"]


def test_numbers_written_otherwise_are_read_here_only():
    Path("fees.csv").write_text("fee;town\n1.234,5;York\n-7;Rome\n")
    with Engines(numbers="1.234,5").table("fees.csv", Progress()) as path:
        assert Path(path).read_text() == "fee,town\n1234.5,York\n-7,Rome\n"
    with pytest.raises(ConflictingSettings):
        Engines("spark", numbers="1.234,5")
