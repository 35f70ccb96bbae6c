"""A grouping of units into classes, each under the lowest labels that cover it."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.local_recoding._units import Units
from shoal.arrays import Floats, Integers

_CELLS, _BLOCK = 1e7, 64  # most join costs held at a time, and fewest units
_CHUNK = 2**16  # costs added up at a time, so that they stay in the cache


class Grouping:
    """Classes of units under the lowest labels that cover them; equal labels make one class.

    Parameters
    ----------
    classes
        int64 (units,): numbers of classes, in any order; -1 for a unit in none. Kept, numbered
        in the order of the labels, in ``classes``; ``labels`` (C, d) are places of nodes,
        ``rows`` and ``penalty`` (C,) the rows of each class and what one of them loses.
    """

    def __init__(self, units: Units, classes: Integers) -> None:
        self.units = units
        self.classes = np.full(units.size, -1, dtype=np.int64)
        inside = np.flatnonzero(classes >= 0)
        self.labels = np.empty((0, units.problem.d), dtype=np.int32)
        if len(inside):
            ids, dense = np.unique(classes[inside], return_inverse=True)
            labels = units.tightest(inside, dense, len(ids))
            merged = number_classes(labels)
            self.classes[inside] = merged.ids[dense]
            self.labels = labels[np.unique(merged.ids, return_index=True)[1]]
        self.rows = np.bincount(self.classes[inside], units.rows[inside], minlength=self.size)
        self.penalty = units.penalty(self.labels)
        self._late: dict[int, list[int]] = {}

    @property
    def size(self) -> int:
        """The number of classes."""
        return len(self.labels)

    @property
    def left(self) -> Integers:
        """Units in no class."""
        return np.flatnonzero(self.classes < 0)

    @property
    def loss(self) -> float:
        """The sum of the penalties of all rows; rows in no class pay for the widest labels."""
        out = float(self.units.rows[self.left].sum()) * sum(self.units.problem.weights)
        return float(self.penalty @ self.rows) + out

    def members(self, c: int) -> Integers:
        """Return the units of a class."""
        low, high = np.searchsorted(self._sorted, [c, c + 1])
        early = self._order[low:high]
        return np.append(early, self._late[c]) if c in self._late else early

    @cached_property
    def firsts(self) -> Integers:
        """Return one unit of each class."""
        return self._order[np.searchsorted(self._sorted, np.arange(self.size))]

    @cached_property
    def _order(self) -> Integers:
        return np.argsort(self.classes, kind="stable")

    @cached_property
    def _sorted(self) -> Integers:
        return self.classes[self._order]

    def people(self) -> Integers:
        """Return what k is compared with in each class: int64 (C,)."""
        inside = np.flatnonzero(self.classes >= 0)
        return self.units.people_of(inside, self.classes[inside], self.size)

    def obeying(self) -> NDArray[np.bool_]:
        """Return in which classes the l and t rules hold: bool (C,)."""
        inside = np.flatnonzero(self.classes >= 0)
        return self.units.obeying(inside, self.classes[inside], self.size)

    def take_in(self, unit: int, c: int) -> None:
        """Add a left-over unit to a class, whose labels widen; classes are not merged."""
        members = np.append(self.members(c), unit)
        self._late.setdefault(c, []).append(unit)
        self.classes[unit] = c
        self.labels[c] = self.units.tightest(members, np.zeros_like(members), 1)[0]
        self.rows[c] += self.units.rows[unit]
        self.penalty[c] = self.units.penalty(self.labels[c])

    def cheapest_joins(self, units: Integers) -> tuple[Integers, Floats]:
        """Return, for each unit, the other class that it joins at least cost, and that cost."""
        targets = np.zeros(len(units), dtype=np.int64)
        costs = np.full(len(units), np.inf)
        block = max(_BLOCK, int(_CELLS / max(self.size, 1)))
        for begin in range(0, len(units), block):
            part = units[begin : begin + block]
            cost = self.join_costs(part)
            rows, own = np.arange(len(part)), self.classes[part]
            cost[rows[own >= 0], own[own >= 0]] = np.inf
            best = cost.argmin(axis=1)
            targets[begin : begin + block] = best
            costs[begin : begin + block] = cost[rows, best]
        return targets, costs

    def join_costs(self, units: Integers) -> NDArray[np.float32]:
        """Return how much the loss of all rows grows if a unit joins a class.

        Returns
        -------
        float32 (units, C).
        """
        columns = list(enumerate(self.units.codes[units].T))
        leaves = [np.unique(codes, return_inverse=True) for _, codes in columns]
        meetings = self.units.ancestor_penalties
        tables = [meetings[q].of(leaves[q][0])[:, self.labels[:, q]] for q, _ in columns]
        total = np.zeros((len(units), self.size), dtype=np.float32)
        step = max(1, _CHUNK // max(self.size, 1))
        for begin in range(0, len(units), step):
            for table, (_, at) in zip(tables, leaves, strict=True):
                total[begin : begin + step] += table[at[begin : begin + step]]
        total *= self.rows.astype(np.float32) + self.units.rows[units, None].astype(np.float32)
        total -= (self.rows * self.penalty).astype(np.float32)
        return total
