"""How well clusters stand apart, by the rows alone.

Rows labelled -1 belong to no cluster and are left out. With fewer than two clusters, or no more
rows than clusters, there is nothing to stand apart: NaN.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score

from shoal.domain.box import Matrix
from shoal.evaluate.checks import Labels, check_labels, check_points, check_same_length

__all__ = ["calinski_harabasz", "davies_bouldin", "silhouette"]

_MOST_ROWS = 20_000  # all pairs are compared: more would take minutes


def calinski_harabasz(rows: ArrayLike, labels: ArrayLike) -> float:
    """Spread between clusters over spread inside, each by its degrees of freedom; more is better.

    Parameters
    ----------
    rows, labels
        Points, and the cluster of each, -1 for none.

    Examples
    --------
    >>> calinski_harabasz([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    162.0

    References
    ----------
    Caliński, Harabasz, A dendrite method for cluster analysis, Communications in Statistics 1974.
    """
    return _apart(calinski_harabasz_score, *_clustered(rows, labels))


def davies_bouldin(rows: ArrayLike, labels: ArrayLike) -> float:
    """How like each cluster is to the one most like it, on average; less is better.

    Parameters
    ----------
    rows, labels
        Points, and the cluster of each, -1 for none.

    Examples
    --------
    >>> round(davies_bouldin([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.111

    References
    ----------
    Davies, Bouldin, A cluster separation measure, IEEE PAMI 1979.
    """
    return _apart(davies_bouldin_score, *_clustered(rows, labels))


def silhouette(
    rows: ArrayLike, labels: ArrayLike, *, most: int = _MOST_ROWS, random_state: int = 0
) -> float:
    """How much nearer rows are to their own cluster than to the next, on average; from -1 to 1.

    Parameters
    ----------
    rows, labels
        Points, and the cluster of each, -1 for none.
    most, random_state
        How many rows are compared, all with all, and which if there are more.

    Examples
    --------
    >>> round(silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 3)
    0.889

    References
    ----------
    Rousseeuw, Silhouettes, J. Comput. Appl. Math. 1987.
    """
    X, own = _clustered(rows, labels)
    if len(X) > most:
        drawn = np.random.default_rng(random_state).choice(len(X), most, replace=False)
        X, own = X[drawn], own[drawn]
    return _apart(silhouette_score, X, own)


def _clustered(rows: ArrayLike, labels: ArrayLike) -> tuple[Matrix, Labels]:
    """The rows that are in a cluster."""
    X, own = check_points(rows), check_labels(labels)
    check_same_length(X, own, "labels")
    inside = own >= 0
    return X[inside], own[inside]


def _apart(score: Callable[..., Any], X: Matrix, labels: Labels) -> float:
    if not 1 < len(np.unique(labels)) < len(X):
        return math.nan
    return float(score(X, labels))
