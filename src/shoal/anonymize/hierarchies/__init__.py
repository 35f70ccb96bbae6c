"""Hierarchies of the values of a column: read from files, or built by rule.

Words: a *leaf* is a value of the column and has a *code*; a *level* generalises all leaves by one
step; a *path* lists the labels from a leaf up to the root; a hierarchy is *declared* if the policy
states it and *learnt* if it comes from the table's own values; *opaque* labels are names, even if
they look like numbers.
"""

from shoal.anonymize.hierarchies._files import (
    hierarchy_from_paths,
    hierarchy_from_tree,
    read_hierarchy,
    write_arx,
)
from shoal.anonymize.hierarchies._hierarchy import NO_LEAF, NULL, Hierarchy, LeafIntervals, as_text
from shoal.anonymize.hierarchies._lists import build_by_frequency, build_ordered
from shoal.anonymize.hierarchies._rules import (
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
    "as_text",
    "build_by_frequency",
    "build_halves",
    "build_intervals",
    "build_ordered",
    "build_periods",
    "build_prefixes",
    "hierarchy_from_paths",
    "hierarchy_from_tree",
    "read_hierarchy",
    "write_arx",
]
