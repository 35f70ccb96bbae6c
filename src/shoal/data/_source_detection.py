"""Turn anything that holds a table into a `Source`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.data._read_once import PlanSource, is_file_scan, lazy_source
from shoal.data.files import source_of_path
from shoal.data.memory import (
    ArraySource,
    ArrowSource,
    DatasetSource,
    FrameSource,
    ReaderSource,
    RelationSource,
)
from shoal.data.source import Source
from shoal.domain.value_text import column_to_text
from shoal.errors import DimensionMismatch, NotNumeric, UnreadableTable


def source_of(X: Any, names: Sequence[str] | None = None) -> Source:
    """Return a table of any kind as a source; no row is read yet.

    Parameters
    ----------
    X
        A NumPy array, list of rows or mapping of columns; a pandas, polars or other eager frame
        narwhals knows; an Arrow table, batch, dataset or reader (a reader is read once); a DuckDB
        relation, polars LazyFrame or ibis table, read once into a file of your own unless it is a
        plain scan of files by DuckDB; the path of a CSV, CSV.gz, TSV or Parquet file, of a folder
        of Parquet files, or a glob pattern.
    names
        Column names for an array or list of rows, else ``x0, x1, ...``. Tables that name their
        own columns keep their names.

    Examples
    --------
    >>> source = source_of(np.arange(6.0).reshape(3, 2), names=["age", "visits"])
    >>> source.names
    ('age', 'visits')
    >>> [batch.num_rows for batch in source.batches(["visits"], size=2)]
    [2, 1]
    """
    if isinstance(X, str | Path):
        return source_of_path(X)
    if isinstance(X, np.ndarray):
        return ArraySource(X, names)
    if isinstance(X, list | tuple):
        return ArraySource(_array_of(X), names)
    if isinstance(X, Mapping):
        return ArrowSource(_table_of(X))
    # In this order: each of the later tests imports one more library.
    return _arrow(X) or _duckdb(X) or _frame(X) or lazy_source(X) or _refuse(X)


def _arrow(X: Any) -> Source | None:
    if isinstance(X, pa.Table):
        return ArrowSource(X)
    if isinstance(X, pa.RecordBatch):
        return ArrowSource(pa.Table.from_batches([X]))
    if isinstance(X, pa.RecordBatchReader):
        return ReaderSource(X)
    # Importing pyarrow.dataset to ask would import pandas too; whoever holds one has done so.
    kinds = {kind.__name__ for kind in type(X).__mro__ if kind.__module__ == "pyarrow._dataset"}
    return DatasetSource(X) if "Dataset" in kinds else None


def _duckdb(X: Any) -> Source | None:
    import duckdb

    if not isinstance(X, duckdb.DuckDBPyRelation):
        return None
    scan = RelationSource(X)
    if is_file_scan(X.sql_query()):
        return scan  # the files are read again for every pass, as they are by their path
    return PlanSource(scan.names, scan.write)


def _frame(X: Any) -> Source | None:
    import narwhals as nw

    if nw.dependencies.is_pandas_dataframe(X):
        return FrameSource(list(X.columns), len(X), lambda i, j, at: _from_pandas(X.iloc[i:j, at]))
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        return None
    columns = frame.columns
    return FrameSource(
        columns, len(frame), lambda i, j, at: frame[i:j].select([columns[c] for c in at]).to_arrow()
    )


def _from_pandas(part: Any) -> pa.Table:
    # By position: names may be anything in pandas, even twice the same once written as text.
    places = range(part.shape[1])
    return pa.table([_from_series(part.iloc[:, i]) for i in places], names=list(map(str, places)))


def _from_series(column: Any) -> pa.Array | pa.ChunkedArray:
    """Return a pandas column as Arrow; objects as text, each value on its own."""
    values = getattr(column.dtype, "categories", column)  # those of a categorical column
    return column_to_text(column.astype(object)) if values.dtype == "object" else pa.array(column)


def _refuse(X: Any) -> Source:
    kind = f"{type(X).__module__}.{type(X).__qualname__}"
    if kind.startswith("scipy.sparse"):
        raise NotNumeric(
            "Sparse matrices are not supported.", "Pass X.toarray(), if it fits in memory."
        )
    raise UnreadableTable(
        f"A {kind} is not a table that can be read.",
        "Pass an array, a data frame, an Arrow table, a DuckDB relation or a file's path.",
    )


def _array_of(rows: Sequence[Any]) -> Any:
    try:
        return np.array(rows)
    except ValueError:
        raise DimensionMismatch(
            f"The {len(rows)} rows have different lengths.", "Give every row the same columns."
        ) from None


def _table_of(columns: Mapping[Any, Any]) -> pa.Table:
    try:
        return pa.table({str(name): _column(values) for name, values in columns.items()})
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise UnreadableTable(
            f"The {len(columns)} columns do not make a table.",
            "Give every column one type of values, and the same length.",
        ) from None


def _column(values: Any) -> Any:
    """Return a column of one type as it is; mixed types, or huge numbers, as text."""
    if not isinstance(values, list | tuple):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return column_to_text(values)
