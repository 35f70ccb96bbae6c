import json
import os
import stat
from pathlib import Path

import pytest

from shoal.cli._output import Output, check_page, show_verdicts, write_page
from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting
from shoal.pages import Verdicts
from shoal.pages.page import Line, VerdictPage


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


VERDICTS = Verdicts(title="A title", lead="", heading="H", sub="", says=["a"], says_not=["b"],
                    constructed=True)  # fmt: skip
PAGE = VerdictPage(lines=[Line("Verdict", "good")], values={"a": "ä"}, verdicts=VERDICTS)


def written(name, *, overwrite=False, private=False):
    path = Path(name)
    write_page(PAGE, path, PAGE.values, overwrite=overwrite, private=private)
    return path


def test_the_ending_says_what_is_written():
    assert json.loads(written("x.json").read_text(encoding="utf-8")) == {"a": "ä"}
    assert "A title" in written("x.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["x.json", "x.html"])
def test_what_is_for_the_holder_only_its_owner_can_read(name):
    assert stat.S_IMODE(written(name).stat().st_mode) != 0o600
    again = written(name, overwrite=True, private=True)
    assert stat.S_IMODE(again.stat().st_mode) == 0o600


def test_an_older_file_stays_unless_told(folder):
    path = written("x.json")
    with pytest.raises(AlreadyExists):
        check_page(path, False, "x.json")
    with pytest.raises(AlreadyExists):
        written("x.json")
    check_page(path, True, "x.json")
    assert os.listdir(folder) == ["x.json"]


def test_a_dangling_link_is_a_file_too(folder):
    (folder / "x.html").symlink_to("nowhere")
    with pytest.raises(AlreadyExists):
        check_page(Path("x.html"), False, "x.html")


@pytest.mark.parametrize("name", ["x.pdf", "x", "html"])
def test_another_ending_is_refused(name):
    with pytest.raises(InvalidSetting, match="must end in") as raised:
        check_page(Path(name), False, "verdict.html")
    assert "verdict.html" in raised.value.hint


def test_no_file_is_no_fault():
    check_page(None, False, "x.html")


def test_a_missing_folder_is_named():
    with pytest.raises(CannotWrite):
        written("missing/x.html")


def test_a_page_that_fails_leaves_nothing(folder, monkeypatch):
    monkeypatch.setattr("shoal.pages._verdicts.verdict_page", lambda verdicts: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        written("x.html")
    assert os.listdir(folder) == []


def test_what_is_printed_names_the_file_and_says_so_in_json(capsys):
    show_verdicts(PAGE, Output(), Path("x.json"), overwrite=False, private=False)
    assert capsys.readouterr().out.split() == ["Verdict", "good", "File", "x.json"]
    assert json.loads(Path("x.json").read_text())["file"] == "x.json"
    show_verdicts(PAGE, Output(json=True), None, overwrite=False, private=False)
    assert json.loads(capsys.readouterr().out) == {"a": "ä", "file": None}
