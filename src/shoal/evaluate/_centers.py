"""Compare estimated centres with true ones: which are missing, and how far the rest are off.

Inertia measures how far rows are from their nearest centres.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from shoal.arrays import Floats, Integers
from shoal.errors import TooFewRows
from shoal.evaluate.array_checks import check_points, check_same_length, check_two_point_sets

_BLOCK = 65_536  # rows whose distances are computed at a time
_RUNS = 10  # of plain k-means


def centroid_index(true: ArrayLike, estimated: ArrayLike) -> int:
    """Count wrongly placed clusters: 0 if the centres of both sides have one partner each.

    Each centre is mapped to the nearest one of the other side; those that none is mapped to are
    orphans. The index is the larger number of orphans of both directions, so that missing and
    spurious centres both count.

    Parameters
    ----------
    true
        The true centres, one a row.
    estimated
        The estimated centres, one a row.

    Examples
    --------
    >>> centroid_index([[0.0], [1.0], [9.0]], [[0.1], [0.9], [9.2]])
    0
    >>> centroid_index([[0.0], [1.0], [9.0]], [[0.5], [8.9], [9.2]])
    1

    References
    ----------
    Fränti, Rezaei, Zhao, Centroid index: cluster level similarity measure, Pattern Recogn. 2014.
    """
    distances = cdist(*check_two_point_sets(true, estimated))
    return max(_orphans(distances), _orphans(distances.T))


def _orphans(distances: Floats) -> int:
    """Count the columns that are nearest to no row."""
    return int(distances.shape[1] - len(np.unique(distances.argmin(axis=1))))


@dataclass(frozen=True, eq=False)
class CenterErrors:
    """True and estimated centres, matched one to one at the least total distance.

    Attributes
    ----------
    absolute
        The distance of each pair.
    relative
        The distance of each pair over that from the true centre to the nearest other true one. From
        0.5 on, an estimated centre may be nearer to another cluster. The origin, which is
        arbitrary, does not enter. NaN with only one true centre.
    pairs
        Which true centre is matched with which estimated one.
    missing
        True centres without a partner.
    spurious
        Estimated centres without a partner.
    """

    absolute: Floats
    relative: Floats
    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    spurious: tuple[int, ...]

    @property
    def aee(self) -> float:
        """The average Euclidean error of the pairs; unmatched centres are not included."""
        return float(self.absolute.mean())

    @property
    def relative_aee(self) -> float:
        """The average of the relative errors."""
        return float(self.relative.mean())


def center_errors(true: ArrayLike, estimated: ArrayLike) -> CenterErrors:
    """Compute by how much centres are off, after the best matching.

    Parameters
    ----------
    true
        The true centres, one a row.
    estimated
        The estimated centres, one a row; their number may differ.

    Examples
    --------
    >>> errors = center_errors([[0.0, 0.0], [8.0, 0.0]], [[8.0, 2.0], [0.0, 1.0], [50.0, 50.0]])
    >>> errors.aee, errors.relative_aee, errors.missing, errors.spurious
    (1.5, 0.1875, (), (2,))
    """
    A, B = check_two_point_sets(true, estimated)
    distances = cdist(A, B)
    rows, columns = linear_sum_assignment(distances)
    off = distances[rows, columns]
    return CenterErrors(
        off,
        off / _separations(A)[rows],
        tuple(zip(rows.tolist(), columns.tolist(), strict=True)),
        _rest(len(A), rows),
        _rest(len(B), columns),
    )


def _separations(centers: Floats) -> Floats:
    """Return the distance of each centre to the nearest other one; NaN if there is none."""
    if len(centers) < 2:
        return np.full(len(centers), math.nan)
    apart = cdist(centers, centers)
    np.fill_diagonal(apart, np.inf)
    nearest: Floats = apart.min(axis=1)
    return np.where(nearest > 0, nearest, math.nan)


def _rest(count: int, taken: Integers) -> tuple[int, ...]:
    return tuple(np.setdiff1d(np.arange(count), taken).tolist())


def mean_displacement(rows: ArrayLike, reports: ArrayLike) -> float:
    """Compute how far reports are from the rows they stand for, on average; NaN without rows.

    Parameters
    ----------
    rows
        Points, one a row.
    reports
        The report of each point, in the same order.

    Examples
    --------
    >>> mean_displacement([[0.0, 0.0], [1.0, 1.0]], [[3.0, 4.0], [1.0, 1.0]])
    2.5
    """
    X = check_points(rows)
    Z = check_points(reports, X.shape[1])
    check_same_length(X, Z, "reports")
    return float(np.sqrt(((X - Z) ** 2).sum(axis=1)).mean()) if len(X) else math.nan


@dataclass(frozen=True)
class PerturbationArea:
    """The ball around a point whose radius is the mean distance of its reports.

    Attributes
    ----------
    center
        The point.
    radius
        The mean distance of its reports; d/epsilon is expected of Laplace noise in d columns.
    """

    center: tuple[float, ...]
    radius: float


def perturbation_area(center: ArrayLike, reports: ArrayLike) -> PerturbationArea:
    r"""Compute the area over which the reports of one point scatter.

    It is :math:`P_{area} = \{x_0, \frac{1}{N} \sum_i r_i\}` with the distance :math:`r_i` of each
    report from the point. It shows what a mechanism costs and says nothing about what it promises:
    of planar Laplace noise 41 in 100 reports lie outside.

    Parameters
    ----------
    center
        The point.
    reports
        Many reports of it, one a row; at least one.

    Examples
    --------
    >>> perturbation_area([0.0, 0.0], [[3.0, 4.0], [0.0, 1.0]])
    PerturbationArea(center=(0.0, 0.0), radius=3.0)

    References
    ----------
    Yan et al., Perturb and optimize users' location privacy using geo-indistinguishability and
    location semantics, Sci. Rep. 2022.
    """
    point = check_points(np.asarray(center, dtype=float).reshape(1, -1))
    Z = check_points(reports, point.shape[1])
    if not len(Z):
        raise TooFewRows("There are no reports of the point.", "Give at least one.")
    radius = mean_displacement(np.repeat(point, len(Z), axis=0), Z)
    return PerturbationArea(tuple(point[0].tolist()), radius)


def inertia(rows: ArrayLike, centers: ArrayLike) -> float:
    """Compute the sum of squared distances of rows to their nearest centres.

    Parameters
    ----------
    rows
        Points, one a row.
    centers
        Centres, one a row.

    Examples
    --------
    >>> inertia([[0.0], [1.0], [5.0]], [[0.0], [4.0]])
    2.0
    """
    X = check_points(rows)
    C = check_points(centers, X.shape[1])
    starts = range(0, len(X), _BLOCK)
    parts = (cdist(X[start : start + _BLOCK], C, "sqeuclidean") for start in starts)
    return float(sum(part.min(axis=1).sum() for part in parts))


def normalised_inertia(
    rows: ArrayLike, centers: ArrayLike, plain: ArrayLike | None = None, *, random_state: int = 0
) -> float:
    """Compute the inertia of some centres over that of plain ones; 1 is as good.

    If the plain centres have no inertia, it is 1 if these have none either, else NaN.

    Parameters
    ----------
    rows
        Points, one a row.
    centers
        Centres, one a row.
    plain
        Centres found without noise; None takes as many of scikit-learn's k-means.
    random_state
        The seed of that k-means.

    Examples
    --------
    >>> normalised_inertia([[0.0], [2.0], [8.0], [10.0]], [[2.0], [8.0]])
    2.0
    """
    X, C = check_two_point_sets(rows, centers)
    best = plain_centers(X, len(C), random_state=random_state) if plain is None else plain
    own, least = inertia(X, C), inertia(X, best)
    if least > 0:
        return own / least
    return 1.0 if own == 0 else math.nan


def plain_centers(rows: ArrayLike, n_clusters: int, *, random_state: int = 0) -> Floats:
    """Return the best centres of ten runs of scikit-learn's k-means, to compare noise with.

    Fewer different rows than clusters make fewer centres.

    Parameters
    ----------
    rows
        Points, one a row.
    n_clusters
        The number of centres.
    random_state
        The seed of the runs.

    Examples
    --------
    >>> sorted(plain_centers([[0.0], [2.0], [8.0], [10.0]], 2).ravel().tolist())
    [1.0, 9.0]
    """
    X = check_points(rows)
    if not len(X):
        raise TooFewRows("There are no rows to cluster.", "Give at least one.")
    different = np.unique(X, axis=0)
    if len(different) <= n_clusters:
        return different
    centers: Floats = (
        KMeans(n_clusters, n_init=_RUNS, random_state=random_state).fit(X).cluster_centers_
    )
    return centers
