"""Hierarchies of numbers over a declared domain: intervals merged, or the domain halved."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.hierarchies.hierarchy import Edges, Hierarchy, grown
from shoal.anonymize.hierarchies.leaves import NumberLeaves
from shoal.errors import InvalidPolicy

__all__ = ["binary", "interval"]

Breaks = NDArray[np.float64]
_MOST_LEAVES = 200_000
_DIGITS = 12


def interval(
    domain: tuple[float, float],
    *,
    whole: bool,
    width: float | None = None,
    breaks: Sequence[float] | None = None,
    fanout: int = 2,
) -> Hierarchy:
    """Intervals of one width, or between given breaks, merged so many at a time up to the root.

    Parameters
    ----------
    domain
        The declared least and greatest value; what lies beyond belongs to the first and last.
    whole
        Whether the numbers are integers.
    width, breaks
        One of them: the width, or the inner bounds of the intervals.
    fanout
        How many neighbours make one interval of the next level.

    Examples
    --------
    >>> ages = interval((0, 39), whole=True, width=10)
    >>> [node.label for node in ages.taxonomy.nodes]
    ['*', '<20', '<10', '[10, 20)', '>=20', '[20, 30)', '>=30']
    """
    low, high = _ends(domain, whole)
    if width is not None:
        _check_count((high - low) / width)
        inner = np.round(np.arange(low, high, width)[1:], _DIGITS)  # three tenths are 0.3
    else:
        inner = np.array(breaks, dtype=np.float64)
    finest = np.array([low, *inner[(inner > low) & (inner < high)], high])
    levels = [finest]
    while len(levels[-1]) > 2:
        levels.append(np.append(levels[-1][:-1:fanout], high))
    return _of_breaks(levels, whole)


def binary(
    domain: tuple[float, float],
    *,
    whole: bool,
    min_width: float,
    values: NDArray[np.float64] | None = None,
    counts: NDArray[np.int64] | None = None,
) -> Hierarchy:
    """The domain halved again and again, at midpoints or at the medians of given values.

    Parameters
    ----------
    domain, whole
        As for ``interval``.
    min_width
        No interval gets narrower.
    values, counts
        For medians: the distinct values of the table and how often each occurs. The split points
        are then learnt from the rows, and the hierarchy says so. Of numbers that are not whole
        they are multiples of ``min_width``.

    Examples
    --------
    >>> ages = binary((0, 3), whole=True, min_width=1)
    >>> [node.label for node in ages.taxonomy.nodes]
    ['*', '<2', '<=0', '1', '>=2', '2', '>=3']
    """
    low, high = _ends(domain, whole)
    _check_count((high - low) / min_width)
    if values is None or counts is None:
        return _of_breaks(_halved(low, high, min_width, _midpoint(whole)), whole)
    if not whole:  # to the nearest step: a median as it stands is somebody's own number
        values = np.round(low + np.rint((values - low) / min_width) * min_width, _DIGITS)
    split = _median(np.clip(values, low, high), counts)
    return _of_breaks(_halved(low, high, min_width, split), whole, learnt=True)


def _ends(domain: tuple[float, float], whole: bool) -> tuple[float, float]:
    return float(domain[0]), float(domain[1]) + whole  # of integers the last one counts too


def _check_count(leaves: float) -> None:
    if leaves > _MOST_LEAVES:
        raise InvalidPolicy(
            f"A hierarchy of some {leaves:.0f} leaves is asked for; {_MOST_LEAVES} are the most.",
            "Make its narrowest intervals wider.",
        )


def _halved(
    low: float, high: float, min_width: float, split: Callable[[float, float], float]
) -> list[Breaks]:
    """The breaks of each level, finest first; an interval that cannot be split stays."""
    levels = [np.array([low, high])]
    while True:
        new = [split(a, b) for a, b in pairwise(levels[-1]) if b - a >= 2 * min_width]
        inside = [at for at in new if np.min(np.abs(levels[-1] - at)) >= min_width]
        if not inside:
            return levels[::-1]
        levels.append(np.sort(np.concatenate([levels[-1], inside])))


def _midpoint(whole: bool) -> Callable[[float, float], float]:
    return lambda a, b: float(np.floor((a + b) / 2)) if whole else (a + b) / 2


def _median(values: Breaks, counts: NDArray[np.int64]) -> Callable[[float, float], float]:
    values, of = np.unique(values, return_inverse=True)  # 39 and 39.0, or two beyond the domain
    until = np.concatenate([[0], np.cumsum(np.bincount(of, counts))])

    def split(a: float, b: float) -> float:
        first, last = np.searchsorted(values, [a, b])
        if last - first < 2:
            return a  # nothing to tell apart
        half = (until[first] + until[last]) / 2
        at = int(np.clip(np.searchsorted(until, half), first + 1, last - 1))
        return float(values[at])

    return split


def _of_breaks(levels: Sequence[Breaks], whole: bool, learnt: bool = False) -> Hierarchy:
    """The hierarchy of nested breaks, finest first and the whole domain last."""
    low, high = levels[0][:-1], levels[0][1:]
    columns = []
    for breaks in levels[:-1]:
        labels = np.array(_labels(breaks, whole), dtype=object)
        columns.append(labels[np.searchsorted(breaks, low, side="right") - 1])
    columns.append(np.full(len(low), "*", dtype=object))
    taxonomy, places, _ = grown(columns)
    leaves = NumberLeaves(levels[0], whole)
    return Hierarchy(taxonomy, places, leaves, Edges(low, high, whole), learnt)


def _labels(breaks: Breaks, whole: bool) -> list[str]:
    """The first and the last interval reach beyond the domain, and their labels say so."""
    labels = [_label(a, b, whole) for a, b in pairwise(breaks)]
    single = whole and breaks[1] - breaks[0] == 1
    labels[0] = f"<={_number(breaks[0])}" if single else f"<{_number(breaks[1])}"
    labels[-1] = f">={_number(breaks[-2])}"
    return labels


def _label(low: float, high: float, whole: bool) -> str:
    if whole and high - low == 1:
        return _number(low)
    return f"[{_number(low)}, {_number(high)})"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
