"""Tables in files: CSV (plain or gzipped), TSV and Parquet, streamed with flat memory."""

import csv
import glob
import gzip
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from shoal.data.source import BATCH_ROWS, Source, picked, projected, quiet, unique
from shoal.errors import UnknownColumn, UnreadableTable

__all__ = ["CSVSource", "ParquetSource", "source_of_path"]

_TEXT_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_BLOCK_BYTES = 1 << 20  # what is read at once; memory stays at a few of them a column
_KINDS = (pa.int64(), pa.float64(), pa.string())  # each holds what the one before it holds


def source_of_path(path: str | Path) -> Source:
    """A file, a folder of Parquet files or a glob pattern as a source."""
    files = _files(Path(os.path.expanduser(path)))
    kinds = {_suffix(file) for file in files}
    if kinds <= set(_PARQUET_SUFFIXES):
        return ParquetSource(files)
    if kinds <= set(_TEXT_SUFFIXES):
        return CSVSource(files)
    raise UnreadableTable(
        f"{path} is not named like a table this reads.",
        f"Use one of {', '.join((*_TEXT_SUFFIXES, *_PARQUET_SUFFIXES))}, one kind at a time.",
    )


class ParquetSource:
    """Parquet files with the same columns, one after another, a few megabytes at a time.

    Only what the files themselves hold is a column: folder names like ``year=2020`` are not.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = tuple(files)
        self.names = unique(self._names_of(self._files[0]))

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """A new pass over these columns."""
        picked(self.names, columns)
        for file in self._files:
            _check_same(file, self._names_of(file), columns)
            yield from _parquet_batches(file, list(columns), size)

    def relation(self, con: Any, columns: Sequence[str] | None = None) -> Any:
        """DuckDB's own lazy Parquet scan."""
        files = [glob.escape(str(file)) for file in self._files]
        scan = con.read_parquet(files, hive_partitioning=False)
        return projected(scan, self.names, columns)

    @staticmethod
    def _names_of(file: Path) -> list[str]:
        with quiet(str(file)), pq.ParquetFile(file) as parquet:
            return list(parquet.schema_arrow.names)


class CSVSource:
    """Delimited text with a header line: each column is whole numbers, numbers or text.

    A column's kind is settled by a first pass over the whole file, so that text on the last line
    cannot surprise a reader who was promised numbers. Empty fields and the usual ``NA`` spellings
    are missing where numbers are; in text they stay what they are.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = tuple(files)
        self._delimiter, header = _header(self._files[0])
        self.names = unique(header)
        self._kinds: dict[str, pa.DataType] = {}
        for file in self._files[1:]:
            _check_same(file, _header(file)[1], self.names)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """A new pass over these columns."""
        picked(self.names, columns)
        for block in self._scan(self._kinds_of(columns)):
            for start in range(0, block.num_rows, size):
                yield block.slice(start, size)

    def relation(self, con: Any, columns: Sequence[str] | None = None) -> Any:
        """A stream of the same batches."""
        chosen = self.names if columns is None else columns
        picked(self.names, chosen)
        schema = pa.schema(self._kinds_of(chosen))
        return con.from_arrow(pa.RecordBatchReader.from_batches(schema, self.batches(chosen)))

    def _kinds_of(self, columns: Sequence[str]) -> dict[str, pa.DataType]:
        new = [name for name in columns if name not in self._kinds]
        if new:
            at_least = dict.fromkeys(new, 0)
            for batch in self._scan(dict.fromkeys(new, pa.string()), nulls=True):
                for name in new:
                    at_least[name] = _narrowest(batch.column(name), at_least[name])
            self._kinds.update((name, _KINDS[place]) for name, place in at_least.items())
        return {name: self._kinds[name] for name in columns}

    def _scan(self, kinds: dict[str, pa.DataType], nulls: bool = False) -> Iterator[pa.RecordBatch]:
        """All files' blocks, these columns only, in the order and of the kinds given."""
        how = {
            "read_options": pa_csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
            "parse_options": pa_csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True
            ),
            "convert_options": pa_csv.ConvertOptions(
                column_types=kinds, include_columns=list(kinds), strings_can_be_null=nulls
            ),
        }
        for file in self._files:
            with quiet(str(file)):
                reader = pa_csv.open_csv(file, **how)
            yield from _nonempty(reader, str(file))


def _check_same(file: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    """Check that a further file has the columns of the first."""
    try:
        picked(names, columns)
    except UnknownColumn as error:
        raise UnknownColumn(f"In {file}: {error.came}", error.next_step) from None


def _parquet_batches(file: Path, columns: list[str], size: int) -> Iterator[pa.RecordBatch]:
    # Buffered and without pre-buffering: a row group may be as large as the file. One thread: it
    # decodes some 30 million rows a second, and the kernel beside it needs the other core.
    with quiet(str(file)):
        parquet = pq.ParquetFile(file, buffer_size=_BLOCK_BYTES, pre_buffer=False)
    with parquet:
        batches = parquet.iter_batches(size, columns=columns, use_threads=False)
        for batch in _nonempty(batches, str(file)):
            yield batch.select(columns)


def _nonempty(batches: Iterator[pa.RecordBatch], what: str) -> Iterator[pa.RecordBatch]:
    while True:
        with quiet(what):
            batch = next(batches, None)
        if batch is None:
            return
        if batch.num_rows:
            yield batch


def _narrowest(column: pa.Array, place: int) -> int:
    """The first kind, from ``place`` on, that holds every value of a column of text."""
    if place == 0 and pc.any(pc.match_substring_regex(column, "^ *0[0-9]+ *$")).as_py():
        return len(_KINDS) - 1  # 01219 is a postcode: as a number it would lose its first digit
    while not _holds(_KINDS[place], column):
        place += 1
    return place


def _holds(kind: pa.DataType, column: pa.Array) -> bool:
    if kind == pa.string() or _casts(column, kind):
        return True
    return _casts(pc.utf8_trim_whitespace(column), kind)


def _casts(column: pa.Array, kind: pa.DataType) -> bool:
    try:
        column.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        found = sorted(file for s in _PARQUET_SUFFIXES for file in path.rglob(f"*{s}"))
        found = [file for file in found if not file.name.startswith((".", "_"))]
    else:
        found = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
    if not found:
        kind = "holds no Parquet file" if path.is_dir() else "does not exist"
        raise UnreadableTable(f"{path} {kind}.", "Check the path; globs like data/*.csv work too.")
    return found


def _suffix(file: Path) -> str:
    name = file.name.lower()
    return next((s for s in (*_TEXT_SUFFIXES, *_PARQUET_SUFFIXES) if name.endswith(s)), "")


def _header(file: Path) -> tuple[str, list[str]]:
    """Delimiter and names: the delimiter is the likeliest of comma, semicolon, tab and bar."""
    with quiet(str(file)), _open_text(file) as lines:
        first = next(iter(lines), "")
        delimiter = max(",;\t|", key=first.count)
        # Quoted names may hold line breaks; the reader goes on to the next line for those.
        names = next(csv.reader(_chain(first, lines), delimiter=delimiter), [])
    if not names:
        raise UnreadableTable(
            f"{file} has no header line.", "Its first line should name the columns."
        )
    return delimiter, names


def _chain(first: str, rest: TextIO) -> Iterator[str]:
    yield first
    yield from rest


def _open_text(file: Path) -> TextIO:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")
