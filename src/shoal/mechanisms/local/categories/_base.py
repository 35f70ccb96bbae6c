"""The base classes of local mechanisms on categories: values to codes, reports to frequencies."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import Categories
from shoal.errors import DimensionMismatch, InvalidDomain, UnknownCategory
from shoal.mechanisms.local._reports import Reports
from shoal.mechanisms.local.bounded._base import Estimate, local_budget, own_reports
from shoal.privacy import LocalDP, Number


class Categorical(ABC):
    """Base class of mechanisms that randomise a value of a public list; frozen dataclasses.

    Parameters
    ----------
    epsilon
        The promise of one report; at most 20.
    categories
        The public list, two values or more: ``Categories``, or anything it takes. A number k:
        values are codes 0 .. k-1 already, as cells of a grid are.
    """

    epsilon: Number
    categories: Categories | int

    def __post_init__(self) -> None:
        local_budget(self.epsilon)
        object.__setattr__(self, "categories", _category_list(self.categories))

    @property
    def guarantee(self) -> LocalDP:
        """``LocalDP(epsilon)``: any two values give every report with odds within e^epsilon."""
        return LocalDP(self.exact_epsilon)

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon as the fraction its decimal form names."""
        return local_budget(self.epsilon)

    @property
    def size(self) -> int:
        """How many categories there are."""
        listed = self.categories
        return listed.size if isinstance(listed, Categories) else listed

    def check(self, value: Any) -> None:
        """Refuse values that are not in the list, before anything is written or drawn."""
        self._codes(value)

    def release(self, value: Any, rng: np.random.Generator) -> Reports:
        """Return one report for each value, as codes."""
        return Reports.drawn(self._draw(self._codes(value), rng), self, rng)

    def frequencies(self, reports: Reports, project: bool = False) -> Estimate:
        """Estimate the share of each category among the people behind these reports.

        Unbiased, so some may be negative. ``project=True`` gives the nearest shares that are not
        and that sum to 1; the standard errors are those before.

        Parameters
        ----------
        project
            Return the nearest shares that are not negative and sum to 1.
        """
        estimate = self._estimate(*self._shares(own_reports(reports, self).values))
        return replace(estimate, value=nearest_shares(estimate.value)) if project else estimate

    def _estimate(self, shares: Floats, n: int) -> Estimate:
        """Correct the shares seen in ``n`` reports for the noise."""
        yes, no = self._chances
        # The share that shows is a mean of coins; dividing undoes how the mechanism blurs it.
        error = np.sqrt(shares * (1 - shares) / n) / (yes - no)
        return Estimate((shares - no) / (yes - no), error)

    def variance(self, share: float = 0.0) -> float:
        """Return the variance of an estimated share, times the number of reports."""
        yes, no = self._chances
        spread = share * yes * (1 - yes) + (1 - share) * no * (1 - no)
        return spread / (yes - no) ** 2

    @property
    @abstractmethod
    def _chances(self) -> tuple[float, float]:
        """The probability that a category shows in a report: if true, and if it is another."""

    @abstractmethod
    def _draw(self, codes: Integers, rng: np.random.Generator) -> NDArray[Any]:
        """Draw one report for each code."""

    @abstractmethod
    def _shares(self, values: NDArray[Any]) -> tuple[Floats, int]:
        """Return in which share of the reports each category shows, and their number."""

    def _codes(self, value: Any) -> Integers:
        """Return the checked codes of values."""
        if np.ndim(value) > 1:
            raise DimensionMismatch(
                f"Expected one column of categories; got values of shape {np.shape(value)}.",
                "Pass a single column.",
            )
        column = [value] if np.ndim(value) == 0 else value
        if isinstance(self.categories, Categories):
            return self.categories.codes(column).astype(np.int64)
        return _checked_codes(column, self.categories)


class Coded(Categorical):
    """Base class of mechanisms whose report is one code, so that counts of codes suffice."""

    @property
    @abstractmethod
    def codes(self) -> int:
        """How many different reports there are."""

    def tally(self, values: NDArray[Any]) -> Integers:
        """Count how often each code was reported; counts of parts of the reports add up."""
        return np.bincount(values.ravel().astype(np.int64), minlength=self.codes)

    def frequencies_from_tally(self, counts: Integers) -> Estimate:
        """Estimate shares as ``frequencies`` does, from counts of codes.

        Parameters
        ----------
        counts
            How often each code was reported, not all 0.
        """
        return self._estimate(self._shares_from_tally(counts), int(counts.sum()))

    def _shares(self, values: NDArray[Any]) -> tuple[Floats, int]:
        return self._shares_from_tally(self.tally(values)), values.size

    @abstractmethod
    def _shares_from_tally(self, counts: Integers) -> Floats:
        """Return in which share of the reports each category shows."""


def nearest_shares(estimate: Floats) -> Floats:
    """Project onto the simplex by least squares: shares from 0 up that sum to 1.

    >>> nearest_shares(np.array([0.7, 0.5, -0.2])).round(6).tolist()
    [0.6, 0.4, 0.0]
    """
    # The shift is found from the largest share down: those it takes below 0 are cut.
    falling = np.sort(estimate)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, falling.size + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    shares: Floats = np.maximum(estimate - shift, 0)
    return shares


def _category_list(categories: object) -> Categories | int:
    if isinstance(categories, int | np.integer) and not isinstance(categories, bool):
        listed: Categories | int = int(categories)
    elif isinstance(categories, Categories):
        listed = categories
    else:
        listed = Categories(categories if isinstance(categories, Iterable) else [])
    size = listed.size if isinstance(listed, Categories) else listed
    if size < 2:
        raise InvalidDomain(
            f"At least 2 categories are needed; got {size}.",
            "List every value the column may take.",
        )
    return listed


def _checked_codes(column: object, size: int) -> Integers:
    codes = np.asarray(column)
    whole = codes.dtype.kind in "iu" and not isinstance(column, np.ma.MaskedArray)
    unknown = (codes < 0) | (codes >= size) if whole else np.ones(codes.shape, dtype=bool)
    if unknown.any() or (codes.size and not whole):
        raise UnknownCategory(
            f"{np.count_nonzero(unknown)} of {codes.size} values are not whole numbers from 0 to "
            f"{size - 1}.",
            "Give codes, or name the values: Categories([...]).",
        )
    return codes.astype(np.int64)
