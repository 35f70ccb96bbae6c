import os
import sys

import pytest

from shoal.files._unfinished_files import Busy, Finished, record_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the locks of POSIX")


def left_by_a_killed_process(main):
    with record_of(main) as record:
        record.begin("ab12cd34", None)
        record.add_member(main)
        record.plan({str(main): (1, 2, 3)}, "run 7")
        return record.key


def test_a_record_tells_the_next_process_how_far_the_last_had_come(tmp_path):
    main = tmp_path / "table.csv"
    key = left_by_a_killed_process(main)
    with record_of(main) as record:
        stage = record.earlier
        assert (stage.token, stage.members) == ("ab12cd34", [str(main)])
        assert (stage.planned, stage.run) == ({str(main): (1, 2, 3)}, "run 7")
        assert record.key == key
        record.begin("00000000", Finished("run 7", {str(main): (1, 2, 3)}))
    with record_of(main) as record:
        assert (record.earlier.planned, record.earlier.finished.run) == (None, "run 7")
        record.remove()
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_can_read_it(tmp_path):
    left_by_a_killed_process(tmp_path / "table.csv")
    (record,) = tmp_path.iterdir()
    assert record.stat().st_mode & 0o777 == 0o600


def test_a_record_has_one_holder(tmp_path):
    main = tmp_path / "table.csv"
    with record_of(main) as record:
        with pytest.raises(Busy), record_of(main):
            pytest.fail("two processes have it")
        record.remove()


@pytest.mark.parametrize("cut", range(2, 60, 7))
def test_half_a_line_is_no_line(tmp_path, cut):
    main = tmp_path / "table.csv"
    left_by_a_killed_process(main)
    path = tmp_path / ".table.csv.shoal"
    os.truncate(path, path.stat().st_size - cut)
    with record_of(main) as record:
        assert record.earlier.planned is None
        record.begin("00000000", None)
    with record_of(main) as record:
        assert record.earlier.token == "00000000"


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_users_file_of_that_name_is_left_alone(tmp_path, mode):
    mine = tmp_path / ".table.csv.shoal"
    mine.write_text("my notes")
    mine.chmod(mode)
    with record_of(tmp_path / "table.csv") as record:
        assert record.earlier is None
        record.begin("ab12cd34", None)
        record.remove()
    assert mine.read_text() == "my notes"


def test_a_link_of_that_name_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / ".table.csv.shoal").symlink_to(tmp_path / "elsewhere")
    with record_of(tmp_path / "table.csv") as record:
        record.begin("ab12cd34", None)
        record.remove()
    assert (tmp_path / "elsewhere").read_text() == ""
    assert (tmp_path / ".table.csv.shoal").is_symlink()
