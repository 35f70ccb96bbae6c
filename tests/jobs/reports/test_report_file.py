import hashlib
from contextlib import contextmanager
from pathlib import Path

import pytest

from shoal.errors import AlreadyExists, CannotWrite, InvalidSetting
from shoal.files import file_set
from shoal.jobs.reports._report_file import check_apart, check_format, output_place, sidecar_of
from shoal.perturb.report_draft import draft_of


@contextmanager
def place_for(output, source, overwrite):
    """A place with the draft it is written in, which goes in the end."""
    check_apart(output, source)
    with file_set(output, overwrite) as files, draft_of(Path(output), "work") as draft:
        draft.begin(())
        try:
            with output_place(output, source, overwrite, (files, draft)) as place:
                yield place
        finally:
            draft.remove()


def test_reports_and_what_is_said_of_them_get_their_names_together(tmp_path):
    output = tmp_path / "noisy.csv"
    with place_for(str(output), "rows.csv", overwrite=False) as place:
        place.made.write_text("x\n1\n")
        digest = place.digest()
        place.finish("{}")
    assert output.read_text() == "x\n1\n"
    assert digest == hashlib.sha256(b"x\n1\n").hexdigest()
    assert {file.name for file in tmp_path.iterdir()} == {"noisy.csv", "noisy.csv.json"}


def half_written(output):
    with place_for(output, "rows.csv", overwrite=False) as place:
        place.made.write_text("half")
        raise ZeroDivisionError


def test_a_failure_leaves_neither(tmp_path):
    with pytest.raises(ZeroDivisionError):
        half_written(str(tmp_path / "noisy.csv"))
    assert not list(tmp_path.iterdir())


def test_what_is_there_and_the_table_itself_are_not_replaced(tmp_path):
    table = tmp_path / "rows.csv"
    table.write_text("x\n1\n")
    with pytest.raises(AlreadyExists), place_for(str(table), "other.csv", False):
        pass
    with (
        pytest.raises(InvalidSetting, match="overwrite the table"),
        place_for(str(table), str(table), True),
    ):
        pass


def test_a_name_tells_the_format():
    check_format("hdfs://names/noisy.parquet")
    with pytest.raises(CannotWrite, match=r"noisy\.xls"):
        check_format("s3a://bucket/noisy.xls")
    assert sidecar_of("s3a://bucket/noisy.csv") == "s3a://bucket/noisy.csv.json"
