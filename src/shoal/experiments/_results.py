"""Rows of finished cells, and means with standard errors over draws."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.experiments._cells import Row


@dataclass(frozen=True)
class Mean:
    """A mean over draws, with its standard error.

    Parameters
    ----------
    error
        Its standard error; NaN for a single draw.
    """

    mean: float
    error: float
    n: int

    def __str__(self) -> str:
        """Return the mean with two standard errors.

        Examples
        --------
        >>> str(Mean(0.754, 0.011, 10)), str(Mean(12.5, math.nan, 1))
        ('0.754 ± 0.022', '12.5 (one draw)')
        """
        if math.isnan(self.error):
            return f"{self.mean:.3g} (one draw)"
        return f"{self.mean:.3g} ± {2 * self.error:.2g}"

    def __sub__(self, other: "Mean") -> "Mean":
        """Return the difference of two independent means."""
        error = math.hypot(self.error, other.error)
        return Mean(self.mean - other.mean, error, min(self.n, other.n))


def mean_of(values: Iterable[float | None]) -> Mean | None:
    """Return the mean and its standard error; None without any finite value.

    Parameters
    ----------
    values
        One a draw; those that are missing or not finite are left out.

    Examples
    --------
    >>> str(mean_of([1.0, 2.0, 3.0, None]))
    '2 ± 1.2'
    """
    finite = [float(v) for v in values if v is not None and math.isfinite(v)]
    if not finite:
        return None
    n, mean = len(finite), math.fsum(finite) / len(finite)
    if n == 1:
        return Mean(mean, math.nan, 1)
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in finite) / (n - 1))
    return Mean(mean, spread / math.sqrt(n), n)


class Results:
    """All rows of a run.

    Parameters
    ----------
    settings
        The names of the settings of all cells; other numbers of a row were measured.
    """

    def __init__(self, rows: Iterable[Row], settings: Iterable[str] = ()) -> None:
        self._settings = frozenset(settings) | {"part"}
        self._by_part: dict[str, list[Row]] = {}
        for row in rows:
            self._by_part.setdefault(row["part"], []).append(row)

    @classmethod
    def of_tables(cls, folder: Path) -> "Results":
        """Read the means that a run wrote, so that its claims can be judged again."""
        rows = []
        for path in sorted(folder.glob("*-means.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                rows += [_typed(line) for line in csv.DictReader(file)]
        return cls(rows)

    @property
    def parts(self) -> list[str]:
        """The parts that have rows."""
        return list(self._by_part)

    def rows(self, part: str, **equal: Any) -> list[Row]:
        """Return the rows of a part with these settings."""
        return [
            row
            for row in self._by_part.get(part, ())
            if all(row.get(name) == value for name, value in equal.items())
        ]

    def mean(self, part: str, value: str, **equal: Any) -> Mean | None:
        """Return the mean of a value over all rows with these settings; None without any."""
        rows = self.rows(part, **equal)
        if len(rows) == 1 and f"{value}_se" in rows[0]:  # a line of a table of means
            return Mean(rows[0][value], rows[0][f"{value}_se"], int(rows[0]["draws"]))
        return mean_of(row.get(value) for row in rows)

    def gaps(
        self, part: str, value: str, setting: str, first: str, second: str
    ) -> list[tuple[str, float, Mean]]:
        """Return the first less the second choice of a setting, by table and budget.

        Parameters
        ----------
        setting
            The setting whose choices are compared, e.g. "method".
        """
        compared = []
        for data in self.distinct(part, "data"):
            for epsilon in self.distinct(part, "epsilon", data=data):
                both = [
                    self.mean(part, value, data=data, epsilon=epsilon, **{setting: choice})
                    for choice in (first, second)
                ]
                if both[0] and both[1]:
                    compared.append((data, epsilon, both[0] - both[1]))
        return compared

    def distinct(self, part: str, name: str, **equal: Any) -> list[Any]:
        """Return the values that a setting takes, in the order of the rows."""
        return list(dict.fromkeys(row[name] for row in self.rows(part, **equal) if name in row))

    def line(
        self, part: str, value: str, along: str = "epsilon", **equal: Any
    ) -> list[tuple[float, float, float]]:
        """Return the points of a curve: place, mean, standard error (0 for one draw)."""
        return [
            (place, mean.mean, 0.0 if math.isnan(mean.error) else mean.error)
            for place, mean in self.means_along(part, value, along, **equal).items()
        ]

    def means_along(self, part: str, value: str, along: str, **equal: Any) -> dict[float, Mean]:
        """Return the mean at each place of a curve, in order."""
        means = {
            float(place): self.mean(part, value, **{**equal, along: place})
            for place in sorted(self.distinct(part, along, **equal))
        }
        return {place: mean for place, mean in means.items() if mean is not None}

    def means(self, part: str) -> list[Row]:
        """Return the part with its draws averaged: for each number its mean and standard error."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows(part):
            groups.setdefault(_key_of(row, self._settings), []).append(row)
        return [_averaged(dict(key), rows) for key, rows in groups.items()]


def _typed(line: Mapping[str, str]) -> Row:
    """Return a line of a table of means with its numbers; empty cells are left out.

    Examples
    --------
    >>> _typed({"data": "s1", "draws": "3", "ami": "0.5", "ami_se": "", "ari": "", "ari_se": ""})
    {'data': 's1', 'draws': 3.0, 'ami': 0.5, 'ami_se': nan}
    """
    row: Row = {name: _value(text) for name, text in line.items() if text}
    missing = [name for name in line if name.endswith("_se") and name.removesuffix("_se") in row]
    return row | {name: row.get(name, math.nan) for name in missing}


def _value(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    try:
        return float(text)
    except ValueError:
        return text


def _key_of(row: Row, settings: frozenset[str]) -> tuple[Any, ...]:
    """Return what groups a row with others: its cell's settings, and words such as a method."""
    return tuple(
        (name, value)
        for name, value in row.items()
        if (name in settings or isinstance(value, str)) and not isinstance(value, list)
    )


def _averaged(settings: Row, rows: Sequence[Row]) -> Row:
    out = {**settings, "draws": len(rows)}
    numbers = [
        name
        for name, value in rows[0].items()
        if name not in settings and name != "draw" and isinstance(value, int | float)
    ]
    for name in numbers:
        average = mean_of(row.get(name) for row in rows)
        out[name] = None if average is None else _rounded(average.mean)
        out[f"{name}_se"] = None if average is None else _rounded(average.error)
    return out


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.5g}")
