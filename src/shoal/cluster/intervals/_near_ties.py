"""Other groupings that fit nearly as well, found in rows drawn from released cells.

A fit may end in any of them. How far their centres lie from the released ones tells the error that
noise alone does not: docs/decisions/intervals.md.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from shoal.arrays import Floats
from shoal.cluster.intervals._half_widths import distance_to_next, match_centers

Draw = Callable[[int, np.random.Generator], Floats]

_TABLES, _STARTS = 3, 5
# Groupings of a table that cost so much more than its best are as good: a fit may end in them.
_NEARLY = 1.05
_ROWS, _MORE_ROWS, _MANY = 3_000, 8_000, 50_000
# How many tables the mean of a group's coordinates, and that of the median group, are worth.
_GROUP_WORTH, _USUAL_WORTH = 2, 1
_MOST_ELSEWHERE = 0.05  # of nearly as good groupings, before a group is called unstable
_LLOYD_MOVES = 50


@dataclass(frozen=True, eq=False)
class NearTies:
    """How far the centres and sizes of nearly as good groupings lie from the released ones.

    Parameters
    ----------
    centers
        The mean square of each coordinate of a centre, less what sampling adds.
    sizes
        The same of each group's number of rows.
    elsewhere
        The share of groupings that have no centre where a group is.
    """

    centers: Floats
    sizes: Floats
    elsewhere: Floats

    @property
    def is_unstable(self) -> NDArray[np.bool_]:
        """Whether too many groupings put a group elsewhere."""
        return np.asarray(self.elsewhere > _MOST_ELSEWHERE)


def find_near_ties(
    draw: Draw, centers: Floats, sizes: Floats, n: int, rng: np.random.Generator
) -> NearTies:
    """Cluster several tables of drawn rows, and compare what fits them nearly best.

    Parameters
    ----------
    draw
        Draws rows from the released cells, in [-1, 1]^d.
    n
        How many rows were counted.
    """
    reach = distance_to_next(centers) / 2
    squares, size_squares, elsewhere = [], [], []
    for _ in range(_TABLES):
        q = min(n, _ROWS if n <= _MANY else _MORE_ROWS)
        rows = draw(max(q, 4 * len(centers)), rng)
        fits = [_plain_kmeans(rows, len(centers), init=centers)]
        seeds = rng.integers(2**31, size=_STARTS).tolist()
        fits += [_plain_kmeans(rows, len(centers), random_state=seed) for seed in seeds]
        best = min(fit.inertia_ for fit in fits)
        for fit in fits:
            if fit.inertia_ <= _NEARLY * best:
                apart, size_apart = _apart(fit, rows, centers, sizes, n)
                moved = np.linalg.norm(apart[0], axis=1) > reach
                elsewhere.append(moved)
                squares.append(np.where(moved[:, None], np.nan, apart[0] ** 2 - apart[1]))
                size_squares.append(np.where(moved, np.nan, size_apart))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of groups that are always elsewhere
        of_centers = np.nan_to_num(np.maximum(np.nanmean(squares, axis=0), 0))
        of_sizes = np.nan_to_num(np.maximum(np.nanmean(size_squares, axis=0), 0))
    return NearTies(_pooled(of_centers), of_sizes, np.mean(elsewhere, axis=0))


def _apart(
    fit: Any, rows: Floats, centers: Floats, sizes: Floats, n: int
) -> tuple[tuple[Floats, Floats], Floats]:
    """Return differences of centres with what sampling adds, and squares of sizes without it."""
    match = match_centers(centers, fit.cluster_centers_)
    counts = np.maximum(np.bincount(fit.labels_, minlength=len(centers)), 1)
    sampling = np.empty(centers.shape)
    for group in range(len(centers)):
        own = rows[fit.labels_ == group]
        sampling[group] = own.var(axis=0) / counts[group] if len(own) else 0.0
    share, times = counts / len(rows), n / len(rows)
    size_squares = (times * counts[match] - sizes) ** 2
    of_sampling = (times**2 * len(rows) * share * (1 - share))[match]
    return (fit.cluster_centers_[match] - centers, sampling[match]), size_squares - of_sampling


def _pooled(squares: Floats) -> Floats:
    """Draw each coordinate's mean square to that of its group, and of the median group."""
    groups = squares.mean(axis=1, keepdims=True)
    usual = float(np.median(groups))
    worth = _TABLES + _GROUP_WORTH + _USUAL_WORTH
    return np.asarray((_TABLES * squares + _GROUP_WORTH * groups + _USUAL_WORTH * usual) / worth)


def _plain_kmeans(rows: Floats, k: int, **settings: Any) -> KMeans:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, n_init=1, max_iter=_LLOYD_MOVES, **settings).fit(rows)
