import json

import numpy as np
import pytest
from typer.testing import CliRunner

from shoal.cli._main import app
from shoal.cluster import PrivateKMeans
from shoal.domain import Box
from shoal.privacy import Ledger, PureDP

BOX = Box(age=(0, 100), visits=(0, 20))


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).uniform([0, 0], [100, 20], (400, 2))
    PrivateKMeans(2, epsilon=1, domain=BOX, random_state=1).fit(rows).save("model")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


@pytest.mark.heavy
def test_the_page_of_a_simulation_is_written_into_its_folder_under_its_name(place):
    shown = run("model")
    assert shown.exit_code == 0, shown.output
    assert "report-simulation.html" in shown.stdout
    assert (place / "model" / "report-simulation.json").is_file()


@pytest.mark.heavy
def test_scripts_get_the_path_of_the_page(place):
    shown = run("model", "-o", "page.html", "--title", "Two groups", "--json")
    assert json.loads(shown.stdout) == {"report": "page.html", "published": True}
    assert "Two groups" in (place / "page.html").read_text()


@pytest.mark.heavy
def test_an_older_page_is_replaced_only_when_asked(place):
    assert run("model", "-o", "page.html").exit_code == 0
    again = run("model", "-o", "page.html")
    assert again.exit_code == 2
    assert "--overwrite" in again.output
    assert run("model", "-o", "page.html", "--overwrite").exit_code == 0


@pytest.mark.heavy
def test_the_ledger_says_what_was_promised_in_all(place):
    Ledger("book.ledger").open(PureDP(2), by="someone")
    shown = run("model", "-o", "page.html", "--ledger", "book.ledger")
    assert shown.exit_code == 0, shown.output


def test_a_ledger_that_is_not_there_is_not_made(place):
    shown = run("model", "-o", "page.html", "--ledger", "none.ledger")
    assert shown.exit_code == 2
    assert not (place / "none.ledger").exists()
    assert not (place / "page.html").exists()


@pytest.mark.heavy
@pytest.mark.parametrize("folder", ["nothing", "empty", "model/model.json"])
def test_a_folder_without_a_model_is_refused(place, folder):
    (place / "empty").mkdir()
    shown = run(folder)
    assert shown.exit_code == 2
    assert "shoal cluster -o" in shown.output


def test_a_page_is_an_html_file():
    shown = run("model", "-o", "page.pdf")
    assert shown.exit_code == 2
    assert "--output page.html" in shown.output


@pytest.mark.heavy
def test_groups_may_be_named(place):
    shown = run("model", "-o", "page.html", "--name", "Early", "--name", "Late")
    assert shown.exit_code == 0, shown.output
    html = (place / "page.html").read_text()
    assert ">Early</a>" in html
    assert ">Late</a>" in html


@pytest.mark.heavy
def test_every_group_is_named_or_none():
    shown = run("model", "-o", "page.html", "--name", "Early")
    assert shown.exit_code == 2
    assert "2 groups and 1 names" in shown.output
