"""Errors at several budgets, as bands; and what a wanted accuracy takes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LAWS", "Band", "Curve", "Law", "Range", "Trust", "curve_of"]

Trust = Literal["central", "local"]
Errors = Sequence[NDArray[np.float64]]
_FEW, _MANY = 0.1, 0.9  # quantiles of fits at the ends of a band
_MOST = 0.9  # of the coordinates, that "within" is about


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
class Law:
    """How much n people tell at an epsilon: where it is equal, errors are about equal.

    Parameters
    ----------
    of_person
        What one person tells at an epsilon.
    epsilon_at
        The epsilon at which one person tells so much.
    """

    of_person: Callable[[float], float]
    epsilon_at: Callable[[float], float]


# Noise in a share of n rows goes with 1/(n epsilon); in n reports its variance with v/n.
LAWS: dict[str, Law] = {
    "central": Law(lambda epsilon: epsilon, lambda strength: strength),
    "local": Law(
        lambda epsilon: math.sinh(epsilon / 2) ** 2,
        lambda strength: 2 * math.asinh(math.sqrt(strength)),
    ),
}


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
    most
        What nine in ten coordinates are off by less than, in the clearest and the least clear
        tables.
    people
        How many it takes at this budget for nine in ten coordinates within the wanted error.
    """

    epsilon: float
    low: float
    high: float
    most: Range
    people: Range


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
    """

    trust: str
    bands: tuple[Band, ...]
    epsilon: Range


def curve_of(
    trust: str, errors: Mapping[str, Mapping[float, Errors]], n: int, within: float
) -> Curve:
    """Read a curve off the errors of fits.

    Parameters
    ----------
    trust
        "central" or "local".
    errors
        For each shape of tables and each budget, the errors of the coordinates of each fit.
    n
        How many people there are.
    within
        The wanted error.
    """
    law, epsilons = LAWS[trust], sorted(next(iter(errors.values())))
    # Two fits may find different optima by chance: a level that was reached must stay reached.
    needed = _range([_least_epsilon(_most(each), within) for each in errors.values()])
    strength = Range(*(None if e is None else n * law.of_person(e) for e in needed))
    bands = []
    for epsilon in epsilons:
        typical = [[float(np.median(fit)) for fit in each[epsilon]] for each in errors.values()]
        most = [_most(each)[epsilon] for each in errors.values()]
        bands.append(
            Band(
                epsilon,
                min(float(np.quantile(fits, _FEW)) for fits in typical),
                max(float(np.quantile(fits, _MANY)) for fits in typical),
                Range(min(most), max(most)),
                Range(*(None if s is None else s / law.of_person(epsilon) for s in strength)),
            )
        )
    return Curve(trust, tuple(bands), needed)


def _most(errors: Mapping[float, Errors]) -> dict[float, float]:
    """What nine in ten coordinates of all fits are off by less than, at each budget."""
    return {
        epsilon: float(np.quantile(np.concatenate([np.ravel(fit) for fit in fits]), _MOST))
        for epsilon, fits in errors.items()
    }


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
