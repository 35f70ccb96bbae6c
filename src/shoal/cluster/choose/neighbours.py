"""How far points must reach to have some weight about them."""

from collections.abc import Sequence

import numpy as np
from sklearn.neighbors import NearestNeighbors

from shoal.cluster.choose.cloud import MOST_POINTS, Weights
from shoal.domain.box import Matrix

__all__ = ["reaches"]


def reaches(
    points: Matrix, weights: Weights, counts: Sequence[int], random_state: int | None
) -> tuple[Matrix, Weights]:
    """The radius within which each point finds so much weight, its own included.

    Weights count in proportion: on average a point weighs one. Where all points together weigh
    less than a count, the farthest point is as far as anybody must reach.

    Parameters
    ----------
    points, weights
        Where points lie, and what they stand for.
    counts
        How much weight, rising: a column each.
    random_state
        Which points are looked at if there are many.

    Examples
    --------
    >>> reaches(np.array([[0.0], [1.0], [5.0]]), np.ones(3), [2], 0)[0].ravel().tolist()
    [1.0, 1.0, 4.0]
    """
    shares = weights / weights.mean()
    looked_at = np.arange(len(points))
    if len(points) > MOST_POINTS:
        looked_at = np.random.default_rng(random_state).choice(len(points), MOST_POINTS, False)
    wanted = np.minimum(counts, len(points) * (1 - 1e-12))  # the sum of shares, but for rounding
    far = _far(NearestNeighbors().fit(points), points[looked_at], shares, wanted)
    return far, weights[looked_at]


def _far(tree: NearestNeighbors, at: Matrix, shares: Weights, wanted: Weights) -> Matrix:
    """Ask for more neighbours, twice as many each time, of the points that have too few yet."""
    far, open_ = np.zeros((len(at), len(wanted))), np.arange(len(at))
    asked = int(np.ceil(wanted[-1]))
    while len(open_):
        asked = min(asked, len(shares))
        distances, near = tree.kneighbors(at[open_], asked)
        found = np.cumsum(shares[near], axis=1)
        places = (found[:, :, None] < wanted).sum(axis=1)
        rows = np.arange(len(open_))[:, None]
        far[open_] = distances[rows, np.minimum(places, asked - 1)]
        open_ = open_[(places[:, -1] >= asked) & (asked < len(shares))]
        asked *= 2
    return far
