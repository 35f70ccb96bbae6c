import gzip
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.data._write import write_table
from shoal.data.files import source_of_path
from shoal.errors import BadInput, DuplicateColumn, UnknownColumn, UnreadableTable


def _columns(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    source = source_of_path(path)
    return pa.Table.from_batches(source.batches(source.names)).to_pydict()


WRITTEN = {
    "numbers": ("a\n1\n-2.50\n 1e3\n", ["1", "-2.50", " 1e3"]),
    "text": ("a\nx\n01219\n", ["x", "01219"]),
    "marks for missing values": ("a,b\nNA,1\n,1\n", ["NA", ""]),
    "line breaks in quotes": ('a,b\n"x\ny",1\n', ["x\ny"]),
    "byte order mark": ("\ufeffa,b\n1,2\n", ["1"]),
    "carriage returns": ("a,b\r\n1,2\r\n", ["1"]),
    "semicolons": ("a;b\n1;2\n", ["1"]),
    "semicolons in a quoted name": ('a,"b;c;d;e"\n1,2\n', ["1"]),
    "a quoted name of two lines": ('a,"b;c\n;d"\n1,2\n', ["1"]),
    "bad bytes in another column": (b"a,b\n1,caf\xe9\n", ["1"]),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_every_cell_is_the_text_that_is_written_there(kind, tmp_path):
    text, expected = WRITTEN[kind]
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (batch,) = source_of_path(path).batches(["a"])
    assert batch.to_pydict() == {"a": expected}


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_a_header_alone_is_a_table_without_rows(end, tmp_path):
    (tmp_path / "t.csv").write_text("a,b" + end)
    assert list(source_of_path(tmp_path / "t.csv").batches(["a"])) == []


@pytest.mark.heavy
@pytest.mark.parametrize("place", [0, 200_000])
def test_bytes_that_are_not_utf8_matter_in_the_columns_read_wherever_they_are(place, tmp_path):
    lines = [b"a,b\n", *[b"1,cafe\n"] * place, b"1,caf\xe9\n"]
    (tmp_path / "t.csv").write_bytes(b"".join(lines))
    source = source_of_path(tmp_path / "t.csv")
    assert sum(batch.num_rows for batch in source.batches(["a"])) == place + 1
    with pytest.raises(UnreadableTable, match="Save it as UTF-8"):
        list(source.batches(["b"]))


@pytest.mark.parametrize("content", [b"caf\xe9,b\n1,2\n", "a,b\n1,2\n".encode("utf-16")])
def test_a_header_that_is_not_utf8_says_what_to_do(content, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(UnreadableTable, match="Save it as UTF-8"):
        source_of_path(tmp_path / "t.csv")


HEADLESS = {
    "no header": "CANARY1,CANARY2\n3,4\n",
    "no header, repeated": "CANARY1,CANARY1\n3,4\n",
    "a title before": "CANARY of 2020,,\na,b\n1,2\n",
    "thousands of columns": ",".join(f"CANARY{i}" for i in range(3_000)) + "\n",
}


@pytest.mark.parametrize("kind", HEADLESS)
def test_a_first_line_that_names_no_column_is_not_quoted(kind, tmp_path):
    (tmp_path / "t.csv").write_text(HEADLESS[kind])
    with pytest.raises(BadInput) as caught:
        list(source_of_path(tmp_path / "t.csv").batches(["a", "b"]))
    assert "CANARY" not in str(caught.value)
    assert "header" in caught.value.hint


def test_a_later_file_without_a_header_is_named_and_not_quoted(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("CANARY,2\n3,4\n")
    with pytest.raises(UnknownColumn, match=r"2\.csv") as caught:
        list(source_of_path(tmp_path / "*.csv").batches(["a", "b"]))
    assert "CANARY" not in str(caught.value)


UNREADABLE = {
    "empty.csv": "",
    "blank.csv": "\n\n",
    "ragged.csv": "a,b\n1,2\nsecret,3,4\n",
    "open_quote.csv": 'a,b\n"secret,2\n3,4\n',
    "latin.csv": "a\nsecr\xe9t\n".encode("latin-1"),
    "not_gzip.csv.gz": "a\nsecret\n",
    "cut.csv.gz": gzip.compress(b"a\nsecret\n" * 1000)[:40],
    "empty.parquet": "",
    "not.parquet": "secret",
    "other.txt": "a\nsecret\n",
    "long_name.csv": "a" * 200_000 + ',"b"\n1,2\n',
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_an_unreadable_file_is_named_and_not_quoted(name, tmp_path):
    with pytest.raises(UnreadableTable) as caught:
        _columns(tmp_path / name, UNREADABLE[name])
    message = str(caught.value)
    assert name in message
    assert "secr" not in message
    assert caught.value.__cause__ is None


UNEVEN = {
    "more.csv": ("a,b\n1,2\nsecret,3,4\n", "3 cells in line 3"),
    "fewer.csv": ('a,b\n"x\ny",2\n\n\nsecret\n', "1 cells in line 6"),
    "late.csv": ("a,b\n" + "1,2\n" * 300_000 + "1,2,secret\n", "3 cells in line 300002"),
    "packed.csv.gz": (gzip.compress(b"a,b\n1,2\n1,2,secret\n"), "3 cells in line 3"),
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", UNEVEN)
def test_a_line_of_another_length_is_told_by_its_number_alone(name, tmp_path):
    content, expected = UNEVEN[name]
    with pytest.raises(UnreadableTable, match=expected) as caught:
        _columns(tmp_path / name, content)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none/*.csv", "~nobody/x.csv"])
def test_a_missing_file_is_named(name, tmp_path):
    with pytest.raises(UnreadableTable, match="does not exist"):
        source_of_path(tmp_path / name)


def test_a_folder_without_parquet_is_refused(tmp_path):
    with pytest.raises(UnreadableTable, match="holds no Parquet"):
        source_of_path(tmp_path)


def test_files_of_two_kinds_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "b.parquet")
    with pytest.raises(UnreadableTable, match="one kind"):
        source_of_path(tmp_path / "*")


def test_one_name_for_two_columns_is_refused(tmp_path):
    with pytest.raises(DuplicateColumn):
        _columns(tmp_path / "t.csv", "a,a\n1,2\n")
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(DuplicateColumn):
        source_of_path(tmp_path / "t.parquet")


def test_a_later_file_without_the_column_is_named(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "2.parquet")
    with pytest.raises(UnknownColumn, match=r"2\.parquet"):
        list(source_of_path(tmp_path).batches(["a"]))


def test_a_column_with_a_dot_in_its_name_is_read(tmp_path):
    pq.write_table(pa.table({"a.b": [1], "a": [2]}), tmp_path / "t.parquet")
    source = source_of_path(tmp_path / "t.parquet")
    assert next(source.batches(["a", "a.b"])).to_pydict() == {"a": [2], "a.b": [1]}


def test_signs_in_a_path_mean_themselves(tmp_path):
    folder = tmp_path / "year=2020" / "odd [a] *?"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"a": [1, 2]}), folder / "t.parquet")
    source = source_of_path(tmp_path / "year=2020")
    assert source.names == ("a",)
    assert sum(batch.num_rows for batch in source.batches(["a"])) == 2


def test_a_file_may_be_written_again_between_passes(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    source = source_of_path(tmp_path / "t.parquet")
    assert sum(b.num_rows for b in source.batches(["a"])) == 1
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "t.parquet")
    assert sum(b.num_rows for b in source.batches(["a"])) == 2


FIELDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=6)


@pytest.mark.heavy
@given(st.binary(max_size=60) | st.lists(FIELDS, max_size=5).map(lambda f: ",".join(f).encode()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_any_bytes_are_read_or_refused_by_name(tmp_path, content):
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        (tmp_path / name).write_bytes(content)
        with suppress(BadInput):
            source = source_of_path(tmp_path / name)
            assert all(batch.num_rows for batch in source.batches(source.names))


_PEAK = """
import sys
import pyarrow as pa
from shoal.data import source_of
rows = sum(batch.num_rows for batch in source_of(sys.argv[1]).batches(["a", "b"]))
print(rows, pa.default_memory_pool().max_memory() // 2**20)
"""


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_memory_stays_flat_when_the_file_is_larger(kind, tmp_path):
    batch = pa.record_batch({c: np.random.default_rng(1).random(100_000).round(5) for c in "ab"})
    path = tmp_path / f"t.{kind}"
    write_table((batch for _ in range(100)), path)
    out = subprocess.run([sys.executable, "-c", _PEAK, str(path)], capture_output=True, check=True)
    rows, peak_megabytes = map(int, out.stdout.split())
    assert rows == 10_000_000
    assert peak_megabytes < 80  # the table is 160 MB of numbers


@pytest.mark.parametrize("name", ["a.xlsx", "a.ODS", "a.xls"])
def test_a_spreadsheet_is_refused_with_the_way_out(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(UnreadableTable, match="spreadsheet") as refused:
        source_of_path(tmp_path / name)
    assert "CSV" in refused.value.hint
