"""A taxonomy as arrays, and the certainty penalty of each of its nodes.

Arrays let millions of codes find their nodes at once. The normalised certainty penalty of a node is
what publishing it loses.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import Taxonomy

Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Tree:
    """The nodes of a taxonomy as arrays, by their place in ``Taxonomy.nodes``; place 0 is the root.

    ``low``, ``high``, ``parent``, ``depth`` are those of ``Node``, each of shape (nodes,);
    a node is a leaf if ``high - low`` is 1. Places are in preorder: a parent comes before its
    children, and siblings follow one another in the order of their codes.

    Examples
    --------
    >>> below = {"school": ["primary", "secondary"], "other": ["evening"]}
    >>> tree = Tree(Taxonomy.nested("any", below))
    >>> tree.fanout.tolist(), tree.rank.tolist()
    ([2, 2, 0, 0, 0], [0, 0, 0, 1, 1])
    >>> tree.below(np.array([0, 1]), np.array([1, 1])).tolist()  # the way down to 'secondary'
    [1, 3]
    """

    taxonomy: Taxonomy

    @cached_property
    def low(self) -> Places:
        """The first leaf code below each node."""
        return np.array([node.low for node in self.taxonomy.nodes], dtype=np.int32)

    @cached_property
    def high(self) -> Places:
        """One more than the last leaf code below each node."""
        return np.array([node.high for node in self.taxonomy.nodes], dtype=np.int32)

    @cached_property
    def parent(self) -> Places:
        """The place of each node's parent, -1 for the root."""
        return np.array([node.parent for node in self.taxonomy.nodes], dtype=np.int32)

    @cached_property
    def depth(self) -> Places:
        """The steps from the root to each node."""
        return np.array([node.depth for node in self.taxonomy.nodes], dtype=np.int32)

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.taxonomy.nodes)

    @cached_property
    def fanout(self) -> Integers:
        """The number of children of each node; 0 for a leaf."""
        return np.bincount(self.parent[1:], minlength=self.size)

    @cached_property
    def rank(self) -> Places:
        """Each node's number among its siblings, from 0."""
        order = np.argsort(self.parent, kind="stable")
        first = np.searchsorted(self.parent[order], self.parent[order])
        rank = np.empty(self.size, dtype=np.int32)
        rank[order] = np.arange(self.size) - first
        return rank

    @cached_property
    def height(self) -> Places:
        """The steps from each node down to its deepest leaf; 0 for a leaf."""
        height = np.zeros(self.size, dtype=np.int32)
        for place in range(self.size - 1, 0, -1):
            parent = self.parent[place]
            height[parent] = max(height[parent], height[place] + 1)
        return height

    @cached_property
    def leaf(self) -> Places:
        """The place of each leaf, by its code."""
        return np.flatnonzero(self.high - self.low == 1).astype(np.int32)

    @cached_property
    def ancestors(self) -> NDArray[np.int32]:
        """Row t, column c: the node at depth t above leaf c, or c itself if less deep."""
        levels = [self.leaf]
        for depth in range(int(self.depth.max()), 0, -1):
            deep = self.depth[levels[-1]] == depth
            levels.append(np.where(deep, self.parent[levels[-1]], levels[-1]))
        return np.stack(levels[::-1])

    def below(self, places: NDArray[np.integer], codes: NDArray[np.integer]) -> Places:
        """Return the child of each node on the way to a leaf below it; a leaf is its own child."""
        depth = np.minimum(self.depth[places] + 1, len(self.ancestors) - 1)
        children: Places = self.ancestors[depth, codes]
        return children

    def sums(self, of_leaves: ArrayLike) -> Floats:
        """Return, for each node, the sum of a number over its leaves."""
        total = np.concatenate([[0], np.cumsum(np.asarray(of_leaves, dtype=np.float64))])
        sums: Floats = total[self.high] - total[self.low]
        return sums

    def partition(self, places: ArrayLike) -> Places:
        """Return, for each leaf code, the node of a cut that covers it; -1 where none does."""
        cover = np.full(self.taxonomy.size, -1, dtype=np.int32)
        for place in np.asarray(places, dtype=np.int64):
            cover[self.low[place] : self.high[place]] = place
        return cover


def leaf_count_costs(taxonomy: Taxonomy, values: ArrayLike) -> Floats:
    r"""Return costs :math:`(v(y) - 1) / (v(\text{root}) - 1)` of a column of countable values.

    Parameters
    ----------
    values
        For each leaf, by code, how many values it stands for: 1, or 0 for a leaf of nulls; for
        integers the number of values of the declared domain it covers.

    Examples
    --------
    >>> system = Taxonomy.nested("any", {"school": ["primary", "secondary"], "other": ["evening"]})
    >>> leaf_count_costs(system, [1, 1, 1]).tolist()
    [1.0, 0.5, 0.0, 0.0, 0.0]
    """
    counts = Tree(taxonomy).sums(values)
    costs: Floats = np.maximum(counts - 1, 0) / max(counts[0] - 1, 1)
    return costs


def width_costs(taxonomy: Taxonomy, widths: ArrayLike) -> Floats:
    """Return costs of a continuous column: each node's share of the declared range.

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


def level_costs(taxonomy: Taxonomy, levels: NDArray[np.int32]) -> Floats:
    """Return costs by the level of a label over the root's (Sweeney 2002, Prec).

    They are for learnt hierarchies, where the number of leaves below a label depends on people,
    suppressed ones included, and its level does not.

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
