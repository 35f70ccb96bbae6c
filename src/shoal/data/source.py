"""What every table looks like to the engine: named columns, read in batches as often as needed."""

import csv
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from shoal.data.column_names import join_names, missing_columns_error
from shoal.errors import DimensionMismatch, DuplicateColumn, UnreadableTable

__all__ = ["BATCH_ROWS", "Source", "check_names", "find_columns", "hide_row_text"]

BATCH_ROWS = 262_144
_FAILED_READS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error, zlib.error)


class Source(Protocol):
    """A table that can be read in passes, without ever holding all of it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, known without reading a row."""

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """A new pass over these columns, in this order, at most ``size`` rows at a time.

        Cells whose kind the table leaves open (a CSV file, a pandas column of objects) come as
        text: ``shoal.data.encode`` reads each by itself.
        """


def check_names(names: Sequence[object]) -> tuple[str, ...]:
    """A table's names as text, each once and at least one.

    A repeated one is not quoted: in a table without a header, names are its first person's values.
    """
    texts = tuple(str(name) for name in names)
    if not texts:
        raise DimensionMismatch("The table has no columns.", "Pass one with at least one.")
    twice = sum(times > 1 for times in Counter(texts).values())
    if twice:
        raise DuplicateColumn(
            f"{twice} of {len(texts)} column names occur more than once.",
            "Rename or drop the repeated ones; if these are values, the table lacks its header "
            "line.",
        )
    return texts


def find_columns(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Where these columns are among a table's names; what is asked for and not there is named."""
    _check_asked(columns)
    if not {*columns} <= {*names}:
        raise missing_columns_error(columns, names)
    return [names.index(name) for name in columns]


def _check_asked(columns: Sequence[str]) -> None:
    if not columns:
        raise DimensionMismatch("No column is selected.", "Name at least one.")
    twice = [name for name, times in Counter(columns).items() if times > 1]
    if twice:
        raise DuplicateColumn(f"{join_names(twice)} is selected twice.", "Name each column once.")


@contextmanager
def hide_row_text(what: str) -> Iterator[None]:
    """Name a failed read without the library's own words: those quote the rows they choke on."""
    try:
        yield
    except _FAILED_READS as error:
        if isinstance(error, UnicodeError) or "UTF8" in str(error):
            raise UnreadableTable(
                f"{what} holds text that is not UTF-8.",
                "Save it as UTF-8: spreadsheets and editors offer that under Save As.",
            ) from None
        raise UnreadableTable(
            f"{what} cannot be read ({type(error).__name__}).",
            "Check that it is complete, has the format that its name says, and that you may "
            "read it. The library's own message is left out because it may quote rows.",
        ) from None
