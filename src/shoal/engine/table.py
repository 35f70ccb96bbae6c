"""The interface of a table that is counted and queried where its rows are.

A table on this machine is ``shoal.anonymize.table.QueriedTable``, one in a Spark frame
``shoal.engine.spark._table.SparkTable``; ``by_engine`` of ``shoal.engine`` tells them apart.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import pyarrow as pa

from shoal.domain import Box, Schema
from shoal.engine._rows import Rows, Terms
from shoal.engine.row_screening import Screen

# Makes batches of the blocks of a partition; it travels to the workers.
BlockTask = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class _AnyTable(Protocol):
    """A table that answers questions about its rows, on either engine."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the table."""

    def counts(
        self,
        columns: Sequence[str],
        owner: str | None = None,
        replacements: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> pa.Table:
        """Count the rows of each combination of cells c0, c1, ... (and ``owner``), as ``n``.

        Parameters
        ----------
        replacements
            By column, what makes the cells to be counted of raw ones. A table may leave it out,
            since the result is coded the same way.
        """

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """Run ``sql`` on ``rows``, whose columns are c0, c1, ... in this order."""

    def nested(self, columns: Sequence[str]) -> list[str]:
        """Return which of these columns hold lists or structures."""

    def owners(self, person: str) -> Any:
        """Return the different people of the table, as text."""

    def collected(self, columns: Sequence[str], owner: str | None = None) -> pa.Table | None:
        """Return the result of ``counts`` where querying it is cheaper than the table; else None.

        None on this machine, and for more combinations than may come to it.

        Parameters
        ----------
        columns
            The columns that are c0, c1, ...
        """


class OutputPlace(Protocol):
    """The place of a table being written, and of a text about it."""

    @property
    def made(self) -> Any:
        """Where to write the table; its name tells the format."""

    def digest(self) -> str:
        """Return the checksum of what was written."""

    def finish(self, about: str) -> None:
        """Give the table and the text about it their final names."""


class FrameTable(_AnyTable, Protocol):
    """A table whose rows stay on a cluster."""

    @property
    def frame(self) -> Any:
        """The frame itself."""

    def rows(
        self, domain: Box | Schema, terms: Terms | None = None, screen: Screen | None = None
    ) -> Rows:
        """Return its rows as ``Rows``.

        Parameters
        ----------
        terms
            How they are admitted; left out, as ``rows_of`` does.
        screen
            What batches go through before a kernel sees them; left out, what the terms say.
        """

    def select(self, columns: Sequence[str], whole: bool = False) -> Any:
        """Return a frame of these columns."""

    def is_whole(self, name: str) -> bool:
        """Whether a column has a type of whole numbers."""

    def sample(self, columns: Sequence[str], n: int, seed: int) -> pa.Table:
        """Bring at most ``n`` random rows of these columns to this machine."""

    def added_up(self, task: BlockTask, schema: pa.Schema) -> AbstractContextManager[_AnyTable]:
        """Run a task on blocks of all columns and add up equal lines by the last column.

        It is kept while the context lasts.
        """

    def text_at(self, path: str) -> str | None:
        """Return the text of a small file that the cluster can read; None if there is none."""

    def digest(self, path: str) -> str:
        """Return a checksum of the files of a folder that the cluster can read."""

    def output(
        self, path: str, sidecar: str, overwrite: bool = False
    ) -> AbstractContextManager[OutputPlace]:
        """Open a place for a table made from this one, written whole or not at all.

        Parameters
        ----------
        path
            What it will be called: a folder at any path that the cluster can reach.
        """
