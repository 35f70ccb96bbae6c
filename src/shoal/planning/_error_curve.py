"""Errors at several budgets, as bands; and what a wanted accuracy takes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from shoal.arrays import Floats

Errors = Sequence[Floats]
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")
# How much one person tells: where n times this is equal, errors are about equal. The noise in a
# share of n rows goes with 1/(n epsilon); in n reports its variance with 1/(n sinh^2(epsilon/2)).
_STRENGTHS: dict[str, Callable[[float], float]] = {
    "central": lambda epsilon: epsilon,
    "local": lambda epsilon: math.sinh(epsilon / 2) ** 2,
}
_FEW, _MANY = 0.1, 0.9  # quantiles of fits at the ends of a band
# By which the ends of a band are moved apart, since real tables lie further apart than made-up
# ones: docs/decisions/plan.md.
_WIDER = {"central": 1.6, "local": 1.4}
# How much the tables of a shape count: real ones have no gaps more often than clear groups. Shapes
# not named, such as rows drawn about a release, count once.
_WEIGHTS = {"touching": 2.0, "no gaps": 4.0}
_LEAST_PEOPLE = 30  # in a group: of fewer, the law of the noise alone says nothing
_MOST = 0.9  # of the coordinates, that "within" is about


class Ends(NamedTuple):
    """The ends of a band of errors, in shares of a column's range.

    Parameters
    ----------
    low
        In tables of the clearest groups.
    high
        In those of the least clear.
    """

    low: float
    high: float


class Range(NamedTuple):
    """What something takes, from tables of the clearest groups to those of the least clear.

    Parameters
    ----------
    low
        For the clearest; None if more than was tried.
    high
        For the least clear; None if more than was tried.
    """

    low: float | None
    high: float | None


@dataclass(frozen=True)
class Band:
    """The errors to expect at one budget, in shares of a column's range.

    Parameters
    ----------
    epsilon
        The budget.
    low
        Lower end of the typical error: half of a fit's coordinates are off by less.
    high
        Its upper end.
    by_shape
        The typical error for each shape of tables, the median of its fits.
    most
        What nine in ten coordinates are off by less than in nine of ten fits, in the clearest and
        the least clear tables.
    people
        How many it takes at this budget for nine in ten coordinates within the wanted error.
    typical
        The typical error to expect: half of all tables do better, those that are more like real
        ones counted more often.
    bad
        What nine in ten of those tables stay below.
    came_back
        How many in all groups were found where plain k-means has them, as a share.
    people_needed
        How many it takes at this budget for the bad case to be within the wanted error; None if
        more than was tried.
    """

    epsilon: float
    low: float
    high: float
    by_shape: Mapping[str, float]
    most: Ends
    people: Range
    typical: float
    bad: float
    came_back: float
    people_needed: float | None


@dataclass(frozen=True)
class Curve:
    """The errors to expect at several budgets.

    Parameters
    ----------
    trust
        "central": a curator holds the rows. "local": everybody sends a report.
    bands
        One for each budget, smallest first.
    epsilon
        The least budget from which on nine in ten coordinates are within the wanted error.
    needed
        The least budget from which on the bad case is; None if more than was tried.
    """

    trust: str
    bands: tuple[Band, ...]
    epsilon: Range
    needed: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, which ``Curve.of`` takes."""
        bands = [
            vars(band) | {"most": list(band.most), "people": list(band.people)}
            for band in self.bands
        ]
        needed = {"epsilon": list(self.epsilon), "needed": self.needed}
        return {"trust": self.trust, "bands": bands} | needed

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Curve":
        """Rebuild a curve from ``to_dict``."""
        bands = (
            Band(
                **_of_earlier_versions(band)
                | band
                | {"most": Ends(*band["most"]), "people": Range(*band["people"])}
            )
            for band in values["bands"]
        )
        needed = values.get("needed")
        return cls(values["trust"], tuple(bands), Range(*values["epsilon"]), needed)


def _of_earlier_versions(band: Mapping[str, Any]) -> dict[str, Any]:
    """Return what folders of earlier versions do not hold: the middle of the band, and its end."""
    middle = math.sqrt(band["low"] * band["high"])
    return {"typical": middle, "bad": band["high"], "came_back": math.nan, "people_needed": None}


def curve_of(
    trust: str,
    errors: Mapping[str, Mapping[float, Errors]],
    n: int,
    within: float,
    reaches: Mapping[str, Sequence[Floats]] | None = None,
) -> Curve:
    """Read a curve off the errors of fits.

    Parameters
    ----------
    trust
        "central" or "local".
    errors
        For each shape of tables and each budget, the errors of the coordinates of each fit.
    reaches
        For each shape, and each fit in the same order, half the distance from each centre to the
        next: a group whose centre is further off did not come back. None where that is not known.
    """
    epsilons = sorted(next(iter(errors.values())))
    fits = next(iter(errors.values()))[epsilons[0]]
    least = _LEAST_PEOPLE * len(fits[0])
    typical = {shape: _each(each, _typical) for shape, each in errors.items()}
    low, middle, high = (_quantiles(typical, share) for share in (_FEW, 0.5, _MANY))
    most = {shape: _from_here_on(_each(each, _most)) for shape, each in errors.items()}
    needed = _range([_least_epsilon(each, within) for each in most.values()])
    expected, bad = (
        falling({epsilon: _over_shapes(typical, epsilon, share) for epsilon in epsilons})
        for share in (0.5, _MANY)
    )
    least_epsilon = _least_epsilon(bad, within)
    bands = [
        Band(
            epsilon,
            min(each[epsilon] for each in low.values()) / _WIDER[trust],
            max(each[epsilon] for each in high.values()) * _WIDER[trust],
            {shape: each[epsilon] for shape, each in middle.items()},
            Ends(*(end(each[epsilon] for each in most.values()) for end in (min, max))),
            Range(*(_people(trust, n, e, epsilon, least) for e in needed)),
            expected[epsilon],
            bad[epsilon],
            _came_back(errors, epsilon, reaches),
            _people(trust, n, least_epsilon, epsilon, least),
        )
        for epsilon in epsilons
    ]
    return Curve(trust, tuple(bands), needed, least_epsilon)


def _over_shapes(
    typical: Mapping[str, Mapping[float, list[float]]], epsilon: float, share: float
) -> float:
    """Return a quantile of the typical errors of all fits at a budget, by their shapes' weights."""
    fits = [(fit, _weight(shape)) for shape, each in typical.items() for fit in each[epsilon]]
    values, weights = (np.array(each) for each in zip(*sorted(fits), strict=True))
    places = (np.cumsum(weights) - weights / 2) / weights.sum()
    return float(np.exp(np.interp(share, places, np.log(np.maximum(values, 1e-12)))))


def _weight(shape: str) -> float:
    return _WEIGHTS.get(shape, 1.0)


def _came_back(
    errors: Mapping[str, Mapping[float, Errors]],
    epsilon: float,
    reaches: Mapping[str, Sequence[Floats]] | None,
) -> float:
    """Return the share of groups whose centre lies nearest to its own place, over all shapes."""
    if reaches is None:
        return math.nan
    shares, weights = [], []
    for shape, each in errors.items():
        for fit, reach in zip(each[epsilon], reaches[shape], strict=True):
            shares.append(float((np.linalg.norm(fit, axis=1) <= reach).mean()))
            weights.append(_weight(shape))
    return float(np.average(shares, weights=weights))


def falling(errors: Mapping[float, float]) -> dict[float, float]:
    """Return the errors nearest to these, by their logs, of which none rises with the budget.

    A larger budget does no worse; where a few fits say so it is chance.

    Examples
    --------
    >>> [round(error, 4) for error in falling({1.0: 0.04, 2.0: 0.01, 4.0: 0.02}).values()]
    [0.04, 0.0141, 0.0141]
    """
    from sklearn.isotonic import isotonic_regression

    budgets = sorted(errors)
    logs = np.log(np.maximum([errors[budget] for budget in budgets], np.finfo(float).tiny))
    return dict(
        zip(budgets, np.exp(isotonic_regression(logs, increasing=False)).tolist(), strict=True)
    )


def _from_here_on(errors: Mapping[float, float]) -> dict[float, float]:
    """The greatest error at each budget or a larger one: a level lost again is not reached."""
    budgets = sorted(errors, reverse=True)
    greatest = np.maximum.accumulate([errors[budget] for budget in budgets])
    return dict(zip(budgets, greatest.tolist(), strict=True))


def _each(
    by_budget: Mapping[float, _Given], number_of: Callable[[_Given], _Made]
) -> dict[float, _Made]:
    return {budget: number_of(each) for budget, each in by_budget.items()}


def _quantiles(
    typical: Mapping[str, Mapping[float, list[float]]], share: float
) -> dict[str, dict[float, float]]:
    """A quantile over the fits of each shape and budget, none of which rises with the budget."""
    return {
        shape: falling({budget: float(np.quantile(fits, share)) for budget, fits in each.items()})
        for shape, each in typical.items()
    }


def _typical(fits: Errors) -> list[float]:
    """The median error over the coordinates of each fit."""
    return [float(np.median(fit)) for fit in fits]


def _people(trust: str, n: int, needed: float | None, epsilon: float, least: int) -> float | None:
    """How many people tell as much at one epsilon as n do at the one that is needed."""
    if needed is None:
        return None
    strength = _STRENGTHS[trust]
    return max(n * strength(needed) / strength(epsilon), float(least))


def _most(fits: Errors) -> float:
    """What nine in ten coordinates of nine in ten fits are off by less than."""
    return float(np.quantile([np.quantile(fit, _MOST) for fit in fits], _MANY))


def _least_epsilon(errors: Mapping[float, float], within: float) -> float | None:
    """The least budget from which on errors are within, between two tried ones by their logs."""
    above = None
    for epsilon in sorted(errors, reverse=True):
        if errors[epsilon] > within:
            if above is None:
                return None
            steps = np.log([errors[above], errors[epsilon]]).tolist()
            share = (math.log(within) - steps[0]) / (steps[1] - steps[0])
            return float(above * (epsilon / above) ** share)
        above = epsilon
    return above


def _range(needed: Sequence[float | None]) -> Range:
    reached = [each for each in needed if each is not None]
    all_reached = len(reached) == len(needed)
    return Range(min(reached, default=None), max(reached) if all_reached else None)
