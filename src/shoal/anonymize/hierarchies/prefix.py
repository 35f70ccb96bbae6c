"""Hierarchies of codes that say less when cut short, such as postcodes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from shoal.anonymize.hierarchies.hierarchy import Hierarchy, grown
from shoal.anonymize.hierarchies.leaves import TextLeaves, as_text, masked
from shoal.errors import AmbiguousLabel

__all__ = ["prefix"]


def prefix(values: Any, keep: Sequence[int]) -> Hierarchy:
    """Values by their first characters, fewer at each level; its leaves are learnt.

    Parameters
    ----------
    values
        The distinct values of the column, an Arrow array without nulls.
    keep
        How many characters each level keeps, falling; above the last comes the root.

    Examples
    --------
    >>> import pyarrow as pa
    >>> codes = prefix(pa.array(["70173", "70174", "01219"]), [5, 3, 1])
    >>> codes.paths()[0], codes.paths()[2]  # 701* and 7* are one set here: one node
    (['01219', '01219', '01219', '*'], ['70174', '7*', '7*', '*'])
    """
    cells = pc.utf8_trim_whitespace(as_text(values))
    if pc.any(pc.ends_with(cells, "*")).as_py():
        raise AmbiguousLabel(
            "Some values end in * already, as labels of a prefix hierarchy do.",
            "Was the column cut short before? Use a hierarchy file, or remove those values.",
        )
    leaves = pc.unique(masked(cells, keep[0])).sort()
    columns = [np.array(_cut(leaves, kept), dtype=object) for kept in keep]
    columns.append(np.full(len(leaves), "*", dtype=object))
    taxonomy, levels, _ = grown(columns)
    return Hierarchy(taxonomy, levels, TextLeaves(taxonomy.leaves, keep[0]), learnt=True)


def _cut(leaves: Any, kept: int) -> list[str]:
    """Labels of a level; the mark of a leaf that was cut itself is no character of its own."""
    return [
        leaf
        if len(leaf.removesuffix("*")) <= kept and not leaf.endswith("*")
        else f"{leaf.removesuffix('*')[:kept]}*"
        for leaf in leaves.to_pylist()
    ]
