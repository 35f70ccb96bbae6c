"""Rows behind a handful of verbs: the only way methods see people's data."""

from shoal.engine.entry import rows_of
from shoal.engine.rows import Block, Rows

__all__ = ["Block", "Rows", "rows_of"]
