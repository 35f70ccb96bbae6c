"""Columns under plain names, c0, c1, ..., and whose each row is, as queries find them."""

from collections.abc import Sequence

import pyarrow as pa

from shoal.data.encode import owners

__all__ = ["COUNTED", "OWNER", "plain_names", "plainly_named"]

OWNER = "owner"
COUNTED = "count(*) AS n FROM rows"  # where rows come with their number, this is a sum of it


def plain_names(columns: Sequence[str], owner: str | None) -> list[str]:
    """What these columns are called in a query.

    Examples
    --------
    >>> plain_names(["age", "sex"], "id")
    ['c0', 'c1', 'owner']
    """
    return [*(f"c{i}" for i in range(len(columns))), *([OWNER] if owner else [])]


def plainly_named(
    batch: pa.RecordBatch, columns: Sequence[str], owner: str | None
) -> pa.RecordBatch:
    """These columns under plain names and, as ``owner``, whose each row is as text."""
    arrays = [_decoded(batch.column(name)) for name in columns]
    if owner is not None:
        arrays.append(owners(batch, owner))
    return pa.record_batch(arrays, names=plain_names(columns, owner))


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
