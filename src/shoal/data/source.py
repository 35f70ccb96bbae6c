"""What every table looks like to the engine: named columns, read in batches as often as needed."""

import csv
import difflib
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import pyarrow as pa

from shoal.errors import DimensionMismatch, DuplicateColumn, UnknownColumn, UnreadableTable

__all__ = ["BATCH_ROWS", "Source", "picked", "projected", "quiet", "unique"]

BATCH_ROWS = 262_144
_FAILED_READS = (pa.ArrowException, OSError, EOFError, UnicodeError, csv.Error, zlib.error)


class Source(Protocol):
    """A table that can be read in passes, without ever holding all of it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, known without reading a row."""

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """A new pass over these columns, in this order, at most ``size`` rows at a time.

        A column's type may differ between batches where the table itself leaves it open (a pandas
        column of objects): read the values with ``shoal.data.encode``, which takes them all.
        """

    def relation(self, con: Any, columns: Sequence[str] | None = None) -> Any:
        """The table, or these columns of it, as a relation of ``con`` (DuckDB), for one query.

        Files are scanned lazily, memory is shared. Ask for a new relation for each query: some
        tables stream through theirs.
        """


def unique(names: Sequence[object]) -> tuple[str, ...]:
    """Names as text, each once and at least one."""
    texts = tuple(str(name) for name in names)
    if not texts:
        raise DimensionMismatch("The table has no columns.", "Pass one with at least one.")
    twice = [name for name, times in Counter(texts).items() if times > 1]
    if twice:
        raise DuplicateColumn(
            f"{_listed(twice)} names more than one column.", "Rename or drop the repeated ones."
        )
    return texts


def picked(names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Where these columns are among ``names``; an unknown one gets the nearest spelling."""
    unique(columns)
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise UnknownColumn(
            f"The table has no column {_listed(unknown)}.", _next_step(names, unknown)
        )
    return [names.index(name) for name in columns]


def projected(relation: Any, names: Sequence[str], columns: Sequence[str] | None) -> Any:
    """Some columns of a DuckDB relation, or all of them."""
    if columns is None:
        return relation
    picked(names, columns)
    return relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in columns))


@contextmanager
def quiet(what: str) -> Iterator[None]:
    """Name a failed read without the library's own words: those quote the rows they choke on."""
    try:
        yield
    except _FAILED_READS as error:
        raise UnreadableTable(
            f"{what} cannot be read ({type(error).__name__}).",
            "Check that it is whole, in the format its name says, and readable by you. "
            "The library's own message is left out since it may quote rows.",
        ) from None


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _next_step(names: Sequence[str], unknown: Sequence[str]) -> str:
    near = [m for name in unknown for m in difflib.get_close_matches(name, names, n=1)]
    if near:
        return f"Did you mean {_listed(near)}?"
    return f"It has {_listed(names, most=12)}."
