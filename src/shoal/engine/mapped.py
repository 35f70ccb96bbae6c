"""A table made of rows by a kernel, streamed to wherever it is wanted."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.data import write_table
from shoal.engine.duckdb import query_to_file
from shoal.engine.rows import Block, Columns, Mapper, kernel_at
from shoal.errors import DuplicateColumn, InvalidSetting
from shoal.randomness import NoiseStream
from shoal.scratch import scratch

__all__ = ["LocalMapped", "apply_kernel", "check_names", "columns_of", "shuffle_lines"]


@dataclass(frozen=True, eq=False)
class LocalMapped:
    """What ``rows.map`` returns. Nothing is computed until it is asked for, and nothing is kept.

    Parameters
    ----------
    blocks
        Starts a pass over admitted rows.
    kernel
        Makes an array (one row each, a column a name) or one array a name of a block.
    names
        The columns of the table.
    empty
        A block of no rows, from which the kinds of the columns are learnt.
    order
        Draws a place for each line, if lines are to come out in random order.
    """

    blocks: Callable[[], Iterator[Block]]
    kernel: Mapper
    names: tuple[str, ...]
    empty: Block
    order: NoiseStream | None = None

    def __post_init__(self) -> None:
        check_names(self.names)

    def shuffled(self, noise: NoiseStream) -> "LocalMapped":
        """The same lines in random order: all are made before the first comes out."""
        return replace(self, order=noise)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make it, a batch at a time; rows that are refused raise before the first."""
        lines = self._in_order()
        return lines if self.order is None else shuffle_lines(lines, self.order)

    def frame(self) -> pa.Table:
        """Make all of it, as an Arrow table."""
        return pa.Table.from_batches(self.batches(), self._schema())

    def like_input(self, squeeze: bool = False) -> NDArray[Any]:
        """An array with a line for each row; of one dimension if ``squeeze``."""
        lines = self.frame()
        columns = [lines[name].to_numpy() for name in self.names]
        # Arrow's arrays cannot be written to; whoever is handed labels may.
        return np.require(columns[0], requirements="W") if squeeze else np.column_stack(columns)

    def write(self, path: str | Path, overwrite: bool = False) -> Path:
        """Make it and write it, whole or not at all, to .csv, .csv.gz or .parquet."""
        reader = pa.RecordBatchReader.from_batches(self._schema(), self.batches())
        return write_table(reader, path, overwrite)

    def _in_order(self) -> Iterator[pa.RecordBatch]:
        schema = self._schema()
        for place, block in enumerate(self.blocks()):
            yield apply_kernel(kernel_at(self.kernel, place), self.names, block).cast(schema)

    def _schema(self) -> pa.Schema:
        return apply_kernel(kernel_at(self.kernel), self.names, self.empty).schema


def check_names(names: Sequence[str]) -> None:
    """Refuse columns without a name of their own."""
    if not names or len(set(names)) < len(names):
        raise DuplicateColumn(
            f"{len(names)} column names came, not all different, or none at all.",
            "Name every column the kernel makes, each once.",
        )


def apply_kernel(
    kernel: Callable[[Block], Columns], names: Sequence[str], block: Block
) -> pa.RecordBatch:
    """The columns a kernel makes of a block."""
    columns = columns_of(kernel(block))
    if len(columns) != len(names) or {len(column) for column in columns} != {len(block)}:
        raise InvalidSetting(
            f"The kernel did not return {len(names)} columns as long as its block.",
            "Return one row for each row, and one column for each name.",
        )
    arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=list(names))


def columns_of(returned: Columns) -> list[NDArray[Any]]:
    """What a kernel returned, an array of rows or one array a column, as columns."""
    table = isinstance(returned, np.ndarray) and returned.ndim == 2
    return list(returned.T if table else returned)  # type: ignore[union-attr]


def shuffle_lines(
    batches: Iterable[pa.RecordBatch], rng: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """The lines of all batches in random order, every order as likely; sorted on disk.

    Parameters
    ----------
    batches
        All of one schema; all are taken before the first line comes out.
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
    """The lines with 64 random bits each: two alike are rare among a billion lines."""
    key = pa.array(rng.integers(2**64, size=batch.num_rows, dtype=np.uint64))
    names = [f"c{i}" for i in range(batch.num_columns)]
    return pa.record_batch([*batch.columns, key], names=[*names, "key"])
