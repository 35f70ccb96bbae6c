"""Replace numbers by the interval they lie in, before rows are grouped.

Raw numbers may be as many as rows, their intervals are as many as the policy declares: grouped by
interval, a table of any length needs memory for its intervals alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.anonymize._policy import Policy
from shoal.anonymize.codec import find_nulls
from shoal.anonymize.hierarchies import NO_LEAF, Hierarchy
from shoal.anonymize.hierarchies._build import build_hierarchy, needs_rows

CellReplacement = Callable[[Any], Any]

_NO_NUMBER = "no number"  # stands for any cell without a leaf, and has none itself


def interval_replacements(policy: Policy) -> dict[str, CellReplacement]:
    """Return, for each quasi-identifier of declared intervals, how its cells are replaced.

    Whole numbers under intervals of width one are left as they are, and so is a column that is
    needed raw: the target of a score, or the one that tells people apart.

    Examples
    --------
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": {
    ...     "age": {"role": "quasi", "type": "int", "domain": [0, 99],
    ...             "hierarchy": {"kind": "interval", "width": 10}}}})
    >>> interval_replacements(policy)["age"](pa.array(["31", None, "x", "38"])).to_pylist()
    ['30.0', None, 'no number', '30.0']
    """
    replacements = {}
    raw = (policy.search.target, policy.privacy.person)
    for name in (name for name in policy.names("quasi") if name not in raw):
        of = policy.attributes[name]
        if getattr(of.hierarchy, "kind", "") in ("interval", "binary") and not needs_rows(of):
            hierarchy = build_hierarchy(policy, name)
            if _merges_numbers(hierarchy):
                replacements[name] = replace_by_lower_bounds(hierarchy, policy.input.null_values)
    return replacements


def _merges_numbers(hierarchy: Hierarchy) -> bool:
    edges = hierarchy.edges
    return edges is not None and not (edges.whole and bool((edges.high - edges.low == 1).all()))


def replace_by_lower_bounds(hierarchy: Hierarchy, null_values: Sequence[str]) -> CellReplacement:
    """Return a function that writes the lower bound of its interval for each cell of a column.

    The bound lies in the interval, so it is coded like the cell itself.
    """
    assert hierarchy.edges is not None
    bounds = pa.array([*map(repr, hierarchy.edges.low.tolist()), _NO_NUMBER], pa.string())

    def replaced(column: Any) -> Any:
        missing = find_nulls(column, null_values)
        codes = hierarchy.leaf_of(column).astype(np.int64)
        codes[codes == NO_LEAF] = len(bounds) - 1
        return bounds.take(pa.array(codes, mask=missing))

    return replaced
