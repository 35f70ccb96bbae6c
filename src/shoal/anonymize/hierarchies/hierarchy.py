"""A column's hierarchy: its tree, its levels as written, and how values find their leaves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.tree import Tree, counted_costs, level_costs, width_costs
from shoal.domain import Node, Taxonomy

__all__ = ["NO_LEAF", "NULL", "Codes", "Edges", "Hierarchy", "Labels", "grown"]

NULL = "<null>"
NO_LEAF = -1
Labels = NDArray[np.object_]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Edges:
    """The interval of numbers behind each leaf, by code: ``[low, high)`` of the declared domain.

    ``whole``: the numbers are integers, so an interval holds ``high - low`` values.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    whole: bool


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """What a column's values may be generalised to.

    Parameters
    ----------
    taxonomy
        The tree, unary chains contracted.
    levels
        int32 (levels, leaves): the place of the node above each leaf at each level as written,
        level 0 the leaves and the last the root, before chains were contracted.
    leaf_of
        Finds the leaf code of each value of an Arrow column without nulls; ``NO_LEAF`` if none.
    edges
        For hierarchies of numbers, the interval of each leaf.
    learnt
        Whether the leaves or the split points came from the table's own rows.
    notes
        What was noticed on the way and should be told.
    """

    taxonomy: Taxonomy
    levels: NDArray[np.int32]
    leaf_of: Callable[[Any], Codes]
    edges: Edges | None = None
    learnt: bool = False
    notes: tuple[str, ...] = ()

    @property
    def null(self) -> int | None:
        """The code of the leaf for nulls, the last, if there is one."""
        last = self.taxonomy.nodes[-1]
        return last.low if last.label == NULL and last.depth == 1 else None

    def costs(self) -> NDArray[np.float64]:
        """The certainty penalty of every node, by place; nulls are no value and cost nothing.

        A label costs what its text and the policy tell, whatever the table has below it: costs are
        published, added up, and the table's own values would show, suppressed ones among them.
        Declared leaves and declared domains are counted; learnt leaves cost by their level.
        """
        if self.edges is None and self.learnt:
            return level_costs(self.taxonomy, self.levels)
        if self.edges is None:
            declared = np.ones(self.taxonomy.size)
            if self.null is not None:
                declared[self.null] = 0
            return counted_costs(self.taxonomy, declared)
        widths = np.zeros(self.taxonomy.size)
        widths[: len(self.edges.low)] = self.edges.high - self.edges.low
        by_domain = counted_costs if self.edges.whole else width_costs
        return by_domain(self.taxonomy, widths)

    def with_null(self) -> "Hierarchy":
        """The same with one leaf more, right below the root, for missing values."""
        nodes, size = self.taxonomy.nodes, self.taxonomy.size
        if len(nodes) == 1:  # a lone leaf gets a root to share with the null
            root, *rest = Node("*", 0, size + 1, -1, 0), Node(nodes[0].label, 0, 1, 0, 1)
            levels = np.ones((max(len(self.levels), 2), 1), dtype=np.int32)
            levels[-1] = 0
        else:
            root, rest, levels = replace(nodes[0], high=size + 1), list(nodes[1:]), self.levels
        null = Node(NULL, size, size + 1, 0, 1)
        above = np.full((len(levels), 1), len(rest) + 1, dtype=np.int32)
        above[-1] = 0
        return replace(
            self,
            taxonomy=Taxonomy((root, *rest, null)),
            levels=np.concatenate([levels, above], axis=1),
        )

    def level_nodes(self, level: int) -> tuple[int, ...]:
        """The places of the nodes at a level as written; the root's level is the last."""
        return tuple(int(place) for place in np.unique(self.levels[level]))

    def paths(self) -> list[list[str]]:
        """One row a leaf, the leaf first and the root last: the rows of an ARX file."""
        label = np.array([node.label for node in self.taxonomy.nodes], dtype=object)
        rows: list[list[str]] = label[self.levels].T.tolist()
        return rows

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the greatest bound of each node of numbers, by place; NaN for nulls."""
        assert self.edges is not None
        tree = Tree(self.taxonomy)
        low = np.append(self.edges.low, [np.nan] * 2)
        high = np.append(self.edges.high, [np.nan] * 2)
        last = np.minimum(tree.high, len(self.edges.high)) - 1  # the root's last leaf may be null
        is_null = tree.low >= len(self.edges.low)
        return np.where(is_null, np.nan, low[tree.low]), np.where(is_null, np.nan, high[last])


def grown(columns: Sequence[Labels]) -> tuple[Taxonomy, NDArray[np.int32], NDArray[np.int64]]:
    """The tree of labelled levels, leaves first and root last, each label standing for one node.

    Returns the taxonomy, the levels as places (in the order of codes) and, for each code, where
    its leaf stood. Chains are contracted: to the leaf if one ends them, else to their top.

    Examples
    --------
    >>> columns = [["1", "3", "2"], ["1-2", "3-4", "1-2"], ["*", "*", "*"]]
    >>> tree, levels, order = grown([np.array(c, dtype=object) for c in columns])
    >>> tree.leaves, [node.label for node in tree.nodes], order.tolist()
    (('1', '2', '3'), ['*', '1-2', '1', '2', '3'], [0, 2, 1])
    """
    groups = [_first_seen(column) for column in columns]
    order = np.lexsort(groups)  # the last key, the root, sorts first; equal keys keep their place
    runs = [_runs([group[order] for group in groups[level:]]) for level in range(len(groups))]
    found: dict[tuple[int, int], str] = {}
    for level in reversed(range(len(runs))):
        for low, high in zip(runs[level], [*runs[level][1:], len(order)], strict=True):
            if (low, high) not in found or high - low == 1:
                found[low, high] = columns[level][order[low]]
    intervals = sorted(found, key=lambda interval: (interval[0], -interval[1]))
    place = {interval: at for at, interval in enumerate(intervals)}
    levels = np.stack([_places(starts, len(order), place) for starts in runs])
    return Taxonomy(tuple(_nodes(intervals, found))), levels, order


def _first_seen(column: Labels) -> NDArray[np.int64]:
    """Labels numbered in the order they are met first."""
    number: dict[Any, int] = {}
    return np.array([number.setdefault(label, len(number)) for label in column], dtype=np.int64)


def _runs(groups: Sequence[NDArray[np.int64]]) -> list[int]:
    """Where a new node begins at a level: its label, or one above it, is another."""
    new = np.ones(len(groups[0]), dtype=bool)
    new[1:] = False
    for group in groups:
        new[1:] |= group[1:] != group[:-1]
    starts: list[int] = np.flatnonzero(new).tolist()
    return starts


def _places(starts: list[int], size: int, place: dict[tuple[int, int], int]) -> NDArray[np.int32]:
    stops = [*starts[1:], size]
    nodes = [place[interval] for interval in zip(starts, stops, strict=True)]
    return np.repeat(np.array(nodes, dtype=np.int32), np.diff([*starts, size]))


def _nodes(intervals: list[tuple[int, int]], label: dict[tuple[int, int], str]) -> list[Node]:
    """Intervals in preorder as nodes: a parent is the last one before that still covers it."""
    nodes: list[Node] = []
    above: list[int] = []
    for at, (low, high) in enumerate(intervals):
        while above and nodes[above[-1]].high <= low:
            above.pop()
        nodes.append(Node(label[low, high], low, high, above[-1] if above else -1, len(above)))
        above.append(at)
    return nodes
