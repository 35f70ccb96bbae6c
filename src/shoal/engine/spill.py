"""DuckDB over a stream of batches, within a memory limit: what does not fit goes to disk."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import duckdb
import pyarrow as pa

from shoal.engine.pool import thread_count
from shoal.engine.scratch import private_file, scratch
from shoal.errors import CannotWrite

__all__ = ["query_to_file"]

_MEMORY = "256MB"


def query_to_file(
    sql: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], path: Path
) -> None:
    """Write what ``sql`` makes of the stream, there named ``rows``, to a Parquet file.

    A file, since a result handed over as Arrow would be held in memory whole. Errors of the
    stream, and a stop by Ctrl-C or SIGTERM, come out as they are.

    Examples
    --------
    >>> import pyarrow.parquet as pq
    >>> batch = pa.record_batch({"c0": [1, 1, 2]})
    >>> with scratch() as folder:
    ...     path = folder / "top.parquet"
    ...     query_to_file("SELECT max(c0) AS top FROM rows", batch.schema, [batch], path)
    ...     pq.read_table(path).to_pydict()
    {'top': [2]}
    """
    raised: list[BaseException] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            raised.append(error)
            raise

    where = str(private_file(path)).replace("'", "''")
    try:
        with _spilling() as con:
            con.register("rows", pa.RecordBatchReader.from_batches(schema, watched()))
            con.execute(
                f"COPY ({sql}) TO '{where}' (FORMAT parquet, USE_TMP_FILE false)"
            ).fetchall()
    except (duckdb.Error, RuntimeError) as error:
        if raised:
            raise raised[0] from None
        if "interrupt" in str(error).lower():  # Ctrl-C while DuckDB itself was at work
            raise KeyboardInterrupt from None
        # DuckDB's own words could quote a row.
        raise CannotWrite(
            f"Sorting or grouping on disk failed ({type(error).__name__}).",
            f"Make room in the temporary folder ({gettempdir()}), or set TMPDIR to another.",
        ) from None


@contextmanager
def _spilling() -> Iterator[Any]:
    """A connection whose spilled pages lie in a folder only the owner can read, and go with it."""
    with scratch() as folder, duckdb.connect() as con:
        con.execute(f"SET memory_limit = '{_MEMORY}'")
        con.execute(f"SET threads = {thread_count()}")
        con.execute("SET preserve_insertion_order = false")
        con.execute("SET temp_directory = ?", [str(folder)])
        yield con
