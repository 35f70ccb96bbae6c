import sys

import numpy as np
import pytest

from shoal.cli._output import print_for_holder
from shoal.domain import Box
from shoal.engine import rows_of
from shoal.errors import InvalidSetting
from shoal.jobs._holder_notices import changed_row_texts, check_curator_page

BOX = Box(age=(0, 110))
AGES = {"age": [31.0, np.nan, 200.0, -5.0, 40.0], "who": ["a", "a", "b", "b", "b"]}


def test_rows_that_are_taken_as_they_come_are_not_spoken_of():
    rows = rows_of({"age": [31.0, 40.0]}, BOX)
    rows.size()
    assert changed_row_texts(rows) == []


@pytest.mark.heavy
def test_each_kind_of_odd_row_is_counted():
    rows = rows_of(AGES, BOX, nonfinite="drop", person="who", max_rows_per_person=2)
    assert changed_row_texts(rows) == []  # nothing has been read
    rows.size()
    said = changed_row_texts(rows)
    assert [line.split(" ")[3] for line in said] == ["1", "2", "1"]
    assert all(line.startswith("Of 5 rows, ") for line in said)


@pytest.mark.parametrize(("terminal", "quiet", "told"), [(1, 0, 1), (0, 0, 0), (1, 1, 0)])
def test_it_is_said_to_a_terminal_and_to_nothing_else(monkeypatch, capsys, terminal, quiet, told):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: bool(terminal))
    print_for_holder(["Of 5 rows 1 was moved."], quiet=bool(quiet))
    heard = capsys.readouterr()
    assert heard.out == ""
    assert ("Of 5 rows" in heard.err) == bool(told)


def test_the_page_is_kept_apart(tmp_path):
    check_curator_page(tmp_path / "mine.html", tmp_path / "model")
    with pytest.raises(InvalidSetting, match="may be published"):
        check_curator_page(tmp_path / "model" / "mine.html", tmp_path / "model")


def test_the_page_replaces_nothing_that_is_read_or_written(tmp_path):
    ledger = tmp_path / "visits.ledger"
    ledger.touch()
    with pytest.raises(InvalidSetting, match="would overwrite"):
        check_curator_page(ledger, tmp_path / "model", ["-", None, ledger])
