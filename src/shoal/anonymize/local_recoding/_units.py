"""Units: the distinct combinations of quasi-identifiers, which local recoding moves as wholes.

Rows with equal QIDs get equal labels. So a table can be written by joining on its QIDs, the
choice of a row's label never depends on its sensitive value, and one person's rows of one
combination stay together.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize._diversity import ClassRules, LineCounter
from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.local_recoding._common_ancestor import AncestorPenalties
from shoal.anonymize.search_problem import Problem
from shoal.anonymize.taxonomy_arrays import Places, Tree
from shoal.arrays import Floats, Integers

Mask = NDArray[np.bool_]


class Units:
    """The lines of a problem grouped by combination, in the order of their codes.

    That order does not depend on the order of the table's rows, so neither does any result.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.of_line, self.size = number_classes(problem.codes)
        self._order = np.argsort(self.of_line, kind="stable")
        self._first = np.searchsorted(self.of_line[self._order], np.arange(self.size + 1))
        self.codes: NDArray[np.int32] = problem.codes[self._order[self._first[:-1]]]
        self._counting = LineCounter(problem)
        self._rules = ClassRules(self._counting)
        lines = np.arange(len(problem.n))
        self.rows = self._counting.rows(lines, self.of_line, self.size)
        self.people = self._counting.people(lines, self.of_line, self.size)
        self.references = self._rules.references(lines)

    @property
    def adds_up(self) -> bool:
        """Whether the people of a group are the sum of those of its units."""
        return self._counting.adds_up

    @property
    def has_rules(self) -> bool:
        """Whether the problem has an l or t rule."""
        return self._rules.any

    @cached_property
    def shares(self) -> list[Floats]:
        """For each QID the share of rows at each leaf, by code."""
        sizes = (tree.taxonomy.size for tree in self.problem.trees)
        counts = (
            np.bincount(self.codes[:, q], self.rows, minlength=size) for q, size in enumerate(sizes)
        )
        return [count / self.rows.sum() for count in counts]

    @cached_property
    def tops(self) -> list[Places]:
        """For each QID the most general node that may be published for each leaf, by code."""
        problem = self.problem
        pairs = zip(problem.trees, problem.top.nodes, strict=True)
        return [tree.partition(nodes) for tree, nodes in pairs]

    @cached_property
    def penalties(self) -> list[Floats]:
        """For each QID the weighted cost of each node by place; infinite above the top."""
        problem = self.problem
        parts = zip(problem.trees, problem.costs, problem.weights, self.tops, strict=True)
        return [
            np.where(tree.high <= tree.high[top[tree.low]], weight * cost, np.inf)
            for tree, cost, weight, top in parts
        ]

    @cached_property
    def ancestor_penalties(self) -> list[AncestorPenalties]:
        """For each QID, the penalties of lowest common ancestors of leaves and nodes."""
        return [
            AncestorPenalties(t, p) for t, p in zip(self.problem.trees, self.penalties, strict=True)
        ]

    def penalty(self, labels: NDArray[np.integer]) -> Floats:
        """Return the weighted cost of labels, summed over the QIDs."""
        columns = (pay[labels[..., q]] for q, pay in enumerate(self.penalties))
        return np.asarray(sum(columns), dtype=np.float64)

    def full(self, units: NDArray[np.integer], groups: Integers, size: int) -> Mask:
        """Return which groups of units could be published: k, l and t hold.

        People do not add up over units, so they are counted anew unless each has one combination.

        Returns
        -------
        bool (size,).
        """
        enough = self.people_of(units, groups, size) >= self.problem.k
        return enough & self.obeying(units, groups, size)

    def people_of(self, units: NDArray[np.integer], groups: Integers, size: int) -> Integers:
        """Count what k is compared with in each group of units.

        Returns
        -------
        int64 (size,).
        """
        if self.adds_up:
            return np.bincount(groups, self.people[units], minlength=size).astype(np.int64)
        return self._counting.people(*self._lines(units, groups), size)

    def obeying(self, units: NDArray[np.integer], groups: Integers, size: int) -> Mask:
        """Return in which groups of units l and t hold, whatever their size.

        Returns
        -------
        bool (size,).
        """
        if not self.has_rules:
            return np.ones(size, dtype=bool)
        return self._rules.hold(*self._lines(units, groups), size, self.references)

    def publish_only(self, units: NDArray[np.integer]) -> None:
        """Measure closeness against these units from now on; the others are suppressed."""
        lines, _ = self._lines(units, np.zeros(len(units), dtype=np.int64))
        self.references = self._rules.references(lines)

    def _lines(self, units: NDArray[np.integer], groups: Integers) -> tuple[Integers, Integers]:
        """Return the lines of units, and the group of each."""
        first, count = self._first[units], np.diff(self._first)[units]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return self._order[np.repeat(first, count) + within], np.repeat(groups, count)

    def tightest(
        self, units: NDArray[np.integer], groups: Integers, size: int
    ) -> NDArray[np.int32]:
        """Return the lowest nodes that cover each group; no group may be empty.

        Parameters
        ----------
        groups
            The group of each, from 0.

        Returns
        -------
        int32 (size, d): places of nodes.
        """
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(size))
        codes = self.codes[units[order]]
        first, last = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
        return self.covering(first, last)

    def covering(self, first: NDArray[np.int32], last: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the lowest nodes above ranges of codes.

        Parameters
        ----------
        first
            (..., d): the first code on each QID.
        last
            (..., d): the last code on each QID.

        Returns
        -------
        int32 (..., d): places of nodes.
        """
        trees = enumerate(self.problem.trees)
        nodes = [lowest_common_node(tree, first[..., q], last[..., q]) for q, tree in trees]
        return np.stack(nodes, axis=-1)


def lowest_common_node(tree: Tree, first: NDArray[np.integer], last: NDArray[np.integer]) -> Places:
    """Return the lowest node above two leaves, for many pairs at once.

    Examples
    --------
    >>> from shoal.domain import Taxonomy
    >>> tree = Tree(Taxonomy.nested("*", {"school": ["primary", "secondary"], "x": ["evening"]}))
    >>> lowest_common_node(tree, np.array([0, 0, 1]), np.array([0, 1, 2])).tolist()
    [2, 1, 0]
    """
    nodes: Places = tree.leaf[first]
    short = tree.high[nodes] <= last
    while short.any():
        nodes = np.where(short, tree.parent[nodes], nodes)
        short = tree.high[nodes] <= last
    return nodes


def sum_by_group(groups: Integers, of: NDArray[Any], size: int) -> Floats:
    """Return the sum in each group; whole numbers are exact up to 2**53.

    Parameters
    ----------
    groups
        The group of each entry, from 0.
    Returns
    -------
    float64 (size,).
    """
    return np.bincount(groups, of, minlength=size).astype(np.float64)
