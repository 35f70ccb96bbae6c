import pytest

from shoal.errors import AlreadyExists, InvalidSetting
from shoal.experiments._cells import Cell, CellFile

RUN = {"document": "test", "edition": 1, "quick": True}
ONE, TWO = Cell("noise", {"d": 1}), Cell("noise", {"d": 2})


@pytest.fixture
def folder(tmp_path):
    with CellFile(tmp_path, RUN).opened() as file:
        file.add(ONE, [{"length": 1.5}], 0.1)
    return tmp_path


def test_what_was_added_is_there_in_the_next_run(folder):
    with CellFile(folder, RUN).opened() as file:
        assert file.has(ONE)
        assert not file.has(TWO)
        assert file.rows([ONE, TWO]) == [{"part": "noise", "d": 1, "length": 1.5}]


def test_a_line_cut_in_the_middle_is_run_again_and_spoils_no_other(folder):
    path = folder / "cells.jsonl"
    path.write_text(path.read_text() + '{"cell": "noise {\\"d\\": 2}", "rows": [{"le')
    with CellFile(folder, RUN).opened() as file:
        assert not file.has(TWO)
        file.add(TWO, [{"length": 2.5}], 0.1)
    with CellFile(folder, RUN).opened() as file:
        assert [row["length"] for row in file.rows([ONE, TWO])] == [1.5, 2.5]


def test_a_run_killed_at_its_first_line_begins_anew(tmp_path):
    (tmp_path / "cells.jsonl").write_text('{"document": "te')
    for added in ([], [ONE]):
        with CellFile(tmp_path, RUN).opened() as file:
            assert not file.has(ONE)
            for cell in added:
                file.add(cell, [{"length": 1.5}], 0.1)
    with CellFile(tmp_path, RUN).opened() as file:
        assert file.has(ONE)


@pytest.mark.parametrize("other", [{"edition": 2}, {"quick": False}, {"document": "another"}])
def test_the_folder_of_another_run_is_refused(folder, other):
    with pytest.raises(InvalidSetting, match="another run"), CellFile(folder, RUN | other).opened():
        pass


def test_two_runs_do_not_share_a_folder(folder):
    with (
        CellFile(folder, RUN).opened(),
        pytest.raises(AlreadyExists, match="at work"),
        CellFile(folder, RUN).opened(),
    ):
        pass


def test_the_order_of_settings_does_not_make_another_cell():
    assert Cell("a", {"x": 1, "y": 2}).key == Cell("a", {"y": 2, "x": 1}).key
