"""k-means on the posterior means of the records behind the reports."""

import numpy as np

from shoal.arrays import Floats, nearest_centers
from shoal.cluster.local.methods._em import density_of
from shoal.cluster.local.methods._plain_kmeans import centers_of
from shoal.cluster.local.methods._result import LearningResult, Progress
from shoal.mechanisms import Reports
from shoal.mechanisms.local.laplace import thinned
from shoal.randomness import Randomness


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Floats, progress: Progress = None
) -> LearningResult:
    """Estimate each record by its posterior mean under EM's density, and cluster the estimates.

    The estimates lie closer together than the records do. That is right for labels of reports, but
    moves centres too close together.
    """
    means = density_of(reports, rng, progress).posterior_means(reports.values)
    centers = centers_of(means, np.ones(len(means)), n_clusters, rng, units)
    shown = thinned(means)
    labels = nearest_centers(means, centers, units)
    return LearningResult(centers, shown, np.full(len(shown), 1 / len(shown)), labels)
