"""A start from public rows: their centres, moved by steps towards the noisy means of the rows."""

from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from shoal.arrays import Floats
from shoal.cluster.kmeans._cells import Clusters
from shoal.cluster.kmeans._refine import read_rings, take_step
from shoal.cluster.kmeans._runs import find_centers
from shoal.cluster.kmeans.plan import steps_alone
from shoal.domain import Box
from shoal.estimator import Spending
from shoal.randomness import Randomness

_RUNS = 20  # of k-means on the public rows


def clusters_from_public_rows(spending: Spending, init: Any, k: int) -> Clusters:
    """Take steps from the centres of public rows; all of the budget goes to the steps.

    Parameters
    ----------
    spending
        What is left of the budget; the number of rows stands in it.
    """
    assert spending.n_rows is not None
    centers, guess = public_centers(init, spending.box, k, spending.rng)  # [P1]
    plan = steps_alone(spending.n_rows, spending.epsilon, spending.box.d, k)
    errors: Floats | None = None
    for step in plan.steps:  # [P2]
        rings = read_rings(spending, centers)
        means = take_step(spending, plan, step, rings, guess, errors)
        centers, errors = means.centers, means.errors
    return Clusters.from_means(means)


def public_centers(init: Any, box: Box, k: int, rng: Randomness) -> tuple[Floats, float]:
    """Plain k-means of public rows in [-1, 1]^d, and the radius that holds half of them.

    Parameters
    ----------
    init
        Public rows, ``k`` or more; ``k`` of them are the centres.
    k, rng
        How many clusters; for where runs begin.
    """
    points = box.scale(box.clip(np.asarray(init, dtype=np.float64)), -1, 1)
    centers = (
        points if len(points) == k else find_centers(points, np.ones(len(points)), k, rng, _RUNS)
    )
    _, away = pairwise_distances_argmin_min(points, centers)
    return centers, float(np.median(away)) or 0.3 * float(np.sqrt(box.d))
