"""Find the combinations of few columns that make people special (as SUDA does).

Someone is special on some columns if nobody else has their values there, and on no part of these
columns that is true already: a *minimal unique*. The fewer the columns, the easier it is to know
them. What is found names columns and counts people, but depends on all rows: it is for the holder
of the table only.

References
----------
Elliot, Manning, Ford, A computational algorithm for handling the special uniques problem, 2002.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.equivalence_classes import count_people, number_classes
from shoal.anonymize.search_problem import Problem

_DENSE = 2**22  # up to this many combinations a table of all is faster than sorting
_WORK = 1.5e7  # lines times combinations of columns that are counted: about a second


@dataclass(frozen=True)
class SpecialCombination:
    """Some columns, and how many people are special on them.

    Parameters
    ----------
    people
        How many people are special on these columns, and on no part of them.
    """

    columns: tuple[str, ...]
    people: int


@dataclass(frozen=True)
class SpecialUniques:
    """The combinations of columns on which people are special.

    Parameters
    ----------
    combinations
        Those that make anybody special, most people first.
    people
        How many people are special on some combination.
    members
        How many people there are.
    most_columns
        How many columns the combinations have at most.
    by_column
        How much each column adds, as shares of 1: by the combinations it is part of, those of
        fewer columns counting for more (the SUDA score).
    """

    combinations: tuple[SpecialCombination, ...]
    people: int
    members: int
    most_columns: int
    by_column: dict[str, float]


def find_special_uniques(
    problem: Problem, labels: NDArray[np.int32] | None = None, most_columns: int = 3
) -> SpecialUniques:
    """Find all combinations of up to some columns on which people are special.

    On large tables combinations of fewer columns are searched, which ``most_columns`` of the
    result tells.

    Parameters
    ----------
    problem
        The lines.
    labels
        int32 (F, d): what is known of each line; its leaves if not given.
    most_columns
        How many columns a combination may have.

    Examples
    --------
    >>> from shoal.anonymize.search_problem import problem_of
    >>> from shoal.domain import Taxonomy
    >>> two = Taxonomy.nested("*", {"a": ["a"], "b": ["b"]})
    >>> table = problem_of({"x": two, "y": two}, [[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]], k=2)
    >>> [(each.columns, each.people) for each in find_special_uniques(table).combinations]
    [(('x', 'y'), 1)]
    """
    known = problem.codes if labels is None else labels
    most_columns = _affordable(problem, most_columns)
    lines = np.arange(len(problem.n))
    people = problem.people if problem.people is not None else lines
    minimal_uniques: list[SpecialCombination] = []
    weights = dict.fromkeys(problem.names, 0.0)
    special = np.zeros(len(lines), dtype=bool)
    below: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    for size in range(1, most_columns + 1):
        unique: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        for columns in combinations(range(problem.d), size):
            alone = unique[columns] = _alone(problem, known, columns)
            minimal = alone.copy()
            for part in combinations(columns, size - 1):
                minimal &= ~below.get(part, np.False_)
            count = len(np.unique(people[minimal]))
            if count:
                special |= minimal
                names = tuple(problem.names[q] for q in columns)
                minimal_uniques.append(SpecialCombination(names, count))
                for name in names:
                    weights[name] += count * _weight(problem.d, size, most_columns)
        below = unique
    total = math.fsum(weights.values()) or 1.0
    minimal_uniques.sort(key=lambda each: (-each.people, len(each.columns), each.columns))
    return SpecialUniques(
        tuple(minimal_uniques),
        len(np.unique(people[special])),
        int(problem.n.sum()) if problem.people is None else len(np.unique(people)),
        most_columns,
        {name: weight / total for name, weight in weights.items()},
    )


def _alone(
    problem: Problem, known: NDArray[np.int32], columns: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return which lines belong to the only person with their values in these columns."""
    sizes = [int(known[:, q].max(initial=0)) + 1 for q in columns]
    if problem.people is None and math.prod(sizes) <= _DENSE:
        key = np.zeros(len(known), dtype=np.int64)
        for q, size in zip(columns, sizes, strict=True):
            key = key * size + known[:, q]
        return np.asarray(np.bincount(key, problem.n)[key] == 1)
    classes = number_classes(known[:, list(columns)])
    return np.asarray(count_people(problem, classes)[classes.ids] == 1)


def _weight(d: int, size: int, most: int) -> float:
    """Return the score of a minimal unique: the larger combinations that contain it, in order."""
    return float(math.prod(d - i for i in range(size, most)))


def _affordable(problem: Problem, most_columns: int) -> int:
    lines, size = max(len(problem.n), 1), 1
    while size < min(most_columns, problem.d):
        work = sum(math.comb(problem.d, s) for s in range(1, size + 2)) * lines
        if work > _WORK:
            break
        size += 1
    return size
