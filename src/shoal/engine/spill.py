"""DuckDB over a stream of batches, within a memory limit: what does not fit goes to disk."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import duckdb
import pyarrow as pa

from shoal.engine.pool import thread_count
from shoal.errors import CannotWrite

__all__ = ["query", "spilling"]

_MEMORY = "256MB"


@contextmanager
def spilling() -> Iterator[Any]:
    """A connection whose spilled pages lie in a folder only the owner can read, and go with it."""
    with TemporaryDirectory(prefix="shoal-") as folder, duckdb.connect() as con:
        con.execute("SET memory_limit = ?", [_MEMORY])
        con.execute("SET threads = ?", [thread_count()])
        con.execute("SET temp_directory = ?", [folder])
        con.execute("SET preserve_insertion_order = false")
        con.execute("SET enable_progress_bar = false")
        yield con


def query(con: Any, sql: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Run ``sql`` over the stream, there named ``rows``; the stream's errors come out as they are.

    Examples
    --------
    >>> batch = pa.record_batch({"c0": [1, 1, 2]})
    >>> with spilling() as con:
    ...     query(con, "SELECT max(c0) AS top FROM rows", batch.schema, [batch]).to_pydict()
    {'top': [2]}
    """
    raised: list[Exception] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except Exception as error:
            raised.append(error)
            raise

    con.register("rows", pa.RecordBatchReader.from_batches(schema, watched()))
    try:
        return con.execute(sql).to_arrow_table()
    except duckdb.Error as error:
        if raised:
            raise raised[0] from None
        # DuckDB's own words could quote a row.
        raise CannotWrite(
            f"Sorting or grouping out of memory failed ({type(error).__name__}).",
            f"Make room in the temporary folder ({gettempdir()}), or set TMPDIR to another.",
        ) from None
    finally:
        con.unregister("rows")
