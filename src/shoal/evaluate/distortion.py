"""How far rows lie from the nearest of some centres, in all."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from shoal.domain.box import Matrix
from shoal.errors import TooFewRows
from shoal.evaluate.checks import points_of, two_sets

__all__ = ["inertia", "normalised_inertia", "plain_centers"]

_BLOCK = 65_536
_RUNS = 10


def inertia(rows: ArrayLike, centers: ArrayLike) -> float:
    """The squared distances of rows to their nearest centres, summed.

    Parameters
    ----------
    rows, centers
        Points, one line each.

    Examples
    --------
    >>> inertia([[0.0], [1.0], [5.0]], [[0.0], [4.0]])
    2.0
    """
    X = points_of(rows)
    C = points_of(centers, X.shape[1])
    starts = range(0, len(X), _BLOCK)
    parts = (cdist(X[start : start + _BLOCK], C, "sqeuclidean") for start in starts)
    return float(sum(part.min(axis=1).sum() for part in parts))


def normalised_inertia(
    rows: ArrayLike, centers: ArrayLike, plain: ArrayLike | None = None, *, random_state: int = 0
) -> float:
    """The inertia of some centres over that of plain ones: 1 is as good, 2 twice as far.

    NaN if the plain centres are on all rows, unless these are too: then 1.

    Parameters
    ----------
    rows, centers
        Points, one line each.
    plain
        Centres found without noise; left out, those of scikit-learn's k-means, as many.
    random_state
        Of that k-means.

    Examples
    --------
    >>> normalised_inertia([[0.0], [2.0], [8.0], [10.0]], [[2.0], [8.0]])
    2.0
    """
    X, C = two_sets(rows, centers)
    best = plain_centers(X, len(C), random_state=random_state) if plain is None else plain
    own, least = inertia(X, C), inertia(X, best)
    if least > 0:
        return own / least
    return 1.0 if own == 0 else math.nan


def plain_centers(rows: ArrayLike, n_clusters: int, *, random_state: int = 0) -> Matrix:
    """The best centres of ten runs of scikit-learn's k-means: what noise is measured against.

    Fewer different rows than clusters make fewer centres.

    Parameters
    ----------
    rows, n_clusters, random_state
        Points; how many centres; of the runs.

    Examples
    --------
    >>> sorted(plain_centers([[0.0], [2.0], [8.0], [10.0]], 2).ravel().tolist())
    [1.0, 9.0]
    """
    X = points_of(rows)
    if not len(X):
        raise TooFewRows("No rows came to cluster.", "Give at least one.")
    different = np.unique(X, axis=0)
    if len(different) <= n_clusters:
        return different
    found: Matrix = (
        KMeans(n_clusters, n_init=_RUNS, random_state=random_state).fit(X).cluster_centers_
    )
    return found
