import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.data import write_table
from shoal.domain import Schema
from shoal.errors import CannotWrite
from shoal.privacy import Ledger, PureDP

CANARY = 987_654.25


def run(*words, **more):
    return CliRunner().invoke(app, [*words], **more)


@pytest.fixture(autouse=True)
def visits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    n = 2_000
    table = {
        "person_id": [f"p{i}" for i in range(n)],
        "age": [*rng.integers(16, 80, n - 1), None],
        "income": [*rng.uniform(9_000, 60_000, n - 1).round(2), CANARY],
        "town": ["York", "CANARYville"] * (n // 2),
    }
    write_table(pa.table(table), "visits.csv")


@pytest.mark.heavy
def test_a_newcomer_has_groups_after_two_commands():
    done = run("init", "visits.csv", "--json")
    assert done.exit_code == 0, done.output
    command = shlex.split(json.loads(done.stdout)["next"])
    assert command[0] == "shoal"
    done = run(*command[1:])
    assert done.exit_code == 0, done.output
    assert Path("model/report.html").is_file()


@pytest.mark.heavy
def test_no_value_of_a_row_is_in_the_draft():
    run("init", "visits.csv")
    text = Path("visits.yaml").read_text()
    for value in ("CANARY", "987", "p17", "York"):
        assert value not in text
    assert Schema.load("visits.yaml").bounds == {"age": (0, 110)}


@pytest.mark.heavy
def test_bounds_can_be_paid_for_and_are_in_the_ledger():
    done = run("init", "visits.csv", "--estimate-bounds", "--epsilon", "0.1", "--json")
    assert done.exit_code == 0, done.output
    schema = Schema.load("visits.yaml")
    assert schema.bounds["income"] == (8_192, 65_536)
    assert schema.person == "person_id"
    assert Ledger("visits.ledger").totals() == [PureDP("0.1")]
    assert "epsilon 0.1 for 1 column, in visits.ledger" in Path("visits.yaml").read_text()
    assert "--ledger visits.ledger" in json.loads(done.stdout)["next"]


def test_nothing_is_spent_if_the_file_may_not_be_written():
    Path("visits.yaml").write_text("mine")
    done = run("init", "visits.csv", "--estimate-bounds", "--epsilon", "0.1")
    assert done.exit_code == 2
    assert Path("visits.yaml").read_text() == "mine"
    assert not Path("visits.ledger").exists()


@pytest.mark.heavy
def test_over_the_limit_no_draft_is_left():
    run("ledger", "limit", "visits.ledger", "--epsilon", "0.05")
    done = run("init", "visits.csv", "--estimate-bounds", "--epsilon", "0.1")
    assert (done.exit_code, Path("visits.yaml").exists()) == (3, False)


@pytest.mark.heavy
def test_a_draft_without_bounds_says_what_is_missing():
    write_table(pa.table({"income": [1, 2]}), "t.csv")
    done = run("init", "t.csv")
    assert done.exit_code == 0
    assert "--estimate-bounds" in done.output
    done = run("cluster", "t.csv", "-k", "2", "--epsilon", "1", "--domain", "t.yaml")
    assert done.exit_code == 2
    assert "columns" in done.output


@pytest.mark.heavy
def test_a_codebook_gives_bounds_and_lists():
    Path("book.csv").write_text("name,low,high,values\nincome,0,100000,\ntown,,,York|Rome\n")
    assert run("init", "visits.csv", "--from", "book.csv", "-q").exit_code == 0
    schema = Schema.load("visits.yaml")
    assert schema.bounds == {"age": (0, 110), "income": (0, 100_000)}
    assert schema.categories["town"].other == "bucket"


@pytest.mark.heavy
def test_a_mixed_draft_is_clustered_as_it_is():
    Path("book.csv").write_text("name,low,high,values\nincome,0,100000,\ntown,,,York|Rome\n")
    done = run("init", "visits.csv", "--from", "book.csv", "--json")
    done = run(*shlex.split(json.loads(done.stdout)["next"])[1:])
    assert done.exit_code == 0, done.output
    assert Path("model/report.html").is_file()


@pytest.mark.heavy
def test_a_draft_of_categories_alone_is_clustered_too():
    Path("book.csv").write_text("name,values\ntown,York|CANARYville\n")
    write_table(pa.table({"town": ["York", "CANARYville"] * 500}), "towns.csv")
    done = run("init", "towns.csv", "--from", "book.csv", "--json")
    done = run(*shlex.split(json.loads(done.stdout)["next"])[1:])
    assert done.exit_code == 0, done.output


@pytest.mark.heavy
def test_a_draft_can_go_to_standard_output():
    done = run("init", "-", "-o", "-", input="age,x\n31,1\n")
    assert done.exit_code == 0
    assert done.stdout.startswith("# What is public")
    assert not Path("-").exists()
    assert run("init", "-", input="age\n31\n").exit_code == 2


@pytest.mark.parametrize("words", [["--epsilon", "1"], ["--estimate-bounds"]])
def test_a_budget_and_an_estimate_belong_together(words):
    done = run("init", "visits.csv", *words)
    assert done.exit_code == 2
    assert "--epsilon" in done.output


def test_a_table_without_a_header_is_refused_and_not_shown():
    Path("t.csv").write_text("CANARY,34\nBob,35\n")
    done = run("init", "t.csv")
    assert done.exit_code == 2
    assert "CANARY" not in done.output


@pytest.mark.heavy
def test_decimal_commas_are_seen_proposed_and_read():
    Path("fees.csv").write_text("age;fee\n" + "31;1.234,50\n47;12,75\n" * 100)
    done = run("init", "fees.csv")
    assert "--numbers 1.234,5" in " ".join(done.output.split())
    words = ["--estimate-bounds", "--epsilon", "1", "--numbers", "1.234,5", "--json"]
    done = run("init", "fees.csv", "--overwrite", *words)
    assert Schema.load("fees.yaml").bounds == {"age": (0, 110), "fee": (0, 2048)}
    done = run(*shlex.split(json.loads(done.stdout)["next"])[1:])
    assert done.exit_code == 0, done.output


@pytest.mark.heavy
def test_a_failure_says_whether_the_budget_is_spent(monkeypatch):
    spend = ["--estimate-bounds", "--epsilon", "0.1", "--ledger", "visits.ledger"]
    assert run("init", "visits.csv", *spend).exit_code == 0
    Path("t.csv").write_text("CANARY,34\nBob,35\n")
    assert "as spent" not in run("init", "t.csv", *spend).output

    def fail(*_, **__):
        raise CannotWrite("The disk is full.", "Free space.")

    monkeypatch.setattr("shoal.jobs.drafts._schema_draft.SchemaDraft.text", property(fail))
    done = run("init", "visits.csv", "-o", "again.yaml", *spend)
    assert done.exit_code == 2
    assert "as spent" in " ".join(done.output.split())


EVENTS = "pupil_id,at,course,kind,minutes\nCANARY1,2025-03-03 08:00:00,m,CANARYkind,987654\n"


def programme():
    Path("log.csv").write_text(EVENTS)
    Path("pupils.csv").write_text("pupil_id,age,town\nCANARY1,9,CANARYville\n")
    Path("courses.csv").write_text("course,grade\nm,3\n")
    return ["--events", "log.csv", "--people", "pupils.csv", "--public", "courses.csv"]


def test_a_features_file_is_drafted_from_names_alone_and_works_once_completed():
    done = run("init", *programme(), "-o", "programme.yaml")
    assert done.exit_code == 0, done.output
    text = Path("programme.yaml").read_text()
    assert "CANARY" not in text
    assert "987654" not in text
    refused = run("features", "programme.yaml", "--check")
    assert refused.exit_code == 2
    assert "period is missing" in refused.output
    assert "source is missing" in refused.output
    text = text.replace(
        "# period: {from: , until: , zone: }", "period: {from: 2025-03-03, until: 2025-12-15}"
    )
    Path("programme.yaml").write_text(text.replace("# source: ''", "source: the catalogue"))
    assert run("features", "programme.yaml", "--check").exit_code == 0
    done = run("features", "programme.yaml", "-o", "people.parquet", "--json")
    assert done.exit_code == 0, done.output
    names = ["pupil_id", "age", "log_days", "log_weeks", "log_last"]
    assert json.loads(done.stdout)["columns"] == names


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--people", "visits.csv"],
        ["visits.csv", "--events", "visits.csv"],
        ["--events", "visits.csv", "--estimate-bounds", "--epsilon", "1"],
        ["--events", "visits.csv"],  # no column of times
    ],
)
def test_a_draft_of_features_needs_tables_of_events_and_nothing_else(words):
    done = run("init", *words)
    assert done.exit_code == 2
    assert "CANARY" not in done.output
    assert not Path("features.yaml").exists()
