"""Classes of lines with equal labels: number them, count them, and measure what is lost.

``RowLookup`` finds rows of numbers among known ones, exactly and for millions of rows at a time.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.search_problem import Metrics, Problem
from shoal.arrays import Integers

_RADIX = 2**62

_TABLE = 2**22  # up to this many keys a table of places is faster than a search


class Classes(NamedTuple):
    """The class of each line, and the number of classes.

    Parameters
    ----------
    ids
        int64 (F,): the class of each line, -1 if suppressed.
    """

    ids: Integers
    size: int


def number_classes(
    labels: NDArray[np.int32], suppressed: NDArray[np.bool_] | None = None
) -> Classes:
    """Number the classes of lines with equal labels, in the order of their labels.

    Parameters
    ----------
    labels
        int32 (F, d): the label of each line on each QID.
    suppressed
        bool (F,): lines in no class; None for none.

    Examples
    --------
    >>> number_classes(np.array([[3, 1], [0, 2], [3, 1]], dtype=np.int32))
    Classes(ids=array([1, 0, 1]), size=2)
    """
    live = np.ones(len(labels), dtype=bool) if suppressed is None else ~suppressed
    ids = np.full(len(labels), -1, dtype=np.int64)
    live_labels = labels[live]
    packed, radix = np.zeros(len(live_labels), dtype=np.int64), 1
    # Packed into one number and not hashed: a collision would merge two classes.
    for column in live_labels.T:
        size = int(column.max(initial=0)) + 1
        if radix * size > _RADIX:
            packed, radix = _replace_by_ranks(packed)
        packed, radix = packed * size + column, radix * size
    ids[live], size = _replace_by_ranks(packed)
    return Classes(ids, size)


def _replace_by_ranks(packed: Integers) -> tuple[Integers, int]:
    distinct, inverse = np.unique(packed, return_inverse=True)
    return inverse, len(distinct)


def count_rows(problem: Problem, classes: Classes) -> Integers:
    """Count the rows of each class.

    Returns
    -------
    int64 (size,).
    """
    return _sums(classes, problem.n)


def count_people(problem: Problem, classes: Classes) -> Integers:
    """Count what k is compared with in each class: distinct people, else rows.

    Returns
    -------
    int64 (size,).
    """
    if problem.people is None:
        return count_rows(problem, classes)
    return _count_distinct_people(classes, problem.people)


def _count_distinct_people(classes: Classes, people: Integers) -> Integers:
    """Count the distinct people whose lines are in each class.

    Parameters
    ----------
    people
        int64 (F,): the person of each line.

    Returns
    -------
    int64 (size,).
    """
    live = classes.ids >= 0
    ids, people = classes.ids[live], people[live]
    order = np.lexsort((people, ids))
    ids, people = ids[order], people[order]
    new = np.ones(len(ids), dtype=bool)
    new[1:] = (ids[1:] != ids[:-1]) | (people[1:] != people[:-1])
    return np.bincount(ids[new], minlength=classes.size)


def _sums(classes: Classes, counts: Integers) -> Integers:
    live = classes.ids >= 0
    sums = np.bincount(classes.ids[live], counts[live], minlength=classes.size)
    return sums.astype(np.int64)


def measure_release(
    problem: Problem, labels: NDArray[np.int32], suppressed: NDArray[np.bool_]
) -> Metrics:
    """Compute how much a release keeps, from the labels of its lines alone.

    Parameters
    ----------
    labels
        int32 (F, d): the label of each line on each QID.
    suppressed
        bool (F,): lines that are not published.
    """
    classes = number_classes(labels, suppressed)
    sizes, n = count_rows(problem, classes), problem.N
    gone = n - int(sizes.sum())
    loss = _loss_by_qid(problem, labels, suppressed, gone)
    return Metrics(
        ncp=math.fsum(w * x for w, x in zip(problem.weights, loss, strict=True))
        / math.fsum(problem.weights),
        ncp_by_qid=loss,
        dm=sum(int(size) ** 2 for size in sizes) + gone * n,
        aecs=(n - gone) / max(classes.size * problem.k, 1),
        entropy=float((sizes * np.log2(n / np.maximum(sizes, 1))).sum() / n),
        classes=classes.size,
        smallest=int(count_people(problem, classes).min(initial=problem.N)),
        suppressed=gone,
    )


def _loss_by_qid(
    problem: Problem, labels: NDArray[np.int32], suppressed: NDArray[np.bool_], gone: int
) -> tuple[float, ...]:
    live = ~suppressed
    labels, n = labels[live], problem.n[live]
    by_node = (np.bincount(labels[:, q], n) for q in range(problem.d))
    sums = (rows @ cost[: len(rows)] for rows, cost in zip(by_node, problem.costs, strict=True))
    return tuple((float(loss) + gone) / max(problem.N, 1) for loss in sums)


class RowLookup:
    """A lookup from rows of whole numbers to their places among known rows.

    Rows are packed into one number each, column after column; where that would overflow, the
    numbers so far are replaced by their rank among those known. Nothing is hashed, so two different
    rows are never confused.

    Parameters
    ----------
    known
        (rows, columns) of whole numbers from 0 up, each row once.

    Examples
    --------
    >>> lookup = RowLookup(np.array([[3, 1], [0, 2]]))
    >>> lookup.find([np.array([0, 3, 3]), np.array([2, 1, 2])]).tolist()
    [1, 0, -1]
    """

    def __init__(self, known: NDArray[np.integer]) -> None:
        self._sizes = [int(column.max(initial=0)) + 1 for column in known.T]
        self._ranks: dict[int, Integers] = {}
        packed, radix = np.zeros(len(known), dtype=np.int64), 1
        for at, column in enumerate(known.T):
            if radix * self._sizes[at] > _RADIX:
                self._ranks[at], packed = np.unique(packed, return_inverse=True)
                radix = len(self._ranks[at])
            packed, radix = packed * self._sizes[at] + column, radix * self._sizes[at]
        self._order = np.argsort(packed)
        self._packed = packed[self._order]
        self._table = self._table_of_places(radix) if radix <= _TABLE else None

    def find(self, columns: Sequence[NDArray[np.integer]]) -> Integers:
        """Return the place of each row among the known ones, -1 for unknown rows.

        Parameters
        ----------
        columns
            The columns of the rows; negative numbers are unknown.
        """
        packed = np.zeros(len(columns[0]), dtype=np.int64)
        unknown = np.zeros(len(packed), dtype=bool)
        for at, (column, size) in enumerate(zip(columns, self._sizes, strict=True)):
            if at in self._ranks:
                packed, strange = _ranks_of(self._ranks[at], packed)
                unknown |= strange
            if column.size and (column.min() < 0 or column.max() >= size):
                unknown |= (column < 0) | (column >= size)
            packed *= size
            packed += column
        return self._places(packed, unknown)

    def _table_of_places(self, radix: int) -> Integers:
        table = np.full(radix, -1, dtype=np.int64)
        table[self._packed] = self._order
        return table

    def _places(self, packed: Integers, unknown: NDArray[np.bool_]) -> Integers:
        packed[unknown] = 0
        if self._table is not None:
            places = self._table[packed]
        else:
            at, strange = _ranks_of(self._packed, packed)
            places = self._order[at]
            places[strange] = -1
        places[unknown] = -1
        return places


def _ranks_of(known: Integers, numbers: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the rank of each number among known ones, and which are not among them."""
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return at, known[at] != numbers
