"""The live classes of a search and, for each node on the cut, the effect of splitting it.

A class is a slice of ``order``. For each class and QID the search keeps what dividing that class
by that QID would do; for each node the sums over its classes. Sums are of whole numbers (bits in
units of a power of two), so they can be taken back exactly, and no order of lines changes them.

Classes as slices of an order of lines, and how a slice falls apart into cells.
"""

from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.search.greedy import SharedCounts
from shoal.arrays import Floats, Integers

_RADIX = 2**16

NONE = np.iinfo(np.int64).max  # the smallest size where there are no classes


class ClassSlices(NamedTuple):
    """Classes as slices of ``order``, with the people and nodes of each.

    Each field has one entry for each class.

    Parameters
    ----------
    start
        Where each class begins in ``order``.
    node
        (classes, d): its node on each QID.
    """

    start: Integers
    length: Integers
    people: Integers
    node: NDArray[np.int32]

    def take(self, which: NDArray[Any]) -> "ClassSlices":
        """Return some of the classes."""
        return ClassSlices(*(part[which] for part in cast("tuple[NDArray[Any], ...]", self)))

    def put(self, slots: Integers, new: "ClassSlices") -> None:
        """Write other classes into these slots."""
        for part, values in zip(cast("tuple[NDArray[Any], ...]", self), new, strict=True):
            part[slots] = values

    @classmethod
    def room(cls, count: int, d: int) -> "ClassSlices":
        """Return empty slots."""
        start, length, people = np.zeros((3, count), dtype=np.int64)
        return cls(start, length, people, np.full((count, d), -1, dtype=np.int32))


def slice_positions(start: Integers, length: Integers) -> Integers:
    """Return the positions of several slices, one after another.

    Examples
    --------
    >>> slice_positions(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(int(length.sum()))


class ClassParts(NamedTuple):
    """The cells into which classes are divided, those of one class together in child order.

    Cells without lines may be left out.
    """

    of: Integers
    parent: Integers
    rank: Integers
    first: Integers

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.parent)


def divide_classes(owner: Integers, rank: NDArray[np.int32], fanout: Integers) -> ClassParts:
    """Divide classes by the children of their nodes.

    Parameters
    ----------
    fanout
        For each class how many children there are. A child with no line may be left out.

    Examples
    --------
    >>> rank = np.array([1, 0, 1], dtype=np.int32)
    >>> divide_classes(np.array([0, 0, 1]), rank, np.array([2, 3])).of.tolist()
    [1, 0, 3]
    """
    end = np.cumsum(fanout)
    begin = end - fanout
    cell = begin[owner] + rank
    present = np.arange(end[-1])
    # With far more children than lines, sorting the lines is cheaper than marking all children.
    if len(present) > 8 * len(cell) + 1024:
        present, cell = np.unique(cell, return_inverse=True)
    parent = np.searchsorted(end, present, side="right")
    first = np.searchsorted(present, begin)
    return ClassParts(cell, parent, present - begin[parent], first)


def sort_by_cell(cell: Integers, size: int) -> Integers:
    """Return the order that brings equal cells together and keeps the order within a cell.

    NumPy sorts 16-bit numbers by counting, several times faster than wider ones.
    """
    order = np.argsort((cell % _RADIX).astype(np.uint16), kind="stable")
    if size > _RADIX:
        order = order[np.argsort((cell // _RADIX)[order], kind="stable")]
    return order


class _Effects(NamedTuple):
    """The effects of dividing each class (axis 0) by each QID (axis 1).

    They are rows lost, children kept, entropy gained in units, and people in the smallest child
    kept.
    """

    lost: Integers
    stay: Integers
    bits: Integers
    least: Integers


class Frontier:
    """The live classes, and for each node of the cut the effect of splitting it."""

    def __init__(self, shared: SharedCounts, bits: bool, sizes: bool) -> None:
        problem, nodes = shared.problem, shared.nodes
        self._shared, self._bits, self._sizes = shared, bits, sizes
        self.order = np.arange(len(problem.n))
        # A node that was found invalid is never tried again.
        self.open = nodes.inner.copy()
        self.classes = 0
        self.lost, self.stay, self.bits, self.held = np.zeros((4, nodes.size), dtype=np.int64)
        self._smallest, self._least = np.full((2, nodes.size), NONE)
        self._used = 0
        self._slices = ClassSlices.room(64, problem.d)
        self._effects = _Effects(*np.zeros((4, 64, problem.d), dtype=np.int64))
        self._rank = np.zeros((problem.d, len(problem.n)), dtype=np.int32)

    def at(self, q: int, place: int) -> tuple[Integers, ClassSlices]:
        """Return the slots of the classes published under a node, and these classes."""
        slots = np.flatnonzero(self._slices.node[: self._used, q] == place)
        return slots, self._slices.take(slots)

    def rank(self, q: int, lines: Integers) -> NDArray[np.int32]:
        """Return, for each line, the child of its class's node below which it lies."""
        rank: NDArray[np.int32] = self._rank[q, lines]
        return rank

    def remove(self, slots: Integers) -> None:
        """Remove classes and their effects."""
        node = self._flat(self._slices.node[slots])
        for total, effect in zip((self.lost, self.stay, self.bits), self._effects, strict=False):
            np.subtract.at(total, node, effect[slots])
        np.subtract.at(self.held, node, 1)
        self._slices.node[slots] = -1
        self.classes -= len(slots)

    def add(self, new: ClassSlices, references: list[Integers], reuse: Integers) -> None:
        """Add classes, and compute their effects."""
        slots = self._room(len(new.start), reuse)
        self._slices.put(slots, new)
        effects = self._effects_on(new, references)
        node = self._flat(new.node)
        for total, effect in zip((self.lost, self.stay, self.bits), effects, strict=False):
            np.add.at(total, node, effect)
        np.add.at(self.held, node, 1)
        for stored, effect in zip(self._effects, effects, strict=True):
            stored[slots] = effect
        self.classes += len(slots)
        self._lower_smallest(node, new.people, effects.least)

    def descend(self, q: int, new: ClassSlices) -> None:
        """Update the child of each line of these classes after their node on a QID changed."""
        lines = self.order[slice_positions(new.start, new.length)]
        tree, codes = self._shared.problem.trees[q], self._shared.problem.codes
        place = np.repeat(new.node[:, q], new.length)
        rank = tree.rank[tree.below(place, codes[lines, q])]
        self._rank[q, lines] = np.where(tree.fanout[place] > 0, rank, 0)

    def recount(self, references: list[Integers]) -> None:
        """Recompute all effects, after the counts that t is measured against have changed."""
        slots = np.flatnonzero(self._slices.node[: self._used, 0] >= 0)
        classes = self._slices.take(slots)
        self.remove(slots)
        self.add(classes, references, slots)

    def smallest(self, candidates: Integers) -> tuple[int, Integers]:
        """Return the people in the smallest class now, and after the split of each candidate."""
        if self._shared.problem.budget > 0:
            self._recompute_smallest()
        return smallest_class_after(
            self._shared.nodes.first, self._smallest, self._least, candidates
        )

    def _recompute_smallest(self) -> None:
        slots = np.flatnonzero(self._slices.node[: self._used, 0] >= 0)
        self._smallest[:] = self._least[:] = NONE
        node = self._flat(self._slices.node[slots])
        self._lower_smallest(node, self._slices.people[slots], self._effects.least[slots])

    def _lower_smallest(self, node: Integers, people: Integers, least: Integers) -> None:
        # Without a budget a class is never lost but divided, so the smallest can only fall.
        if self._sizes:
            np.minimum.at(self._smallest, node, people[:, None])
            np.minimum.at(self._least, node, least)

    def close(self, q: int, place: int) -> None:
        """Remove a node from the cut."""
        node = self._shared.nodes.first[q] + place
        self.open[node] = False
        self._smallest[node] = self._least[node] = NONE

    def _effects_on(self, new: ClassSlices, references: list[Integers]) -> _Effects:
        shared, d = self._shared, self._shared.problem.d
        lines = self.order[slice_positions(new.start, new.length)]
        owner = np.repeat(np.arange(len(new.start)), new.length)
        effects = _Effects(*np.zeros((4, len(new.start), d), dtype=np.int64))
        effects.least[:] = NONE
        for q in range(d):
            if self.open[shared.nodes.first[q] + new.node[:, q]].any():
                fanout = np.maximum(shared.problem.trees[q].fanout[new.node[:, q]], 1)
                into = divide_classes(owner, self.rank(q, lines), fanout)
                self._measure(effects, q, lines, into, references)
        return effects

    def _measure(
        self,
        effects: _Effects,
        q: int,
        lines: Integers,
        into: ClassParts,
        references: list[Integers],
    ) -> None:
        """Compute the effects of dividing classes by one QID."""
        hold, people = self._shared.passes(lines, into.of, into.size, references)
        rows, first = people, into.first
        if self._shared.counting.by_person:
            rows = self._shared.counting.rows(lines, into.of, into.size)
        effects.lost[:, q] = np.add.reduceat(np.where(hold, 0, rows), first)
        effects.stay[:, q] = np.add.reduceat(hold, first, dtype=np.int64)
        if self._sizes:
            effects.least[:, q] = np.minimum.reduceat(np.where(hold, people, NONE), first)
        if self._bits:
            effects.bits[:, q] = entropy_gain(rows, first, self._shared.per_bit)

    def _flat(self, node: NDArray[np.int32]) -> Integers:
        return np.asarray(node + self._shared.nodes.first[:-1])

    def _room(self, count: int, reuse: Integers) -> Integers:
        fresh = max(count - len(reuse), 0)
        slots = np.append(reuse[:count], np.arange(self._used, self._used + fresh))
        self._used += fresh
        short = self._used - len(self._slices.start)
        if short > 0:
            more = short + len(self._slices.start)
            self._slices = ClassSlices(*(_extended(part, more) for part in self._slices))
            self._effects = _Effects(*(_extended(part, more) for part in self._effects))
        return slots


def smallest_class_after(
    first: Integers, smallest: Integers, least: Integers, candidates: Integers
) -> tuple[int, Integers]:
    """Return the people in the smallest class now, and after the split of each candidate."""
    others = np.empty(len(smallest), dtype=np.int64)
    for low, high in pairwise(first):
        others[low:high] = _least_of_others(smallest[low:high])
    now = int(smallest[: first[1]].min())
    return now, np.minimum(others[candidates], least[candidates])


def entropy_gain(rows: Integers, first: Integers, per_bit: float) -> Integers:
    """Return the entropy gained by dividing classes, in whole units, which add up in any order.

    Parameters
    ----------
    per_bit
        How many units make a bit.
    """
    total = np.add.reduceat(rows, first)
    gained = _n_log_n(total) - np.add.reduceat(_n_log_n(rows), first)
    return np.rint(gained * per_bit).astype(np.int64)


def _least_of_others(sizes: Integers) -> Integers:
    """Return, for each entry, the least of all the others."""
    at = int(np.argmin(sizes))
    least = np.full(len(sizes), sizes[at])
    least[at] = min(sizes[:at].min(initial=NONE), sizes[at + 1 :].min(initial=NONE))
    return least


def _n_log_n(n: Integers) -> Floats:
    return np.asarray(n * np.log2(np.maximum(n, 1)))


def _extended(part: NDArray[Any], more: int) -> NDArray[Any]:
    return np.concatenate([part, np.zeros((more, *part.shape[1:]), dtype=part.dtype)])
