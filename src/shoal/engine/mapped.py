"""A table made of rows by a kernel, streamed to wherever it is wanted."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data import write_table
from shoal.engine.rows import Block, Columns, Mapper, kernel_at
from shoal.errors import DuplicateColumn, InvalidSetting

__all__ = ["LocalMapped", "check_names", "columns_of", "made"]


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
    """

    blocks: Callable[[], Iterator[Block]]
    kernel: Mapper
    names: tuple[str, ...]
    empty: Block

    def __post_init__(self) -> None:
        check_names(self.names)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make it, a batch at a time; rows that are refused raise before the first."""
        schema = self._schema()
        for place, block in enumerate(self.blocks()):
            yield made(kernel_at(self.kernel, place), self.names, block).cast(schema)

    def write(self, path: str | Path, overwrite: bool = False) -> Path:
        """Make it and write it, whole or not at all, to .csv, .csv.gz or .parquet."""
        reader = pa.RecordBatchReader.from_batches(self._schema(), self.batches())
        return write_table(reader, path, overwrite)

    def _schema(self) -> pa.Schema:
        return made(kernel_at(self.kernel), self.names, self.empty).schema


def check_names(names: Sequence[str]) -> None:
    """Refuse columns without a name of their own."""
    if not names or len(set(names)) < len(names):
        raise DuplicateColumn(
            f"{len(names)} column names came, not all different, or none at all.",
            "Name every column the kernel makes, each once.",
        )


def made(kernel: Callable[[Block], Columns], names: Sequence[str], block: Block) -> pa.RecordBatch:
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
