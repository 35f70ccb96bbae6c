import gzip
import hashlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.data import write_table
from shoal.files import write_error
from shoal.mechanisms import NDLaplace
from shoal.mechanisms.local.categories._local_grid import auto_cells
from shoal.privacy import Ledger, LocalDP, MetricDP

CITY = """
version: 1
columns: {lat: {low: 40.4, high: 41.0}, lon: {low: -74.3, high: -73.6}}
geo: {latitude: lat, longitude: lon}
"""
PEOPLE = """
version: 1
columns: {age: {low: 0, high: 110}, sex: {values: [F, M]}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    points = {"lat": rng.uniform(40.5, 40.9, 300), "lon": rng.uniform(-74.2, -73.7, 300)}
    people = {"rider": np.arange(300) % 50, **points, "note": ["secret"] * 300}
    write_table(pa.table(people), tmp_path / "trips.csv")
    (tmp_path / "city.yaml").write_text(CITY)
    (tmp_path / "people.yaml").write_text(PEOPLE)
    table = pa.table({"age": [31, 47] * 20, "sex": ["F", "M"] * 20})
    write_table(table, tmp_path / "people.parquet")
    return tmp_path


def run(*words, stdin=None):
    return CliRunner().invoke(app, ["perturb", *map(str, words)], input=stdin)


def trips(*words, epsilon="2", **more):
    return run("trips.csv", "--epsilon", epsilon, "--domain", "city.yaml", *words, **more)


def files(folder):
    return {file.name for file in folder.iterdir()}


@pytest.mark.heavy
def test_only_perturbed_columns_leave_and_the_sidecar_says_what_was_promised(folder):
    shown = trips("-o", "noisy.parquet")
    assert shown.exit_code == 0, shown.output
    reports = pq.read_table("noisy.parquet")
    about = json.loads(Path("noisy.parquet.json").read_text())
    assert reports.column_names == ["lat", "lon"]
    assert reports.num_rows == about["rows"] == 300
    assert about["schema"] == "shoal.reports/1"
    assert about["mechanism"]["class"] == "NDLaplace"
    assert about["guarantee"]["epsilon"] == "2"
    assert about["guarantee"]["unit"] == "km"
    assert about["simulation"] is False
    assert about["protects"] == "a row"
    digest = hashlib.sha256(Path("noisy.parquet").read_bytes()).hexdigest()
    assert about["file"] == {"name": "noisy.parquet", "sha256": digest}


@pytest.mark.heavy
def test_the_summary_says_what_it_means_and_shows_no_row(folder):
    shown = trips("-o", "noisy.csv").output
    words = " ".join(shown.split())
    assert "2 per km" in words
    assert "Whoever has k rows has k times this" in words
    assert "secret" not in shown


@pytest.mark.heavy
def test_json_is_the_sidecar_and_where_things_are(folder):
    shown = json.loads(trips("-o", "noisy.csv", "--json", "--ledger", "l.ledger").stdout)
    about = json.loads(Path("noisy.csv.json").read_text())
    assert shown["output"] == "noisy.csv"
    assert shown["ledger"] == "l.ledger"
    assert {name: shown[name] for name in about} == about


@pytest.mark.heavy
def test_quiet_prints_nothing(folder):
    assert trips("-o", "noisy.csv", "--quiet").output == ""


@pytest.mark.heavy
def test_a_run_is_one_entry_in_the_ledger(folder):
    trips("-o", "noisy.csv", "--ledger", "trips.ledger")
    entries = Ledger("trips.ledger").entries().to_pylist()
    assert [(line["by"], line["what"]) for line in entries] == [
        ("shoal perturb", "reports of 2 columns")
    ]


@pytest.mark.heavy
def test_past_the_limit_nothing_is_written(folder):
    Ledger("trips.ledger", limit=MetricDP(3, slack=1, unit="km"))
    assert trips("-o", "a.csv", "--ledger", "trips.ledger").exit_code == 0
    before = files(folder)
    shown = trips("-o", "b.csv", "--ledger", "trips.ledger")
    assert shown.exit_code == 3
    assert "BudgetExceeded" in shown.output
    assert files(folder) == before


@pytest.mark.heavy
def test_a_seed_repeats_and_marks_a_simulation(folder):
    trips("-o", "a.csv", "--seed", 7, "--ledger", "l.ledger")
    shown = trips("-o", "b.csv", "--seed", 7)
    assert Path("a.csv").read_text() == Path("b.csv").read_text()
    assert json.loads(Path("a.csv.json").read_text())["simulation"] is True
    assert Ledger("l.ledger").totals()[0].simulation
    assert "Simulation" in shown.output


@pytest.mark.heavy
def test_real_noise_never_repeats(folder):
    trips("-o", "a.csv")
    trips("-o", "b.csv")
    assert Path("a.csv").read_text() != Path("b.csv").read_text()


@pytest.mark.heavy
def test_each_person_is_reported_once(folder):
    shown = trips("-o", "noisy.parquet", "--person", "rider")
    assert shown.exit_code == 0, shown.output
    assert pq.read_table("noisy.parquet").num_rows == 50
    assert "rider" in json.loads(Path("noisy.parquet.json").read_text())["protects"]


@pytest.mark.heavy
def test_the_person_of_the_domain_is_reported_once(folder):
    Path("city.yaml").write_text(CITY + "person: rider\n")
    trips("-o", "noisy.parquet")
    assert pq.read_table("noisy.parquet").num_rows == 50


def ranked(folder, *words):
    """A sorted table, reported all but exactly."""
    table = pa.table({"lat": np.linspace(40.4, 41.0, 500), "lon": np.full(500, -74.0)})
    write_table(table, folder / "trips.csv", overwrite=True)
    shown = trips("-o", "noisy.parquet", *words, epsilon="1000")
    assert shown.exit_code == 0, shown.output
    order = json.loads(Path("noisy.parquet.json").read_text())["order"]
    return order, np.corrcoef(pq.read_table("noisy.parquet")["lat"], np.arange(500))[0, 1]


@pytest.mark.heavy
def test_reports_are_shuffled(folder):
    order, correlation = ranked(folder)
    assert order == "shuffled"
    assert abs(correlation) < 0.25


@pytest.mark.heavy
def test_order_is_kept_when_asked_for(folder):
    order, correlation = ranked(folder, "--keep-order")
    assert order == "kept"
    assert correlation > 0.999


@pytest.mark.parametrize("columns", [["--columns", "age"], []])
def test_who_people_are_is_not_reported(folder, columns):
    Path("ages.yaml").write_text("version: 1\ncolumns: {age: {low: 0, high: 110}}\n")
    shown = run(
        "people.parquet", "--epsilon", 1, "--domain", "ages.yaml", *columns, "--person", "age"
    )
    assert shown.exit_code == 2
    assert "both the person's token and a column to report" in shown.output


SPENT = "The ledger keeps what was paid so far as spent."


def failing(monkeypatch, error):
    def write(self, path, overwrite=False):
        raise (write_error(os.path.abspath(path), "No room") if error is None else error)

    monkeypatch.setattr("shoal.perturb.report_stream.Drawn.write", write)


@pytest.mark.heavy
def test_a_disk_that_fills_up_is_named_by_the_output_and_the_budget_is_said_to_be_gone(
    folder, monkeypatch
):
    failing(monkeypatch, None)
    shown = trips("-o", "noisy.csv", "--ledger", "trips.ledger")
    assert shown.exit_code == 2
    assert "CannotWrite: noisy.csv cannot be written" in shown.output
    assert SPENT in shown.output
    assert len(Ledger("trips.ledger").entries()) == 1


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("error", "code"),
    [(SystemExit(143), 143), (KeyboardInterrupt(), 130), (ZeroDivisionError(), 70)],
)
def test_a_run_that_is_stopped_says_that_the_budget_is_gone(folder, monkeypatch, error, code):
    failing(monkeypatch, error)
    shown = trips("-o", "noisy.csv", "--ledger", "trips.ledger")
    assert shown.exit_code == code
    assert SPENT in shown.output


@pytest.mark.heavy
def test_without_a_ledger_or_an_entry_nothing_is_said_to_be_kept(folder, monkeypatch):
    assert SPENT not in trips("-o", "a.csv", "--person", "nobody", "--ledger", "l.ledger").output
    failing(monkeypatch, None)
    assert SPENT not in trips("-o", "noisy.csv").output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mechanism", "planar"], "InvalidSetting: There is no mechanism 'planar'"),
        (["--mechanism", "planar"], "Did you mean planar-laplace?"),
        (["--domain", "degrees.yaml"], "`geo: {latitude: ..., longitude: ...}`"),
        (
            ["--mechanism", "restricted-laplace", "--epsilon", "0.001", "--domain", "thin.yaml"],
            "--remap clamp",
        ),
        (["-o", "trips.yaml.csv"], "--overwrite"),
        (["--scale", "0,1"], "--scale 10,0.5"),
        (["--epsilon", "much"], "--epsilon 1;"),
    ],
)
def test_errors_speak_of_options(folder, words, said):
    Path("degrees.yaml").write_text(CITY.split("geo")[0])
    Path("thin.yaml").write_text(CITY.split("geo")[0].replace("lat:", "a:").replace("lon:", "b:"))
    write_table(pa.table({"a": [40.7], "b": [-74.0], "lat": [40.7], "lon": [-74.0]}), "trips.csv",
                overwrite=True)  # fmt: skip
    Path("trips.yaml.csv").write_text("mine")
    shown = trips(*words)
    assert shown.exit_code == 2
    assert said in shown.output


@pytest.mark.heavy
def test_standard_input_is_a_table_too(folder):
    shown = run(
        *("-", "--epsilon", "2", "--domain", "city.yaml", "-o", "noisy.csv"),
        stdin=Path("trips.csv").read_text(),
    )
    assert shown.exit_code == 0, shown.output
    assert len(Path("noisy.csv").read_text().splitlines()) == 301


@pytest.mark.heavy
def test_a_remap_follows(folder):
    trips("-o", "noisy.parquet", "--remap", "snap:3", epsilon="0.5")
    reports = pq.read_table("noisy.parquet")
    assert set(np.round(reports["lat"], 9)) == {40.4, 40.7, 41.0}
    about = json.loads(Path("noisy.parquet.json").read_text())
    assert (about["remap"]["class"], about["remap"]["nodes"]) == ("Snap", [3, 3])


def mean_error(name):
    """How far reports in the table's order are from its rows, in degrees."""
    reports, rows = pq.read_table(name), pa_csv.read_csv("trips.csv")
    gaps = [np.asarray(reports[c]) - np.asarray(rows[c]) for c in ("lat", "lon")]
    return float(np.hypot(*gaps).mean())


def test_guesses_are_nearer_than_reports_and_the_sidecar_names_them(folder):
    towns = np.array([[40.5, -74.2], [40.9, -73.7]])[np.arange(300) % 2]
    write_table(pa.table({"lat": towns[:, 0], "lon": towns[:, 1]}), "trips.csv", overwrite=True)
    asked = ("--keep-order", "--seed", "1")
    assert trips("-o", "plain.parquet", *asked, epsilon="0.1").exit_code == 0
    shown = trips("-o", "guessed.parquet", *asked, "--remap", "bayes", epsilon="0.1")
    assert shown.exit_code == 0, shown.output
    assert mean_error("guessed.parquet") < mean_error("plain.parquet") / 2
    about = json.loads(Path("guessed.parquet.json").read_text())
    assert about["remap"] == {"class": "BayesRemap", "prior": "em", "loss": "squared"}
    assert about["guarantee"] == json.loads(Path("plain.parquet.json").read_text())["guarantee"]


def test_guesses_that_failed_to_be_written_go_on_from_the_same_reports(folder, monkeypatch):
    asked = ("-o", "noisy.csv", "--ledger", "l.ledger", "--remap", "bayes", "--keep-order")
    with monkeypatch.context() as failing:
        failing.setattr("shoal.jobs.reports._release.sidecar", lambda *_: 1 / 0)
        assert trips(*asked, epsilon="0.1").exit_code == 70
    assert not Path("noisy.csv").exists()
    (block,) = Path(".noisy.csv.draft").glob("block-*.arrow")
    drawn, before = block.read_bytes(), files(folder)
    with monkeypatch.context() as failing:
        failing.setattr("shoal.jobs.reports._release.sidecar", lambda *_: 1 / 0)
        trips(*asked, epsilon="0.1")
    assert (block.read_bytes(), files(folder)) == (drawn, before)
    monkeypatch.setattr(NDLaplace, "release", lambda *_: 1 / 0)  # nothing is drawn again
    assert trips(*asked, epsilon="0.1").exit_code == 0
    assert len(Ledger("l.ledger").entries()) == 1
    assert len(Path("noisy.csv").read_text().splitlines()) == 301


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (["--remap", "bayes", "--mechanism", "piecewise"], "InvalidSetting", "nd-laplace"),
        (["--remap", "bayes", "--mechanism", "local-grid"], "InvalidSetting", "Leave it out"),
        (["--remap", "guess"], "InvalidSetting", "`bayes`"),
        (["--remap", "bayes", "--epsilon", "20"], "TooLarge", "--remap clamp"),
    ],
)
def test_a_remap_that_does_not_fit_is_named_and_leaves_nothing(folder, words, error, said):
    before = files(folder)
    shown = trips(*words, "--ledger", "l.ledger", "-o", "noisy.csv")
    assert shown.exit_code == 2
    assert error in shown.output
    assert said in " ".join(shown.output.split())
    assert files(folder) == before


@pytest.mark.heavy
def test_mixed_records_are_reported_by_kind(folder):
    shown = run(
        *("people.parquet", "--mechanism", "mixed", "--epsilon", "8"),
        *("--domain", "people.yaml", "-o", "noisy.parquet"),
    )
    assert shown.exit_code == 0, shown.output
    reports = pq.read_table("noisy.parquet")
    assert reports.column_names == ["age", "sex"]
    assert set(reports["sex"].to_pylist()) <= {"F", "M"}


@pytest.mark.heavy
def test_cells_are_chosen_for_the_people_there_are(folder):
    shown = trips("--mechanism", "local-grid", "--person", "rider", "-o", "cells.parquet")
    assert shown.exit_code == 0, shown.output
    reports = pq.read_table("cells.parquet")
    assert (reports.column_names, reports["cell"].type, len(reports)) == (["cell"], pa.int64(), 50)
    about = json.loads(Path("cells.parquet.json").read_text())
    assert about["guarantee"] == LocalDP(2).to_dict()
    assert about["mechanism"]["cells"] == [auto_cells(50, 2, 2, 8)] * 2


@pytest.mark.heavy
def test_no_rows_give_an_empty_file_and_cost_nothing(folder):
    Path("trips.csv").write_text("lat,lon\n")
    shown = trips("-o", "noisy.csv", "--ledger", "trips.ledger")
    assert shown.exit_code == 0, shown.output
    assert Path("noisy.csv").read_text() == "lat,lon\n"
    assert Ledger("trips.ledger").totals() == []


@pytest.mark.heavy
def test_rows_outside_are_refused_by_count_or_moved(folder):
    Path("trips.csv").write_text("lat,lon\n40.7,-74\n12.345,-74\n")
    refused = trips("-o", "noisy.csv", "--ledger", "l.ledger")
    assert refused.exit_code == 2
    assert "1 of 2 rows" in refused.output
    assert "--clip" in refused.output
    assert "12.345" not in refused.output
    assert not Path("noisy.csv").exists()
    assert Ledger("l.ledger").totals() == []
    assert trips("-o", "noisy.csv", "--clip").exit_code == 0


def test_missing_values_are_refused_by_count(folder):
    Path("trips.csv").write_text("lat,lon\n40.7,-74\n,-74\n")
    shown = trips("-o", "noisy.csv")
    assert shown.exit_code == 2
    assert "NotFinite" in shown.output
    assert "nonfinite=" not in shown.output


@pytest.mark.heavy
def test_what_is_there_is_not_replaced_unasked_nor_paid_for(folder):
    trips("-o", "noisy.csv")
    before = Path("noisy.csv").read_text()
    shown = trips("-o", "noisy.csv", "--ledger", "l.ledger")
    assert shown.exit_code == 2
    assert "AlreadyExists" in shown.output
    assert Path("noisy.csv").read_text() == before
    assert not Path("l.ledger").exists() or Ledger("l.ledger").totals() == []
    assert trips("-o", "noisy.csv", "--overwrite").exit_code == 0
    assert Path("noisy.csv").read_text() != before


def test_a_sidecar_in_the_way_stops_the_reports_too(folder):
    Path("noisy.csv.json").write_text("mine")
    assert trips("-o", "noisy.csv").exit_code == 2
    assert not Path("noisy.csv").exists()
    assert Path("noisy.csv.json").read_text() == "mine"


@pytest.mark.heavy
def test_a_failed_write_leaves_neither_reports_nor_sidecar(folder, monkeypatch):
    monkeypatch.setattr("shoal.jobs.reports._release.sidecar", lambda *_: 1 / 0)
    before = files(folder)
    assert trips("-o", "noisy.csv").exit_code == 70
    kept = {".noisy.csv.draft", ".noisy.csv.shoal"}  # what was drawn, for the next run
    assert files(folder) == before | kept


@pytest.mark.heavy
def test_a_run_that_failed_goes_on_with_the_reports_it_had_drawn(folder, monkeypatch):
    asked = ("-o", "noisy.csv", "--ledger", "l.ledger")
    with monkeypatch.context() as failing:
        failing.setattr("shoal.jobs.reports._release.sidecar", lambda *_: 1 / 0)
        shown = trips(*asked)
    assert shown.exit_code == 70
    assert "continues and pays for nothing twice" in shown.output
    shown = trips(*asked)
    assert shown.exit_code == 0
    assert "not paid for again" in " ".join(shown.output.split())
    assert len(Ledger("l.ledger").entries()) == 1
    assert not Path(".noisy.csv.draft").exists()


def test_the_table_itself_is_never_replaced(folder):
    before = Path("trips.csv").read_text()
    assert trips("-o", "trips.csv", "--overwrite").exit_code == 2
    assert Path("trips.csv").read_text() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trips.csv", "--domain", "city.yaml"], "InvalidBudget"),
        (["trips.csv", "--domain", "city.yaml", "--epsilon", "-1"], "InvalidBudget"),
        (["trips.csv", "--epsilon", "1"], "UnknownBounds"),
        (["nowhere.csv", "--epsilon", "1", "--domain", "city.yaml"], "UnreadableTable"),
        (["people.parquet", "--epsilon", "1", "--domain", "city.yaml"], "UnknownColumn"),
        (["trips.csv", "--epsilon", "1", "--domain", "city.yaml", "-o", "a.xlsx"], "CannotWrite"),
        (["trips.csv", "--epsilon", "1", "--domain", "city.yaml", "-o", "no/a.csv"], "CannotWrite"),
        (
            ["trips.csv", "--epsilon", "1", "--domain", "city.yaml", "--person", "x"],
            "UnknownColumn",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_use_is_named_and_leaves_nothing(folder, words, said):
    before = files(folder)
    shown = run(*words)
    assert shown.exit_code == 2
    assert said in shown.output
    assert files(folder) == before


@pytest.mark.heavy
def test_a_terminal_shows_progress_and_a_pipe_does_not(folder):
    shoal = Path(sys.executable).with_name("shoal")
    words = [shoal, "perturb", "trips.csv", "--epsilon", "1", "--domain", "city.yaml"]
    leader, follower = pty.openpty()
    env = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        [*words, "-o", "a.csv"],
        stderr=follower,
        capture_output=False,
        stdout=subprocess.DEVNULL,
        check=True,
        env=env,
    )
    os.close(follower)
    assert done.returncode == 0
    assert b"Drawing reports" in os.read(leader, 65_536)
    os.close(leader)
    piped = subprocess.run([*words, "-o", "b.csv"], capture_output=True, check=True, env=env)
    assert piped.stderr == b""


@pytest.mark.heavy
def test_help_teaches_by_example():
    shown = run("--help")
    assert shown.exit_code == 0
    for words in ("Examples", "shoal perturb trips.csv", "geo", "SHOAL_LEDGER"):
        assert words in shown.output


NEW_YORK = """
version: 1
columns: {latitude: {low: 40.4, high: 41.0}, longitude: {low: -74.3, high: -73.6}}
geo: {latitude: latitude, longitude: longitude}
"""


def assert_all_are_reported(check_ins, n):
    Path("nyc.yaml").write_text(NEW_YORK)
    shown = run(check_ins, "--epsilon", "2", "--domain", "nyc.yaml", "-o", "noisy.parquet")
    assert shown.exit_code == 0, shown.output
    assert pq.read_metadata("noisy.parquet").num_rows == n


@pytest.mark.heavy
def test_packed_check_ins_of_several_blocks_are_reported(folder):
    rng = np.random.default_rng(5)
    points = np.clip(
        rng.normal([40.74, -73.98], [0.05, 0.06], (70_001, 2)), [40.4, -74.3], [41, -73.6]
    )
    lines = (f"{row % 900},{x:.6f},{y:.6f}" for row, (x, y) in enumerate(points.tolist()))
    packed = gzip.compress("\n".join(["user,latitude,longitude", *lines]).encode())
    Path("check_ins.csv.gz").write_bytes(packed)
    assert_all_are_reported("check_ins.csv.gz", 70_001)


@pytest.mark.heavy
def test_gowalla_check_ins_are_reported(folder, real_file):
    assert_all_are_reported(real_file("geo/gowalla_nyc.csv.gz"), 138_957)
