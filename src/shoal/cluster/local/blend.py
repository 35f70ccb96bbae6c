"""k-means on two densities at once: EM's, which can take any shape, and a mixture of Gaussians.

EM's density of few reports is a handful of spikes; k Gaussians are smooth, and wrong where clusters
are not. Their mean errs less than either.
"""

import numpy as np

from shoal.cluster.local.em import density_of
from shoal.cluster.local.law import span_of
from shoal.cluster.local.learnt import Learnt, Progress, Row, nearest
from shoal.cluster.local.mixture import fit_mixture
from shoal.cluster.local.plain import centers_of
from shoal.mechanisms.prior import laplace_of
from shoal.mechanisms.reports import Reports
from shoal.randomness import Randomness

__all__ = ["learn"]


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Row, progress: Progress = None
) -> Learnt:
    """Centres of both densities, half the weight each; reports are labelled by the smooth one."""
    space = laplace_of(reports).space
    found = density_of(reports, rng, progress)
    mixture = fit_mixture(reports, n_clusters, rng)
    smooth, shares = mixture.points()
    inside = np.clip(space.unscaled(smooth), *span_of(reports))
    points = np.vstack([found.atoms, inside])
    weights = np.concatenate([found.weights, shares]) / 2
    centers = centers_of(points, weights, n_clusters, rng, units)
    guesses = space.unscaled(mixture.guesses(space.scaled(reports.values))[0])
    return Learnt(centers, points, weights, nearest(guesses, centers, units))
