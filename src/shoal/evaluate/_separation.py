"""Measure how well clusters are separated, by the rows alone.

Rows labelled -1 belong to no cluster and are left out. With fewer than two clusters, or no more
rows than clusters, scores are NaN.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score

from shoal.arrays import Floats, Integers
from shoal.evaluate.array_checks import check_labels, check_points, check_same_length

_MOST_ROWS = 20_000  # all pairs are compared, so more would take minutes


def calinski_harabasz(rows: ArrayLike, labels: ArrayLike) -> float:
    """Compute the spread between clusters over that inside, by degrees of freedom; more is better.

    Parameters
    ----------
    rows
        Points, one a row.
    labels
        The cluster of each, -1 for none.

    Examples
    --------
    >>> calinski_harabasz([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    162.0

    References
    ----------
    Caliński, Harabasz, A dendrite method for cluster analysis, Communications in Statistics 1974.
    """
    return _score_or_nan(calinski_harabasz_score, *_rows_in_clusters(rows, labels))


def davies_bouldin(rows: ArrayLike, labels: ArrayLike) -> float:
    """Compute how similar each cluster is to the most similar other, on average; less is better.

    Parameters
    ----------
    rows
        Points, one a row.
    labels
        The cluster of each, -1 for none.

    Examples
    --------
    >>> round(davies_bouldin([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.111

    References
    ----------
    Davies, Bouldin, A cluster separation measure, IEEE PAMI 1979.
    """
    return _score_or_nan(davies_bouldin_score, *_rows_in_clusters(rows, labels))


def silhouette(
    rows: ArrayLike, labels: ArrayLike, *, most: int = _MOST_ROWS, random_state: int = 0
) -> float:
    """Compute how much nearer rows are to their own cluster than to the next, from -1 to 1.

    Parameters
    ----------
    rows
        Points, one a row.
    labels
        The cluster of each, -1 for none.
    most
        How many rows are compared at most, by all pairs.
    random_state
        The seed of the sample if there are more.

    Examples
    --------
    >>> round(silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.889

    References
    ----------
    Rousseeuw, Silhouettes, J. Comput. Appl. Math. 1987.
    """
    X, own = _rows_in_clusters(rows, labels)
    if len(X) > most:
        drawn = np.random.default_rng(random_state).choice(len(X), most, replace=False)
        X, own = X[drawn], own[drawn]
    return _score_or_nan(silhouette_score, X, own)


def _rows_in_clusters(rows: ArrayLike, labels: ArrayLike) -> tuple[Floats, Integers]:
    """Return the rows that are in a cluster."""
    X, own = check_points(rows), check_labels(labels)
    check_same_length(X, own, "labels")
    inside = own >= 0
    return X[inside], own[inside]


def _score_or_nan(score: Callable[..., Any], X: Floats, labels: Integers) -> float:
    if not 1 < len(np.unique(labels)) < len(X):
        return math.nan
    return float(score(X, labels))
