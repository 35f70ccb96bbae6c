"""What every local mechanism on bounded numbers shares: the way in, the way out, the estimate.

    rows ─► checked, in the box ─► whole steps 0 .. 2**20 a column ─► draw ─► raw units ─► Reports

A row becomes whole steps of its public range before anything random happens. Under LocalDP that
is free, a map of the domain into itself, and it leaves no low bit of a float to tell rows apart.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.domain import Box
from shoal.domain.box import Matrix
from shoal.errors import (
    InvalidBudget,
    InvalidDomain,
    NotAReport,
    TooFewRows,
    setting,
    value_text,
)
from shoal.mechanisms.local.records import records_of
from shoal.mechanisms.local.reports import Reports, as_raw_reports
from shoal.privacy import LocalDP
from shoal.privacy.exact import Number

__all__ = [
    "STEPS",
    "Bounded",
    "Estimate",
    "Steps",
    "local_budget",
    "own_reports",
    "positive_number",
    "scaled_of",
    "steps_of",
]

STEPS = 2**20  # of a column's public range
Steps = NDArray[np.int32]
_SMALLEST_BUDGET, _LARGEST_BUDGET = Fraction(1, 2**30), 20
_BLOCK = 2**17  # values drawn at a time, so that the steps of one draw stay in the cache


@dataclass(frozen=True, eq=False)
class Estimate:
    """What reports say about everyone together, and how far off that may be.

    Attributes
    ----------
    value
        The estimate, one number a column or category.
    standard_error
        Of each; infinite for a single report.
    """

    value: NDArray[np.float64]
    standard_error: NDArray[np.float64]


class Bounded(ABC):
    """Base of the mechanisms that randomise rows of a public box; each is a frozen dataclass.

    Parameters
    ----------
    epsilon
        The promise of one report, however many columns it has; at most 20.
    domain
        The public box of the rows. ``None``: they are scaled to [-1, 1] already.
    clip
        Move rows outside the box to its nearest point, NaN to its centre, instead of refusing
        them: what a deployed client does.
    """

    epsilon: Number
    domain: Box | None
    clip: bool

    def __post_init__(self) -> None:
        local_budget(self.epsilon)
        if self.domain is not None and not isinstance(self.domain, Box):
            raise InvalidDomain(
                setting("domain") + f" must be a Box; got {value_text(self.domain)}.",
                "E.g. domain=Box(age=(0, 110)), or leave it out for [-1, 1].",
            )

    @property
    def guarantee(self) -> LocalDP:
        """Any two rows give every report with odds within e^epsilon."""
        return LocalDP(self.exact_epsilon)

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon as the fraction its decimal form names."""
        return local_budget(self.epsilon)

    def check(self, value: ArrayLike) -> None:
        """Refuse what cannot be randomised, before anything is written or drawn."""
        self._rows(value)

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Reports:
        """One report a row, in the units of the rows; a flat record is a table of one row."""
        rows = self._rows(value)
        box = self._box(rows.shape[1])
        values = np.empty(rows.shape)
        for part in _blocks(*rows.shape):
            values[part] = _in_raw_units(self._draw(steps_of(rows[part], box), rng), box)
        return Reports.drawn(values, self, rng)

    def mean(self, reports: Reports) -> Estimate:
        """The mean of the rows behind these reports, unbiased, with its standard error."""
        values = np.atleast_2d(own_reports(reports, self).values)
        n = len(values)
        spread = values.std(axis=0, ddof=1) if n > 1 else np.full(values.shape[1], np.inf)
        return Estimate(values.mean(axis=0), spread / np.sqrt(n))

    def variance(self, x: ArrayLike) -> Matrix:
        """Of the report of each row ``x``, column by column; the sum is its squared error."""
        rows = self._rows(x)
        box = self._box(rows.shape[1])
        scaled = np.clip(box.scale(rows, -1, 1), -1, 1)
        variances = self._scaled_variance(scaled) * ((box.high - box.low) / 2) ** 2
        return variances[0] if np.ndim(x) == 1 else variances

    @abstractmethod
    def _draw(self, steps: Steps, rng: np.random.Generator) -> Matrix:
        """Reports on the scale where the box is [-1, 1]^d, from rows in whole steps.

        Both have one line a column: then every operation runs along memory.
        """

    @abstractmethod
    def _scaled_variance(self, x: Matrix) -> Matrix:
        """Of each column's report, for rows in [-1, 1]^d."""

    def _rows(self, value: ArrayLike) -> Matrix:
        return records_of(value, self._box(_width(value)), clip=self.clip)

    def _box(self, d: int) -> Box:
        return _cube(d) if self.domain is None else self.domain


def local_budget(epsilon: Number) -> Fraction:
    """Epsilon, exact, if a local mechanism can keep it."""
    exact = LocalDP(epsilon).epsilon  # type: ignore[arg-type]
    if exact < _SMALLEST_BUDGET:
        raise InvalidBudget(
            setting("epsilon")
            + " must be at least 2**-30: below that a report carries no information, however "
            "many people report.",
            "Raise epsilon, and explain what it means to those who report.",
        )
    if exact > _LARGEST_BUDGET:
        raise InvalidBudget(
            setting("epsilon")
            + f" must be at most {_LARGEST_BUDGET}: above that a report is almost the row "
            "itself.",
            "Lower epsilon, and explain what it means to those who report.",
        )
    return exact


def positive_number(value: object) -> bool:
    """Whether it is a positive, finite number."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and bool(0 < float(value) < np.inf)  # type: ignore[arg-type]


def own_reports(reports: object, mechanism: object) -> Reports:
    """Reports this very mechanism made, at least one, untouched since."""
    raw = as_raw_reports(reports)
    if raw.mechanism != mechanism:
        raise NotAReport(
            f"These reports were made by another {type(raw.mechanism).__name__}, not by this "
            f"{type(mechanism).__name__}, whose estimate would be wrong.",
            "Use the mechanism that made them: reports.mechanism.",
        )
    if raw.values.size == 0:
        raise TooFewRows("There are no reports.", "Collect at least one, preferably thousands.")
    return raw


def steps_of(rows: Matrix, box: Box) -> Steps:
    """Whole steps, 0 at the low end of the box and 2**20 at its high end; one line a column."""
    places: Matrix = rows.T - box.low[:, None]
    places /= (box.high - box.low)[:, None]
    places *= STEPS
    return np.rint(places, out=places).astype(np.int32)


def _in_raw_units(values: Matrix, box: Box) -> Matrix:
    values *= ((box.high - box.low) / 2)[:, None]
    values += (box.high / 2 + box.low / 2)[:, None]
    return values.T


def scaled_of(steps: Steps) -> Matrix:
    """The place in [-1, 1] that so many steps stand for."""
    return steps.astype(np.float64) * (2 / STEPS) - 1


def _width(value: ArrayLike) -> int:
    """How many columns came, or 1 if that is no table: then the check says what it is."""
    try:
        return max(1, int(np.shape(value)[-1]))
    except (ValueError, IndexError):
        return 1


def _blocks(n: int, d: int) -> Iterator[slice]:
    size = max(1, _BLOCK // d)
    return (slice(start, start + size) for start in range(0, n, size))


@lru_cache(maxsize=64)
def _cube(d: int) -> Box:
    return Box.of([f"x{i}" for i in range(d)], np.full(d, -1.0), np.full(d, 1.0))
