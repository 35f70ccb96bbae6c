"""Read tables in files: CSV (plain or gzipped), TSV and Parquet, streamed in constant memory."""

import csv
import glob
import gzip
import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from shoal.data.source import BATCH_ROWS, Source, check_names, find_columns, hide_row_text
from shoal.data.untyped_cells import field_of_cells
from shoal.errors import UnknownColumn, UnreadableTable

_TEXT_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")
_BLOCK_BYTES = 1 << 20  # what is read at once; memory stays at a few of them a column
_QUOTED = re.compile(r'"[^"]*(?:"|$)')


class _Header(NamedTuple):
    """The delimiter and column names of a text file, and whether rows follow."""

    delimiter: str
    names: list[str]
    has_rows: bool


def source_of_path(path: str | Path) -> Source:
    """Return a file, a folder of Parquet files or a glob pattern as a source."""
    files = _files(Path(os.path.expanduser(path)))
    kinds = {_suffix(file) for file in files}
    if kinds <= set(_PARQUET_SUFFIXES):
        return ParquetSource(files)
    if kinds <= set(_TEXT_SUFFIXES):
        return CSVSource(files)
    if any(file.suffix.lower() in _SPREADSHEETS for file in files):
        raise UnreadableTable(
            f"{path} is a spreadsheet, which may hold several tables and formulas.",
            "Save the sheet as CSV (in Excel and LibreOffice: Save As, CSV UTF-8) and use that "
            "file.",
            reason="spreadsheet",
        )
    raise UnreadableTable(
        f"{path} does not end like a table that can be read.",
        f"Use one of {', '.join((*_TEXT_SUFFIXES, *_PARQUET_SUFFIXES))}, one kind at a time.",
    )


def files_at(path: str | Path) -> list[tuple[str, int, int]]:
    """List the files of a table: full path, size and time of the last change of each.

    Whoever finds the three unchanged takes the rows to be the same.
    """
    with hide_row_text(str(path)):
        files = [file.resolve() for file in _files(Path(os.path.expanduser(path)))]
        facts = [file.stat() for file in files]
    return [
        (str(file), fact.st_size, fact.st_mtime_ns) for file, fact in zip(files, facts, strict=True)
    ]


class ParquetSource:
    """Parquet files with the same columns, read one after another.

    Only what the files themselves hold is a column: folder names like ``year=2020`` are not.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = tuple(files)
        self.names = check_names(self._names_of(self.files[0]))

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start a new pass over these columns."""
        find_columns(self.names, columns)
        for file in self.files:
            _check_same(file, self._names_of(file), columns)
            yield from _parquet_batches(file, list(columns), size)

    @staticmethod
    def _names_of(file: Path) -> list[str]:
        with hide_row_text(str(file)), pq.ParquetFile(file) as parquet:
            return list(parquet.schema_arrow.names)


class CSVSource:
    """Delimited text files with a header line, every column text without a type.

    What a cell means is settled by this cell and by what is public about its column, in
    ``shoal.data.encode``: were it settled by the column's other cells, one odd row could change
    how everybody else's are read.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = tuple(files)
        self.names = check_names(_header(self._files[0]).names)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start a new pass over these columns."""
        find_columns(self.names, columns)
        for file in self._files:
            header = _header(file)
            _check_same(file, header.names, columns)
            for block in _csv_batches(file, header, list(columns)):
                for start in range(0, block.num_rows, size):
                    yield block.slice(start, size)


def _check_same(file: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    """Check that a further file has the columns of the first."""
    try:
        find_columns(names, columns)
    except UnknownColumn as error:
        raise error.within(f"In {file}") from None


def _parquet_batches(file: Path, columns: list[str], size: int) -> Iterator[pa.RecordBatch]:
    # Buffered and without pre-buffering: a row group may be as large as the file. One thread: it
    # decodes some 30 million rows a second, and the kernel beside it needs the other core.
    with hide_row_text(str(file)):
        parquet = pq.ParquetFile(file, buffer_size=_BLOCK_BYTES, pre_buffer=False)
    with parquet:
        batches = parquet.iter_batches(size, columns=columns, use_threads=False)
        for batch in _nonempty(batches, str(file)):
            yield batch.select(columns)


def _csv_batches(file: Path, header: _Header, columns: list[str]) -> Iterator[pa.RecordBatch]:
    if not header.has_rows:
        return
    how = {
        # One thread: the engine's own threads work on other blocks meanwhile.
        "read_options": pa_csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
        "parse_options": pa_csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
        "convert_options": pa_csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()), include_columns=columns
        ),
    }
    try:
        with hide_row_text(str(file)):
            reader = pa_csv.open_csv(file, **how)
        cells = pa.schema([field_of_cells(name, pa.string()) for name in columns])
        for batch in _nonempty(reader, str(file)):
            yield pa.RecordBatch.from_arrays(batch.columns, schema=cells)
    except UnreadableTable as error:
        raise _uneven_line_error(file, header) or error from None


def _uneven_line_error(file: Path, header: _Header) -> UnreadableTable | None:
    """The error that says which line has more or fewer cells than the header; None if none has."""
    with hide_row_text(str(file)), _open_text(file) as lines:
        rows = csv.reader(lines, delimiter=header.delimiter)
        next(rows, None)
        end = rows.line_num
        for cells in rows:
            first, end = end + 1, rows.line_num  # a quoted cell may reach over several lines
            if cells and len(cells) != len(header.names):
                return UnreadableTable(
                    f"{file} has {len(cells)} cells in line {first} and {len(header.names)} names "
                    "in its header.",
                    "Check that line: a separator inside a cell needs quotes around the cell. Its "
                    "text is not shown here, as it may be a person's.",
                )
    return None


def _nonempty(batches: Iterator[pa.RecordBatch], what: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches that have rows, errors without the library's text."""
    while True:
        with hide_row_text(what):
            batch = next(batches, None)
        if batch is None:
            return
        if batch.num_rows:
            yield batch


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if path.is_dir():
        files = sorted(file for s in _PARQUET_SUFFIXES for file in path.rglob(f"*{s}"))
        # Spark and others leave markers such as _SUCCESS beside the data.
        files = [file for file in files if not file.name.startswith((".", "_"))]
    else:
        files = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
    if not files:
        kind = "holds no Parquet file" if path.is_dir() else "does not exist"
        raise UnreadableTable(
            f"{path} {kind}.", "Check the path; patterns such as data/*.csv work too."
        )
    if not all(file.is_file() for file in files):
        raise UnreadableTable(
            f"{path} is a folder, a pipe or a device, not a file.",
            "Tables are read more than once: save it as a file, or pass CSV as `-` to the command.",
        )
    return files


def _suffix(file: Path) -> str:
    name = file.name.lower()
    return next((s for s in (*_TEXT_SUFFIXES, *_PARQUET_SUFFIXES) if name.endswith(s)), "")


def _header(file: Path) -> _Header:
    """Read the first line of a text file; the delimiter is the likeliest of , ; tab and bar."""
    with hide_row_text(str(file)), _open_text(file) as lines:
        first = next(iter(lines), "")
        delimiter = max(",;\t|", key=_QUOTED.sub("", first).count)
        # Quoted names may hold line breaks; the reader goes on to the next line for those.
        names = next(csv.reader(chain([first], lines), delimiter=delimiter), [])
        "".join(names).encode()  # raises if a name is not UTF-8
        has_rows = any(line.strip("\r\n") for line in lines)
    if not names:
        raise UnreadableTable(
            f"{file} has no header line.", "Its first line should name the columns."
        )
    return _Header(delimiter, names, has_rows)


def _open_text(file: Path) -> TextIO:
    # More than the header is decoded on the way; what is wrong there is not this reader's matter.
    opened = gzip.open if file.suffix == ".gz" else open
    lines: TextIO = opened(file, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="")
    return lines
