"""Hierarchies of days: months, quarters, years and decades."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from shoal.anonymize.hierarchies.hierarchy import Hierarchy, Labels, grown
from shoal.anonymize.hierarchies.leaves import DateLeaves, days_in

__all__ = ["PERIODS", "dates"]


def _day(number: int) -> str:
    return date.fromordinal(number).isoformat()


def _month(number: int) -> str:
    return f"{number // 12:04d}-{number % 12 + 1:02d}"


def _quarter(number: int) -> str:
    return f"{number // 4:04d}-Q{number % 4 + 1}"


class Period(NamedTuple):
    """A day's period as a whole number; the period's name, and its first day."""

    number: Callable[[date], int]
    name: Callable[[int], str]
    first: Callable[[int], date]


PERIODS = {
    "day": Period(date.toordinal, _day, date.fromordinal),
    "month": Period(
        lambda day: day.year * 12 + day.month - 1,
        _month,
        lambda number: date(number // 12, number % 12 + 1, 1),
    ),
    "quarter": Period(
        lambda day: day.year * 4 + (day.month - 1) // 3,
        _quarter,
        lambda number: date(number // 4, number % 4 * 3 + 1, 1),
    ),
    "year": Period(
        lambda day: day.year, lambda number: f"{number:04d}", lambda number: date(number, 1, 1)
    ),
    "decade": Period(
        lambda day: day.year // 10,
        lambda number: f"{number}0s",
        lambda number: date(max(number * 10, 1), 1, 1),
    ),
}


def dates(
    levels: Sequence[str], *, values: Any = None, domain: tuple[date, date] | None = None
) -> Hierarchy:
    """Days grouped by ever longer periods.

    Parameters
    ----------
    levels
        Some of day, month, quarter, year, decade, in this order; the first are the leaves.
    values, domain
        One of them: the column's distinct values, from which the leaves are learnt, or the
        declared first and last day. Days beyond a declared domain belong to its ends.

    Examples
    --------
    >>> days = (date(2001, 2, 3), date(2001, 4, 5))
    >>> for path in dates(["month", "quarter", "year"], domain=days).paths():
    ...     print(path)
    ['<=2001-02', '<=2001-Q1', '*', '*']
    ['2001-03', '<=2001-Q1', '*', '*']
    ['>=2001-04', '>=2001-04', '*', '*']
    """
    finest = PERIODS[levels[0]]
    if domain is not None:
        leaves = list(range(finest.number(domain[0]), finest.number(domain[1]) + 1))
    else:
        leaves = sorted({finest.number(day) for day in days_in(values) if day is not None})
    days = [finest.first(leaf) for leaf in leaves]
    columns = [_labels(days, PERIODS[level], domain is not None) for level in levels]
    columns.append(np.full(len(leaves), "*", dtype=object))
    taxonomy, places, _ = grown(columns)
    known = np.array(leaves, dtype=np.int64)
    leaf_of = DateLeaves(known, finest.number, clip=domain is not None)
    return Hierarchy(taxonomy, places, leaf_of, learnt=domain is None)


def _labels(days: Sequence[date], period: Period, reaches_beyond: bool) -> Labels:
    """The names of the days' periods; the ends of a declared domain hold what lies beyond."""
    names = np.array([period.name(period.number(day)) for day in days], dtype=object)
    if not reaches_beyond or names[0] == names[-1]:
        return names
    marked = np.where(names == names[0], f"<={names[0]}", names)
    ends: Labels = np.where(names == names[-1], f">={names[-1]}", marked)
    return ends
