"""Rows of a table behind a few operations, the only way methods read people's data.

The words of this package:

- *rows*: what a method reads. A *verb* is an operation of ``Rows``: ``count``, ``sum``, ``map``.
- *terms* say which rows are *admitted*. A *screen* checks batches by them; a *tally* counts what
  it met. A *pass* reads all rows once.
- *block*: some admitted rows as arrays. A *kernel* computes something of one, wherever it is.
- *mapped*: the table that a kernel makes of rows, not made yet.
- *embedded*: rows that this process reads, from memory or files.
- *distributed*: rows that stay on a Spark cluster.
- *frame*: a table of a cluster. ``by_engine`` hands it on as a ``FrameTable``; nothing else tells
  the two kinds apart.
"""

from shoal.engine._engine_choice import by_engine, frame_table, is_rows, rows_of, unbounded_box
from shoal.engine._rows import Block, Kernel, Mapped, Mapper, Rows, Tally, Terms
from shoal.engine.feature_table import FeatureTable, FeatureTally, features

__all__ = [
    "Block",
    "FeatureTable",
    "FeatureTally",
    "Kernel",
    "Mapped",
    "Mapper",
    "Rows",
    "Tally",
    "Terms",
    "by_engine",
    "features",
    "frame_table",
    "is_rows",
    "rows_of",
    "unbounded_box",
]
