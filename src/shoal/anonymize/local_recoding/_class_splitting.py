"""Split each class by itself, from the most general labels down."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.local_recoding._leftovers import most_general_classes
from shoal.anonymize.local_recoding._units import Units, sum_by_group
from shoal.arrays import Floats, Integers

_NO_NODES = np.empty((0, 0), dtype=np.int32)
_DENSE = 16  # possible keys per unit up to which marking them is faster than sorting


class _Split(NamedTuple):
    """How classes would split on a QID: the node of each unit, and the worth for each class.

    The worth is the loss avoided per bit, 0 where a class cannot split. A unit that stays has its
    class's own node.
    """

    part: NDArray[np.int32]
    worth: Floats


class _Children(NamedTuple):
    """The occupied children of all classes on a QID, with their class and the loss they save."""

    of: Integers
    place: NDArray[np.int32]
    people: Floats
    rows: Floats
    saved: Floats


def split_classes(units: Units) -> Integers:
    """Split classes one by one, each on the QID that avoids most loss per bit it is narrowed by.

    Children with fewer than k people stay at their parent's label; if they are fewer than k even
    together, the child with least to lose stays with them. All parts are full, or a class does
    not split on that QID.

    Returns
    -------
    int64 (units,)
        The class of each unit, -1 for those left over.
    """
    peeling = _Peeling(units, most_general_classes(units))
    while len(peeling.units):
        peeling.round()
    return peeling.classes


class _Peeling:
    """The classes that may still split: their units, and the nodes of each class."""

    def __init__(self, units: Units, classes: Integers) -> None:
        self._all, self.classes = units, classes
        self.units = np.flatnonzero(classes >= 0)
        self._keep_divisible(np.unique(classes[self.units], return_inverse=True)[1])

    def _keep_divisible(self, of: Integers) -> None:
        """Keep only classes of at least 2 k people, under the lowest nodes that cover them."""
        enough = np.bincount(of, self._all.people[self.units]) >= 2 * self._all.problem.k
        self.units, of = self.units[enough[of]], of[enough[of]]
        self._of = (np.cumsum(enough) - 1)[of]
        size = int(enough.sum())
        self._nodes = self._all.tightest(self.units, self._of, size).T if size else _NO_NODES

    def round(self) -> None:
        """Split every class once, on its best QID; those that cannot split are finished."""
        size = self._nodes.shape[1]
        best, worth = np.full(size, -1), np.zeros(size)
        part = np.zeros(len(self.units), dtype=np.int32)
        for q in range(len(self._nodes)):
            split = self._split_on(q)
            better = split.worth > worth
            best[better], worth[better] = q, split.worth[better]
            part = np.where(better[self._of], split.part, part)
        self._divide(best >= 0, part)

    def _divide(self, splits: NDArray[np.bool_], part: NDArray[np.int32]) -> None:
        going = splits[self._of]
        self.units, of, part = self.units[going], self._of[going], part[going]
        width = int(part.max(initial=0)) + 1
        _, of = _number_keys(of * width + part, len(splits) * width)
        self.classes[self.units] = int(self.classes.max(initial=0)) + 1 + of
        self._keep_divisible(of)

    def _split_on(self, q: int) -> _Split:
        tree, nodes = self._all.problem.trees[q], self._nodes[q]
        size = len(nodes)
        child = tree.below(nodes[self._of], self._all.codes[self.units, q])
        keys, at = _number_keys(self._of * tree.size + child, size * tree.size)
        children = self._children(q, keys // tree.size, (keys % tree.size).astype(np.int32), at)
        goes = _leaving(children, size, self._all.problem.k)
        part = np.where(goes, children.place, nodes[children.of])
        worth = _worth(children, goes, size)
        return _Split(part[at], self._zero_unless_full(worth, part[at]))

    def _children(self, q: int, of: Integers, place: NDArray[np.int32], at: Integers) -> _Children:
        pay, size = self._all.penalties[q], len(of)
        people = sum_by_group(at, self._all.people[self.units], size)
        rows = sum_by_group(at, self._all.rows[self.units], size)
        return _Children(of, place, people, rows, rows * (pay[self._nodes[q, of]] - pay[place]))

    def _zero_unless_full(self, worth: Floats, part: NDArray[np.int32]) -> Floats:
        """Set the worth of a split to 0 if a part is not full; k alone was checked before."""
        if self._all.adds_up and not self._all.has_rules:
            return worth
        width = int(part.max(initial=0)) + 1
        keys, of = _number_keys(self._of * width + part, len(worth) * width)
        full = self._all.full(self.units, of, len(keys))
        return np.where(np.bincount(keys // width, ~full, minlength=len(worth)) > 0, 0.0, worth)


def _leaving(children: _Children, size: int, k: int) -> NDArray[np.bool_]:
    """Return which children leave their parent's label."""
    large = children.people >= k
    rest = sum_by_group(children.of, np.where(large, 0.0, children.people), size)
    order = np.lexsort((children.place, children.saved, ~large, children.of))
    first = np.ones(len(order), dtype=bool)
    first[1:] = children.of[order][1:] != children.of[order][:-1]
    poorest = order[first]
    short = (rest > 0) & (rest < k)
    large[poorest[short[children.of[poorest]]]] = False
    return large


def _worth(children: _Children, goes: NDArray[np.bool_], size: int) -> Floats:
    """Return the loss avoided per bit spent."""
    saved = sum_by_group(children.of, np.where(goes, children.saved, 0.0), size)
    all_rows = sum_by_group(children.of, children.rows, size)
    stay = sum_by_group(children.of, np.where(goes, 0.0, children.rows), size)
    after = sum_by_group(children.of, np.where(goes, _bits(children.rows), 0.0), size)
    spent = _bits(all_rows) - after - _bits(stay)
    worth: Floats = (saved / np.maximum(spent, 1e-9)).round(9)
    return worth


def _bits(rows: Floats) -> Floats:
    return np.asarray(rows * np.log2(np.maximum(rows, 1.0)))


def _number_keys(keys: Integers, limit: int) -> tuple[Integers, Integers]:
    """Return the distinct keys, sorted, and the number of each key among them."""
    if limit > _DENSE * len(keys):
        return np.unique(keys, return_inverse=True)
    present = np.zeros(limit, dtype=bool)
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]
