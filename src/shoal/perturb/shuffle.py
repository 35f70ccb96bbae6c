"""Lines in an order that says nothing: where a row stood in a table tells of it too."""

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engine.scratch import scratch
from shoal.engine.spill import query_to_file

__all__ = ["shuffled"]


def shuffled(
    batches: Iterable[pa.RecordBatch], rng: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """The lines of all batches in random order, every order as likely; sorted on disk.

    Parameters
    ----------
    batches
        One at least, all of one schema; all are taken before the first line comes out.
    rng
        A noise stream: whoever can guess the order can undo it.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> batch = pa.record_batch({"x": [1, 2, 3, 4, 5]})
    >>> [x for b in shuffled([batch], Randomness(7).noise) for x in b["x"].to_pylist()]
    [4, 2, 5, 1, 3]
    """
    coming = iter(batches)
    first = next(coming)
    keyed = (_keyed(batch, rng) for batch in chain([first], coming))
    columns = [f"c{i}" for i in range(first.num_columns)]  # names of columns may hold anything
    kinds = [*zip(columns, first.schema.types, strict=True), ("key", pa.uint64())]
    with scratch() as folder:
        path = folder / "shuffled.parquet"
        sql = f"SELECT {', '.join(columns)} FROM rows ORDER BY key"
        query_to_file(sql, pa.schema(kinds), keyed, path)
        for batch in pq.ParquetFile(path).iter_batches():
            yield batch.rename_columns(first.schema.names).cast(first.schema)


def _keyed(batch: pa.RecordBatch, rng: np.random.Generator) -> pa.RecordBatch:
    """The lines with 64 random bits each: two alike are rare among a billion lines."""
    key = pa.array(rng.integers(2**64, size=batch.num_rows, dtype=np.uint64))
    names = [f"c{i}" for i in range(batch.num_columns)]
    return pa.record_batch([*batch.columns, key], names=[*names, "key"])
