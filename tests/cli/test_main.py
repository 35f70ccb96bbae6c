import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shoal.cli import _main as main
from shoal.errors import BudgetExceeded, InvalidSetting

SHOAL = Path(sys.executable).with_name("shoal")


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(main.app, words)


def failing(monkeypatch, error):
    """Make ``shoal version`` raise from inside."""

    def fail(*_):
        raise error

    monkeypatch.setattr("shoal.cli.verbs._version._installed_version", fail)


@pytest.mark.heavy
def test_no_words_at_all_show_the_help(run):
    shown = run()
    assert shown.exit_code == 2
    assert "shoal demo" in shown.output


@pytest.mark.heavy
@pytest.mark.parametrize(
    "verb", [["demo"], ["perturb"], ["ledger", "show"], ["ledger", "limit"], ["version"]]
)
def test_every_verb_teaches_by_example(run, verb):
    shown = run(*verb, "--help")
    assert shown.exit_code == 0
    assert "Examples" in shown.output
    assert f"shoal {' '.join(verb)}" in shown.output
    for option in ("--json", "--quiet", "SHOAL_JSON"):
        assert option in shown.output


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidSetting("This came.", "Do that."), 2),
        (BudgetExceeded("This came.", "Do that."), 3),
        (KeyboardInterrupt(), 130),
        (ValueError("row 17 is Ada Lovelace"), 70),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_of_error_has_its_exit_code(run, monkeypatch, error, code):
    failing(monkeypatch, error)
    assert run("version").exit_code == code


def test_an_error_says_what_came_and_what_next_on_standard_error(run, monkeypatch):
    failing(monkeypatch, InvalidSetting("This came.", "Do that."))
    shown = run("version")
    assert shown.stdout == ""
    assert shown.stderr == "InvalidSetting: This came.\nDo that.\n"


def test_an_error_is_a_json_document_too_where_json_is_asked_for(run, monkeypatch):
    failing(monkeypatch, BudgetExceeded("This came.", "Do that."))
    shown = run("version", "--json")
    assert json.loads(shown.stdout) == {
        "error": "BudgetExceeded",
        "message": "This came.",
        "hint": "Do that.",
        "exit_code": 3,
    }
    assert "This came." in shown.stderr


def test_a_bug_is_named_without_its_message(run, monkeypatch):
    failing(monkeypatch, ValueError("row 17 is Ada Lovelace"))
    shown = run("version")
    assert "Ada" not in shown.output
    assert "Bug: ValueError at " in shown.stderr
    assert "SHOAL_DEBUG=1" in shown.stderr


def test_a_bug_shows_itself_to_who_asks(run, monkeypatch):
    failing(monkeypatch, ValueError("row 17 is Ada Lovelace"))
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    assert "Ada Lovelace" in run("version").stderr


def test_control_characters_in_a_message_do_not_reach_the_terminal(run, monkeypatch):
    failing(monkeypatch, InvalidSetting("Column '\x1b[2J' came.", "Do that."))
    assert "\x1b" not in run("version").output


def test_a_setting_from_the_environment_counts(run, monkeypatch):
    monkeypatch.setenv("SHOAL_JSON", "1")
    assert "shoal" in json.loads(run("version").stdout)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["demo", "--epsilom", "1"], "NoSuchOption"),
        (["demo", "--seed", "one"], "BadParameter"),
        (["perturb"], "MissingParameter"),
        (["fly"], "UsageError"),
    ],
)
def test_wrong_use_is_told_like_any_error_and_as_json_too(run, words, name):
    told = run(*words)
    assert told.exit_code == 2
    assert told.stdout == ""
    assert told.stderr.startswith(f"{name}: ")
    assert "--help" in told.stderr
    document = json.loads(run(*words, "--json").stdout)
    assert document["error"] == name
    assert document["exit_code"] == 2


def test_wrong_use_is_json_too_where_the_environment_asks(run, monkeypatch):
    monkeypatch.setenv("SHOAL_JSON", "true")
    assert json.loads(run("demo", "--epsilom", "1").stdout)["error"] == "NoSuchOption"


@pytest.mark.heavy
def test_output_that_is_no_terminal_has_no_control_characters(tmp_path):
    words = [SHOAL, "demo", "-o", tmp_path / "demo"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "at most 24 in 100" in re.sub(r"\s+", " ", done.stdout)
    assert not [c for c in done.stdout if not c.isprintable() and c != "\n"]


@pytest.mark.heavy
def test_help_and_version_start_quickly():
    code = "import sys; from shoal.cli._main import app; print(*sys.modules)"
    words = [sys.executable, "-c", code]
    loaded = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    heavy = {"pyarrow", "sklearn", "scipy", "duckdb", "jinja2", "plotly", "pandas", "randomgen"}
    assert not heavy & set(loaded.stdout.split())


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version_can_be_asked_for_as_everywhere(run, word):
    shown = run(word)
    assert shown.exit_code == 0
    assert re.fullmatch(r"shoal \d+\.\d+\.\d+\n", shown.stdout)


@pytest.mark.heavy
def test_shells_complete_verbs_and_options():
    words = os.environ | {
        "_SHOAL_COMPLETE": "complete_bash",
        "COMP_WORDS": "shoal clu",
        "COMP_CWORD": "1",
    }
    shown = subprocess.run([SHOAL], env=words, capture_output=True, text=True, check=False)
    assert shown.stdout.split() == ["cluster"]
