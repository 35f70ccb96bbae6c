"""Rows of a mixed table brought into memory, as methods without noise see them."""

from typing import Any

import numpy as np

from shoal.cluster.prototypes.mixed_cost import MixedRows
from shoal.domain import Schema
from shoal.engine import Block, Rows, rows_of
from shoal.synopsis.mixed.columns import LATTICE, mixed_columns


def hold_rows(X: Any, domain: Schema | None) -> MixedRows:
    """Return the rows as numbers of [-1, 1] and codes, for their holder.

    Examples
    --------
    >>> schema = Schema.of({"version": 1, "columns": {
    ...     "age": {"low": 0, "high": 100}, "level": {"values": ["basic", "higher"]}}})
    >>> rows = hold_rows({"age": [50.0, 100.0], "level": ["basic", "higher"]}, schema)
    >>> rows.numbers.ravel().tolist(), rows.codes.ravel().tolist()
    ([0.0, 1.0], [0, 1])
    """
    _ = mixed_columns(domain)  # refuses what is no schema
    assert domain is not None
    return hold_admitted(rows_of(X, domain))


def hold_admitted(rows: Rows) -> MixedRows:
    """Return rows of a schema that are open already, in memory."""
    domain: Any = rows.domain
    columns, parts = mixed_columns(domain), []
    mapped = rows.map(_Scaled(domain), columns.names)
    for batch in mapped.batches():
        parts.append(np.column_stack([np.asarray(column) for column in batch.columns]))
    table = np.concatenate(parts) if parts else np.empty((0, columns.d))
    p = len(columns.numbers)
    return MixedRows(columns, table[:, :p], table[:, p:].astype(np.int64))


class _Scaled:
    """A kernel that maps rows to numbers of [-1, 1] and codes."""

    def __init__(self, domain: Schema) -> None:
        self._columns = mixed_columns(domain)

    def __call__(self, block: Block) -> list[Any]:
        numbers = [wholes / LATTICE for wholes in self._columns.wholes(block)]
        return numbers + [codes.astype(np.float64) for codes in self._columns.codes(block)]
