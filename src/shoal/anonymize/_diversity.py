"""Check l-diversity and t-closeness of the sensitive values of many classes at once.

Counts come as one row a class, one column a value, the last column for nulls. Rows, people and
sensitive values are counted in many groups of lines at once.

References
----------
Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, TKDD 2007.
Li, Li, Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, ICDE 2007.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.equivalence_classes import number_classes
from shoal.anonymize.search_problem import Closeness, Diversity, Problem, SensitiveColumn
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.arrays import Floats, Integers
from shoal.domain import Taxonomy

Lines = NDArray[np.integer]

Mask = NDArray[np.bool_]

_ROUNDING = 1e-9  # ln 3 of three equal shares, or a distance of 0.3, is off by rounding
_CHUNK_CELLS = 2**22  # counts held at a time


class LineCounter:
    """Count the rows, people and sensitive values of groups of lines.

    If each person has one combination of QIDs, a group holds all of their lines or none, so one
    line counts 1 and the others 0, and counts of people are sums. Otherwise people are counted by
    sorting, since one person in two lines of a class is one person.

    Every method takes ``lines`` (numbers of lines), ``groups`` (the group of each, from 0) and
    ``size`` (how many groups).
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def by_person(self) -> bool:
        """Whether k is compared with people rather than rows."""
        return self.problem.people is not None

    @cached_property
    def _person(self) -> Integers:
        assert self.problem.people is not None
        return np.unique(self.problem.people, return_inverse=True)[1]

    @cached_property
    def adds_up(self) -> bool:
        """Whether counts of people are sums over lines: each person has one combination of QIDs."""
        if not self.by_person:
            return True
        combination = number_classes(self.problem.codes).ids
        people = int(self._person.max(initial=-1)) + 1
        return int(_first_of_each(combination, self._person).sum()) == people

    @cached_property
    def _rows(self) -> Floats | None:
        n = self.problem.n  # None counts lines, in half the time
        return None if bool((n == 1).all()) else n.astype(np.float64)

    @cached_property
    def _people(self) -> Floats:
        return _first_of_each(self._person).astype(np.float64)

    @cached_property
    def _pairs(self) -> dict[str, Floats]:
        """For each sensitive column, 1 for the first line of each person and value, else 0."""
        columns = self.problem.sensitive
        return {c.name: _first_of_each(self._person, c.codes).astype(np.float64) for c in columns}

    def rows(self, lines: Lines, groups: Integers, size: int) -> Integers:
        """Count the rows in each group.

        Returns
        -------
        int64 (size,).
        """
        return _sums(self._rows, lines, groups, size)

    def people(self, lines: Lines, groups: Integers, size: int) -> Integers:
        """Count what k is compared with in each group: people, else rows.

        Returns
        -------
        int64 (size,).
        """
        if not self.by_person:
            return self.rows(lines, groups, size)
        lines, groups = self._of_rows(lines, groups)
        if self.adds_up:
            return _sums(self._people, lines, groups, size)
        return self._distinct(lines, groups, size)

    def _of_rows(self, lines: Lines, groups: Integers) -> tuple[Lines, Integers]:
        """Leave out lines of a population, which belong to nobody in the table."""
        if self.problem.population is None:
            return lines, groups
        live = self.problem.n[lines] > 0
        return lines[live], groups[live]

    def values(
        self, column: SensitiveColumn, lines: Lines, groups: Integers, size: int
    ) -> Integers:
        """Count each sensitive value in each group, nulls in the last column.

        People are counted once for each value they have in the group.

        Returns
        -------
        int64 (size, column.size + 1).
        """
        width = column.size + 1
        if self.by_person:
            lines, groups = self._of_rows(lines, groups)
        code = column.codes[lines]
        cells = groups * width + np.where(code < 0, column.size, code)
        if not self.by_person:
            counts = _sums(self._rows, lines, cells, size * width)
        elif self.adds_up:
            counts = _sums(self._pairs[column.name], lines, cells, size * width)
        else:
            counts = self._distinct(lines, cells, size * width)
        return counts.reshape(size, width)

    def _distinct(self, lines: Lines, groups: Integers, size: int) -> Integers:
        people = int(self._person.max(initial=0)) + 1
        keys = np.sort(groups * people + self._person[lines])
        new = np.ones(len(keys), dtype=bool)
        new[1:] = keys[1:] != keys[:-1]
        return np.bincount(keys[new] // people, minlength=size)


def _sums(weights: Floats | None, lines: Lines, groups: Integers, size: int) -> Integers:
    if weights is None:
        return np.bincount(groups, minlength=size)
    # Floats hold these whole numbers exactly up to 2**53.
    return np.bincount(groups, weights[lines], minlength=size).astype(np.int64)


def _first_of_each(*keys: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Mark one line of each distinct combination of keys."""
    order = np.lexsort(keys)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    marks = np.empty(len(order), dtype=bool)
    marks[order] = new
    return marks


class ClassRules:
    """Check the l and t rules of a problem on groups of its lines."""

    def __init__(self, counting: LineCounter) -> None:
        columns = counting.problem.sensitive
        self._counting = counting
        self._columns = [c for c in columns if c.l is not None or c.t is not None]
        self.any = bool(self._columns)
        self.closeness = any(c.t is not None for c in columns)
        self.may_recover = self.closeness or any(
            c.l is not None and c.l.kind != "distinct" for c in columns
        )

    def references(self, lines: NDArray[np.integer]) -> list[Integers]:
        """Return, for each column with rules, the counts of its values over these lines."""
        one = np.zeros(len(lines), dtype=np.int64)
        return [self._counting.values(c, lines, one, 1)[0] for c in self._columns]

    def hold(
        self, lines: NDArray[np.integer], groups: Integers, size: int, references: list[Integers]
    ) -> Mask:
        """Return in which groups every rule holds; an empty group breaks an l rule.

        Parameters
        ----------
        references
            The counts that t is measured against, as from ``references``.

        Returns
        -------
        bool (size,).
        """
        hold = np.ones(size, dtype=bool)
        for column, reference in zip(self._columns, references, strict=True):
            for part, low, high in _parts(groups, size, column.size + 1):
                counts = self._counting.values(column, lines[part], groups[part] - low, high - low)
                hold[low:high] &= _holds(column, counts, reference)
        return hold


def _parts(groups: Integers, size: int, width: int) -> Iterator[tuple[Integers | slice, int, int]]:
    """Yield ranges of groups small enough to be counted at once, with the places of their lines."""
    step = max(_CHUNK_CELLS // width, 1)
    if size <= step:
        yield slice(None), 0, size
        return
    order = np.argsort(groups, kind="stable")
    lows = np.arange(0, size, step)
    bounds = np.append(np.searchsorted(groups[order], lows), len(order))
    for low, begin, end in zip(lows, bounds[:-1], bounds[1:], strict=True):
        yield order[begin:end], int(low), min(int(low) + step, size)


def _holds(column: SensitiveColumn, counts: Integers, reference: Integers) -> Mask:
    hold = np.ones(len(counts), dtype=bool)
    if column.l is not None:
        hold &= is_diverse(column.l, counts)
    if column.t is not None:
        far = measure_closeness(column.t, counts, reference, column.taxonomy)
        hold &= far <= column.t.value + _ROUNDING
    return hold


def is_diverse(rule: Diversity, counts: Integers) -> Mask:
    """Return whether each class satisfies an l rule; nulls are no value.

    Examples
    --------
    >>> counts = np.array([[5, 5, 0, 9], [9, 1, 1, 0]])
    >>> is_diverse(Diversity("distinct", 3), counts).tolist()
    [False, True]
    >>> is_diverse(Diversity("entropy", 2), counts).tolist()
    [True, False]
    >>> is_diverse(Diversity("recursive", 2, c=4), counts).tolist()
    [True, False]
    """
    if rule.kind == "recursive":
        falling = -np.sort(-counts[:, :-1], axis=1)
        rest = falling[:, int(rule.value) - 1 :].sum(axis=1)
        return np.asarray(falling[:, 0] < rule.c * rest)
    return np.asarray(measure_diversity(rule, counts) >= rule.value - _ROUNDING)


def measure_diversity(rule: Diversity, counts: Integers) -> Floats:
    """Return the l that each class reaches: the number of values, or e to their entropy.

    For ``recursive``, the largest l for which the rule with this c holds, 0 if none does.

    Examples
    --------
    >>> counts = np.array([[5, 5, 0, 9], [9, 1, 1, 0]])
    >>> measure_diversity(Diversity("entropy", 2), counts).round(2).tolist()
    [2.0, 1.82]
    >>> measure_diversity(Diversity("recursive", 2, c=20), counts).tolist()
    [2.0, 3.0]
    """
    values = counts[:, :-1]
    if rule.kind == "distinct":
        return np.asarray((values > 0).sum(axis=1), dtype=np.float64)
    if rule.kind == "recursive":
        falling = -np.sort(-values, axis=1)
        rests = np.cumsum(falling[:, ::-1], axis=1)[:, ::-1]
        return np.asarray((falling[:, :1] < rule.c * rests).sum(axis=1), dtype=np.float64)
    shares = values / np.maximum(values.sum(axis=1, keepdims=True), 1)
    logs = np.log(np.where(shares > 0, shares, 1.0))
    reached: Floats = np.exp(-(shares * logs).sum(axis=1)) * (values.sum(axis=1) > 0)
    return reached


def measure_closeness(
    rule: Closeness, counts: Integers, reference: Integers, taxonomy: Taxonomy | None = None
) -> Floats:
    """Return the earth mover's distance of each class's values to the table's.

    Nulls are one category.

    Examples
    --------
    >>> counts, table = np.array([[1, 0, 0, 0], [1, 1, 1, 0]]), np.array([1, 1, 1, 0])
    >>> measure_closeness(Closeness("equal", 0.5), counts, table).round(3).tolist()
    [0.667, 0.0]
    >>> measure_closeness(Closeness("ordered", 0.5), counts, table).round(3).tolist()
    [0.5, 0.0]
    """
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    excess = shares - reference / max(int(reference.sum()), 1)
    if rule.kind == "ordered":
        occurring = excess[:, reference > 0]
        steps = np.abs(np.cumsum(occurring, axis=1)[:, :-1])
        return np.asarray(steps.sum(axis=1) / max(occurring.shape[1] - 1, 1))
    if rule.kind == "hierarchical" and taxonomy is not None and taxonomy.size > 1:
        return _tree_distance(Tree(taxonomy), excess)
    return np.asarray(np.abs(excess).sum(axis=1) / 2)


def _tree_distance(tree: Tree, excess: Floats) -> Floats:
    """Return the earth mover's distance over a tree, by moving mass as low in it as possible.

    Distances by the height of the lowest common node are an ultrametric, for which that is optimal:
    at each node the smaller of surplus and lack of its children is moved, and the rest goes to its
    parent.
    """
    total = np.concatenate([np.zeros((len(excess), 1)), np.cumsum(excess[:, :-1], axis=1)], axis=1)
    mass = total[:, tree.high[1:]] - total[:, tree.low[1:]]
    surplus, want = np.maximum(mass, 0), np.maximum(-mass, 0)
    order = np.argsort(tree.parent[1:], kind="stable")
    inner, first = np.unique(tree.parent[1:][order], return_index=True)
    surplus = np.add.reduceat(surplus[:, order], first, axis=1)
    want = np.add.reduceat(want[:, order], first, axis=1)
    surplus[:, 0] += np.maximum(
        excess[:, -1], 0
    )  # nulls are children of the root, the first inner node
    want[:, 0] += np.maximum(-excess[:, -1], 0)
    return np.asarray(np.minimum(surplus, want) @ (tree.height[inner] / tree.height[0]))
