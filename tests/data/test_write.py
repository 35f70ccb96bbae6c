import errno
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal.data import atomic_file, atomic_folder, source_of, students, write_table
from shoal.data.catalogue import _parse_number_columns
from shoal.errors import CannotWrite, UnreadableTable

TABLE = pa.table({"a": np.arange(5.0), "s": ["x", "y,z", 'q"', "", "\u00e9"]})


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def _read(path):
    source = source_of(path)
    return _parse_number_columns(pa.Table.from_batches(source.batches(source.names)))


def _full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
@pytest.mark.parametrize("form", ["table", "reader", "batches"])
def test_a_table_written_is_the_table_read(name, form, tmp_path):
    batches = TABLE.to_batches(max_chunksize=2)
    given = {"table": TABLE, "reader": TABLE.to_reader(2), "batches": iter(batches)}[form]
    path = write_table(given, tmp_path / name)
    assert _read(path).to_pydict() == TABLE.to_pydict()
    assert _names(tmp_path) == [name]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_dictionary_columns_are_written(name, tmp_path):
    table = pa.table({"s": pa.array(["x", "y", "x"]).dictionary_encode()})
    source = source_of(write_table(table, tmp_path / name))
    assert [v for b in source.batches(["s"]) for v in b.column(0).to_pylist()] == ["x", "y", "x"]


def test_students_survive_every_format(tmp_path):
    table = students(500, seed=1)
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        assert _read(write_table(table, tmp_path / name)).equals(table)


def test_a_table_without_rows_keeps_its_columns(tmp_path):
    assert source_of(write_table(TABLE[:0], tmp_path / "t.csv")).names == ("a", "s")


def test_a_column_the_format_cannot_hold_is_named_and_not_quoted(tmp_path):
    with pytest.raises(CannotWrite, match="'odd'") as caught:
        write_table(pa.table({"odd": [["secret"]]}), tmp_path / "t.csv")
    assert "secret" not in str(caught.value)
    assert _names(tmp_path) == []


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_batches_of_other_kinds_are_fitted_or_refused(name, tmp_path):
    first = pa.record_batch({"a": [1.5]})
    path = write_table([first, pa.record_batch({"a": [2]})], tmp_path / name)
    assert _read(path).to_pydict() == {"a": [1.5, 2.0]}
    with pytest.raises(CannotWrite, match="earlier batches") as caught:
        write_table([first, pa.record_batch({"a": ["secret"]})], tmp_path / name, overwrite=True)
    assert "secret" not in str(caught.value)
    assert source_of(tmp_path / name).names == ("a",)


def test_no_batch_at_all_is_refused(tmp_path):
    with pytest.raises(UnreadableTable):
        write_table(iter([]), tmp_path / "t.csv")
    assert _names(tmp_path) == []


def test_a_format_nobody_writes_is_refused(tmp_path):
    with pytest.raises(CannotWrite, match=r"\.parquet"):
        write_table(TABLE, tmp_path / "t.xlsx")


def test_a_file_is_overwritten_when_asked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")
    write_table(TABLE, path, overwrite=True)
    assert path.read_text().startswith("a,s\n")
    assert _names(tmp_path) == ["t.csv"]


def test_a_file_is_not_replaced_by_a_folder_nor_the_other_way_round(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(CannotWrite), atomic_folder(tmp_path / "file", overwrite=True):
        pytest.fail("the block must not run")
    with pytest.raises(CannotWrite):
        write_table(TABLE, tmp_path / "folder.csv" / "t.csv")
    with pytest.raises(CannotWrite), atomic_file(tmp_path / "folder", overwrite=True) as part:
        part.touch()
    assert _names(tmp_path) == ["file", "folder"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(CannotWrite, match="No such file or directory"):
        write_table(TABLE, tmp_path / "none" / "t.parquet")
    with pytest.raises(CannotWrite), atomic_folder(tmp_path / "none" / "model"):
        pytest.fail("the block must not run")


def test_a_refused_folder_is_named(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(CannotWrite, match="Permission denied"):
        write_table(TABLE, tmp_path / "t.csv")
    assert _names(tmp_path) == []


def test_a_disk_found_full_at_the_end_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", _full_disk)
    with pytest.raises(CannotWrite, match="No space left"):
        write_table(TABLE, tmp_path / "t.csv")
    with pytest.raises(CannotWrite, match="No space left"), atomic_folder(tmp_path / "m") as part:
        (part / "file").touch()
    assert _names(tmp_path) == []


@pytest.mark.heavy
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_a_disk_found_full_while_writing_is_named(name, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.files._atomic._part", _link_to_full)
    with pytest.raises(CannotWrite, match="cannot be written"):
        write_table(students(20_000), tmp_path / name)
    assert _names(tmp_path) == []


def _link_to_full(final, token):
    link = final.with_name("full")
    if not link.is_symlink():
        link.symlink_to("/dev/full")
    return link


def test_a_source_that_fails_half_way_leaves_nothing(tmp_path):
    def batches():
        yield TABLE.to_batches()[0]
        raise UnreadableTable("The disk was pulled.", "Plug it in.")

    with pytest.raises(UnreadableTable):
        write_table(batches(), tmp_path / "t.parquet")
    assert _names(tmp_path) == []
