"""Files and folders written whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import AlreadyExists, CannotWrite, UnreadableTable

__all__ = ["whole_file", "whole_folder", "write_table"]


@contextmanager
def whole_file(path: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary path to write to, which takes the name ``path`` when the block ends well.

    Whatever goes wrong, Ctrl-C included, leaves what was there before.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "centers.csv") as part:
    ...     _ = part.write_text("x0,x1")
    >>> [file.name for file in folder.iterdir()]
    ['centers.csv']
    """
    final = _absolute(path)
    part = _beside(final)
    with _named_failure(final):
        _check_free(final, overwrite)
        try:
            yield part
            _flush(part)
            _check_free(final, overwrite)  # somebody may have been faster
            os.replace(part, final)
            _flush(final.parent)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder to fill, which takes the name ``path`` when the block ends well.

    An old folder that is overwritten steps aside first, and comes back if the new one cannot take
    its place: for a moment there may be neither, but never half of one.
    """
    final = _absolute(path)
    part = _beside(final)
    with _named_failure(final):
        _check_free(final, overwrite)
        _check_replaceable(final)
        try:
            part.mkdir()
            yield part
            for inside in sorted(part.rglob("*")):
                _flush(inside)
            _check_free(final, overwrite)
            _swap(part, final)
            _flush(final.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def write_table(
    table: pa.Table | pa.RecordBatchReader | Iterable[pa.RecordBatch],
    path: str | Path,
    overwrite: bool = False,
) -> Path:
    """Write a table to a .csv, .csv.gz or .parquet file, a batch at a time.

    Parameters
    ----------
    table
        An Arrow table or reader, or batches; no batch at all has no columns and is refused.
    path, overwrite
        Where to; whether what is there may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ages.csv"
    >>> write_table(pa.table({"age": [31, 47]}), file).read_text().split()
    ['"age"', '31', '47']
    """
    final = Path(path)
    kind = next((s for s in (".csv", ".csv.gz", ".parquet") if final.name.endswith(s)), None)
    if kind is None:
        raise CannotWrite(
            f"{final.name} names no format this writes.", "End it in .csv, .csv.gz or .parquet."
        )
    schema, batches = _opened(table)
    with whole_file(final, overwrite) as part, _writer(part, kind, schema) as writer:
        for batch in batches:
            with _fitting(batch.schema):
                writer.write(batch if batch.schema.equals(schema) else batch.cast(schema))
    return final


def _opened(table: Any) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    if isinstance(table, pa.Table):
        return table.schema, table.to_batches()
    if isinstance(table, pa.RecordBatchReader):
        return table.schema, table
    batches = iter(table)
    first = next(batches, None)
    if first is None:
        raise UnreadableTable(
            "No batch came, so the columns are unknown.", "Pass a table or a reader instead."
        )
    return first.schema, chain([first], batches)


@contextmanager
def _writer(part: Path, kind: str, schema: pa.Schema) -> Iterator[Any]:
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    if kind == ".parquet":
        with pq.ParquetWriter(part, schema) as writer:
            yield writer
        return
    compression = "gzip" if kind == ".csv.gz" else None
    with pa.output_stream(str(part), compression=compression) as stream:
        with _fitting(schema):
            writer = pa_csv.CSVWriter(stream, schema)
        with writer:
            yield writer


@contextmanager
def _fitting(schema: pa.Schema) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, ValueError):  # not OSError: a full disk is told elsewhere
        kinds = ", ".join(f"{field.name!r} ({field.type})" for field in schema)
        raise CannotWrite(
            f"Some column of {kinds} does not fit this format, or the batches before.",
            "Give each column one plain kind: numbers, text, dates or truth values.",
        ) from None


@contextmanager
def _named_failure(final: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CannotWrite(
            f"{final} cannot be written: {reason}.",
            "Check that its folder exists, is yours to write to, and has room.",
        ) from None


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(os.path.expanduser(path)))


def _beside(final: Path) -> Path:
    # In the same folder: a rename across file systems would be a copy.
    return final.parent / f".{final.name}.{secrets.token_hex(4)}.part"


def _check_free(final: Path, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(final):
        raise AlreadyExists(f"{final} exists already.", "Choose another name, or overwrite it.")


def _check_replaceable(final: Path) -> None:
    if final.exists() and not final.is_dir():
        raise CannotWrite(f"{final} is a file, not a folder.", "Choose another name.")
    if Path.cwd().is_relative_to(final.resolve()):
        raise CannotWrite(
            f"{final} holds the folder you are in, which would be replaced.",
            "Name a folder of its own.",
        )


def _swap(part: Path, final: Path) -> None:
    if not final.exists():
        os.rename(part, final)
        return
    aside = _beside(final)
    os.rename(final, aside)
    try:
        os.rename(part, final)
    except BaseException:
        os.rename(aside, final)
        raise
    shutil.rmtree(aside)


def _flush(path: Path) -> None:
    """Push a file or folder to the disk, so that a crash after the rename finds it whole."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
