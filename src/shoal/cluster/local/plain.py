"""k-means on the reports as they came: what every other method is held against."""

import numpy as np

from shoal.cluster.local.learnt import Learnt, Progress, Row, thinned
from shoal.cluster.weighted import weighted_kmeans
from shoal.domain.box import Matrix
from shoal.mechanisms.reports import Reports
from shoal.randomness import Randomness

__all__ = ["centers_of", "learn"]


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Row, progress: Progress = None
) -> Learnt:
    """Centres of the reports themselves, noise and all; no law is needed, so any remap will do."""
    values = np.asarray(reports.values, dtype=np.float64)
    centers = centers_of(values, np.ones(len(values)), n_clusters, rng, units)
    shown = thinned(values)
    return Learnt(centers, shown, np.full(len(shown), 1 / len(shown)))


def centers_of(
    points: Matrix, weights: Row, k: int, rng: Randomness, units: Row, runs: int | None = None
) -> Matrix:
    """The best of some runs of weighted k-means, distances in ``units``; raw units in and out.

    With fewer different points than clusters some centres coincide.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])
    >>> centers_of(points, np.ones(3), 1, Randomness(7), np.ones(2)).round(1).tolist()
    [[3.3, 0.0]]
    """
    middle = np.average(points, axis=0, weights=weights)
    scaled = (points - middle) / units  # about 0, where float64 has most digits to spare
    kept = weights > 0
    found = weighted_kmeans(scaled[kept], weights[kept], k, rng.seed(), runs or _runs(len(points)))
    return np.asarray(found.cluster_centers_ * units + middle)


def _runs(n: int) -> int:
    """Restarts: many while they are cheap, so that results are stable."""
    return 10 if n <= 100_000 else 3
