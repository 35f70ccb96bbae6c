"""Lines of a frequency table that stay where they are: what a search asks of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import classes_of
from shoal.anonymize.gains import Nodes
from shoal.anonymize.lookup import Lookup
from shoal.anonymize.problem import Cut, Problem
from shoal.anonymize.tree import Tree

__all__ = ["Children", "Distant", "Divide", "Merge", "Merged"]

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


class Merged(NamedTuple):
    """Lines with equal codes made one: ``codes`` int32 (lines, d), ``n`` int64 (lines,)."""

    codes: Codes
    n: Ints


class Children(NamedTuple):
    """Rows by class and child: ``of`` the class, ``child`` a node of all QIDs, ``n`` its rows."""

    of: Ints
    child: Ints
    n: Ints

    def take(self, which: NDArray[np.bool_]) -> "Children":
        """Some of them."""
        return Children(self.of[which], self.child[which], self.n[which])


class Distant(Protocol):
    """Lines too many to hold here; every call reads all of them once."""

    def merged(self, floor: Cut, most: int | None = None) -> Merged | None:
        """Lines told apart no further than by the nodes of ``floor``; None if over ``most``."""

    def children(self, classes: Codes, cut: Cut, nodes: NDArray[np.bool_]) -> Children:
        """How some classes of a cut divide by the children of these nodes of all QIDs."""


@dataclass(frozen=True, eq=False)
class Merge:
    """Merges lines below a floor: each node is stood for by its first leaf.

    Examples
    --------
    >>> from shoal.anonymize.lines import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0], [1], [1], [3]], k=2)
    >>> merged = Merge.below(Cut(((1, 4),)), table)(table.codes, table.n)
    >>> merged.codes.tolist(), merged.n.tolist()
    ([[0], [2]], [3, 1])
    """

    stands_for: tuple[Codes, ...]

    @classmethod
    def below(cls, floor: Cut, problem: Problem) -> "Merge":
        """What merges the lines of a problem below a floor; leaves it does not cover stay."""
        pairs = zip(problem.trees, floor.nodes, strict=True)
        return cls(tuple(_first_leaves(tree, tree.partition(nodes)) for tree, nodes in pairs))

    def __call__(self, codes: Codes, n: Ints) -> Merged:
        """Distinct lines and their rows."""
        low = np.stack([of[codes[:, q]] for q, of in enumerate(self.stands_for)], axis=1)
        ids, size = classes_of(low)
        merged = np.empty((size, low.shape[1]), dtype=np.int32)
        merged[ids] = low
        return Merged(merged, _sums(ids, n, size))


@dataclass(frozen=True, eq=False)
class Divide:
    """Counts how the lines of some classes fall among the children of their nodes.

    A class is told by its labels: all classes share one cut, so lines under labels that are not
    among ``classes`` belong to other classes, or were suppressed.
    """

    classes: Codes
    cut: Cut
    nodes: NDArray[np.bool_]
    problem: Problem  # for its trees; its lines do not matter

    def __call__(self, codes: Codes, n: Ints) -> Children:
        """Rows by class and child."""
        labels = [cover[codes[:, q]] for q, cover in enumerate(self._covers)]
        of = self._lookup.find(labels)
        inside = np.flatnonzero(of >= 0)
        parts = [self._below(q, inside, of, labels[q], codes) for q in range(len(labels))]
        keys = np.concatenate([key for key, _ in parts])
        rows = np.concatenate([n[lines] for _, lines in parts])
        found, ids = np.unique(keys, return_inverse=True)
        return self.unpacked(found, _sums(ids, rows, len(found)))

    def packed(self, found: Children) -> Ints:
        """Class and child as one number."""
        return found.of * len(self.nodes) + found.child

    def unpacked(self, keys: Ints, n: Ints) -> Children:
        """Class and child from one number."""
        return Children(keys // len(self.nodes), keys % len(self.nodes), n)

    def _below(
        self, q: int, inside: Ints, of: Ints, label: Codes, codes: Codes
    ) -> tuple[Ints, Ints]:
        """Packed class and child of the lines whose node on a QID is to be divided."""
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
    def _lookup(self) -> Lookup:
        return Lookup(self.classes)


def _first_leaves(tree: Tree, cover: Codes) -> Codes:
    leaves = np.arange(len(cover), dtype=np.int32)
    return np.where(cover < 0, leaves, tree.low[cover])


def _sums(ids: Ints, n: Ints, size: int) -> Ints:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, ids, n)
    return sums
