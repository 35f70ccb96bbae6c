"""Choose the preference and the damping of affinity propagation."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import AffinityPropagation
from sklearn.exceptions import ConvergenceWarning

from shoal.arrays import Floats
from shoal.cluster.choose._result import Choice
from shoal.cluster.choose._weighted_points import weighted_points
from shoal.privacy import Guarantee

_PAIRS = 200_000  # drawn, not enumerated: memory does not grow with the points
_PLACES = 101  # quantiles of the curve; the middle one is the median
_DAMPINGS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_RUNS = 3  # ties are broken by chance, so that a single run may converge by luck
_TRIED_ON = 300  # points: the cost of affinity propagation grows with their square


def preference(
    points: Any,
    weights: ArrayLike | None = None,
    *,
    guarantee: Guarantee | None = None,
    random_state: int | None = 0,
) -> Choice[float]:
    """Choose the preference of affinity propagation: the median similarity of two points.

    Similarity is minus the squared distance. A lower preference makes fewer clusters, and can be
    taken from the curve. ``settings`` also has the least damping, from 0.5 to 0.95, at which three
    runs on 300 of the points converge.

    Parameters
    ----------
    points
        A fitted synopsis or a model learnt from reports, at no further cost; or points, e.g. rows:
        then the choice depends on them and nothing is promised. Distances are in raw units.
    weights
        What each point stands for, 1 if left out.
    guarantee
        The guarantee under which an array of points was released, if it was.
    random_state
        The seed of the 200,000 pairs that are compared, and of affinity propagation.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [30, 0], [0, 30]], 30, axis=0)
    >>> model = AffinityPropagation(**preference(X).settings, random_state=0).fit(X)
    >>> len(model.cluster_centers_indices_)
    3

    References
    ----------
    Frey, Dueck, Clustering by passing messages between data points, Science 2007.
    """
    X, heavy, promise = weighted_points(points, weights, guarantee)
    rng = np.random.default_rng(random_state)
    places = np.linspace(0, 1, _PLACES)
    likeness = np.quantile(_similarities(X, heavy, rng), places)
    value = float(likeness[_PLACES // 2]) + 0.0  # no negative zero
    curve = dict(zip(places.round(4).tolist(), likeness.tolist(), strict=True))
    settings = {"preference": value, "damping": _damping(X, heavy, value, rng)}
    across, upwards = "Share of pairs that are less alike", "Similarity of two points"
    return Choice(value, "median", curve, promise, settings, 0.5, across, upwards)


def _similarities(X: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
    """Return similarities of pairs of different points, drawn by weight; 0 for a single point."""
    chances = weights / weights.sum()
    one, other = (rng.choice(len(X), _PAIRS, p=chances) for _ in range(2))
    pairs = one != other
    if not pairs.any():
        return np.zeros(1)
    likeness: Floats = -((X[one[pairs]] - X[other[pairs]]) ** 2).sum(axis=1)
    return likeness


def _damping(X: Floats, weights: Floats, value: float, rng: np.random.Generator) -> float:
    """Return the least damping at which affinity propagation converges; else the largest."""
    few = min(_TRIED_ON, len(X))
    some = X[rng.choice(len(X), few, replace=False, p=weights / weights.sum())]
    # The same seeds for every damping, so that only the damping differs.
    seeds = rng.integers(2**31, size=_RUNS).tolist()
    for damping in _DAMPINGS:
        if all(_converges(some, value, damping, seed) for seed in seeds):
            return damping
    return _DAMPINGS[-1]


def _converges(X: Floats, value: float, damping: float, seed: int) -> bool:
    model = AffinityPropagation(preference=value, damping=damping, random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    return not any(issubclass(one.category, ConvergenceWarning) for one in caught)
