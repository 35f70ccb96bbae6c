"""Build hierarchies by rule: intervals of numbers, halves of a domain, periods and prefixes.

Days are grouped by months, quarters, years and decades; codes such as postcodes by their first
characters.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from shoal.anonymize.hierarchies._hierarchy import (
    DateLeaves,
    Hierarchy,
    Labels,
    LeafIntervals,
    NumberLeaves,
    TextLeaves,
    as_text,
    grow_taxonomy,
    mask_text,
    parse_days,
)
from shoal.arrays import Floats, Integers
from shoal.errors import HierarchyInvalid, InvalidPolicy

_MOST_LEAVES = 200_000
_DIGITS = 12  # decimals to which bounds are rounded, so that three tenths are 0.3
_CELLS = 1_000  # most cells of the lattice on which splits are learnt; public, like the domain


class HeldNumbers(NamedTuple):
    """The numbers that people hold, from which splits are learnt.

    Parameters
    ----------
    values
        The numbers of the table, in any order; equal ones may come several times.
    owner
        Whose those rows are, as a number; None if each row is a person's.
    """

    values: Floats
    n: Integers
    owner: Integers | None = None


def build_intervals(
    domain: tuple[float, float],
    *,
    whole: bool,
    width: float | None = None,
    breaks: Sequence[float] | None = None,
    fanout: int = 2,
) -> Hierarchy:
    """Build intervals of one width, or between given breaks, merged ``fanout`` at a time.

    Parameters
    ----------
    domain
        The declared least and greatest value; what lies beyond belongs to the first and last.
    whole
        Whether the numbers are integers.
    width
        The width of the intervals, or None.
    breaks
        The inner bounds of the intervals; give either these or the width.
    fanout
        How many neighbours make one interval of the next level.

    Examples
    --------
    >>> ages = build_intervals((0, 39), whole=True, width=10)
    >>> [node.label for node in ages.taxonomy.nodes]
    ['*', '<20', '<10', '[10, 20)', '>=20', '[20, 30)', '>=30']
    """
    low, high = _bounds_of(domain, whole)
    if width is not None:
        _check_count((high - low) / width)
        inner = np.round(np.arange(low, high, width)[1:], _DIGITS)  # three tenths are 0.3
    else:
        inner = np.array(breaks, dtype=np.float64)
    finest = np.array([low, *inner[(inner > low) & (inner < high)], high])
    levels = [finest]
    while len(levels[-1]) > 2:
        levels.append(np.append(levels[-1][:-1:fanout], high))
    return _hierarchy_of_breaks(levels, whole)


def build_halves(
    domain: tuple[float, float],
    *,
    whole: bool,
    min_width: float,
    people: HeldNumbers | None = None,
    k: int = 1,
) -> Hierarchy:
    """Halve a domain repeatedly, at midpoints or at medians of the people.

    Parameters
    ----------
    domain
        The declared lowest and highest value; values beyond belong to the first and last.
    whole
        Whether the numbers are integers.
    min_width
        The least width of an interval.
    people
        For medians, who holds which numbers; None splits at midpoints. Split points are then learnt
        from the rows, and the hierarchy is marked so. They are multiples of a public step from the
        domain's low end, chosen by how many people lie between such multiples: see
        ``rules.proof.md``.
    k
        For medians, how many people must be on each side of a split.

    Examples
    --------
    >>> ages = build_halves((0, 3), whole=True, min_width=1)
    >>> [node.label for node in ages.taxonomy.nodes]
    ['*', '<2', '0', '1', '>=2', '2', '3']
    >>> pay = HeldNumbers(np.array([21_347.0, 31_202, 48_911, 977_123]), np.ones(4, dtype=np.int64))
    >>> tree = build_halves((0, 999_999), whole=True, min_width=1, people=pay, k=2)
    >>> [node.label for node in tree.taxonomy.nodes]
    ['*', '<40000', '>=40000']
    """
    low, high = _bounds_of(domain, whole)
    if people is None:
        _check_count((high - low) / min_width)
        return _hierarchy_of_breaks(_halve(low, high, min_width, _midpoint(whole)), whole)
    lattice = _lattice(low, high, np.ceil(min_width) if whole else min_width)
    return _hierarchy_of_breaks(_learn_breaks(lattice, people, k), whole, learnt=True)


def label_intervals(breaks: Iterable[float], whole: bool) -> list[str]:
    """Return the labels of the intervals between breaks, the ends of the domain included.

    Examples
    --------
    >>> label_intervals([0, 100, 20, 30], whole=True), label_intervals([0, 100], whole=True)
    (['<20', '[20, 30)', '>=30'], ['*'])
    """
    ends = np.unique([float(at) for at in breaks])
    return _labels(ends, whole) if len(ends) > 2 else ["*"]


def _bounds_of(domain: tuple[float, float], whole: bool) -> tuple[float, float]:
    return float(domain[0]), float(domain[1]) + whole  # of integers the last one counts too


def _check_count(leaves: float) -> None:
    if leaves > _MOST_LEAVES:
        raise InvalidPolicy(
            f"The hierarchy would have about {leaves:,.0f} leaves; at most {_MOST_LEAVES:,} are "
            "allowed.",
            "Make its narrowest intervals wider.",
        )


def _halve(
    low: float, high: float, min_width: float, split: Callable[[float, float], float]
) -> list[Floats]:
    """Return the breaks of each level, finest first; an interval that cannot be split stays."""
    levels = [np.array([low, high])]
    while True:
        new = [split(a, b) for a, b in pairwise(levels[-1]) if b - a >= 2 * min_width]
        inside = [at for at in new if np.min(np.abs(levels[-1] - at)) >= min_width]
        if not inside:
            return levels[::-1]
        levels.append(np.sort(np.concatenate([levels[-1], inside])))


def _midpoint(whole: bool) -> Callable[[float, float], float]:
    return lambda a, b: float(np.floor((a + b) / 2)) if whole else (a + b) / 2


def _lattice(low: float, high: float, min_width: float) -> Floats:
    """Return where splits may be: multiples of a round multiple of ``min_width`` from ``low``.

    It depends on the declared domain only. The last cell may be wider than the others, never
    narrower.
    """
    least = (high - low) / min_width / _CELLS
    rounds = (float(f"{digit}e{power}") for power in count() for digit in (1, 2, 5))
    step = min_width * next(times for times in rounds if times >= least)
    cells = max(int((high - low) / step + 1e-9), 1)
    return np.append(np.round(low + step * np.arange(cells), _DIGITS), high)  # [P1]


def _learn_breaks(lattice: Floats, people: HeldNumbers, k: int) -> list[Floats]:
    """Return the breaks of each level, finest first: each interval is halved while k allows it."""
    held = _by_cell(lattice, people)
    levels, parts = [np.array([0, len(lattice) - 1])], [(0, len(lattice) - 1)]
    while parts:
        splits = [(a, _split(held, a, b, k), b) for a, b in parts]
        new = [(a, at, b) for a, at, b in splits if at is not None]
        if new:
            levels.append(np.sort([*levels[-1], *(at for _, at, _ in new)]))
        parts = [part for a, at, b in new for part in ((a, at), (at, b))]
    return [lattice[level] for level in reversed(levels)]


class _Cells(NamedTuple):
    """The occupied cells, ascending, with the number of people in each, or once for each person."""

    at: Integers
    n: Integers
    owner: Integers | None


def _by_cell(lattice: Floats, people: HeldNumbers) -> _Cells:
    cell = np.searchsorted(lattice[1:-1], people.values, side="right").astype(np.int64)
    if people.owner is None:
        n = np.bincount(cell, people.n, minlength=len(lattice) - 1).astype(np.int64)
        return _Cells(np.arange(len(n)), n, None)
    pairs = np.unique(np.stack([cell, people.owner], axis=1), axis=0)
    return _Cells(pairs[:, 0], np.ones(len(pairs), dtype=np.int64), pairs[:, 1])


def _split(held: _Cells, a: int, b: int, k: int) -> int | None:
    """Return the lattice point between two others that halves the people there best.

    None unless there are k people on each side. Of equally good points the roundest is taken,
    whichever is nearest to somebody's number.
    """
    if b - a < 2:
        return None
    below, above = _sides(held, a, b)
    worse = np.where(np.minimum(below, above) >= k, np.abs(below - above), np.inf)  # [P2]
    if np.isinf(worse).all():
        return None
    best = a + 1 + np.flatnonzero(worse == worse.min())  # [P3]
    return int(best[np.argmax(_roundness(best))])


def _sides(held: _Cells, a: int, b: int) -> tuple[Integers, Integers]:
    """Count how many people hold something below, and above, each point between two."""
    here = slice(*np.searchsorted(held.at, [a, b]))
    cell, first, last = held.at[here] - a, held.n[here], held.n[here]
    # A person may hold several cells but counts once on each side, at the first one there.
    if held.owner is not None:
        owner = held.owner[here]
        first, last = np.zeros((2, len(cell)), dtype=np.int64)
        first[np.unique(owner, return_index=True)[1]] = 1
        last[len(cell) - 1 - np.unique(owner[::-1], return_index=True)[1]] = 1
    below = np.cumsum(np.bincount(cell, first, minlength=b - a))[:-1]
    above = np.cumsum(np.bincount(cell, last, minlength=b - a)[::-1])[::-1][1:]
    return below.astype(np.int64), above.astype(np.int64)


def _roundness(numbers: Integers) -> Integers:
    """Return how round whole numbers are: the largest of 1, 2, 5, 10, 20, ... that divides them."""
    rounds = [digit * 10**power for power in range(4) for digit in (1, 2, 5)]
    fits = [at * (numbers % times == 0) for at, times in enumerate(rounds)]
    most: Integers = np.max(np.stack(fits), axis=0)
    return most


def _hierarchy_of_breaks(levels: Sequence[Floats], whole: bool, learnt: bool = False) -> Hierarchy:
    """Build the hierarchy of nested breaks, finest first and the whole domain last."""
    low, high = levels[0][:-1], levels[0][1:]
    columns = []
    for breaks in levels[:-1]:
        labels = np.array(_labels(breaks, whole), dtype=object)
        columns.append(labels[np.searchsorted(breaks, low, side="right") - 1])
    columns.append(np.full(len(low), "*", dtype=object))
    taxonomy, places, _ = grow_taxonomy(columns)
    leaves = NumberLeaves(levels[0], whole)
    return Hierarchy(taxonomy, places, leaves, LeafIntervals(low, high, whole), learnt)


def _labels(breaks: Floats, whole: bool) -> list[str]:
    """Label the intervals; those of several numbers at the ends reach beyond the domain.

    A single number at an end is the end of the declared domain itself, and printed as such.
    """
    labels = [_label(a, b, whole) for a, b in pairwise(breaks)]
    if not _is_single(breaks[0], breaks[1], whole):
        labels[0] = f"<{_number(breaks[1])}"
    if not _is_single(breaks[-2], breaks[-1], whole):
        labels[-1] = f">={_number(breaks[-2])}"
    return labels


def _is_single(low: float, high: float, whole: bool) -> bool:
    return whole and high - low == 1


def _label(low: float, high: float, whole: bool) -> str:
    if _is_single(low, high, whole):
        return _number(low)
    return f"[{_number(low)}, {_number(high)})"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def _day(number: int) -> str:
    return date.fromordinal(number).isoformat()


def _month(number: int) -> str:
    return f"{number // 12:04d}-{number % 12 + 1:02d}"


def _quarter(number: int) -> str:
    return f"{number // 4:04d}-Q{number % 4 + 1}"


class Period(NamedTuple):
    """A unit of time: how days are numbered by it, and how numbers are named."""

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


def build_periods(
    levels: Sequence[str],
    *,
    values: Any = None,
    domain: tuple[date, date] | None = None,
    written: str = "iso",
) -> Hierarchy:
    """Group days by ever longer periods.

    Parameters
    ----------
    levels
        Some of day, month, quarter, year, decade, in this order; the first are the leaves.
    values
        The column's distinct values, from which the leaves are learnt; or None.
    domain
        The declared first and last day, instead of values; days beyond belong to its ends.
    written
        How days are written as text: ``iso``, ``dd/mm/yyyy`` or ``mm/dd/yyyy``.

    Examples
    --------
    >>> days = (date(2001, 2, 3), date(2001, 4, 5))
    >>> for path in build_periods(["month", "quarter", "year"], domain=days).paths():
    ...     print(path)
    ['<=2001-02', '<=2001-Q1', '*', '*']
    ['2001-03', '<=2001-Q1', '*', '*']
    ['>=2001-04', '>=2001-04', '*', '*']
    """
    finest = PERIODS[levels[0]]
    if domain is not None:
        leaves = list(range(finest.number(domain[0]), finest.number(domain[1]) + 1))
    else:
        leaves = sorted({finest.number(day) for day in parse_days(values, written) if day})
    days = [finest.first(leaf) for leaf in leaves]
    columns = [_day_labels(days, PERIODS[level], domain is not None) for level in levels]
    columns.append(np.full(len(leaves), "*", dtype=object))
    taxonomy, places, _ = grow_taxonomy(columns)
    known = np.array(leaves, dtype=np.int64)
    leaf_of = DateLeaves(known, finest.number, clip=domain is not None, written=written)
    return Hierarchy(taxonomy, places, leaf_of, learnt=domain is None)


def _day_labels(days: Sequence[date], period: Period, reaches_beyond: bool) -> Labels:
    """Name the periods of days; the ends of a declared domain include what lies beyond."""
    names = np.array([period.name(period.number(day)) for day in days], dtype=object)
    if not reaches_beyond or names[0] == names[-1]:
        return names
    marked = np.where(names == names[0], f"<={names[0]}", names)
    ends: Labels = np.where(names == names[-1], f">={names[-1]}", marked)
    return ends


def build_prefixes(values: Any, keep: Sequence[int]) -> Hierarchy:
    """Group values by their first characters, fewer at each level; the leaves are learnt.

    Parameters
    ----------
    values
        The distinct values of the column, an Arrow array without nulls.
    keep
        How many characters each level keeps, falling; above the last comes the root.

    Examples
    --------
    >>> import pyarrow as pa
    >>> codes = build_prefixes(pa.array(["70173", "70174", "01219"]), [5, 3, 1])
    >>> codes.paths()[0], codes.paths()[2]  # 701* and 7* are one set here: one node
    (['01219', '01219', '01219', '*'], ['70174', '7*', '7*', '*'])
    """
    cells = pc.utf8_trim_whitespace(as_text(values))
    if pc.any(pc.ends_with(cells, "*")).as_py():
        raise HierarchyInvalid(
            "Some values already end in *, as the labels of a prefix hierarchy do.",
            "Was the column cut short before? Use a hierarchy file, or remove those values.",
            reason="ambiguous label",
        )
    leaves = pc.unique(mask_text(cells, keep[0])).sort()
    columns = [np.array(_prefixes(leaves, length), dtype=object) for length in keep]
    columns.append(np.full(len(leaves), "*", dtype=object))
    taxonomy, levels, _ = grow_taxonomy(columns)
    return Hierarchy(taxonomy, levels, TextLeaves(taxonomy.leaves, keep[0]), learnt=True)


def _prefixes(leaves: Any, length: int) -> list[str]:
    """Return the labels of a level; the ``*`` of a leaf that was masked itself does not count."""
    return [
        leaf
        if len(leaf.removesuffix("*")) <= length and not leaf.endswith("*")
        else f"{leaf.removesuffix('*')[:length]}*"
        for leaf in leaves.to_pylist()
    ]
