"""Group sizes, by DuckDB: as many groups as there are, within a memory limit."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engine.rows import Block
from shoal.engine.scratch import scratch
from shoal.engine.screen import Screen
from shoal.engine.spill import query_to_file

__all__ = ["coded", "coded_schema", "group_sizes", "labelled"]


def group_sizes(blocks: Iterable[Block], columns: Sequence[str], screen: Screen) -> pa.Table:
    """How many rows share each combination; categories rise by their place in the public list.

    Codes are grouped, which is faster than labels, and translated at the end.
    """
    schema = coded_schema(columns, screen)
    batches = (coded(block, columns, screen) for block in blocks)
    sql = "SELECT *, count(*) AS n FROM rows GROUP BY ALL ORDER BY ALL"
    with scratch() as folder:
        path = folder / "sizes.parquet"
        query_to_file(sql, schema, batches, path)
        found = pq.read_table(path)
    return labelled(found, columns, screen)


def coded_schema(columns: Sequence[str], screen: Screen) -> pa.Schema:
    """These columns as ``c0, c1, ...``: codes of categories, or numbers."""
    kinds = [pa.int32() if name in screen.categories else pa.float64() for name in columns]
    return pa.schema([(f"c{i}", kind) for i, kind in enumerate(kinds)])


def coded(block: Block, columns: Sequence[str], screen: Screen) -> pa.RecordBatch:
    """A block's rows laid out like that."""
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


def labelled(found: pa.Table, columns: Sequence[str], screen: Screen) -> pa.Table:
    """Groups of codes with their own names and labels again, and ``n``."""
    labels = [_labels(found[f"c{i}"], name, screen) for i, name in enumerate(columns)]
    return pa.table([*labels, found["n"]], names=[*columns, "n"])


def _labels(column: pa.ChunkedArray, name: str, screen: Screen) -> pa.ChunkedArray | pa.Array:
    if name not in screen.categories:
        return column
    categories = screen.categories[name]
    public = categories.labels(np.arange(categories.size))
    kinds = {type(label) for label in public}
    # A list of mixed kinds, such as numbers and the bucket, is one of texts.
    known = pa.array(public if len(kinds) == 1 else [str(label) for label in public])
    return known.take(column.combine_chunks())
