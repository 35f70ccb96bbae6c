"""Intervals of centres learnt from reports: people drawn from the density report again."""

import hashlib
import warnings
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.arrays import Floats
from shoal.cluster._simulate import refit, unfitted
from shoal.cluster.intervals._half_widths import Deviations, half_widths, match_centers
from shoal.cluster.intervals._result import RATE, Intervals
from shoal.domain import Box
from shoal.randomness import Randomness

_REFITS = 5  # each is a whole fit: docs/decisions/intervals.md
_MOST_REPORTS = 20_000


def local_intervals(model: Any) -> Intervals:
    """Return intervals of a fitted ``LocalClusterer``, from its density and public settings.

    People are drawn from the learnt density, report through the mechanism, and the same method
    learns from their reports. Its centres are compared with those of plain k-means of the people
    who were drawn. Of more than 20,000 reports as many are drawn, and the deviations shortened by
    the root of the ratio.

    Parameters
    ----------
    model
        A fitted or loaded ``LocalClusterer``.
    """
    units, n = model.units_, int(model.n_reports_)
    centers, rng = model.cluster_centers_ / units, Randomness(_seed_of(model))
    drawn = max(min(int(model.n_used_), _MOST_REPORTS), len(centers))
    each = [_deviation(model, drawn, rng) for _ in range(_REFITS)]
    shorter = np.sqrt(drawn / max(model.n_used_, drawn))
    deviations = Deviations(
        shorter * np.array([at for at, _ in each]), shorter * np.array([of for _, of in each])
    )
    wide, of_sizes = half_widths(deviations, centers, RATE)
    sizes = sizes_by_density(model, n)
    low, high = (centers - wide) * units, (centers + wide) * units
    if model.domain is not None:
        low, high = np.maximum(low, model.domain.low), np.minimum(high, model.domain.high)
    return Intervals(low, high, np.maximum(sizes - n * of_sizes, 0), sizes + n * of_sizes, n, n)


def sizes_by_density(model: Any, n: int) -> Floats:
    """Return how many of ``n`` belong to each centre, by its share of the density."""
    density, k = model.density_, len(model.cluster_centers_)
    mass = np.bincount(model._nearest(density.atoms), density.weights, k)
    return np.asarray(n * mass / density.weights.sum())


def _deviation(model: Any, n: int, rng: Randomness) -> tuple[Floats, Floats]:
    """What people drawn anew lead to, less plain k-means of them; sizes as shares."""
    density, units = model.density_, model.units_
    chances = density.weights / density.weights.sum()
    people = density.atoms[rng.compute.choice(len(chances), n, p=chances)]
    mechanism = model._reports_mechanism
    box = getattr(mechanism, "domain", None)
    if isinstance(box, Box):  # a density of reports reaches beyond where people may be
        people = box.clip(people)
    reports = mechanism.release(people, Randomness(rng.seed()).noise)
    settings = {"mechanism": mechanism, "method": model.method_, "scale": tuple(units)}
    copy = unfitted(model, random_state=rng.seed(), **settings)
    again = refit(copy, reports).model
    centers = model.cluster_centers_ / units
    plain = _plain_kmeans(people / units, centers)
    match = match_centers(plain.cluster_centers_, again.cluster_centers_ / units)
    shares = np.bincount(plain.labels_, minlength=len(centers)) / n
    at = again.cluster_centers_[match] / units - plain.cluster_centers_
    return at, sizes_by_density(again, 1)[match] - shares


def _plain_kmeans(people: Floats, centers: Floats) -> KMeans:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(len(centers), init=centers, n_init=1).fit(people)


def _seed_of(model: Any) -> int:
    """A number that follows from the centres, the same for a model that was loaded."""
    numbers = np.ascontiguousarray(model.cluster_centers_, dtype=np.float64)
    return int.from_bytes(hashlib.blake2b(numbers.tobytes(), digest_size=8).digest(), "little")
