import json

import pytest
from typer.testing import CliRunner

from shoal.cli._main import app


def run(*words):
    return CliRunner().invoke(app, ["reproduce", *map(str, words)])


@pytest.mark.heavy
def test_a_part_is_run_and_the_second_run_does_nothing(tmp_path):
    words = ("nd-laplace", "--quick", "--only", "noise", "--jobs", 1, "-o", tmp_path / "thesis")
    first = run(*words)
    assert first.exit_code == 0, first.output
    assert "5 ran now" in first.stdout
    page = tmp_path / "thesis" / "report.html"
    assert "we notice the noise is shrinking" in page.read_text(encoding="utf-8")
    second = run(*words)
    assert "0 ran now" in second.stdout
    assert "Nothing" in second.stdout


@pytest.mark.heavy
def test_scripts_read_counts_of_verdicts(tmp_path):
    words = ("nd-laplace", "--quick", "--only", "noise", "--jobs", 1, "-o", tmp_path, "--json")
    values = json.loads(run(*words).stdout)
    assert values["schema"] == "shoal.reproduction/1"
    assert values["claims"]["does not hold"] >= 1
    assert values["ran"] == 5


@pytest.mark.parametrize("words", [["thesis"], ["nd-laplace", "--quick", "--only", "chapter"]])
def test_what_is_not_there_is_refused(tmp_path, words):
    shown = run(*words, "-o", tmp_path / "x")
    assert shown.exit_code == 2
