"""Hierarchies of a column's values: read from files, or built by rule."""

from shoal.anonymize.hierarchies.dates import dates
from shoal.anonymize.hierarchies.hierarchy import NO_LEAF, NULL, Edges, Hierarchy
from shoal.anonymize.hierarchies.numbers import binary, interval
from shoal.anonymize.hierarchies.prefix import prefix
from shoal.anonymize.hierarchies.readers import from_nested, from_paths, read_hierarchy
from shoal.anonymize.hierarchies.write import write_arx

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
