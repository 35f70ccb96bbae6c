"""k-means on four estimates of the records at once, since each errs in its own way.

    EM's density          takes any shape; of few reports a handful of spikes
    a mixture             smooth, and wrong where clusters are no Gaussians
    posterior means       too close together, so that centres in doubt stay near the middle
    corrected reports     right in mean and spread, wrong in shape

Centres of all four together err less than those of any single one (docs/decisions/local-auto.md).
The first three improve with the number of reports; the last keeps its wrong shape, so its weight
falls with the number of reports.
"""

import numpy as np

from shoal.arrays import Floats, nearest_centers
from shoal.cluster.local.methods._em import density_of
from shoal.cluster.local.methods._mixture import fit_mixture
from shoal.cluster.local.methods._moments import shrink_reports
from shoal.cluster.local.methods._plain_kmeans import centers_of
from shoal.cluster.local.methods._report_law import span_of
from shoal.cluster.local.methods._result import LearningResult, Progress
from shoal.mechanisms import Reports
from shoal.mechanisms.local.laplace import laplace_of, thinned
from shoal.randomness import Randomness

_SHOWN = 5_000  # reports that stand for all of them in the last two estimates
_FEW = 200  # reports up to which all estimates weigh the same: docs/decisions/local-auto.md


def learn(
    reports: Reports, n_clusters: int, rng: Randomness, units: Floats, progress: Progress = None
) -> LearningResult:
    """Find the centres of all four estimates together.

    The first three weigh 1 each, corrected reports 200 over the number of reports, at most 1.
    Reports are labelled by the centre nearest to their record's mean under the mixture, which is
    the smoothest estimate.

    Parameters
    ----------
    reports
        Of ``NDLaplace``, as released.
    """
    space, values = laplace_of(reports).space, reports.values
    density = density_of(reports, rng, progress)
    mixture = fit_mixture(reports, n_clusters, rng)
    smooth, shares = mixture.points()
    guessed = density.posterior_means(thinned(values, _SHOWN))
    shrunk = thinned(shrink_reports(reports), _SHOWN)
    even = np.full(len(guessed), 1 / len(guessed))
    points = np.vstack([density.atoms, space.unscaled(smooth), guessed, shrunk])
    points = np.clip(points, *span_of(reports))
    trust = min(1.0, _FEW / len(values))
    weights = np.concatenate([density.weights, shares, even, trust * even]) / (3 + trust)
    centers = centers_of(points, weights, n_clusters, rng, units)
    means = space.unscaled(mixture.guesses(space.scaled(values))[0])
    return LearningResult(centers, points, weights, nearest_centers(means, centers, units))
