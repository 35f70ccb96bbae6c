import io
import json

import pytest

from shoal.cli._output import Output, render_text
from shoal.pages.page import Table


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_text_goes_to_people_and_json_to_scripts(capsys):
    Output().result({"a": 1}, "words")
    assert capsys.readouterr().out == "words\n"
    Output(json=True).result({"a": 1}, "words")
    assert json.loads(capsys.readouterr().out) == {"a": 1}
    Output(json=True, quiet=True).result({"a": 1}, "words")
    assert json.loads(capsys.readouterr().out) == {"a": 1}
    Output(quiet=True).result({"a": 1}, "words")
    assert capsys.readouterr().out == ""


def test_words_in_brackets_are_not_taken_for_markup(capsys):
    Output().result({}, "columns [bold] and :smile: stay")
    assert capsys.readouterr().out == "columns [bold] and :smile: stay\n"


@pytest.mark.parametrize(("json", "quiet"), [(True, False), (False, True)])
def test_progress_is_silent_where_it_would_disturb(monkeypatch, json, quiet):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with Output(json, quiet).progress(1) as progress:
        progress.step("Working")
    assert screen.getvalue() == ""


def test_progress_names_its_steps_on_a_terminal_and_vanishes(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with Output().progress(2) as progress:
        progress.step("First")
        progress.sink.bar.refresh()
        progress.step("Second")
        progress.sink.bar.refresh()
        assert progress.sink.bar.tasks[0].completed == 1
    assert "First" in screen.getvalue()
    assert screen.getvalue().rstrip().endswith("\x1b[2K")  # the line is erased


def test_progress_is_silent_off_a_terminal(capsys):
    with Output().progress(1) as progress:
        progress.step("Working")
    assert capsys.readouterr().err == ""


def test_progress_has_a_label_from_the_first_frame(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with Output().progress(1) as progress:
        progress.sink.bar.refresh()
        assert "Starting" in screen.getvalue()
        progress.step("First")
        assert progress.sink.bar.tasks[0].completed == 0


TABLE = Table(
    "Groups",
    ("Group", "sessions_per_week", "minutes_per_session", "level", "Rows, about"),
    (("Group 1", "17.01 ± 0.17", "33.45 ± 0.24", "2.953 ± 0.026", "1,136 (uncertain)"),),
    marked=True,
)


@pytest.mark.parametrize("width", [50, 72, 80, 200])
def test_numbers_stay_whole_in_terminals_of_any_width(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = render_text(TABLE)
    for cell in TABLE.rows[0][1:]:
        assert cell in shown
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("width", [30, 200])
def test_a_row_may_end_before_its_table_does(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    cut = Table("Groups", TABLE.columns, (*TABLE.rows, ("and 3 more",)), marked=True)
    assert "and 3 more" in render_text(cut)
