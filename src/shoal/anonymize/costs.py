"""The normalised certainty penalty of every node of a taxonomy: what publishing it loses."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.anonymize.tree import Tree
from shoal.domain import Taxonomy

__all__ = ["counted_costs", "level_costs", "width_costs"]


def counted_costs(taxonomy: Taxonomy, values: ArrayLike) -> NDArray[np.float64]:
    r"""Costs :math:`(v(y) - 1) / (v(\text{root}) - 1)` of a column whose values can be counted.

    Parameters
    ----------
    values
        For each leaf, by code, how many values it stands for: 1, or 0 for a leaf of nulls; for
        integers the number of values of the declared domain it covers.

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


def level_costs(taxonomy: Taxonomy, levels: NDArray[np.int32]) -> NDArray[np.float64]:
    """Costs by how far up a label stands: its level over the root's (Sweeney 2002, Prec).

    For hierarchies whose leaves were learnt: how many leaves lie below a label is then a fact about
    people, suppressed ones among them; at which level the label is written is not.

    Parameters
    ----------
    levels
        int32 (levels, leaves): the place of the node above each leaf at each level as written. A
        node that stands at several, as chains are contracted, is named by the highest of them, but
        a leaf by the lowest.

    Examples
    --------
    >>> codes = Taxonomy.paths([["70", "7*", "*"], ["71", "7*", "*"], ["80", "80", "*"]])
    >>> above = np.array([[2, 3, 4], [1, 1, 4], [0, 0, 0]], dtype=np.int32)
    >>> level_costs(codes, above).tolist()
    [1.0, 0.5, 0.0, 0.0, 0.0]
    """
    costs = np.zeros(len(taxonomy.nodes))
    for level, places in enumerate(levels):
        costs[places] = level / max(len(levels) - 1, 1)
    costs[[node.high - node.low == 1 for node in taxonomy.nodes]] = 0.0
    return costs
