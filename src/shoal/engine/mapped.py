"""A table made of rows by a kernel, streamed to wherever it is wanted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.data import write_table
from shoal.engine.rows import Block, Mapper
from shoal.errors import DuplicateColumn, InvalidSetting

__all__ = ["LocalMapped"]


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
        if not self.names or len(set(self.names)) < len(self.names):
            raise DuplicateColumn(
                f"{len(self.names)} column names came, not all different, or none at all.",
                "Name every column the kernel makes, each once.",
            )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make it, a batch at a time; rows that are refused raise before the first."""
        schema = self._made(self.empty).schema
        for block in self.blocks():
            yield self._made(block).cast(schema)

    def write(self, path: str | Path, overwrite: bool = False) -> Path:
        """Make it and write it, whole or not at all, to .csv, .csv.gz or .parquet."""
        schema = self._made(self.empty).schema
        reader = pa.RecordBatchReader.from_batches(schema, self.batches())
        return write_table(reader, path, overwrite)

    def _made(self, block: Block) -> pa.RecordBatch:
        made: Any = self.kernel(block)
        columns = list(made.T) if isinstance(made, np.ndarray) and made.ndim == 2 else list(made)
        if len(columns) != len(self.names) or {len(c) for c in columns} != {len(block)}:
            raise InvalidSetting(
                f"The kernel did not return {len(self.names)} columns as long as its block.",
                "Return one row for each row, and one column for each name.",
            )
        arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
        return pa.RecordBatch.from_arrays(arrays, names=list(self.names))
