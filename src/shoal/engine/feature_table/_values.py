"""Features of people from whole numbers: the only place where anything is divided."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.domain.features import Feature, FeaturesFile, Number

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FeatureValues:
    """Computes the table of people from joined results; pickled to where these are.

    Parameters
    ----------
    file
        The features.
    parts
        The column of each part of a feature.
    """

    file: FeaturesFile
    parts: Mapping[str, Mapping[str, str]]

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result: the person, copied columns, features."""
        fields = [(self.file.person, pa.string())]
        fields += [(n, _copied_type(e)) for n, e in self.file.people.columns.items()]
        fields += [(feature.name, pa.float64()) for feature in self.file.features]
        return pa.schema(fields)

    def __call__(self, lines: pa.RecordBatch) -> pa.RecordBatch:
        """Return a row for each person."""
        entries = self.file.people.columns.values()
        copied = [_copied(lines.column(f"k{i}"), entry) for i, entry in enumerate(entries)]
        values: dict[str, Floats] = {}
        for feature in self.file.features:
            values[feature.name] = self._value(feature, lines, values)
        features = [pa.array(column, from_pandas=True) for column in values.values()]
        return pa.record_batch([lines.column("owner"), *copied, *features], schema=self.schema)

    def _value(
        self, feature: Feature, lines: pa.RecordBatch, values: Mapping[str, Floats]
    ) -> Floats:
        """Return a feature, NaN where it is missing."""
        if feature.parts:
            first, second = (values[name] for name in feature.parts)
            with np.errstate(divide="ignore", invalid="ignore"):
                found = first - second if feature.aggregate == "difference" else first / second
        else:
            parts = {
                role: _whole(lines.column(name)) for role, name in self.parts[feature.name].items()
            }
            scale = self._scale(feature)
            with np.errstate(divide="ignore", invalid="ignore"):
                found = _FINISH[feature.aggregate](parts, scale, self.file.period)
        none = math.nan if feature.none is None else feature.none
        # A sum of no rows divided by their number is not a number, and neither is what none has.
        return np.where(np.isfinite(found), found + 0.0, none)

    def _scale(self, feature: Feature) -> tuple[int, int]:
        """Return numerator and denominator of the step of the feature's column."""
        if feature.column is None:
            return 1, 1
        column = self.file.column_of(feature)
        step = column.step if isinstance(column, Number) else None
        return (1, 1) if step is None else (step.numerator, step.denominator)


def _whole(column: pa.Array) -> Any:
    """Return whole numbers, masked where a person has none."""
    known = column.is_valid().to_numpy(zero_copy_only=False)
    values = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return np.ma.array(values, mask=~known)


def _count(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    return _floats(parts["n"].filled(0))


def _sum(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    return _scaled(parts["sum"].filled(0), scale)


def _mean(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    total = _floats(parts["sum"].filled(0)) * scale[0]
    return total / (_floats(parts["n"].filled(0)) * scale[1])


def _std(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    roles = ("n", "sum", "high", "low")
    lines = zip(*(parts[role].filled(0).tolist() for role in roles), strict=True)
    # Python's whole numbers have no limit, and its division rounds once.
    return np.array([_std_of(line, scale) for line in lines], np.float64)


def _std_of(line: tuple[int, ...], scale: tuple[int, int]) -> float:
    (n, total, high, low), (numerator, denominator) = line, scale
    if n == 0:
        return math.nan
    spread = n * ((high << 32) + low) - total * total
    return math.sqrt(spread * numerator**2 / (n * n * denominator**2))


def _value(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    values = _scaled(parts["value"].filled(0), scale)
    return np.where(np.ma.getmaskarray(parts["value"]), math.nan, values)


def _share(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    return _floats(parts["of"].filled(0)) / _floats(parts["n"].filled(0))


def _change(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    n, late = parts["n"].filled(0), parts["of"].filled(0)
    return _floats(2 * late - n) / _floats(n)


def _days(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    return sum(_floats(np.bitwise_count(part.filled(0))) for part in parts.values())  # type: ignore[return-value]


def _weeks(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    return _floats(np.bitwise_count(parts["bits"].filled(0)))


def _streak(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    return _floats(longest_run(parts["bits"].filled(0)))


def _gap(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    every_week = (1 << period.n_weeks) - 1
    without = ~parts["bits"].filled(0) & every_week
    is_none = np.ma.getmaskarray(parts["bits"]) | (parts["bits"].filled(0) == 0)
    return np.where(is_none, math.nan, _floats(longest_run(without)))


def longest_run(bits: Whole) -> Whole:
    """Return the longest run of ones in each number.

    Examples
    --------
    >>> longest_run(np.array([0b0, 0b1011, 0b11101])).tolist()
    [0, 2, 3]
    """
    longest, left = np.zeros(len(bits), np.int64), bits.copy()
    while left.any():
        longest += left != 0
        left &= left << 1  # each run loses one
    return longest


def _evenness(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    n, squares = parts["n"].filled(0), parts["squares"].filled(0)
    return _floats(n * n - squares) / _floats(n * n)


def _first(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    day = parts["day"]
    return np.where(np.ma.getmaskarray(day), math.nan, _floats(day.filled(0)))


def _last(parts: Mapping[str, Any], scale: tuple[int, int], period: Any) -> Floats:
    last: Floats = period.n_days - 1 - _first(parts, scale, period)
    return last


def _floats(whole: Any) -> Floats:
    return np.asarray(whole, np.float64)


def _scaled(steps: Whole, scale: tuple[int, int]) -> Floats:
    return _floats(steps) * scale[0] / scale[1]


_FINISH: dict[str, Callable[[Mapping[str, Any], tuple[int, int], Any], Floats]] = {
    "count": _count,
    "sum": _sum,
    "mean": _mean,
    "median": _value,
    "quantile": _value,
    "largest": _value,
    "smallest": _value,
    "std": _std,
    "share": _share,
    "days": _days,
    "weeks": _weeks,
    "gap": _gap,
    "streak": _streak,
    "evenness": _evenness,
    "first": _first,
    "last": _last,
    "distinct": _count,
    "change": _change,
    "sessions": _count,
}


def _copied_type(entry: Mapping[str, Any]) -> pa.DataType:
    listed = entry.get("values") or entry.get("levels")
    return pa.float64() if listed is None else _listed(listed).type


def _listed(values: list[Any]) -> pa.Array:
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return pa.array([float(value) for value in values])
    return pa.array(values if len(kinds) == 1 else [str(value) for value in values])


def _copied(column: pa.Array, entry: Mapping[str, Any]) -> pa.Array:
    listed = entry.get("values") or entry.get("levels")
    if listed is not None:
        return _listed(listed).take(column)
    is_null = column.is_null().to_numpy(zero_copy_only=False)
    bits = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return pa.array(bits.view(np.float64), mask=is_null)
