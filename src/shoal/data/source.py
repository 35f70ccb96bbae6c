"""The interface of a table that can be read in batches, as often as needed."""

import csv
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from shoal.data.column_names import join_names, missing_columns_error
from shoal.errors import DimensionMismatch, DuplicateColumn, UnreadableTable

BATCH_ROWS = 262_144  # 2 MiB a column of numbers
_FAILED_READS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error, zlib.error)


class Source(Protocol):
    """A table that can be read in passes, without holding all of it in memory."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, known without reading a row."""

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start a new pass over these columns.

        Columns without a type (of a CSV file, of Python's lists) are marked as such, see
        ``shoal.data.untyped_cells``: ``shoal.data.encode`` reads each cell by itself.

        Parameters
        ----------
        columns
            The columns, in order.
        size
            The most rows of a batch.
        """


def check_names(names: Sequence[object]) -> tuple[str, ...]:
    """Return a table's column names as text; refuse none, or repeated ones.

    A repeated one is not quoted: in a table without a header, names are its first person's values.
    """
    texts = tuple(str(name) for name in names)
    if not texts:
        raise DimensionMismatch("The table has no columns.", "Pass one with at least one.")
    # Counted, not named: without a header line the names are a person's values.
    twice = sum(times > 1 for times in Counter(texts).values())
    if twice:
        raise DuplicateColumn(
            f"{twice} of {len(texts)} column names occur more than once.",
            "Rename or drop the repeated ones; if these are values, the table lacks its header "
            "line.",
        )
    return texts


def find_columns(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Return the positions of these columns among a table's names.

    Raises
    ------
    UnknownColumn
        If the table lacks one; it is named, the table's own are not.
    """
    _check_wanted(columns)
    if not {*columns} <= {*names}:
        raise missing_columns_error(columns, names)
    return [names.index(name) for name in columns]


def _check_wanted(columns: Sequence[str]) -> None:
    if not columns:
        raise DimensionMismatch("No column is selected.", "Name at least one.")
    twice = [name for name, times in Counter(columns).items() if times > 1]
    if twice:
        raise DuplicateColumn(f"{join_names(twice)} is selected twice.", "Name each column once.")


@contextmanager
def hide_row_text(what: str) -> Iterator[None]:
    """Replace errors of a read by shoal's own: a library's text may quote rows."""
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
