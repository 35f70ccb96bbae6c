"""Hierarchies of a column's values: read from files, or built by rule."""

from shoal.anonymize.hierarchies.files import from_nested, from_paths, read_hierarchy, write_arx
from shoal.anonymize.hierarchies.hierarchy import NO_LEAF, NULL, Edges, Hierarchy
from shoal.anonymize.hierarchies.rules import binary, dates, interval, prefix

__all__ = [
    "NO_LEAF",
    "NULL",
    "Edges",
    "Hierarchy",
    "binary",
    "dates",
    "from_nested",
    "from_paths",
    "interval",
    "prefix",
    "read_hierarchy",
    "write_arx",
]
