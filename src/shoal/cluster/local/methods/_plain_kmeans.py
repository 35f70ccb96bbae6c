"""k-means on the reports as they are: the baseline that other methods are compared with."""

import numpy as np
from sklearn.cluster import KMeans

from shoal.arrays import Floats
from shoal.cluster.kmeans._weighted_kmeans import weighted_kmeans
from shoal.cluster.local.methods._result import LearningResult, Progress
from shoal.mechanisms import Reports
from shoal.mechanisms.local.laplace import thinned
from shoal.randomness import Randomness

_MANY, _SOME = 100_000, 20_000  # points from which restarts use a sample, and its size


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Floats, progress: Progress = None
) -> LearningResult:
    """Find the centres of the reports themselves, noise included.

    No law of the noise is needed, so remapped reports are accepted too.
    """
    values = np.asarray(reports.values, dtype=np.float64)
    centers = centers_of(values, np.ones(len(values)), n_clusters, rng, units)
    shown = thinned(values)
    return LearningResult(centers, shown, np.full(len(shown), 1 / len(shown)))


def centers_of(
    points: Floats, weights: Floats, k: int, rng: Randomness, units: Floats, runs: int = 10
) -> Floats:
    """Return the best centres of several runs of weighted k-means, in raw units.

    With fewer different points than clusters some centres coincide.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])
    >>> centers_of(points, np.ones(3), 1, Randomness(7), np.ones(2)).round(1).tolist()
    [[3.3, 0.0]]
    """
    middle = np.average(points, axis=0, weights=weights)
    has_weight = weights > 0
    # Centred at 0, where float64 is most precise.
    scaled = (points[has_weight] - middle) / units
    centers = _best_of_restarts(scaled, weights[has_weight], k, rng, runs)
    return np.asarray(centers * units + middle)


def _best_of_restarts(
    points: Floats, weights: Floats, k: int, rng: Randomness, runs: int
) -> Floats:
    """Restart on a sample of very many points, then run once on all from the best centres."""
    if len(points) <= _MANY:
        model = weighted_kmeans(points, weights, k, rng.seed(), runs)
    else:
        some = rng.compute.permutation(len(points))[:_SOME]
        best = weighted_kmeans(points[some], weights[some], k, rng.seed(), runs)
        model = KMeans(k, init=best.cluster_centers_, n_init=1)
        model.fit(points, sample_weight=weights)
    return np.asarray(model.cluster_centers_)
