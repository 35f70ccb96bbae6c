"""The base class of local mechanisms on bounded numbers: scaling, reports and mean estimates.

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

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.errors import (
    InvalidBudget,
    InvalidDomain,
    NotAReport,
    TooFewRows,
    setting,
    value_text,
)
from shoal.mechanisms.local._records import is_simulated, records_of
from shoal.mechanisms.local._reports import Reports, as_raw_reports
from shoal.privacy import LocalDP, Number

STEPS = 2**20  # of a column's public range: docs/decisions/exact-local-draws.md
Steps = NDArray[np.int32]
_SMALLEST_BUDGET, _LARGEST_BUDGET = Fraction(1, 2**30), 20
_FARTHEST = np.finfo(np.float64).max
_FAR = 1e290  # bounds beyond which a report could overflow
_BLOCK = 2**17  # values drawn at a time, so that the steps of one draw stay in the cache


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate about all people behind some reports, with its standard error.

    Attributes
    ----------
    value
        The estimate, one number a column or category.
    standard_error
        Of each; infinite for a single report.
    """

    value: Floats
    standard_error: Floats


class Bounded(ABC):
    """Base class of mechanisms that randomise rows of a public box; each is a frozen dataclass.

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
        """``LocalDP(epsilon)``: any two rows give every report with odds within e^epsilon."""
        return LocalDP(self.exact_epsilon).simulated(is_simulated(self.domain))

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon as the fraction its decimal form names."""
        return local_budget(self.epsilon)

    def check(self, value: ArrayLike) -> None:
        """Refuse rows that cannot be randomised, before anything is written or drawn."""
        self._rows(value)

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Reports:
        """Return one report for each row, in the units of the rows."""
        rows = self._rows(value)
        box = self._box(rows.shape[1])
        # Filled block by block: noise of a whole table would be several copies of it.
        values = np.empty(rows.shape)
        for part in _blocks(*rows.shape):
            values[part] = _in_raw_units(self._draw(steps_of(rows[part], box), rng), box)
        return Reports.drawn(values, self, rng)

    def mean(self, reports: Reports) -> Estimate:
        """Estimate the mean of the rows behind these reports, unbiased, with its standard error."""
        values = np.atleast_2d(own_reports(reports, self).values)
        n = len(values)
        spread = values.std(axis=0, ddof=1) if n > 1 else np.full(values.shape[1], np.inf)
        return Estimate(values.mean(axis=0), spread / np.sqrt(n))

    def variance(self, x: ArrayLike) -> Floats:
        """Return the variance of each row's report, column by column."""
        rows = self._rows(x)
        box = self._box(rows.shape[1])
        scaled = np.clip(box.scale(rows, -1, 1), -1, 1)
        variances = self._scaled_variance(scaled) * ((box.high - box.low) / 2) ** 2
        return variances[0] if np.ndim(x) == 1 else variances

    @abstractmethod
    def _draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        """Draw reports on the scale where the box is [-1, 1]^d, from rows in whole steps.

        Both have one line a column: then every operation runs along memory.
        """

    @abstractmethod
    def _scaled_variance(self, x: Floats) -> Floats:
        """Return the variance of each column's report, for rows in [-1, 1]^d."""

    def _rows(self, value: ArrayLike) -> Floats:
        """Return checked float64 rows."""
        return records_of(value, self._box(_column_count(value)), clip=self.clip)

    def _box(self, d: int) -> Box:
        """Return the public box, or the cube [-1, 1]^d without one."""
        return _cube(d) if self.domain is None else self.domain


def local_budget(epsilon: Number) -> Fraction:
    """Return epsilon as an exact fraction, refused beyond what local mechanisms can keep.

    Parameters
    ----------
    epsilon
        The budget of one report.
    """
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
    """Whether a value is a positive, finite number."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return number and bool(0 < float(value) < np.inf)  # type: ignore[arg-type]


def own_reports(reports: object, mechanism: object) -> Reports:
    """Return reports checked to be this mechanism's own, unchanged, and at least one."""
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


def steps_of(rows: Floats, box: Box) -> Steps:
    """Return rows as whole steps, 0 at the low end of the box and 2**20 at its high end.

    Returns
    -------
        An array with a line for each column.
    """
    places: Floats = rows.T - box.low[:, None]
    places /= (box.high - box.low)[:, None]
    # In place, and transposed: columns then lie in one piece of memory.
    places *= STEPS
    return np.rint(places, out=places).astype(np.int32)


def _in_raw_units(values: Floats, box: Box) -> Floats:
    """Convert reports from [-1, 1]^d to the units of the box, one line a row."""
    # Reports lie beyond the box, which may itself be nearly as wide as numbers go.
    with np.errstate(over="ignore"):
        values *= ((box.high - box.low) / 2)[:, None]
        values += (box.high / 2 + box.low / 2)[:, None]
    if max(np.abs(box.low).max(), np.abs(box.high).max()) > _FAR:
        np.clip(values, -_FARTHEST, _FARTHEST, out=values)
    return values.T


def scaled_of(steps: Steps) -> Floats:
    """Return the numbers in [-1, 1] that these steps stand for.

    Parameters
    ----------
    steps
        Whole steps from 0 to 2**20.
    """
    return steps.astype(np.float64) * (2 / STEPS) - 1


def _column_count(value: ArrayLike) -> int:
    """Return the number of columns, or 1 for what is no table: the check then refuses it."""
    try:
        return max(1, int(np.shape(value)[-1]))
    except (ValueError, IndexError):
        return 1


def _blocks(n: int, d: int) -> Iterator[slice]:
    """Yield slices of rows small enough for the cache."""
    size = max(1, _BLOCK // d)
    return (slice(start, start + size) for start in range(0, n, size))


@lru_cache(maxsize=64)
def _cube(d: int) -> Box:
    return Box.of([f"x{i}" for i in range(d)], np.full(d, -1.0), np.full(d, 1.0))
