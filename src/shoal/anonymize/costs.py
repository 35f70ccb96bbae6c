"""The normalised certainty penalty of every node of a taxonomy: what publishing it loses."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.anonymize.tree import Tree
from shoal.domain import Taxonomy

__all__ = ["counted_costs", "width_costs"]


def counted_costs(taxonomy: Taxonomy, values: ArrayLike) -> NDArray[np.float64]:
    r"""Costs :math:`(v(y) - 1) / (v(\text{root}) - 1)` of a column whose values can be counted.

    Parameters
    ----------
    values
        For each leaf, by code, how many values it stands for: 1 if it occurs in the table and 0
        if it does not; for integers the number of values of the declared domain it covers.

    Examples
    --------
    >>> system = Taxonomy.nested("any", {"school": ["primary", "secondary"], "other": ["evening"]})
    >>> counted_costs(system, [1, 1, 1]).tolist()
    [1.0, 0.5, 0.0, 0.0, 0.0]
    """
    counts = Tree(taxonomy).sums(values)
    costs: NDArray[np.float64] = np.maximum(counts - 1, 0) / max(counts[0] - 1, 1)
    return costs


def width_costs(taxonomy: Taxonomy, widths: ArrayLike) -> NDArray[np.float64]:
    """Costs of a continuous column: a node's share of the declared range.

    Parameters
    ----------
    widths
        For each leaf, by code, the length of its interval; 0 for a leaf of nulls.

    Examples
    --------
    >>> width_costs(Taxonomy.nested("0-4", ["0-1", "1-4"]), [1, 3]).tolist()
    [1.0, 0.25, 0.75]
    """
    lengths = Tree(taxonomy).sums(widths)
    return lengths / (lengths[0] or 1.0)
