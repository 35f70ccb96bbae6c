"""Hierarchies of a column's values: read from files, or built by rule."""

from shoal.anonymize.hierarchies.files import (
    hierarchy_from_paths,
    hierarchy_from_tree,
    read_hierarchy,
    write_arx,
)
from shoal.anonymize.hierarchies.hierarchy import NO_LEAF, NULL, Hierarchy, LeafIntervals
from shoal.anonymize.hierarchies.rules import (
    build_halves,
    build_intervals,
    build_periods,
    build_prefixes,
)

__all__ = [
    "NO_LEAF",
    "NULL",
    "Hierarchy",
    "LeafIntervals",
    "build_halves",
    "build_intervals",
    "build_periods",
    "build_prefixes",
    "hierarchy_from_paths",
    "hierarchy_from_tree",
    "read_hierarchy",
    "write_arx",
]
