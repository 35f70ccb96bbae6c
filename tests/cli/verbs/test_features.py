"""``shoal features``: a file checked without rows, a row explained, a table and its domain."""

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.domain import Schema

FILE = """
version: 1
person: pupil
period: {from: 2025-03-03, until: 2025-12-15}
people: {table: pupils.csv, columns: {age: {low: 5, high: 19}}}
public:
  courses: {table: courses.csv, key: course, source: the catalogue of 2025,
            columns: {subject: {values: [math, language]}}}
events:
  log: {table: log.csv, time: at, join: courses, columns: {kind: {values: [login, video]}}}
features:
  logins: {count: log, where: {kind: login}, high: 400, label: Log-ins}
  math: {count: log, where: {subject: math}, high: 400}
  weeks: {weeks: log}
"""
LOG = """pupil,at,course,kind
CANARY1,2025-03-03 08:00:00,m,login
CANARY1,2025-04-03 08:00:00,l,login
CANARY2,2025-04-03 08:00:00,m,video
"""


def run(*words):
    return CliRunner().invoke(app, ["features", *words])


@pytest.fixture(autouse=True)
def programme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("programme.yaml").write_text(FILE)
    Path("pupils.csv").write_text("pupil,age\nCANARY1,9\nCANARY2,10\nCANARY3,11\n")
    Path("courses.csv").write_text("course,subject\nm,math\nl,language\n")
    Path("log.csv").write_text(LOG)


def test_a_file_is_checked_without_opening_a_table_of_people():
    for name in ("pupils.csv", "log.csv"):
        Path(name).unlink()
    done = run("programme.yaml", "--check")
    assert done.exit_code == 0, done.output
    assert "number of rows of log; where kind is login" in " ".join(done.output.split())
    assert "the catalogue of 2025" in done.output


def test_the_table_is_written_with_its_domain_and_is_the_holders_alone():
    done = run("programme.yaml", "-o", "people.parquet", "--json")
    assert done.exit_code == 0, done.output
    rows = pq.read_table("people.parquet").sort_by("pupil").to_pydict()
    assert rows["logins"] == [2.0, 0.0, 0.0]
    assert rows["math"] == [1.0, 1.0, 0.0]
    assert rows["weeks"] == [2.0, 1.0, 0.0]
    assert os.stat("people.parquet").st_mode & 0o777 == 0o600
    schema = Schema.load("people.yaml")
    assert (schema.person, schema.max_rows_per_person) == ("pupil", 1)
    assert schema.labels == {"logins": "Log-ins"}
    assert "CANARY" not in done.output


def test_one_row_is_explained():
    done = run("programme.yaml", "--explain", "CANARY1", "--json")
    assert json.loads(done.stdout)["weeks"] == {"value": 2.0, "events": 2.0}
    assert run("programme.yaml", "--explain", "nobody").exit_code == 2


def test_another_table_and_period_serve_next_year():
    Path("log-2026.csv").write_text(LOG.replace("2025", "2026"))
    done = run(
        "programme.yaml", "--set", "log=log-2026.csv", "--period", "2026", "-o", "next.parquet"
    )
    assert done.exit_code == 0, done.output
    assert sum(pq.read_table("next.parquet")["logins"].to_pylist()) == 2


@pytest.mark.parametrize("words", [[], ["--check", "-o", "a.parquet"], ["-o", "a.csv"]])
def test_what_to_do_must_be_said(words):
    assert run("programme.yaml", *words).exit_code == 2


def test_nothing_is_left_where_rows_are_refused():
    with open("pupils.csv", "a", encoding="utf-8") as file:
        file.write("CANARY1,9\n")
    done = run("programme.yaml", "-o", "people.parquet")
    assert done.exit_code == 2
    assert "CANARY" not in done.output
    assert not Path("people.parquet").exists()
    assert not Path("people.yaml").exists()


def test_groups_are_found_in_what_a_features_file_makes():
    import shutil

    assert CliRunner().invoke(app, ["data", "make", "programme", "--rows", "400"]).exit_code == 0
    words = ["--columns", "minutes,weeks", "-k", "2", "--epsilon", "2", "--ledger", "p.ledger"]
    features = ["cluster", "--features", "programme/features.yaml"]
    done = CliRunner().invoke(app, [*features, *words, "-o", "groups", "--seed", "1"])
    assert done.exit_code == 0, done.output
    page = " ".join(Path("groups/report-simulation.html").read_text().split())
    assert "What a row is" in page
    assert "sum of log.minutes" in page
    assert "number of rows of log; where kind is login" not in page  # a column that is not used
    assert "Course catalogue 2025, made up" in page
    verified = CliRunner().invoke(app, ["verify", "groups"])
    assert verified.exit_code == 0, verified.output
    assert "What a row was made of" in " ".join(verified.output.split())
    assert run("programme/features.yaml", "-o", "people.parquet").exit_code == 0
    written = ["cluster", "people.parquet", "--domain", "people.yaml", *words, "--seed", "1"]
    assert CliRunner().invoke(app, [*written, "-o", "again"]).exit_code == 0
    assert Path("groups/centers.csv").read_text() == Path("again/centers.csv").read_text()
    shutil.rmtree("again")
    both = CliRunner().invoke(app, [*features, "people.parquet", *words])
    assert both.exit_code == 2


def test_a_features_file_that_names_its_ledger_has_no_other():
    Path("programme.yaml").write_text(FILE + "ledger: people.ledger\n")
    words = ["cluster", "--features", "programme.yaml", "-k", "2", "--epsilon", "1"]
    done = CliRunner().invoke(app, [*words, "--ledger", "other.ledger"])
    assert done.exit_code == 2
    assert "people.ledger" in done.output


def test_groups_of_another_year_come_from_the_same_file():
    Path("log-2026.csv").write_text(LOG.replace("2025", "2026"))
    words = ["--set", "log=log-2026.csv", "--period", "2026", "--columns", "logins,weeks"]
    more = ["-k", "1", "--epsilon", "1", "--seed", "1", "-o", "groups", "--publish-anyway"]
    done = CliRunner().invoke(app, ["cluster", "--features", "programme.yaml", *words, *more])
    assert done.exit_code == 0, done.output
    assert "from 2026-01-01 to the day before 2027-01-01" in " ".join(
        Path("groups/report-simulation.html").read_text().split()
    )
    done = CliRunner().invoke(app, ["cluster", "pupils.csv", *words, *more])
    assert done.exit_code == 2
    assert "features file" in done.output


def test_old_ids_lead_to_people_and_an_ambiguous_one_is_refused():
    Path("programme.yaml").write_text(FILE + "ids: {table: ids.csv, from: was, to: is}\n")
    Path("ids.csv").write_text("was,is\nCANARY2,CANARY1\nOLD9,CANARY3\nOLD9,CANARY3\n")
    pupils = "pupil,age\nCANARY1,9\nCANARY3,11\n"
    Path("pupils.csv").write_text(pupils)
    assert run("programme.yaml", "-o", "people.parquet").exit_code == 0
    rows = pq.read_table("people.parquet").sort_by("pupil").to_pydict()
    assert rows["math"] == [2.0, 0.0]
    found = run("programme.yaml", "--explain", "CANARY2", "--json")
    assert json.loads(found.stdout)["math"]["value"] == 2
    for more in ("OLD9,CANARY1\n", "CANARY3,CANARY4\n"):
        Path("ids.csv").write_text("was,is\nOLD9,CANARY3\n" + more)
        done = run("programme.yaml", "-o", "again.parquet")
        assert done.exit_code == 2
        assert "CANARY" not in done.output
        assert not Path("again.parquet").exists()
    Path("ids.csv").unlink()
    assert run("programme.yaml", "--check").exit_code == 0
