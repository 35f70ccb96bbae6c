import json

import numpy as np
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli._main import app

DOMAIN = "version: 1\ncolumns:\n  age: {low: 0, high: 110}\n  sex: {values: [F, M]}\n"
FACTS = ("-k", 2, "--domain", "people.yaml", "--columns", "age", "--n-expected", 500)
QUICK = (*FACTS, "--trust", "central", "--shape", "clear", "--epsilon", "0.25,8")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.yaml").write_text(DOMAIN)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["plan", *map(str, words)])


@pytest.mark.heavy
def test_a_plan_is_shown_as_text():
    shown = run(*QUICK)
    assert shown.exit_code == 0, shown.output
    assert "2 groups in 1 column (age 0 to 110), 500 rows expected." in shown.stdout
    assert "No table was opened and nothing was spent" in shown.stdout


@pytest.mark.heavy
def test_scripts_get_the_numbers():
    document = json.loads(run(*QUICK, "--json").stdout)
    bands = document["curves"]["central"]["bands"]
    assert [band["epsilon"] for band in bands] == [0.25, 8]
    assert bands[1]["bad_case"] <= bands[0]["bad_case"]
    assert document["opened_a_table"] is False
    assert document["file"] is None


@pytest.mark.heavy
def test_both_kinds_of_trust_are_planned_by_default():
    words = (*FACTS, "--shape", "clear", "--epsilon", "4", "--json")
    assert set(json.loads(run(*words).stdout)["curves"]) == {"central", "local"}


@pytest.mark.heavy
def test_a_page_is_written(place):
    shown = run(*QUICK, "-o", "plan.html", "--quiet")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "What to expect before a budget is spent" in (place / "plan.html").read_text()


@pytest.mark.heavy
def test_a_model_is_planned_from_what_it_released(place):
    rows = np.random.default_rng(0).normal([[30.0], [70.0]], 4, (2, 400)).reshape(-1, 1)
    box = shoal.Box(age=(0, 110))
    shoal.PrivateKMeans(2, epsilon=1, domain=box, random_state=1).fit(rows).save(place / "model")
    shown = run("model", "--trust", "central", "--epsilon", "1")
    assert shown.exit_code == 0, shown.output
    assert "rows were drawn about what was released" in " ".join(shown.stdout.split())
    assert "it flatters" in shown.stdout
    refused = run("model", "-k", 3)
    assert refused.exit_code == 2
    assert "-k cannot be set besides" in " ".join(refused.stderr.split())


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--domain", "people.yaml", "--n-expected", 500), "-k is missing"),
        (("-k", 2, "--domain", "people.yaml"), "--n-expected is missing"),
        (("-k", 2, "--n-expected", 500), "--domain, the public bounds, is missing"),
        ((*FACTS, "--epsilon", "one"), "numbers with commas"),
        ((*FACTS, "--epsilon", "-1"), "--epsilon must be positive numbers"),
        ((*FACTS, "-o", "plan.txt"), "must end in .html or .json"),
    ],
)
def test_a_bad_call_is_refused(words, message):
    shown = run(*words)
    assert shown.exit_code == 2
    assert message in " ".join(shown.stderr.split())
