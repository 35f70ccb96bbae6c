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
from shoal.data.untyped_cells import Cells, field_of_cells, objects_column, values_column
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
    if isinstance(X, PlanSource):
        return X
    if isinstance(X, np.ndarray):
        return ArraySource(X, names)
    if isinstance(X, list | tuple):
        return ArrowSource(_table_of_rows(X, names))
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
    return _table({str(i): _from_series(part.iloc[:, i]) for i in range(part.shape[1])})


def _from_series(column: Any) -> tuple[Any, Cells]:
    """Return a column of pandas or NumPy in its own type; objects as text."""
    values = getattr(column.dtype, "categories", column)  # those of a categorical column
    if values.dtype == "object":
        return objects_column(column.astype(object))
    return pa.array(column), "typed"


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


def _table_of_rows(rows: Sequence[Any], names: Sequence[str] | None) -> pa.Table:
    """Return a list of rows as a table of untyped columns."""
    widths = {len(row) if _is_row(row) else 0 for row in rows} or {0}
    if len(widths) > 1:
        raise DimensionMismatch(
            f"The {len(rows)} rows have different lengths.", "Give every row the same columns."
        )
    (width,) = widths
    named = [f"x{i}" for i in range(width)] if names is None else names
    if not width or len(named) != width:
        wanted = "some" if names is None else len(names)
        raise DimensionMismatch(
            f"Expected rows of {wanted} columns; got {len(rows)} rows of {width}.",
            "Pass a list of rows, e.g. [[31, 2], [47, 5]].",
        )
    columns = zip(named, zip(*rows, strict=True), strict=True)
    return _table({name: (values_column(values), "untyped") for name, values in columns})


def _is_row(row: Any) -> bool:
    is_sequence = hasattr(row, "__len__") and hasattr(row, "__iter__")
    return (
        is_sequence and not isinstance(row, str | bytes | Mapping) and getattr(row, "ndim", 1) == 1
    )


def _table_of(columns: Mapping[Any, Any]) -> pa.Table:
    try:
        return _table({str(name): _column(values) for name, values in columns.items()})
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise UnreadableTable(
            f"The {len(columns)} columns do not make a table.",
            "Give each column as a list or an array, all of the same length.",
        ) from None


def _table(columns: Mapping[str, tuple[Any, Cells]]) -> pa.Table:
    fields = [field_of_cells(name, column.type, cells) for name, (column, cells) in columns.items()]
    return pa.table([column for column, _ in columns.values()], schema=pa.schema(fields))


def _column(values: Any) -> tuple[Any, Cells]:
    """Return a typed column in its own type; Python's values are read each by itself."""
    if isinstance(values, str | bytes | Mapping):
        raise TypeError
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values, "typed"
    if type(values).__module__.split(".")[0] in ("numpy", "pandas"):
        return _from_series(values)
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values), "typed"
    return values_column(list(values)), "untyped"
