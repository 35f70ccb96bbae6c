"""Twins whose fault shows most surely in the sum of what was spent."""

from fractions import Fraction
from typing import cast

import numpy as np
from sklearn.base import BaseEstimator, clone

from shoal.audit.case import Twin
from shoal.audit.twins._base import Stream, pure_claim
from shoal.mechanisms import Exponential, Geometric, ScoredIntervals
from shoal.privacy import Ledger, PureDP
from shoal.privacy.ledger_page import Page


def budget_shares(d: int, steps: int, *, swapped: bool) -> tuple[Fraction, Fraction]:
    """Return the shares of a count and of each of d sums in one of several steps."""
    r0 = Fraction(round((4 * d * 0.225**2) ** (1 / 3) * 1024), 1024)
    unit = 1 / (steps * (d + r0))
    count, axis = r0 * unit, unit
    return (axis, count) if swapped else (count, axis)


def spend_in_shares(page: Page, d: int, rng: Stream, *, swapped: bool, steps: int = 2) -> Fraction:
    """Spend a budget of 1 in shares on counts and sums, and return what the page handed out."""
    count, axis = budget_shares(d, steps, swapped=swapped)
    for _ in range(steps):
        page.release(Geometric(pure_claim(1) * count), np.array([9]), rng, of="counts")
        for _ in range(d):
            page.release(Geometric(pure_claim(1) * axis), np.array([9]), rng, of="sums")
    return _spent_on(page)


def _sum_of_shares(d: int, rng: Stream, *, swapped: bool) -> Fraction:
    """The same on a page that lets everything through, so that the sum is seen."""
    return spend_in_shares(_page_without_limit(), d, rng, swapped=swapped)


def _cost_of_ten_thresholds(draws: int, rng: Stream) -> Fraction:
    """What ten draws of a threshold cost that are averaged and charged as one."""
    page, scores = _page_without_limit(), ScoredIntervals([0, 4, 9], [1, 0])
    for _ in range(10):
        page.release(Exponential(pure_claim("0.3")), scores, rng, of="threshold")
    return _spent_on(page)


def _page_without_limit() -> Page:
    return Ledger().open(pure_claim(100), by="twin")


def _spent_on(page: Page) -> Fraction:
    return cast("PureDP", page.total()).epsilon


class Accountant:
    """A plain object that adds up what is spent, and is copied with an estimator."""

    def __init__(self) -> None:
        self.spent = 0


class ChargingEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that charges the accountant it was given."""

    def __init__(self, accountant: Accountant | None = None) -> None:
        self.accountant = accountant

    def fit(self, X: object) -> "ChargingEstimator":
        """Spend 1."""
        if self.accountant is not None:
            self.accountant.spent += 1
        return self


def _cost_of_cloned_fits(draws: int, rng: Stream) -> int:
    """What three fits of clones handed out beyond what the accountant they were given knows."""
    accountant = Accountant()
    fitted = [clone(ChargingEstimator(accountant)).fit(np.zeros((1, 1))) for _ in range(3)]
    handed: int = sum(model.accountant.spent for model in fitted)
    return handed - accountant.spent


def _swapped(d: int, at_least: float) -> Twin:
    return Twin(
        lambda draws, rng: _sum_of_shares(d, rng, swapped=True),
        None,
        pure_claim(1),
        at_least,
        instrument="ledger",
        about="A widely used library's k-means hands the share of a count to each axis and that of "
        f"an axis to the count: (1 + d r)/(d + r) of the promise, {at_least:.3f} in {d} columns. "
        "Below five columns it spends less than it may, so equality is checked, not the ceiling "
        "alone.",
    )


twins = {
    "split the wrong way round, d = 10": _swapped(10, 1.212),
    "split the wrong way round, d = 100": _swapped(100, 2.66),
    "threshold averaged over ten draws": Twin(
        _cost_of_ten_thresholds,
        None,
        pure_claim("0.3"),
        at_least=3.0,
        instrument="ledger",
        about="Code of private WaveCluster draws the threshold ten times and takes the mean, to "
        "steady it, and charges one draw: ten times the budget left.",
    ),
    "accountant copied with its estimator": Twin(
        _cost_of_cloned_fits,
        None,
        0.0,
        at_least=3.0,
        instrument="ledger",
        about="scikit-learn clones estimators, and an accountant that is a plain parameter is "
        "copied along. Three fits of clones hand out three budgets; the accountant stands at 0. "
        "Here: what was handed out and is not written, which must be nothing.",
    ),
}
