"""Tables already in memory as sources: arrays, Arrow tables, data frames, DuckDB relations."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.data.column_names import join_names
from shoal.data.source import BATCH_ROWS, check_names, find_columns, hide_row_text
from shoal.domain.box import shape_hint
from shoal.errors import DimensionMismatch, NotNumeric, UnreadableTable

_ROWS_IN_CACHE = 1_024  # of an array, while they are turned into columns


class ArraySource:
    """A NumPy array of numbers as a source; a batch copies only its own rows and columns.

    Parameters
    ----------
    names
        The columns' names; ``x0, x1, ...`` if left out.
    """

    def __init__(self, array: NDArray[Any], names: Sequence[str] | None = None) -> None:
        if isinstance(array, np.ma.MaskedArray):
            raise NotNumeric(
                "Masked arrays are not supported.", "Fill or drop the masked values first."
            )
        if array.dtype.kind not in "fiu":
            raise NotNumeric(
                f"Expected an array of numbers; got {array.dtype}.",
                "Convert it, or pass a data frame, whose columns may have different types.",
            )
        if array.ndim != 2 or (names is not None and len(names) != array.shape[1]):
            wanted = "some" if names is None else len(names)
            raise DimensionMismatch(
                f"Expected rows of {wanted} columns; got an array of shape {array.shape}.",
                shape_hint(array.shape, None if names is None else len(names)),
            )
        self._array = np.asarray(array)
        self.n_rows = len(array)
        self._dtype = _arrow_dtype(array.dtype)
        self.names = check_names(
            [f"x{i}" for i in range(array.shape[1])] if names is None else names
        )

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start a new pass over these columns."""
        at = find_columns(self.names, columns)
        for start in range(0, len(self._array), size):
            arrays = [pa.array(column) for column in self._columns(start, start + size, at)]
            yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _columns(self, start: int, stop: int, at: Sequence[int]) -> NDArray[Any]:
        """Return columns of some rows, one a line, turned a few rows at a time to stay in cache."""
        rows = self._array[start:stop]
        columns = np.empty((len(at), len(rows)), self._dtype)
        # All columns in order are a view: chosen ones would be copied twice.
        chosen = slice(None) if list(at) == list(range(rows.shape[1])) else list(at)
        for first in range(0, len(rows), _ROWS_IN_CACHE):
            part = rows[first : first + _ROWS_IN_CACHE]
            columns[:, first : first + len(part)] = part.T[chosen]
        return columns


class ArrowSource:
    """An Arrow table as a source; nothing is copied."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.n_rows: int = table.num_rows
        self.names = check_names(table.column_names)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start a new pass over these columns."""
        at = find_columns(self.names, columns)
        yield from self._table.select(at).to_batches(max_chunksize=size)


class FrameSource:
    """An eager data frame as a source, converted to Arrow a slice at a time.

    ``to_arrow(start, stop, positions)`` gives a part of it as an Arrow table.

    Parameters
    ----------
    to_arrow
        ``to_arrow(start, stop, positions)`` returns some rows of some columns.
    """

    def __init__(
        self,
        names: Sequence[object],
        length: int,
        to_arrow: Callable[[int, int, list[int]], pa.Table],
    ) -> None:
        self.names = check_names(names)
        self.n_rows = length
        self._to_arrow = to_arrow

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start a new pass over these columns."""
        at = find_columns(self.names, columns)
        for start in range(0, self.n_rows, size):
            # Slices, since the conversion of a whole frame would double its memory.
            part = self._part(start, min(start + size, self.n_rows), at)
            yield from part.to_batches(max_chunksize=size)

    def _part(self, start: int, stop: int, at: list[int]) -> pa.Table:
        try:
            part = self._to_arrow(start, stop, at)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            among = join_names([self.names[j] for j in at])
            raise NotNumeric(
                f"Some column among {among} mixes types of values.",
                "Give each column one type, e.g. frame.astype({'age': 'float64'}).",
            ) from None
        return part.rename_columns([self.names[j] for j in at])


class ReaderSource:
    """A stream of Arrow batches as a source, which can be read once."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader: pa.RecordBatchReader | None = reader
        self.names = check_names(reader.schema.names)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start the only pass over these columns."""
        at = find_columns(self.names, columns)
        for batch in _read_batches(self._take_reader()):
            part = batch.select(at)
            for start in range(0, part.num_rows, size):
                yield part.slice(start, size)

    def _take_reader(self) -> pa.RecordBatchReader:
        reader, self._reader = self._reader, None
        if reader is None:
            raise UnreadableTable(
                "A record batch reader can be read once, and has been.",
                "Pass reader.read_all(), or the file it reads.",
            )
        return reader


class DatasetSource:
    """An Arrow data set as a source, scanned with little read ahead."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.names = check_names(dataset.schema.names)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Start a new pass over these columns."""
        find_columns(self.names, columns)
        reader = self._dataset.scanner(
            columns=list(columns), batch_size=size, batch_readahead=2, fragment_readahead=1
        ).to_reader()
        yield from ReaderSource(reader).batches(columns, size)


class RelationSource:
    """A DuckDB relation as a source; its query runs again for every pass.

    For plain scans of files: any other relation is read once, see ``shoal.data._read_once``.
    """

    def __init__(self, relation: Any) -> None:
        self._relation = relation
        self.names = check_names(relation.columns)

    def batches(self, columns: Sequence[str], size: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Run the query for these columns."""
        # Projected in the query, so that DuckDB reads no other column.
        chosen = _projected(self._relation, self.names, columns)
        for batch in _read_batches(_reader(chosen, size)):
            for start in range(0, batch.num_rows, size):
                yield batch.slice(start, size)

    def write(self, path: Path) -> None:
        """Run the query once and write its rows to a Parquet file."""
        reader = _reader(_projected(self._relation, self.names, self.names), BATCH_ROWS)
        with pq.ParquetWriter(path, reader.schema) as writer:
            for batch in _read_batches(reader):
                writer.write_batch(batch)


def _projected(relation: Any, names: Sequence[str], columns: Sequence[str]) -> Any:
    find_columns(names, columns)
    return relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in columns))


def _reader(relation: Any, size: int) -> pa.RecordBatchReader:
    import duckdb

    try:
        return relation.to_arrow_reader(size)
    except duckdb.Error as error:
        raise UnreadableTable(
            f"The relation's query failed ({type(error).__name__}).",
            "Run it in DuckDB to see why; its message is left out because it may quote rows.",
        ) from None


def _read_batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield batches of a reader, errors without the library's text."""
    while True:
        with hide_row_text("The stream of batches"):
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
        yield batch


def _arrow_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    # Arrow has no long doubles and no foreign byte orders.
    return dtype if dtype.isnative and dtype.itemsize <= 8 else np.dtype(np.float64)
