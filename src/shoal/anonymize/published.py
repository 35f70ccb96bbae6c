"""What stands in a published cell: the label, the bounds or the midpoint of a node."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.anonymize.hierarchies import Hierarchy
from shoal.anonymize.policy import Policy

__all__ = ["Shown", "published_names", "shown"]

Shown = dict[str, Any]  # an Arrow array by place, for each published column


def published_names(policy: Policy, name: str) -> tuple[str, ...]:
    """The columns a quasi-identifier is published in."""
    numeric = getattr(policy.attributes[name].hierarchy, "kind", "") in ("interval", "binary")
    if numeric and policy.output.intervals == "bounds":
        return f"{name}_low", f"{name}_high"
    return (name,)


def shown(policy: Policy, name: str, hierarchy: Hierarchy) -> Shown:
    """What each node of a column's hierarchy is published as, by place.

    Bounds of whole numbers are the least and the greatest of them; others are half open.

    Examples
    --------
    >>> from shoal.anonymize.hierarchies import binary
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 2}, "output": {"intervals": "bounds"},
    ...     "attributes": {"age": {"role": "quasi", "type": "int", "domain": [0, 3],
    ...                            "hierarchy": {"kind": "binary"}}}})
    >>> cells = shown(policy, "age", binary((0, 3), whole=True, min_width=2))
    >>> cells["age_low"].to_pylist(), cells["age_high"].to_pylist()
    ([0, 0, 2], [3, 1, 3])
    """
    if hierarchy.edges is None or policy.output.intervals == "label":
        return {name: pa.array(_labels(policy, hierarchy), pa.string())}
    low, high = hierarchy.bounds()
    if policy.privacy.nulls == "as_root" and hierarchy.null is not None:
        low[-1], high[-1] = low[0], high[0]
    high = high - hierarchy.edges.whole
    if policy.output.intervals == "midpoint":
        return {name: _column((low + high) / 2, whole=False)}
    names = published_names(policy, name)
    whole = hierarchy.edges.whole
    return {names[0]: _column(low, whole), names[1]: _column(high, whole)}


def _labels(policy: Policy, hierarchy: Hierarchy) -> list[str]:
    labels = [node.label for node in hierarchy.taxonomy.nodes]
    if policy.privacy.nulls == "as_root" and hierarchy.null is not None:
        labels[-1] = labels[0]
    return labels


def _column(numbers: NDArray[np.float64], whole: bool) -> Any:
    column = pa.array(numbers, mask=np.isnan(numbers))
    return column.cast(pa.int64()) if whole else column
