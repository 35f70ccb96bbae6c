"""Scores of groups in rows of numbers and categories: cost, and silhouettes by Gower distances."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_score

from shoal.arrays import Floats, Integers
from shoal.errors import DimensionMismatch
from shoal.evaluate.array_checks import check_labels, check_points, check_same_length

_MOST_ROWS = 2_000  # all pairs are compared


def gower_distances(
    numbers: ArrayLike,
    codes: ArrayLike,
    *,
    widths: ArrayLike | float = 2.0,
    number_weights: ArrayLike | None = None,
    category_weights: ArrayLike | None = None,
) -> Floats:
    """Compute Gower's distance of every two rows, from 0 to 1.

    Each column adds the part of its public width by which numbers differ, or 1 for another
    category; the distance is their weighted mean.

    Parameters
    ----------
    numbers
        One line each row, a column each number.
    codes
        One line each row, a column each category, as whole numbers.
    widths
        The width of each number's public bounds; 2 for numbers scaled to [-1, 1].
    number_weights
        How much each number counts, 1 if left out.
    category_weights
        How much each category counts, 1 if left out.

    Examples
    --------
    >>> gower_distances([[-1.0], [1.0]], [[0, 3], [0, 4]]).round(3).tolist()
    [[0.0, 0.667], [0.667, 0.0]]

    References
    ----------
    Gower, A general coefficient of similarity and some of its properties, Biometrics 1971.
    """
    X, C = _checked_numbers(numbers), _checked_codes(codes)
    check_same_length(X, C, "lines of codes")
    u, v = _weights(number_weights, X.shape[1]), _weights(category_weights, C.shape[1])
    scaled = X * (u / np.asarray(widths, dtype=np.float64))
    total = cdist(scaled, scaled, "cityblock") if X.shape[1] else np.zeros((len(C), len(C)))
    for weight, column in zip(v, C.T, strict=True):
        total += weight * (column[:, None] != column)
    return np.asarray(total / max(u.sum() + v.sum(), np.finfo(float).tiny))


def gower_silhouette(
    numbers: ArrayLike,
    codes: ArrayLike,
    labels: ArrayLike,
    *,
    widths: ArrayLike | float = 2.0,
    number_weights: ArrayLike | None = None,
    category_weights: ArrayLike | None = None,
    most: int = _MOST_ROWS,
    random_state: int = 0,
) -> float:
    """Compute the mean silhouette by Gower distances of a sample, from -1 to 1.

    NaN with fewer than two groups, or no more rows than groups.

    Parameters
    ----------
    numbers
        One line each row, a column each number.
    codes
        One line each row, a column each category, as whole numbers.
    labels
        The group of each row, -1 for none: those are left out.
    widths
        The width of each number's public bounds; 2 for numbers scaled to [-1, 1].
    number_weights
        How much each number counts, 1 if left out.
    category_weights
        How much each category counts, 1 if left out.
    most
        How many rows are compared at most, by all pairs.
    random_state
        The seed of the sample if there are more.

    Examples
    --------
    >>> numbers, codes = [[-1.0], [-0.9], [0.9], [1.0]], [[0], [0], [1], [1]]
    >>> round(gower_silhouette(numbers, codes, [0, 0, 1, 1]), 3)
    0.974
    """
    X, C, own = _checked_numbers(numbers), _checked_codes(codes), check_labels(labels)
    check_same_length(X, own, "labels")
    inside = np.flatnonzero(own >= 0)
    if len(inside) > most:
        inside = np.random.default_rng(random_state).choice(inside, most, replace=False)
    if not 1 < len(np.unique(own[inside])) < len(inside):
        return math.nan
    apart = gower_distances(
        X[inside],
        C[inside],
        widths=widths,
        number_weights=number_weights,
        category_weights=category_weights,
    )
    return float(silhouette_score(apart, own[inside], metric="precomputed"))


def mixed_cost(
    numbers: ArrayLike,
    codes: ArrayLike,
    prototype_numbers: ArrayLike,
    prototype_codes: ArrayLike,
    *,
    mismatch: float = 0.5,
    number_weights: ArrayLike | None = None,
    category_weights: ArrayLike | None = None,
) -> float:
    """Compute what rows cost to their nearest prototypes, summed.

    A row costs the squared differences of its numbers and ``mismatch`` for each other category, by
    weight.

    Parameters
    ----------
    numbers
        One line each row, scaled to [-1, 1] by public bounds.
    codes
        One line each row, as whole numbers.
    prototype_numbers
        One line each prototype.
    prototype_codes
        One line each prototype.
    mismatch
        What another category costs.
    number_weights
        How much each number counts, 1 if left out.
    category_weights
        How much each category counts, 1 if left out.

    Examples
    --------
    >>> mixed_cost([[0.0], [1.0]], [[0], [1]], [[0.0]], [[0]])
    1.5

    References
    ----------
    Huang, Extensions to the k-means algorithm for clustering large data sets with categorical
    values, Data Mining and Knowledge Discovery 1998.
    """
    X, C = _checked_numbers(numbers), _checked_codes(codes)
    check_same_length(X, C, "lines of codes")
    P, D = _checked_numbers(prototype_numbers), _checked_codes(prototype_codes)
    check_same_length(P, D, "lines of prototype codes")
    if (P.shape[1], D.shape[1]) != (X.shape[1], C.shape[1]):
        raise DimensionMismatch(
            "Prototypes and rows have different columns.", "Give the same columns for both."
        )
    u, v = _weights(number_weights, X.shape[1]), _weights(category_weights, C.shape[1])
    costs = [np.square(X - p) @ u + mismatch * ((d != C) @ v) for p, d in zip(P, D, strict=True)]
    return float(np.min(costs, axis=0).sum())


def _weights(weights: ArrayLike | None, count: int) -> Floats:
    given = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != (count,):
        raise DimensionMismatch(
            f"There are {given.size} weights for {count} columns.", "Give one for each column."
        )
    return given


def _checked_numbers(numbers: ArrayLike) -> Floats:
    """Return finite numbers as a matrix, which may have no columns."""
    values = np.asarray(numbers)
    return (
        np.empty(values.shape) if values.ndim == 2 and not values.shape[1] else check_points(values)
    )


def _checked_codes(codes: ArrayLike) -> Integers:
    """Return codes as a matrix of whole numbers."""
    values = np.asarray(codes)
    if values.ndim != 2:
        raise DimensionMismatch(
            f"Expected a table of codes; got shape {values.shape}.", "Give one line for each row."
        )
    return check_labels(values).reshape(values.shape)
