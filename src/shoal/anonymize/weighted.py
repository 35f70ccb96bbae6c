"""Combinations that were counted elsewhere, queried like the rows they stand for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from shoal.anonymize.table import COUNTED, OWNER, AnyTable, found_in
from shoal.engine.named import plain_names
from shoal.engine.spark_table import SparkTable

__all__ = ["Countable", "Weighted", "counted_once"]

_SUMMED = "CAST(sum(n) AS BIGINT) AS n FROM rows"


class Countable(Protocol):
    """Whatever answers a query about its rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns."""

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """What ``sql`` makes of ``rows``, whose columns are c0, c1, ... and ``owner``."""


class Weighted:
    """Distinct combinations and their rows, as ``counts`` gives them.

    Parameters
    ----------
    found
        Columns c0, c1, ..., perhaps ``owner``, and ``n``.
    columns
        What c0, c1, ... are called.

    Examples
    --------
    >>> table = Weighted(pa.table({"c0": ["M", "F"], "n": [2, 1]}), ["sex"])
    >>> table.query(f"SELECT {COUNTED}", ["sex"]).to_pydict()
    {'n': [3]}
    """

    def __init__(self, found: pa.Table, columns: Sequence[str]) -> None:
        self._found = found
        self._at = {name: f"c{i}" for i, name in enumerate(columns)}
        self.names = tuple(columns)

    def query(self, sql: str, columns: Sequence[str], owner: str | None = None) -> pa.Table:
        """What ``sql`` makes of the rows behind the combinations."""
        kept = [*(self._at[name] for name in columns), *([OWNER] if owner else []), "n"]
        rows = self._found.select(kept).rename_columns([*plain_names(columns, owner), "n"])
        return found_in(sql.replace(COUNTED, _SUMMED), rows.schema, rows.to_batches())


@contextmanager
def counted_once(table: AnyTable, columns: Sequence[str], owner: str | None) -> Iterator[Countable]:
    """A table to ask several questions about these columns; on Spark its rows are read once.

    Unless they have too many combinations to come here: then each question is one more job.
    """
    if not isinstance(table, SparkTable):
        yield table
        return
    with table.grouped(columns, owner) as found:
        few = found.lines <= table.collect_limit
        counted: Countable = Weighted(found.table(), columns) if few else table
    yield counted
