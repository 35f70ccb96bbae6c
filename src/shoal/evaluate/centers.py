"""How far centres are from the right ones: which are missing, and by how much the rest are off.

How far rows lie from the nearest of some centres, in all.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from shoal.domain.box import Matrix
from shoal.errors import TooFewRows
from shoal.evaluate.checks import check_points, check_same_length, check_two_point_sets

__all__ = [
    "CenterErrors",
    "center_errors",
    "centroid_index",
    "inertia",
    "mean_displacement",
    "normalised_inertia",
    "plain_centers",
]

_BLOCK = 65_536
_RUNS = 10


def centroid_index(true: ArrayLike, estimated: ArrayLike) -> int:
    """How many clusters are wrongly placed: 0 if each side's centres have one partner each.

    Each centre points at the nearest of the other side; those nobody points at are orphans. The
    index is the larger number of orphans of both directions, so that missing and spurious centres
    both count.

    Parameters
    ----------
    true, estimated
        Centres, one line each.

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


def _orphans(distances: Matrix) -> int:
    """Columns that are the nearest of no line."""
    return int(distances.shape[1] - len(np.unique(distances.argmin(axis=1))))


@dataclass(frozen=True, eq=False)
class CenterErrors:
    """True and found centres, matched one to one at the least total distance.

    Attributes
    ----------
    absolute, relative
        Of each pair: the distance, and the distance over that from the true centre to the nearest
        other true one. From 0.5 on, a found centre may lie nearer to another cluster. Distances
        from the origin, which people choose at will, do not enter. NaN with one true centre only.
    pairs
        Which true centre goes with which found one.
    missing, spurious
        True centres without a partner, and found ones: where the numbers differ.
    """

    absolute: NDArray[np.float64]
    relative: NDArray[np.float64]
    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    spurious: tuple[int, ...]

    @property
    def aee(self) -> float:
        """The average Euclidean error of the pairs; what has no partner is not in it."""
        return float(self.absolute.mean())

    @property
    def relative_aee(self) -> float:
        """The same of the relative errors."""
        return float(self.relative.mean())


def center_errors(true: ArrayLike, estimated: ArrayLike) -> CenterErrors:
    """By how much centres are off, after the best matching.

    Parameters
    ----------
    true, estimated
        Centres, one line each; as many on both sides or not.

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


def _separations(centers: Matrix) -> NDArray[np.float64]:
    """From each centre to the nearest other one; NaN if it is nowhere else."""
    if len(centers) < 2:
        return np.full(len(centers), math.nan)
    apart = cdist(centers, centers)
    np.fill_diagonal(apart, np.inf)
    nearest: NDArray[np.float64] = apart.min(axis=1)
    return np.where(nearest > 0, nearest, math.nan)


def _rest(count: int, taken: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(np.setdiff1d(np.arange(count), taken).tolist())


def mean_displacement(rows: ArrayLike, reports: ArrayLike) -> float:
    """How far reports lie from the rows they stand for, on average. No rows: NaN.

    Parameters
    ----------
    rows, reports
        Points and what became of each, line by line.

    Examples
    --------
    >>> mean_displacement([[0.0, 0.0], [1.0, 1.0]], [[3.0, 4.0], [1.0, 1.0]])
    2.5
    """
    X = check_points(rows)
    Z = check_points(reports, X.shape[1])
    check_same_length(X, Z, "reports")
    return float(np.sqrt(((X - Z) ** 2).sum(axis=1)).mean()) if len(X) else math.nan


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
    X = check_points(rows)
    C = check_points(centers, X.shape[1])
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
    X, C = check_two_point_sets(rows, centers)
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
    X = check_points(rows)
    if not len(X):
        raise TooFewRows("There are no rows to cluster.", "Give at least one.")
    different = np.unique(X, axis=0)
    if len(different) <= n_clusters:
        return different
    centers: Matrix = (
        KMeans(n_clusters, n_init=_RUNS, random_state=random_state).fit(X).cluster_centers_
    )
    return centers
