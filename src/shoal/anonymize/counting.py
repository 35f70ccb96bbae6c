"""Count rows, people and sensitive values in many groups of lines at once."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import classes_of
from shoal.anonymize.problem import Problem, SensitiveColumn

__all__ = ["Counting"]

Ints = NDArray[np.int64]
Lines = NDArray[np.integer]


class Counting:
    """How the lines of a problem are counted: by rows, or by the people behind them.

    People add up over lines if each has one combination of QIDs: then one of their lines counts
    1 and the others 0, for whatever holds one of them holds all. Else they are counted by
    sorting, since one person in two lines of a class is one person.

    Every method takes ``lines`` (numbers of lines), ``groups`` (the group of each, from 0) and
    ``size`` (how many groups).
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def by_person(self) -> bool:
        """Whether k is held against people rather than rows."""
        return self.problem.entities is not None

    @cached_property
    def _person(self) -> Ints:
        assert self.problem.entities is not None
        return np.unique(self.problem.entities, return_inverse=True)[1]

    @cached_property
    def adds_up(self) -> bool:
        """Whether counts of groups are sums of counts of lines: each person has one combination."""
        if not self.by_person:
            return True
        combination = classes_of(self.problem.codes).ids
        people = int(self._person.max(initial=-1)) + 1
        return int(_first(combination, self._person).sum()) == people

    @cached_property
    def _rows(self) -> NDArray[np.float64] | None:
        n = self.problem.n  # None counts lines, in half the time
        return None if bool((n == 1).all()) else n.astype(np.float64)

    @cached_property
    def _people(self) -> NDArray[np.float64]:
        return _first(self._person).astype(np.float64)

    @cached_property
    def _pairs(self) -> dict[str, NDArray[np.float64]]:
        """For each sensitive column the first line of each person and value counts 1."""
        columns = self.problem.sensitive
        return {c.name: _first(self._person, c.codes).astype(np.float64) for c in columns}

    def rows(self, lines: Lines, groups: Ints, size: int) -> Ints:
        """int64 (size,): rows in each group."""
        return _sums(self._rows, lines, groups, size)

    def people(self, lines: Lines, groups: Ints, size: int) -> Ints:
        """int64 (size,): what is held against k in each group."""
        if not self.by_person:
            return self.rows(lines, groups, size)
        if self.adds_up:
            return _sums(self._people, lines, groups, size)
        return self._distinct(lines, groups, size)

    def values(self, column: SensitiveColumn, lines: Lines, groups: Ints, size: int) -> Ints:
        """int64 (size, column.size + 1): each value in each group, the last column for nulls.

        People are counted once for each value they have in the group.
        """
        width = column.size + 1
        code = column.codes[lines]
        cells = groups * width + np.where(code < 0, column.size, code)
        if not self.by_person:
            counts = _sums(self._rows, lines, cells, size * width)
        elif self.adds_up:
            counts = _sums(self._pairs[column.name], lines, cells, size * width)
        else:
            counts = self._distinct(lines, cells, size * width)
        return counts.reshape(size, width)

    def _distinct(self, lines: Lines, groups: Ints, size: int) -> Ints:
        people = int(self._person.max(initial=0)) + 1
        keys = np.sort(groups * people + self._person[lines])
        new = np.ones(len(keys), dtype=bool)
        new[1:] = keys[1:] != keys[:-1]
        return np.bincount(keys[new] // people, minlength=size)


def _sums(weights: NDArray[np.float64] | None, lines: Lines, groups: Ints, size: int) -> Ints:
    if weights is None:
        return np.bincount(groups, minlength=size)
    # Floats hold these whole numbers exactly up to 2**53.
    return np.bincount(groups, weights[lines], minlength=size).astype(np.int64)


def _first(*keys: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Marks one line of each distinct combination."""
    order = np.lexsort(keys)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    marks = np.empty(len(order), dtype=bool)
    marks[order] = new
    return marks
