import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.data import write_table
from shoal.errors import NoGroupsDetected

rng = np.random.default_rng(0)
BOX = shoal.Box(age=(0, 110), visits=(0, 20))
GROUP = np.arange(1_500) % 3
X = np.column_stack([15 + 40 * GROUP, 4 + 6 * GROUP]) + rng.normal(0, [3, 0.8], (1_500, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("evaluate")
    names = np.array(["young", "middle", "old"])[GROUP]
    people = {"age": X[:, 0], "visits": X[:, 1], "group": names, "name": ["secret name"] * 1_500}
    write_table(pa.table(people), place / "visits.csv")
    model = shoal.PrivateKMeans(3, epsilon=2, domain=BOX, random_state=1).fit(X)
    model.save(place / "model")
    with pytest.warns(NoGroupsDetected):
        tiny = shoal.PrivateKMeans(3, epsilon="0.0001", domain=BOX, random_state=1).fit(X)
    tiny.save(place / "tiny")
    return place


@pytest.fixture(autouse=True)
def place(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*words, stdin=None):
    return CliRunner().invoke(app, ["evaluate", *map(str, words)], input=stdin)


def scored(*words, **more):
    shown = run(*words, "--json", **more)
    assert shown.exit_code == 0, shown.output
    document = json.loads(shown.stdout)
    return document, {line["score"]: line for line in document["scores"]}


@pytest.mark.heavy
def test_a_model_is_scored_beside_no_data_and_plain():
    document, scores = scored("model", "--against", "visits.csv", "--controls", 2)
    assert document["compared_with"] == "plain k-means on the rows"
    assert (document["rows"], document["rows_scored"], document["controls"]) == (1_500, 1_500, 2)
    assert document["for_the_holder_alone"] is True
    assert document["guarantee"]["epsilon"] == "2"
    assert scores["ami"]["value"] > 0.97
    assert scores["ami"]["control"] < scores["ami"]["value"]
    assert scores["normalised_inertia"]["closed"] > 0.95
    assert abs(scores["ari"]["shuffled"]) < 0.02


@pytest.mark.heavy
def test_the_right_groups_may_be_a_column():
    document, scores = scored("model", "--against", "visits.csv", "--labels", "group")
    assert "'group'" in document["compared_with"]
    assert scores["ami"]["value"] > 0.97


@pytest.mark.heavy
def test_people_see_a_table_and_are_told_whose_it_is():
    shown = run("model", "--against", "visits.csv", "--controls", 1)
    assert shown.exit_code == 0, shown.output
    for words in ("AMI", "Without data", "Inertia ratio", "for you who hold them"):
        assert words in shown.stdout
    assert "secret name" not in shown.output


@pytest.mark.heavy
def test_no_better_than_without_data_is_a_finding():
    shown = run("tiny", "--against", "visits.csv", "--controls", 5)
    assert "no better" in shown.stdout
    assert shown.exit_code == 1


@pytest.mark.heavy
def test_without_controls_there_is_no_finding():
    shown = run("tiny", "--against", "visits.csv", "--controls", 0)
    assert shown.exit_code == 0
    assert "No control was run" in shown.stdout


@pytest.mark.heavy
def test_a_page_is_for_its_owner_alone():
    shown = run("model", "--against", "visits.csv", "--controls", 1, "-o", "scores.html")
    assert shown.exit_code == 0, shown.output
    page = Path("scores.html")
    assert page.stat().st_mode & 0o777 == 0o600
    text = page.read_text()
    assert "CURATOR ONLY" in text
    assert "The public version lies beside it" not in text
    assert "Without data" in text
    assert "secret name" not in text
    assert run("model", "--against", "visits.csv", "-o", "scores.html").exit_code == 2
    again = run("model", "--against", "visits.csv", "--controls", 0, "-o", "scores.html",
                "--overwrite")  # fmt: skip
    assert again.exit_code == 0


@pytest.mark.heavy
def test_a_document_may_be_written_instead():
    run("model", "--against", "visits.csv", "--controls", 0, "-o", "scores.json", "--quiet")
    document = json.loads(Path("scores.json").read_text())
    assert document["scores"][0]["score"] == "ami"
    assert Path("scores.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.heavy
def test_what_was_learnt_from_reports_is_scored_too(tmp_path):
    noise = shoal.NDLaplace(20.0, domain=BOX, scale="box")
    reports = noise.release(X, shoal.Randomness(7).noise)
    learner = shoal.cluster.LocalClusterer(3, mechanism=noise, method="plain", random_state=1)
    learner.fit(reports).save(tmp_path / "learnt")
    document, scores = scored(tmp_path / "learnt", "--against", "visits.csv", "--controls", 1)
    assert document["class"] == "LocalClusterer"
    assert scores["ami"]["value"] > 0.95
    assert scores["normalised_inertia"]["control"] > 2


@pytest.mark.heavy
def test_many_rows_are_sampled_and_said():
    document, _ = scored("model", "--against", "visits.csv", "--sample-rows", 200, "--controls", 0)
    assert (document["rows"], document["rows_scored"]) == (1_500, 200)
    assert (
        "200 of 1,500 rows"
        in run("model", "--against", "visits.csv", "--sample-rows", 200, "--controls", 0).stdout
    )


@pytest.mark.heavy
def test_rows_may_come_from_standard_input():
    text = Path("visits.csv").read_text()
    _, scores = scored("model", "--against", "-", "--controls", 0, stdin=text)
    assert scores["ami"]["value"] > 0.97


@pytest.mark.heavy
def test_a_seed_repeats_the_numbers():
    words = ("model", "--against", "visits.csv", "--controls", 1, "--seed", 3)
    assert scored(*words)[0] == scored(*words)[0]


@pytest.mark.heavy
def test_rows_on_a_cluster_are_scored_as_here(spark, folder):
    words = ("--labels", "group", "--controls", 1)
    there, is_distributed = scored("model", "--against", folder.as_uri() + "/visits.csv", *words,
                             "--engine", "spark")  # fmt: skip
    here, at_home = scored("model", "--against", "visits.csv", *words)
    for name in ("ami", "ari", "normalised_inertia", "centroid_index"):
        assert is_distributed[name]["value"] == pytest.approx(at_home[name]["value"], rel=1e-9)
    assert {**there, "scores": None} == {**here, "scores": None}


def test_a_master_needs_its_engine():
    shown = run("model", "--against", "visits.csv", "--master", "yarn", "--json")
    assert (shown.exit_code, json.loads(shown.stdout)["error"]) == (2, "ConflictingSettings")


@pytest.mark.heavy
@pytest.mark.parametrize(
    "words",
    [
        ("model",),
        ("nowhere", "--against", "visits.csv"),
        ("model", "--against", "none.csv"),
        ("model", "--against", "visits.csv", "--labels", "nothing"),
        ("model", "--against", "visits.csv", "--columns", "age"),
        ("model", "--against", "visits.csv", "--columns", "age,name"),
        ("model", "--against", "visits.csv", "-o", "scores.pdf"),
        ("model", "--against", "visits.csv", "--sample-rows", "1"),
    ],
)
def test_what_cannot_be_scored_is_bad_input(words):
    shown = run(*words)
    assert shown.exit_code == 2, shown.output
    assert "secret name" not in shown.output


@pytest.mark.heavy
def test_a_model_of_a_mixed_table_is_scored_by_its_cost(tmp_path):
    content = {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 110},
            "group": {"values": ["young", "middle", "old"]},
        },
    }
    schema = shoal.Schema.of(content)
    model = shoal.cluster.PrivateKPrototypes(3, epsilon=2, domain=schema, random_state=1)
    model.fit("visits.csv").save(tmp_path / "mixed")
    words = (tmp_path / "mixed", "--against", "visits.csv")
    document, scores = scored(*words, "--controls", 1, "--sample-rows", 1_000, "--labels", "group")
    assert (document["rows"], document["rows_scored"]) == (1_500, 1_000)
    document, scores = scored(*words, "--controls", 1)
    assert document["compared_with"] == "plain k-prototypes on the rows"
    assert scores["normalised_cost"]["value"] < scores["normalised_cost"]["control"]
    shown = run(*words, "--controls", 1, "--columns", "age,visits")
    assert shown.exit_code == 2
    assert "--columns" in shown.output
    page = tmp_path / "scores.html"
    assert run(*words, "--controls", 1, "-o", page).exit_code == 0
    assert "Cost ratio" in page.read_text()
