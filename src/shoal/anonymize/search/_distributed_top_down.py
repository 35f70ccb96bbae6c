"""Search from the top without fetching lines: each split is counted where the lines are.

All classes share one cut, so the labels of a line determine its class. Lines never change, and
nothing about them is kept from one split to the next.

``RemoteLines`` is the interface that the owner of the lines implements.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.equivalence_classes import RowLookup, measure_release, number_classes
from shoal.anonymize.search._greedy_splits import (
    NONE,
    GreedySearch,
    LossUnit,
    Nodes,
    ScoreName,
    SharedCounts,
    entropy_gain,
    ncp_gains,
    smallest_class_after,
)
from shoal.anonymize.search._top_down import refuse_start, refuse_too_few
from shoal.anonymize.search_problem import Cut, Problem, SearchOutcome
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.arrays import Floats, Integers

Codes = NDArray[np.int32]

Mask = NDArray[np.bool_]
Places = NDArray[np.int32]


class MergedLines(NamedTuple):
    """Lines of which those with equal codes were merged.

    Parameters
    ----------
    codes
        int32 (lines, d).
    n
        int64 (lines,): the rows of each.
    """

    codes: Codes
    n: Integers


class ChildCounts(NamedTuple):
    """Numbers of rows by class and child."""

    of: Integers
    child: Integers
    n: Integers

    def take(self, which: NDArray[np.bool_]) -> "ChildCounts":
        """Return some of the entries."""
        return ChildCounts(self.of[which], self.child[which], self.n[which])


class RemoteLines(Protocol):
    """The interface of lines that stay remote; every call reads all of them once."""

    def merged(self, floor: Cut, most: int | None = None) -> MergedLines | None:
        """Return lines merged below the nodes of ``floor``; None if they are more than ``most``.

        Parameters
        ----------
        most
            The largest number of lines; None for any.
        """

    def children(self, classes: Codes, cut: Cut, nodes: NDArray[np.bool_]) -> ChildCounts:
        """Count how some classes of a cut divide by the children of these nodes."""


@dataclass(frozen=True, eq=False)
class MergeLines:
    """A kernel that merges lines below a floor, by replacing each leaf by its node's first leaf.

    Examples
    --------
    >>> from shoal.anonymize.search_problem import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0], [1], [1], [3]], k=2)
    >>> merged = MergeLines.below(Cut(((1, 4),)), table)(table.codes, table.n)
    >>> merged.codes.tolist(), merged.n.tolist()
    ([[0], [2]], [3, 1])
    """

    stands_for: tuple[Codes, ...]

    @classmethod
    def below(cls, floor: Cut, problem: Problem) -> "MergeLines":
        """Return the kernel for a floor; leaves that it does not cover stay."""
        pairs = zip(problem.trees, floor.nodes, strict=True)
        return cls(tuple(_first_leaves(tree, tree.partition(nodes)) for tree, nodes in pairs))

    def __call__(self, codes: Codes, n: Integers) -> MergedLines:
        """Return distinct lines and their rows."""
        low = np.stack([of[codes[:, q]] for q, of in enumerate(self.stands_for)], axis=1)
        ids, size = number_classes(low)
        merged = np.empty((size, low.shape[1]), dtype=np.int32)
        merged[ids] = low
        return MergedLines(merged, _sums(ids, n, size))


@dataclass(frozen=True, eq=False)
class CountChildren:
    """A kernel that counts how the lines of classes fall among the children of their nodes.

    Lines whose labels are not among ``classes`` belong to other classes, or were suppressed.

    Parameters
    ----------
    problem
        The problem with its trees; its lines are not read.
    """

    classes: Codes
    cut: Cut
    nodes: NDArray[np.bool_]
    problem: Problem

    def __call__(self, codes: Codes, n: Integers) -> ChildCounts:
        """Count rows by class and child."""
        labels = [cover[codes[:, q]] for q, cover in enumerate(self._covers)]
        of = self._lookup.find(labels)
        inside = np.flatnonzero(of >= 0)
        parts = [self._below(q, inside, of, labels[q], codes) for q in range(len(labels))]
        keys = np.concatenate([key for key, _ in parts])
        rows = np.concatenate([n[lines] for _, lines in parts])
        pairs, ids = np.unique(keys, return_inverse=True)
        return self.unpacked(pairs, _sums(ids, rows, len(pairs)))

    def packed(self, children: ChildCounts) -> Integers:
        """Pack class and child into one number."""
        return children.of * len(self.nodes) + children.child

    def unpacked(self, keys: Integers, n: Integers) -> ChildCounts:
        """Unpack class and child from one number."""
        return ChildCounts(keys // len(self.nodes), keys % len(self.nodes), n)

    def _below(
        self, q: int, inside: Integers, of: Integers, label: Codes, codes: Codes
    ) -> tuple[Integers, Integers]:
        """Return the packed class and child of the lines whose node on a QID is divided."""
        first = self._first[q]
        lines = inside[self.nodes[first + label[inside]]]
        child = self.problem.trees[q].below(label[lines], codes[lines, q])
        return of[lines] * len(self.nodes) + first + child, lines

    @cached_property
    def _first(self) -> Sequence[int]:
        return [int(first) for first in Nodes(self.problem).first]

    @cached_property
    def _covers(self) -> list[Codes]:
        pairs = zip(self.problem.trees, self.cut.nodes, strict=True)
        return [tree.partition(nodes) for tree, nodes in pairs]

    @cached_property
    def _lookup(self) -> RowLookup:
        return RowLookup(self.classes)


def _first_leaves(tree: Tree, cover: Codes) -> Codes:
    leaves = np.arange(len(cover), dtype=np.int32)
    return np.where(cover < 0, leaves, tree.low[cover])


def _sums(ids: Integers, n: Integers, size: int) -> Integers:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, ids, n)
    return sums


class RemoteFrontier:
    """The live classes, how each divides by each QID, and the effects for each node.

    Parameters
    ----------
    shared
        The problem; its lines are the classes at the start.
    """

    def __init__(self, shared: SharedCounts, score: ScoreName) -> None:
        self._shared, self._score = shared, score
        nodes = shared.nodes
        self.open = nodes.inner.copy()
        self.node = np.empty((0, shared.problem.d), dtype=np.int32)
        self.people = np.empty(0, dtype=np.int64)
        self.cells = ChildCounts(*np.zeros((3, 0), dtype=np.int64))
        parents = [f + t.parent for f, t in zip(nodes.first, nodes.trees, strict=False)]
        self._parent = np.concatenate(parents).astype(np.int64)

    @property
    def classes(self) -> int:
        """The number of live classes."""
        return len(self.people)

    def below(self, node: int) -> ChildCounts:
        """Return the children of a node, class by class."""
        return self.cells.take(self._parent[self.cells.child] == node)

    def put(self, gone: Mask, node: Places, people: Integers, cells: ChildCounts) -> None:
        """Remove classes, and append new ones with their children."""
        number = np.cumsum(~gone) - 1
        stay = self.cells.take(~gone[self.cells.of])
        self.node = np.concatenate([self.node[~gone], node])
        self.people = np.concatenate([self.people[~gone], people])
        of = np.concatenate([number[stay.of], cells.of + np.count_nonzero(~gone)])
        child, n = np.append(stay.child, cells.child), np.append(stay.n, cells.n)
        order = np.lexsort((child, of))
        self.cells = ChildCounts(of[order], child[order], n[order])
        self._count()

    def smallest(self, candidates: Integers) -> tuple[int, Integers]:
        """Return the people in the smallest class now, and after the split of each candidate."""
        smallest, least = np.full((2, self._shared.nodes.size), NONE)
        np.minimum.at(smallest, self._flat, self.people[:, None])
        hold = self.cells.n >= self._shared.problem.k
        np.minimum.at(least, self._parent[self.cells.child[hold]], self.cells.n[hold])
        return smallest_class_after(self._shared.nodes.first, smallest, least, candidates)

    @property
    def of_nodes(self) -> Floats:
        """Return the gain of splitting each node."""
        problem, first = self._shared.problem, self._shared.nodes.first
        rows = np.zeros(self._shared.nodes.size)
        np.add.at(rows, self.cells.child, self.cells.n)
        parts = np.split(rows, first[1:-1])
        return np.concatenate(
            [ncp_gains(problem, q, part, self._score) for q, part in enumerate(parts)]
        )

    @property
    def _flat(self) -> Integers:
        return np.asarray(self.node + self._shared.nodes.first[:-1])

    def _count(self) -> None:
        size, (of, child, n) = self._shared.nodes.size, self.cells
        parent, hold = self._parent[child], n >= self._shared.problem.k
        self.held = np.bincount(self._flat.ravel(), minlength=size)
        self.stay = np.bincount(parent[hold], minlength=size)
        self.lost, self.bits = np.zeros((2, size), dtype=np.int64)
        np.add.at(self.lost, parent[~hold], n[~hold])
        if len(n):
            new = np.ones(len(n), dtype=bool)
            new[1:] = (of[1:] != of[:-1]) | (parent[1:] != parent[:-1])
            first = np.flatnonzero(new)
            np.add.at(self.bits, parent[first], entropy_gain(n, first, self._shared.per_bit))


class RemoteSearch(GreedySearch):
    """A greedy search whose lines stay remote; only k is supported, counted in rows.

    Parameters
    ----------
    closed
        bool (nodes of all QIDs,): nodes that were found invalid before.
    """

    def __init__(
        self,
        shared: SharedCounts,
        lines: RemoteLines,
        score: ScoreName,
        unit: LossUnit,
        closed: Mask,
    ) -> None:
        frontier = RemoteFrontier(shared, score)
        frontier.open &= ~closed
        super().__init__(shared, score, unit, frontier, frontier)
        self._frontier, self._lines = frontier, lines
        self._gone: list[tuple[Places, Integers]] = []

    def search(self) -> tuple[Problem, SearchOutcome]:
        """Search, and return the classes as lines of a problem, with their outcome."""
        self._start()
        while len(nodes := self.valid()):
            self.split_best(nodes)
        return self._outcome()

    def split(self, q: int, place: int) -> None:
        """Divide every class at a node by its children, and suppress the children that fail."""
        frontier, first = self._frontier, int(self._shared.nodes.first[q])
        cells = frontier.below(first + place)
        node = frontier.node[cells.of]
        node[:, q] = cells.child - first
        gone = frontier.node[:, q] == place
        frontier.open[first + place] = False
        self._splits.append((q, place))
        self._put(gone, node, cells.n)

    def _start(self) -> None:
        problem = self._problem
        refuse_too_few(self._shared)
        none = np.zeros(0, dtype=bool)
        self._put(none, problem.labels(problem.top), problem.n)
        refuse_start(problem, self._suppressed, self._frontier.classes > 0)

    def _put(self, gone: Mask, node: Places, n: Integers) -> None:
        """Replace classes by new ones; those with fewer than k rows are suppressed."""
        hold = n >= self._problem.k
        self._gone.append((node[~hold], n[~hold]))
        self._suppressed += int(n[~hold].sum())
        cells = ChildCounts(*np.zeros((3, 0), dtype=np.int64))
        if hold.any():
            cells = self._lines.children(node[hold], self.cut, self._frontier.open)
        self._frontier.put(gone, node[hold], n[hold], cells)

    def _outcome(self) -> tuple[Problem, SearchOutcome]:
        live, cut = self._frontier, self.cut
        node = np.concatenate([live.node, *(node for node, _ in self._gone)])
        n = np.concatenate([live.people, *(n for _, n in self._gone)])
        codes = [tree.low[node[:, q]] for q, tree in enumerate(self._problem.trees)]
        problem = replace(self._problem, codes=np.stack(codes, axis=1), n=n)
        suppressed = np.arange(len(n)) >= live.classes
        labels = problem.labels(cut)
        metrics = measure_release(problem, labels, suppressed)
        return problem, SearchOutcome(labels, suppressed, metrics, cut, method=self._score)
