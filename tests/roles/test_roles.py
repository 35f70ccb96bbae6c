"""Scripts of what people type in their first hour run in a clean place, as they stand."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("first_hours", ROOT / "tools" / "first_hours.py")
first_hours = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(first_hours)
PAGE = (ROOT / "docs" / "decisions" / "first-hours.md").read_text(encoding="utf-8")


def script(role):
    return (first_hours.FOLDER / role).read_text(encoding="utf-8")


@pytest.mark.heavy
@pytest.mark.parametrize("role", [r for r in first_hours.ROLES if r != "spark.cells"])
def test_a_first_hour_runs_as_it_is_typed(role, tmp_path):
    played = first_hours.play(role, tmp_path)
    assert played.code == 0, played.printed
    files, texts = first_hours.expected_of(script(role))
    printed = " ".join(played.printed.split())
    assert [text for text in texts if text not in printed] == []
    assert [file for file in files if file != "html" and not (tmp_path / file).stat().st_size] == []
    assert files.count("html") <= played.printed.count("<html>")
    assert "Traceback" not in played.printed
    assert "Warning" not in played.printed


def test_a_newcomer_s_own_table_is_clustered_in_five_commands_or_fewer():
    assert len(first_hours.commands_of(script("newcomer.sh"))) <= 5


@pytest.mark.parametrize("role", first_hours.ROLES)
def test_the_counts_on_the_page_are_those_of_the_scripts(role):
    """If not: ``python tools/first_hours.py`` prints the table."""
    (row,) = re.findall(rf"^\| {re.escape(role)} \| (\d+) \| (\d+) \|", PAGE, re.M)
    text = script(role)
    counted = len(first_hours.commands_of(text)), len(first_hours.names_of(text))
    assert tuple(map(int, row)) == counted


def test_a_command_over_two_lines_counts_once_and_a_file_typed_in_not_at_all():
    text = "shoal plan -k 2 \\\n    --n-expected 9\ncat > mine.py <<'END'\nshoal x\nEND\n# why\n"
    assert len(first_hours.commands_of(text)) == 2
    assert first_hours.names_of(text) == {"plan", "-k", "--n-expected"}
