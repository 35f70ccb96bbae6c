"""Group, sort and query streams of batches with DuckDB, within a memory limit.

What does not fit in memory goes to disk. In queries columns are named c0, c1, ... and the person a
row belongs to ``owner``: a table's own names may hold anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.data.encode import encode_owners
from shoal.engine._rows import Block, thread_count
from shoal.engine.row_screening import Screen
from shoal.errors import CannotWrite
from shoal.files import private_file, scratch

OWNER = "owner"
COUNTED = "count(*) AS n FROM rows"  # where rows come with their number, this is a sum of it

_MEMORY_LIMIT = "256MB"  # of a connection; more spills to disk
_TERMINATED = 143  # 128 + SIGTERM


def group_sizes(blocks: Iterable[Block], columns: Sequence[str], screen: Screen) -> pa.Table:
    """Count how many rows share each combination of values.

    Codes are grouped, which is faster than labels, and translated at the end.

    Returns
    -------
        The columns and ``n``, in rising order; categories rise by their index in the public list.
    """
    schema = coded_schema(columns, screen)
    batches = (coded_batch(block, columns, screen) for block in blocks)
    # Ordered, so that the result does not depend on how DuckDB's threads met the rows.
    sql = "SELECT *, count(*) AS n FROM rows GROUP BY ALL ORDER BY ALL"
    with scratch() as folder:
        path = folder / "sizes.parquet"
        query_to_file(sql, schema, batches, path)
        counted = pq.read_table(path)
    return with_labels(counted, columns, screen)


def coded_schema(columns: Sequence[str], screen: Screen) -> pa.Schema:
    """Return the schema of these columns as ``c0, c1, ...``: codes of categories, or numbers."""
    kinds = [pa.int32() if name in screen.categories else pa.float64() for name in columns]
    return pa.schema([(f"c{i}", kind) for i, kind in enumerate(kinds)])


def coded_batch(block: Block, columns: Sequence[str], screen: Screen) -> pa.RecordBatch:
    """Return a block's rows in the layout of ``coded_schema``."""
    listed = list(screen.categories)
    arrays = [
        block.codes[:, listed.index(name)]
        if name in listed
        else block.numbers[:, screen.numbers.index(name)] + 0.0  # -0.0 is 0.0
        for name in columns
    ]
    return pa.RecordBatch.from_arrays(
        [pa.array(np.ascontiguousarray(array)) for array in arrays],
        schema=coded_schema(columns, screen),
    )


def with_labels(counted: pa.Table, columns: Sequence[str], screen: Screen) -> pa.Table:
    """Replace codes by labels and ``c0, c1, ...`` by the columns' own names.

    Parameters
    ----------
    counted
        Groups of codes, with their count ``n``.
    """
    labels = [_labels(counted[f"c{i}"], name, screen) for i, name in enumerate(columns)]
    return pa.table([*labels, counted["n"]], names=[*columns, "n"])


def _labels(column: pa.ChunkedArray, name: str, screen: Screen) -> pa.ChunkedArray | pa.Array:
    if name not in screen.categories:
        return column
    categories = screen.categories[name]
    public = categories.labels(np.arange(categories.size))
    kinds = {type(label) for label in public}
    # A list of mixed kinds, such as numbers and the bucket, is one of texts.
    known = pa.array(public if len(kinds) == 1 else [str(label) for label in public])
    return known.take(column.combine_chunks())


def plain_names(columns: Sequence[str], owner: str | None) -> list[str]:
    """Return the names these columns have in a query.

    Examples
    --------
    >>> plain_names(["age", "sex"], "id")
    ['c0', 'c1', 'owner']
    """
    return [*(f"c{i}" for i in range(len(columns))), *([OWNER] if owner else [])]


def with_plain_names(
    batch: pa.RecordBatch, columns: Sequence[str], owner: str | None
) -> pa.RecordBatch:
    """Return a batch with these columns renamed for a query, and the owner as text.

    Parameters
    ----------
    columns
        The columns that become ``c0, c1, ...``.
    """
    arrays = [_decoded(batch.column(name)) for name in columns]
    if owner is not None:
        arrays.append(encode_owners(batch, owner))
    return pa.record_batch(arrays, names=plain_names(columns, owner))


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def query_to_file(
    sql: str,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    path: Path,
    memory_limit: str = _MEMORY_LIMIT,
) -> None:
    """Run ``sql`` on a stream, there named ``rows``, and write the result to a Parquet file.

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
    # DuckDB wraps what a stream raises in its own error; the first one is raised again below.
    raised: list[BaseException] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            raised.append(error)
            raise

    where = str(private_file(path)).replace("'", "''")
    try:
        with _spilling_connection(memory_limit) as con:
            con.register("rows", pa.RecordBatchReader.from_batches(schema, watched()))
            con.execute(
                f"COPY ({sql}) TO '{where}' (FORMAT parquet, USE_TMP_FILE false)"
            ).fetchall()
    except (duckdb.Error, RuntimeError) as error:
        if raised:
            raise raised[0] from None
        if "interrupt" in str(error).lower():  # Ctrl-C while DuckDB itself was at work
            raise KeyboardInterrupt from None
        if "SystemExit" in str(error):  # SIGTERM, in the command line
            raise SystemExit(_TERMINATED) from None
        # DuckDB's own words could quote a row.
        raise CannotWrite(
            f"Sorting or grouping on disk failed ({type(error).__name__}).",
            f"Free space in the temporary folder ({gettempdir()}), or set TMPDIR to another; if "
            "there is space, select fewer columns at once.",
        ) from None


def query_stream(sql: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Run ``sql`` on a stream, there named ``rows``, and return the result.

    Returns
    -------
        The result; columns of text are dictionary-encoded.
    """
    with scratch() as folder:
        path = folder / "result.parquet"
        query_to_file(sql, schema, batches, path)
        texts = [f.name for f in pq.read_schema(path) if pa.types.is_string(f.type)]
        return pq.read_table(path, read_dictionary=texts)


def query_columns(
    sql: str, batches: Iterable[pa.RecordBatch], columns: Sequence[str], owner: str | None
) -> pa.Table:
    """Run ``sql`` on some columns of a stream, named as ``plain_names`` names them.

    Parameters
    ----------
    columns
        The columns that are c0, c1, ... in the query.
    owner
        The column that says whose a row is, in the query ``owner`` and text.
    """
    named = (with_plain_names(batch, columns, owner) for batch in batches)
    first = next(named, None)
    if first is None:
        # A stream without batches still needs columns for the query to name.
        nothing = [pa.nulls(0, pa.string())] * (len(columns) + (owner is not None))
        first = pa.record_batch(nothing, names=plain_names(columns, owner))
    return query_stream(sql, first.schema, chain([first], named))


@contextmanager
def _spilling_connection(memory_limit: str) -> Iterator[Any]:
    """Open a connection that spills to a private folder, removed with it."""
    with scratch() as folder, duckdb.connect() as con:
        con.execute(f"SET memory_limit = '{memory_limit}'")
        con.execute(f"SET threads = {thread_count()}")
        # Queries here order their results themselves; keeping the input's order would cost memory.
        con.execute("SET preserve_insertion_order = false")
        con.execute("SET enable_progress_bar = false")  # it would run into our own output
        con.execute("SET temp_directory = ?", [str(folder)])
        yield con
