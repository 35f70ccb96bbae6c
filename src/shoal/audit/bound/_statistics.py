"""Statistics of outputs, learnt on one half of the draws, of which events are made.

Each statistic guesses the log-likelihood ratio of an output, first input over second. The events
tried are {statistic >= t} for the first input and {statistic <= t} for the second. An output for
which the statistic is NaN is in neither.

    values      each different output by itself, for finite outputs
    ranges      one column in bins: tails, signs, single ranges
    failures    what went wrong, if anything did
    trees       all columns together, by boosted trees
    exact       the ratio itself, where the mechanism's law is known
    low bits    whether float64 rounding betrays the larger input
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.audit.bound._outputs import OutputSample
from shoal.errors import InvalidSetting

Codes = NDArray[np.intp]
Score = Callable[[Any], Any]
# When values are compared one by one: docs/decisions/audit-verdicts.md.
_MOST_VALUES = 65_536
_FEW_VALUES = 2_000  # beyond, trees may see more than single values do
_MOST_NEW = 0.2  # share of new values up to which single values are worth comparing
_BINS = 64  # of a column


@dataclass(frozen=True, eq=False)
class Statistic:
    """A number for each output, and how to describe an event of it."""

    name: str
    of: Callable[[OutputSample], Floats]
    describe: Callable[[float, bool], str]


def candidate_statistics(
    first: OutputSample, second: OutputSample, score: Score | None, seed: int
) -> list[Statistic]:
    """Return all statistics worth trying, learnt from these outputs.

    Raises
    ------
    InvalidSetting
        If nearly every output is a different word.
    """
    statistics = [] if score is None else [_given_score(score)]
    failing = bool(first.kinds.any() or second.kinds.any())
    if failing:
        statistics.append(_failures(first, second))
    different = _count_distinct(first, second)
    if different:
        statistics.append(_values(first, second))
    if first.is_text and not different:
        raise InvalidSetting(
            "Nearly every output is a different text, so none can be compared.",
            "Return numbers, or texts that repeat.",
        )
    if first.is_text or 0 < different <= _BINS:
        return statistics
    statistics += [_ranges(first, second, column) for column in range(first.values.shape[1])]
    smooth = score is None and not 0 < different <= _FEW_VALUES and first.values.shape[1] > 0
    return [*statistics, _trees(first, second, seed, failing)] if smooth else statistics


def has_few_values(first: OutputSample, second: OutputSample) -> bool:
    """Return whether there are so few distinct outputs that overfitting is impossible."""
    return 0 < _count_distinct(first, second) <= _BINS


def _given_score(score: Score) -> Statistic:
    """Return the statistic of a given log-likelihood ratio."""

    def of(sample: OutputSample) -> Floats:
        scores = np.asarray(score(sample.values), dtype=np.float64)
        if scores.shape != (len(sample),):
            raise InvalidSetting(
                f"The score has shape {scores.shape} for {len(sample)} outputs.",
                "Return one number for each output: how strongly it points to the first input.",
            )
        return np.where(sample.kinds > 0, np.nan, scores)

    def describe(t: float, first: bool) -> str:
        return f"log-likelihood ratio {'at least' if first else 'at most'} {t:.3g}"

    return Statistic("exact score", of, describe)


def has_low_bits(column: int, size: float) -> list[Statistic]:
    """Return statistics of bits that the sum of noise and an input of this size cannot have.

    For |z| < size/4 the sum fl(size + u) is exact and a whole number of 2**-53 size; fl(0 + u) has
    bits below that (Mironov 2012). They speak for the smaller input: once as the first, once as
    the second.
    """
    unit = 2.0 ** np.floor(np.log2(size)) * 2.0**-53

    def beyond(sample: OutputSample) -> Floats:
        last = sample.values.shape[1] - 1  # outputs may be narrower than inputs
        z = sample.values[:, min(column, last)].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            unreachable = (z != 0) & (np.abs(z) < size / 4) & (z / unit != np.rint(z / unit))
        return np.where(unreachable, 1.0, np.nan)

    def describe(t: float, first: bool) -> str:
        return f"column {column} has bits below 2^-53 of the larger input"

    return [
        Statistic("low bits", beyond, describe),
        Statistic("low bits", lambda sample: -beyond(sample), describe),
    ]


def _log_ratios(first: Codes, second: Codes, size: int) -> Floats:
    """Return the log ratio of codes seen in either half; NaN for those seen in neither."""
    more, fewer = (np.bincount(codes, minlength=size) for codes in (first, second))
    ratios = np.log((more + 0.5) / (fewer + 0.5))
    ratios[more + fewer == 0] = np.nan
    return ratios


def _failures(first: OutputSample, second: OutputSample) -> Statistic:
    ratios = _log_ratios(first.kinds, second.kinds, len(first.names))

    def describe(t: float, up: bool) -> str:
        inside = _inside(ratios, t, up)
        return " or ".join(first.names[place] or "no failure" for place in inside)

    return Statistic("failures", lambda sample: ratios[sample.kinds], describe)


def _count_distinct(first: OutputSample, second: OutputSample) -> int:
    """Count the distinct outputs; 0 if there are too many, or if they hardly ever recur.

    About as many future outputs are new as have occurred once so far (Good 1953).
    """
    counts = np.bincount(np.concatenate([first.codes, second.codes]))
    once = int(np.sum(counts == 1))
    different = int(np.sum(counts > 0))
    return different if different <= _MOST_VALUES and once <= _MOST_NEW * counts.sum() else 0


def _values(first: OutputSample, second: OutputSample) -> Statistic:
    """Return the statistic that treats each distinct output by itself."""
    a, b = first.codes, second.codes
    ratios = _log_ratios(a, b, int(max(a.max(), b.max())) + 1)
    every = np.count_nonzero(~np.isnan(ratios))

    def of(sample: OutputSample) -> Floats:
        known = sample.codes < ratios.size
        return np.where(known, ratios[np.where(known, sample.codes, 0)], np.nan)

    def describe(t: float, up: bool) -> str:
        inside = _inside(ratios, t, up)
        return f"one of {inside.size} of {every} different outputs"

    return Statistic("values", of, describe)


def _ranges(first: OutputSample, second: OutputSample, column: int) -> Statistic:
    """Return the statistic of one column in equally full bins; recurring values have their own."""
    a, b = first.values[:, column], second.values[:, column]
    both = np.concatenate([a, b]).astype(np.float64)
    known = both[~np.isnan(both)] if not np.isnan(both).all() else np.zeros(1)
    quantiles = np.quantile(known, np.arange(1, _BINS) / _BINS, method="lower")
    edges, times = np.unique(np.append(quantiles, 0.0), return_counts=True)
    edges = np.unique(np.concatenate([edges, np.nextafter(edges[times > 1], np.inf)]))

    def bins(values: NDArray[Any]) -> Codes:
        return np.searchsorted(edges, values.astype(np.float64), side="right")

    ratios = _log_ratios(bins(a), bins(b), edges.size + 1)

    def of(sample: OutputSample) -> Floats:
        values = sample.values[:, column]
        return np.where(sample.kinds > 0, np.nan, ratios[bins(values)])

    def describe(t: float, up: bool) -> str:
        return f"column {column} in {_intervals(edges, _inside(ratios, t, up))}"

    return Statistic("ranges", of, describe)


def _intervals(edges: Floats, bins: Codes) -> str:
    """Describe bins as ranges, neighbouring ones merged; the first three are named."""
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    runs = np.split(bins, np.flatnonzero(np.diff(bins) > 1) + 1)
    named = [f"[{ends[run[0]]:.4g}, {ends[run[-1] + 1]:.4g})" for run in runs if run.size]
    more = f" and {len(named) - 3} more ranges" if len(named) > 3 else ""
    return ", ".join(named[:3]) + more


def _inside(ratios: Floats, t: float, up: bool) -> Codes:
    return np.flatnonzero(ratios >= t if up else ratios <= t)


def _trees(first: OutputSample, second: OutputSample, seed: int, failing: bool) -> Statistic:
    """Return boosted trees that distinguish the outputs, and failures, of the two inputs."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    trees = HistGradientBoostingClassifier(
        max_iter=60,
        learning_rate=0.15,
        max_leaf_nodes=63,
        min_samples_leaf=50,
        early_stopping=False,
        random_state=seed,
    )
    sides = np.repeat([1, 0], [len(first), len(second)])
    both = np.concatenate([first.values, second.values]).astype(np.float64)
    usable = ~np.isnan(both).all(axis=0)  # trees take no column of nothing

    def features(sample: OutputSample) -> Floats:
        values = sample.values[:, usable].astype(np.float64)
        return np.column_stack([values, sample.kinds]) if failing else values

    trees.fit(np.concatenate([features(first), features(second)]), sides)

    def describe(t: float, up: bool) -> str:
        return f"boosted trees' log-odds {'at least' if up else 'at most'} {t:.3g}"

    return Statistic("trees", lambda sample: trees.decision_function(features(sample)), describe)
