"""``shoal document``: output, exit codes, and what its help teaches."""

import json

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app
from shoal.verify.documents import QUESTIONS


@pytest.fixture
def model(tmp_path):
    fitted = shoal.PrivateKMeans(2, epsilon=1, domain=shoal.Box.unit(1))
    return fitted.fit([[0.2], [0.8]] * 300).save(tmp_path / "model")


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_documents_are_listed_with_what_is_not_stated(model, tmp_path):
    (tmp_path / "about.yaml").write_text("publisher: The town\npublished: 2026-11-18\n")
    done = run("document", model, "--about", tmp_path / "about.yaml")
    assert done.exit_code == 0, done.output
    assert "Not stated" in done.output
    record = json.loads((model / "deployment.json").read_text())
    assert record["deployment"]["basic"]["data_curators"][0]["data_curator_name"] == "The town"
    assert run("verify", model).exit_code == 0
    again = run("document", model)
    assert again.exit_code == 2
    assert "--overwrite" in again.output


def test_one_kind_and_its_values_as_json(model):
    done = json.loads(run("document", model, "--as", "csvw", "--json").stdout)
    assert done["schema"] == "shoal.documented/1"
    (release,) = done["releases"]
    names = [file.rpartition("/")[2] for file in release["files"]]
    assert names == ["csv-metadata.json", "domain.csvw.json", "documents.json"]
    assert "publisher" in release["not_stated"]


def test_bounds_that_were_documented_are_a_domain_for_the_next_release(model, tmp_path):
    assert run("document", model, "--as", "csvw").exit_code == 0
    (tmp_path / "rows.csv").write_text("x0\n" + "0.2\n0.8\n" * 300)
    given = ("--epsilon", "1", "--domain", model / "domain.csvw.json", "-k", "2", "--seed", "1")
    done = run("cluster", tmp_path / "rows.csv", *given, "-o", tmp_path / "next")
    assert done.exit_code == 0, done.output


def test_an_unknown_kind_and_an_unknown_answer_end_with_2(model, tmp_path):
    done = run("document", model, "--as", "poem")
    assert done.exit_code == 2
    assert "deployment, nist, csvw, croissant" in done.output
    (tmp_path / "about.yaml").write_text("colour: red\n")
    assert run("document", model, "--about", tmp_path / "about.yaml").exit_code == 2


def test_the_help_names_every_question():
    said = " ".join(run("document", "--help").output.replace("│", " ").split())
    assert all(name in said for name in QUESTIONS)
