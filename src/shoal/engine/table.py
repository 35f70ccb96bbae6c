"""What can be asked of a table wherever its rows are: one protocol, an implementation an engine.

A table on this machine is ``shoal.anonymize.table.Table``, one in a Spark frame
``shoal.engine.spark.table.SparkTable``; ``shoal.engine.entry.by_engine`` tells them apart.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import pyarrow as pa

from shoal.domain import Box, Schema
from shoal.engine.rows import Rows, Terms
from shoal.engine.screen import Screen

__all__ = ["BlockTask", "FrameTable", "OutputPlace", "Table"]

# Makes batches of the blocks of a partition; it travels to the workers.
BlockTask = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Table(Protocol):
    """A table that answers questions about its rows, on either engine."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""

    def counts(self, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """The distinct combinations of cells c0, c1, ... (and ``owner``) with their rows, ``n``."""

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """What ``sql`` makes of ``rows``, whose columns are c0, c1, ... in this order."""

    def nested(self, columns: Sequence[str]) -> list[str]:
        """Which of these columns hold lists or structures."""

    def owners(self, entity: str) -> Any:
        """The different people of the table, as text: a column of the ``entity``'s names."""

    def collected(self, columns: Sequence[str], owner: str | None = None) -> pa.Table | None:
        """The result of ``counts``, where querying it is cheaper than querying the table again.

        None on this machine, and for more combinations than may come to it.
        """


class OutputPlace(Protocol):
    """A table under way to its place, with a text about it beside it."""

    @property
    def made(self) -> Any:
        """Where to write the table; its name tells the format."""

    def digest(self) -> str:
        """The checksum of what was written."""

    def finish(self, about: str) -> None:
        """Give the table and the text about it their names."""


class FrameTable(Table, Protocol):
    """A table whose rows stay on a cluster: what else can be asked of it there."""

    @property
    def frame(self) -> Any:
        """The frame itself."""

    def rows(
        self, domain: Box | Schema, terms: Terms | None = None, screen: Screen | None = None
    ) -> Rows:
        """Its rows behind the verbs of ``Rows``.

        Parameters
        ----------
        domain
            What is public about them.
        terms
            How they are admitted; left out, as ``rows_of`` does.
        screen
            What batches go through before a kernel sees them; left out, what the terms say.
        """

    def select(self, columns: Sequence[str], whole: bool = False) -> Any:
        """A frame of these columns; ``whole``: read as whole numbers, null where they are none."""

    def is_whole(self, name: str) -> bool:
        """Whether a column's kind is that of whole numbers."""

    def sample(self, columns: Sequence[str], n: int, seed: int) -> pa.Table:
        """At most ``n`` rows of these columns, drawn at random, on this machine."""

    def added_up(self, task: BlockTask, schema: pa.Schema) -> AbstractContextManager[Table]:
        """What a task makes of blocks of all columns, equal lines added up by the last column.

        It is kept while the context lasts.
        """

    def text_at(self, path: str) -> str | None:
        """The text of a small file that the cluster can read; None if there is none."""

    def digest(self, path: str) -> str:
        """A checksum of the files of a folder that the cluster can read."""

    def output(
        self, path: str, sidecar: str, overwrite: bool = False
    ) -> AbstractContextManager[OutputPlace]:
        """A place for a table made of this one, whole or not at all.

        Parameters
        ----------
        path
            What it will be called: a folder at any path that the cluster can reach.
        sidecar
            Added to that name, what the text beside it will be called.
        overwrite
            Whether what is there may be replaced.
        """
