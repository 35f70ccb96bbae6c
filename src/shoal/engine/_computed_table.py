"""The table that ``rows.map`` computes, streamed to a file, an array or batches, or shuffled."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.data import write_table
from shoal.engine._rows import Block, Columns, Mapper, kernel_at
from shoal.engine.duckdb import query_to_file
from shoal.errors import DuplicateColumn, InvalidSetting
from shoal.files import scratch
from shoal.randomness import NoiseStream


@dataclass(frozen=True, eq=False)
class LocalMapped:
    """The result of ``LocalRows.map``, computed when it is read; only ``stored`` writes it.

    Parameters
    ----------
    kernel
        Computes a block's columns: an array with a column for each name, or one array a name.
    empty
        A block of no rows, from which the columns' types are read.
    order
        Draws a position for each line, if lines are to be shuffled.
    """

    blocks: Callable[[], Iterator[Block]]
    kernel: Mapper
    names: tuple[str, ...]
    empty: Block
    order: NoiseStream | None = None

    def __post_init__(self) -> None:
        check_names(self.names)

    def shuffled(self, noise: NoiseStream) -> "LocalMapped":
        """Return the same table with its lines in random order."""
        return replace(self, order=noise)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Compute the table, a batch at a time; refused rows raise before the first."""
        lines = self._in_order()
        return lines if self.order is None else shuffle_lines(lines, self.order)

    def frame(self) -> pa.Table:
        """Compute the whole table, as an Arrow table."""
        return pa.Table.from_batches(self.batches(), self._schema())

    @contextmanager
    def stored(self) -> Iterator[Path]:
        """Compute the table once; yield the Parquet file that holds it while the block lasts."""
        with scratch() as folder:
            yield self.write(folder / "table.parquet")

    def like_input(self, squeeze: bool = False) -> NDArray[Any]:
        """Compute an array with a line for each row."""
        lines = self.frame()
        columns = [lines[name].to_numpy() for name in self.names]
        # Arrow's arrays cannot be written to; whoever is handed labels may.
        return np.require(columns[0], requirements="W") if squeeze else np.column_stack(columns)

    def write(self, path: str | Path, overwrite: bool = False) -> Path:
        """Compute the table and write it, whole or not at all, to .csv, .csv.gz or .parquet."""
        reader = pa.RecordBatchReader.from_batches(self._schema(), self.batches())
        return write_table(reader, path, overwrite)

    def _in_order(self) -> Iterator[pa.RecordBatch]:
        schema = self._schema()
        # The position names a block's noise: the same rows in the same place draw the same.
        for place, block in enumerate(self.blocks()):
            yield apply_kernel(kernel_at(self.kernel, place), self.names, block).cast(schema)

    def _schema(self) -> pa.Schema:
        return apply_kernel(kernel_at(self.kernel), self.names, self.empty).schema


def check_names(names: Sequence[str]) -> None:
    """Refuse no names, or repeated ones."""
    if not names or len(set(names)) < len(names):
        raise DuplicateColumn(
            f"The {len(names)} column names must be different, and at least one.",
            "Name every column that the kernel makes once.",
        )


def apply_kernel(
    kernel: Callable[[Block], Columns], names: Sequence[str], block: Block
) -> pa.RecordBatch:
    """Return the columns a kernel computes of a block, as a batch."""
    columns = columns_of(kernel(block))
    if len(columns) != len(names) or {len(column) for column in columns} != {len(block)}:
        raise InvalidSetting(
            f"The kernel did not return {len(names)} columns as long as its block.",
            "Return one row for each row, and one column for each name.",
        )
    arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(names))


def columns_of(returned: Columns) -> list[NDArray[Any]]:
    """Return a kernel's result, a matrix or one array a column, as a list of columns."""
    table = isinstance(returned, np.ndarray) and returned.ndim == 2
    return list(returned.T if table else returned)  # type: ignore[union-attr]


def shuffle_lines(
    batches: Iterable[pa.RecordBatch], rng: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """Yield the lines of all batches in random order, sorted on disk.

    Parameters
    ----------
    batches
        Batches of one schema; all are read before the first line is yielded.
    rng
        A noise stream: whoever can guess the order can undo it.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> batch = pa.record_batch({"x": [1, 2, 3, 4, 5]})
    >>> [x for b in shuffle_lines([batch], Randomness(7).noise) for x in b["x"].to_pylist()]
    [4, 2, 5, 1, 3]
    """
    coming = iter(batches)
    first = next(coming, None)
    if first is None:
        return
    keyed = (_with_key(batch, rng) for batch in chain([first], coming))
    columns = [f"c{i}" for i in range(first.num_columns)]  # names of columns may hold anything
    kinds = [*zip(columns, first.schema.types, strict=True), ("key", pa.uint64())]
    with scratch() as folder:
        path = folder / "shuffled.parquet"
        sql = f"SELECT {', '.join(columns)} FROM rows ORDER BY key"
        query_to_file(sql, pa.schema(kinds), keyed, path)
        for batch in pq.ParquetFile(path).iter_batches():
            yield batch.rename_columns(first.schema.names).cast(first.schema)


def _with_key(batch: pa.RecordBatch, rng: np.random.Generator) -> pa.RecordBatch:
    """Add 64 random bits to each line to sort by; two equal ones are rare in a billion lines."""
    key = pa.array(rng.integers(2**64, size=batch.num_rows, dtype=np.uint64))
    names = [f"c{i}" for i in range(batch.num_columns)]
    return pa.record_batch([*batch.columns, key], names=[*names, "key"])
