import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from typer.testing import CliRunner

from shoal.anonymize import Policy
from shoal.anonymize.table import QueriedTable
from shoal.cli._main import app
from shoal.cli.verbs._anonymize import _path_from_policy
from shoal.data import write_table
from shoal.engine.spark._files import check_no_pattern
from shoal.errors import InvalidPolicy
from shoal.jobs.drafts._column_profile import COMMON
from shoal.jobs.drafts._policy_draft import draft_policy


def people(n=1_000):
    rng = np.random.default_rng(0)
    return {
        "student_id": [f"s{i // 2}" for i in range(n)],
        "email": [f"{i}@example.org" for i in range(n)],
        "notes": ["he said that he would come"] * n,
        "birth": [f"{1950 + i % 50}-03-0{1 + i % 9}" for i in range(n)],
        "postcode": [f"{10000 + i % 90}" for i in range(n)],
        "age": [*rng.integers(20, 70, n - 1), 987_654],
        "weight": [*rng.uniform(50, 90, n - 1).round(1), 43_210.5],
        "sex": rng.choice(["F", "M"], n),
        "flag": rng.choice(["yes", "no"], n),
        "town": [*["here", "there"] * (n // 2 - 5), *["hermit"] * 10],
        "income": rng.choice(["low", "mid", "high"], n),
        "empty": pa.nulls(n, pa.string()),
    }


ROLES = {
    "student_id": "identifier", "email": "identifier", "notes": "identifier", "birth": "quasi",
    "postcode": "quasi", "age": "quasi", "weight": "quasi", "sex": "quasi", "flag": "other",
    "town": "quasi", "income": "sensitive", "empty": "quasi",
}  # fmt: skip


@pytest.fixture(scope="module")
def draft():
    return draft_policy(QueriedTable(people()), "people.csv")


@pytest.mark.heavy
def test_roles_are_guessed_and_what_others_may_know_is_quasi(draft):
    assert draft.roles == ROLES


def test_every_guess_is_marked_for_review(draft):
    lines = draft.text.splitlines()
    entries = [i for i, line in enumerate(lines) if line.strip().split(":")[0] in ROLES]
    assert len(entries) == len(ROLES)
    assert all(lines[i - 1].strip().startswith("# REVIEW:") for i in entries)


@pytest.mark.heavy
def test_no_rare_value_and_no_extreme_is_quoted(draft):
    text = draft.text
    for value in ("hermit", "987", "43210", "43_210", "s17", "@example", "1950", "10017"):
        assert value not in text
    assert "Not quoted: values of fewer than 50 rows each (1)" in text
    assert COMMON == 50


@pytest.mark.heavy
def test_a_draft_with_k_never_fails_at_the_next_step(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n, rng = 600, np.random.default_rng(4)
    table = {
        "fnlwgt": rng.integers(12_285, 490_000, n // 10).repeat(10),  # half a million whole steps
        "job": ["clerk", "cook", "line\nbreak"] * 190 + ["hermit"] * 30,  # a rare value
        "born": [f"{1 + i % 28:02}/{1 + i % 12:02}/{1990 + i % 3}" for i in range(n)],
        "seen": [f"{1 + i % 12}/{13 + i % 12}/2024" for i in range(n)],
        "empty": pa.nulls(n, pa.string()),
    }
    write_table(pa.table(table), "t.csv")
    run = CliRunner().invoke
    assert run(app, ["anonymize", "init", "t.csv", "-o", "p.yaml", "-k", "2"]).exit_code == 0
    drafted = yaml.safe_load(Path("p.yaml").read_text())["attributes"]
    assert drafted["born"]["hierarchy"]["format"] == "dd/mm/yyyy"
    assert drafted["seen"]["hierarchy"]["format"] == "mm/dd/yyyy"
    assert drafted["fnlwgt"]["role"] == "other"
    assert drafted["fnlwgt"]["transform"] == {"round": 10_000, "rare": 2}
    assert "hermit" not in Path("p.yaml").read_text()
    done = run(app, ["anonymize", "--policy", "p.yaml", "--dry-run"])
    assert done.exit_code == 0, done.output


@pytest.mark.heavy
def test_scores_that_few_rows_share_are_not_taken_for_people():
    rng = np.random.default_rng(1)
    table = {"pupil_id": [f"p{i}" for i in range(800)],
             "score": [f"{x:.1f}".replace(".", ",") for x in rng.normal(50, 15, 800)],
             "sex": ["F", "M"] * 400}  # fmt: skip
    assert draft_policy(QueriedTable(table), "pupils.csv").person is None
    several = {**table, "pupil_id": [f"p{i % 400}" for i in range(800)]}
    assert draft_policy(QueriedTable(several), "pupils.csv").person == "pupil_id"
    assert (
        draft_policy(QueriedTable({**table, "pupil_id": ["x"] * 800}), "pupils.csv").person is None
    )


def test_a_dry_run_says_how_many_lines_are_left_to_review(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    write_table(pa.table({"sex": ["F", "M"] * 60, "age": [20, 30, 40] * 40}), Path("t.csv"))
    drafted = run(app, ["anonymize", "init", "t.csv", "-o", "p.yaml", "-k", "5"])
    assert "--policy p.yaml --dry-run" in drafted.output
    assert "Each row is taken as one person" in " ".join(drafted.output.split())
    done = run(app, ["anonymize", "--policy", "p.yaml", "--dry-run"])
    assert "still carry the mark REVIEW" in " ".join(done.output.split())


def test_a_draft_is_no_policy_before_k_is_chosen(draft):
    with pytest.raises(InvalidPolicy, match=r"privacy\.k"):
        Policy.of(yaml.safe_load(draft.text))


def test_with_k_a_draft_is_a_policy(draft):
    policy = Policy.of(yaml.safe_load(draft.text.replace("  k:  #", "  k: 5  #")))
    assert policy.privacy.k == 5
    assert policy.privacy.person == "student_id"
    assert policy.attributes["sex"].hierarchy.tree == {"*": ["F", "M"]}
    assert policy.attributes["flag"].transform.rare == 5
    assert policy.attributes["town"].hierarchy.keep == [60]
    assert policy.search.recoding == "local"


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["a: b", "#x", "yes", "1", "{x}", "ü", "'"])
def test_any_name_of_a_column_survives(name):
    text = draft_policy(QueriedTable({name: ["u", "v"] * 60}), "t.csv", k=2).text
    assert list(yaml.safe_load(text)["attributes"]) == [name]


@pytest.mark.heavy
def test_init_writes_a_file_for_its_owner_that_runs_once_reviewed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = people()
    kept = {name: table[name] for name in ("sex", "flag", "income")}
    write_table(pa.table(kept), "people.csv")
    run = CliRunner().invoke
    assert run(app, ["anonymize", "init", "people.csv", "-o", "p.yaml", "-k", "5"]).exit_code == 0
    assert stat.S_IMODE(Path("p.yaml").stat().st_mode) == 0o600
    assert run(app, ["anonymize", "init", "people.csv", "-o", "p.yaml"]).exit_code == 2
    assert run(app, ["anonymize", "--policy", "p.yaml"]).exit_code == 0
    assert Path("people.released.csv").is_file()


@pytest.mark.heavy
def test_a_draft_made_on_spark_is_the_one_made_here(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = {name: people()[name] for name in ("student_id", "birth", "age", "town", "income")}
    table = {**kept, "all.day": ["2024-02-03 "] * 1_000, "weight": [1e20, -3e-7] * 500}
    write_table(pa.table(table), "people.parquet")
    run = CliRunner().invoke
    uri = (tmp_path / "people.parquet").as_uri()
    for name, source, engine in (("here", "people.parquet", "local"), ("there", uri, "spark")):
        words = ["anonymize", "init", source, "-o", f"{name}.yaml", "--engine", engine]
        assert run(app, words).exit_code == 0
    here, there = Path("here.yaml").read_text(), Path("there.yaml").read_text()
    for table in ("people.parquet", "people.released.csv"):
        there = there.replace(f"'{tmp_path.as_uri()}/{table}'", table)
    (search,) = (line for line in here.splitlines(keepends=True) if line.startswith("search:"))
    assert there == here.replace(search, "")


@pytest.mark.heavy
def test_a_draft_of_a_table_elsewhere_keeps_its_path(tmp_path):
    text = draft_policy(
        QueriedTable({"sex": ["F", "M"] * 60}), "hdfs://names/visits.parquet", k=2
    ).text
    asked = yaml.safe_load(text)
    assert asked["input"]["path"] == "hdfs://names/visits.parquet"
    assert asked["output"]["path"] == "hdfs://names/visits.released.csv"


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("path", "released"),
    [
        ("hdfs:///visits.parquet/", "hdfs:///visits.released.csv"),
        ("hdfs:///visits/*.parquet", "hdfs:///visits.released.csv"),
        ("hdfs://names/2025/visits/day-{1,2}/x?.csv", "hdfs://names/2025/visits.released.csv"),
        ("s3a://rows/[ab]*", "s3a://rows/table.released.csv"),
        ("s3a://rows/", "s3a://rows/table.released.csv"),
        ("file:/data/visits.csv.gz", "file:/data/visits.released.csv"),
        ("../data/*.csv", "data.released.csv"),
        ("../*.csv", "table.released.csv"),
    ],
)
def test_a_release_is_drafted_beside_what_is_read_under_a_name_that_can_be_written(path, released):
    drafted = yaml.safe_load(draft_policy(QueriedTable({"sex": ["F", "M"] * 60}), path, k=2).text)
    assert drafted["output"]["path"] == released
    assert drafted["input"]["path"] == path
    check_no_pattern(released)


@pytest.mark.heavy
@pytest.mark.parametrize("shift", [-3_000, -700, 0, 25, 40_000])
@pytest.mark.parametrize("spread", [1, 300])
def test_a_drafted_range_holds_nearly_all_numbers(shift, spread):
    values = (np.random.default_rng(3).normal(shift, spread, 1_000)).round(1)
    drafted = yaml.safe_load(draft_policy(QueriedTable({"height": values}), "t.csv", k=2).text)
    low, high = drafted["attributes"]["height"]["domain"]
    assert np.mean((values >= low) & (values <= high)) >= 0.96


def test_a_path_with_a_scheme_is_taken_as_it_is_and_no_folder_is_before_it(tmp_path):
    policy = tmp_path / "policies" / "p.yaml"
    for uri in ("file:/data/visits.csv", "file:///data/visits.csv", "hdfs:///visits.csv"):
        assert _path_from_policy(uri, policy) == uri
    assert _path_from_policy(str(tmp_path / "visits.csv"), policy) == "../visits.csv"


def test_standard_input_has_no_path_for_a_policy():
    shown = CliRunner().invoke(app, ["anonymize", "init", "-"], input="a\n1\n")
    assert (shown.exit_code, "standard input" in shown.output) == (2, True)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name",
    [
        "name", "Full Name", "fullname", "PatientName", "Nachname", "Vorname", "nom", "Prénom",
        "apellidos", "nombre", "naam", "nazwisko", "e-mail", "E-Mail-Adresse", "phone_no",
        "Telefon", "Straße", "adresse", "address", "Kontonummer", "patient_nr", "SSN", "userId",
    ],
)  # fmt: skip
def test_columns_that_are_called_like_names_are_dropped_and_pointed_out(name):
    draft = draft_policy(QueriedTable({name: ["u", "v"] * 60, "sex": ["F", "M"] * 60}), "t.csv")
    assert draft.roles == {name: "identifier", "sex": "quasi"}
    assert "names people" in draft.doubts[name]


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["sex", "age", "visits", "town", "idle", "maturity", "grade"])
def test_columns_that_are_called_otherwise_are_not(name):
    draft = draft_policy(QueriedTable({name: ["u", "v"] * 60}), "t.csv")
    assert draft.roles[name] != "identifier"
    assert not draft.doubts


@pytest.mark.heavy
def test_values_that_few_rows_share_tell_people_apart_whatever_the_column_is_called():
    who = [f"Ada {chr(65 + i % 26)}oe{i // 2}" for i in range(300)]
    draft = draft_policy(QueriedTable({"who": who, "case": [i // 2 for i in range(300)]}), "t.csv")
    assert draft.roles == {"who": "identifier", "case": "other"}
    assert "few rows share" in draft.doubts["who"]
    assert "few rows share a number" in draft.doubts["case"]


@pytest.mark.heavy
def test_sentences_are_not_quoted_however_many_rows_share_them():
    sentence = "CANARY went home with his mother"
    long = "CANARY" * 12
    few = ["none"] * 400 + [sentence] * 60 + [long] * 60 + ["bad cough"] * 60
    notes = ["none"] * 300 + [sentence] * 60 + [f"she said that she saw no {i}" for i in range(240)]
    draft = draft_policy(QueriedTable({"remark": few, "note": [*notes[:580]]}), "t.csv")
    assert draft.roles == {"remark": "identifier", "note": "identifier"}
    assert "CANARY" not in draft.text
    one = draft_policy(
        QueriedTable({"state": ["well"] * 500 + ["ill"] * 400 + [sentence] * 60}), "t.csv"
    )
    assert one.roles == {"state": "quasi"}
    assert "CANARY" not in one.text
    assert "sentences" in one.doubts["state"]


@pytest.mark.heavy
def test_of_a_column_with_many_values_none_is_quoted():
    words = [f"CANARY{i % 3}" for i in range(300)] + [f"w{i % 110}" for i in range(600)]
    assert "CANARY" not in draft_policy(QueriedTable({"kind": words}), "t.csv").text


HEADLESS = {
    "a number": "CANARY Roe,34,flu\nBob Poe,35,cold\n",
    "only words": "CANARY Roe,F,CANARYitis\nBob Poe,M,cold\nEve Loe,F,cold\nCy Doe,M,CANARYitis\n",
    "a stray quote": 'name,"age,illness\nCANARY Roe,34,flu\nBob Poe,35,cold\n',
    "an empty name": ",age\nCANARY Roe,34\n",
}


@pytest.mark.heavy
@pytest.mark.parametrize("kind", HEADLESS)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_init_refuses_a_table_without_a_header_and_shows_nothing_of_it(
    kind, more, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(HEADLESS[kind])
    done = CliRunner().invoke(app, ["anonymize", "init", "t.csv", "-o", "p.yaml", *more])
    assert done.exit_code == 2
    assert "UnreadableTable" in done.output
    assert "column names" in " ".join(done.output.split())
    for word in ("CANARY", "34", "flu", "Bob"):
        assert word not in done.output
    assert not Path("p.yaml").exists()


@pytest.mark.heavy
def test_init_takes_the_boxes_of_a_survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("sex,Other\n" + "F,Other\nM,\n" * 60)
    done = CliRunner().invoke(app, ["anonymize", "init", "t.csv", "-o", "p.yaml"])
    assert done.exit_code == 0
    assert "first line" in done.output
    assert "first line was taken" in Path("p.yaml").read_text()


@pytest.mark.heavy
def test_a_draft_can_go_to_standard_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("sex\n" + "F\nM\n" * 60)
    done = CliRunner().invoke(app, ["anonymize", "init", "t.csv", "-o", "-", "-k", "2"])
    assert Policy.of(yaml.safe_load(done.stdout)).privacy.k == 2
    assert not Path("-").exists()


def test_codes_are_no_range_and_what_nobody_knows_is_coarse():
    rng, n = np.random.default_rng(0), 2_000
    table = {
        "Nationality": rng.choice([1, 6, 41], n),
        "capital-gain": rng.integers(0, 90, n) * 1_000,
        "Unemployment rate": rng.uniform(7, 16, n).round(3),
        "telephone": rng.choice(["yes", "no"], n),
        "Age at enrollment": rng.integers(17, 70, n),
    }
    content = yaml.safe_load(draft_policy(QueriedTable(table), "t.csv", k=5).text)
    drafted = content["attributes"]
    assert drafted["Nationality"]["hierarchy"] == {"tree": {"*": ["1", "41", "6"]}}
    gain = {"role": "other", "type": "int", "transform": {"round": 2_000, "rare": 5}}
    assert drafted["capital-gain"] == gain
    assert drafted["Unemployment rate"]["transform"] == {"round": 0.5, "rare": 5}
    assert drafted["telephone"] == {"role": "other", "transform": {"rare": 5}}
    assert drafted["Age at enrollment"]["domain"] == [0, 110]
    Policy.of(content)
