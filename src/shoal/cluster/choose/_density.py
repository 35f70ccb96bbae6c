"""Choose the radius and the number of points that count as dense, for DBSCAN and its kin.

Both are chosen on the sorted distances within which points have some weight around them: the radius
is where that rising curve leaves the bulk of the points.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.neighbors import NearestNeighbors

from shoal.arrays import Floats
from shoal.cluster.choose._result import Choice
from shoal.cluster.choose._weighted_points import MOST_POINTS, weighted_points
from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee

Rule = Literal["knee", "bulk"]
# "bulk": this share of points is the densest, and the radius lies this many times their distance
# to the median beyond it. Measured in docs/guides/choose-k.md.
_DENSEST, _BEYOND = 0.1, 1.5

_SHOWN = 200  # points of the curve in a figure


def knee(distances: Floats, weights: Floats, by: Rule = "knee") -> float:
    """Find the bend of the sorted distances, none of which is 0.

    Parameters
    ----------
    by
        "knee": where the curve lies farthest below the line between its ends. "bulk": beyond the
        median by one and a half times the way from the tenth to it, in logarithms, and no further
        than the longest: up to half of the points may be noise.

    Examples
    --------
    >>> knee(np.array([1.0, 1, 2, 2, 2, 50]), np.ones(6))
    2.0
    >>> round(knee(np.array([1.0, 1, 2, 2, 2, 50]), np.ones(6), by="bulk"), 2)
    5.66
    """
    order = np.argsort(distances)
    rising, shares = distances[order], np.cumsum(weights[order]) / weights.sum()
    if by == "knee":
        return _farthest_below(rising, shares)
    dense, middle = (np.log(rising[np.searchsorted(shares, q)]) for q in (_DENSEST, 0.5))
    return float(min(np.exp(middle + _BEYOND * (middle - dense)), rising[-1]))


def _farthest_below(rising: Floats, shares: Floats) -> float:
    across = (shares - shares[0]) / max(shares[-1] - shares[0], np.finfo(float).tiny)
    heights = (rising - rising[0]) / max(rising[-1] - rising[0], np.finfo(float).tiny)
    return float(rising[np.argmax(across - heights)])


def radius(
    points: Any,
    weights: ArrayLike | None = None,
    by: Rule | None = None,
    *,
    guarantee: Guarantee | None = None,
    random_state: int | None = 0,
) -> Choice[float]:
    """Choose the radius for DBSCAN: where the sorted distances to the k-th neighbour bend.

    Each point's distance to its k-th neighbour, k = 2d - 1, is how far it must reach to have 2d
    points around it, itself included. It is small in clusters and large for noise. Sorted, the
    distances rise slowly, then fast; the bend is the radius.

    Parameters
    ----------
    points
        A fitted synopsis or a model learnt from reports, at no further cost; or points, e.g. rows:
        then the choice depends on them and nothing is promised. Distances are in raw units, so
        bring columns of different kinds to one scale first.
    weights
        What each point stands for, 1 if left out. Only proportions count: give DBSCAN
        ``sample_weight=weights / weights.mean()``.
    guarantee
        The guarantee under which an array of points was released, if it was.
    by
        "knee": where the sorted curve lies farthest below the line between its ends. "bulk":
        beyond the median by one and a half times the way from the densest tenth to it, in
        logarithms. Left out, "bulk" for points that weigh the same and "knee" for others: cells
        are equally far apart, which leaves a bulk without a spread.
    random_state
        The seed of the sample of 5,000 points if there are more; neighbours are searched among all.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    >>> model = DBSCAN(**radius(X).settings, **min_points(X).settings).fit(X)
    >>> len({*model.labels_} - {-1})
    3

    References
    ----------
    Ester, Kriegel, Sander, Xu, A density-based algorithm for discovering clusters, KDD 1996;
    Schubert et al., DBSCAN revisited, revisited, ACM TODS 2017.
    """
    if by not in (None, "knee", "bulk"):
        raise InvalidSetting.of("by", "must be 'knee' or 'bulk'", "knee", by)
    X, own_weights, promise = weighted_points(points, weights, guarantee)
    by = by or _rule(own_weights)
    reaches, own = reach_distances(X, own_weights, [2 * X.shape[1]], random_state)
    value = _radius(reaches[:, 0], own, by)
    curve = _sorted_curve(reaches[:, 0], own)
    at = max((share for share, reach in curve.items() if reach <= value), default=min(curve))
    return Choice(
        value, by, curve, promise, {"eps": value}, at, "Share of points that reach no further",
        f"Distance to neighbour {2 * X.shape[1] - 1}",
    )  # fmt: skip


def min_points(
    points: Any,
    weights: ArrayLike | None = None,
    *,
    guarantee: Guarantee | None = None,
    random_state: int | None = 0,
) -> Choice[int]:
    """Choose how many points make a place dense: twice the number of columns.

    A point in d columns needs more than d others about it to lie inside a cluster rather than on a
    line or a sheet of chance; twice d is the usual choice, and 4 in the plane the original one. The
    curve shows the radius that other numbers would lead to. Where it is level, the number hardly
    matters. Take more for noisy tables or ones with many duplicates.

    Parameters
    ----------
    points
        As in ``radius``.
    weights
        What each point stands for, 1 if left out.
    guarantee
        The guarantee under which an array of points was released, if it was.
    random_state
        The seed of the sample of 5,000 points for the curve if there are more.

    Examples
    --------
    >>> min_points(np.random.default_rng(0).normal(size=(100, 3))).value
    6

    References
    ----------
    Sander, Ester, Kriegel, Xu, Density-based clustering in spatial databases, Data Mining and
    Knowledge Discovery 1998.
    """
    X, own_weights, promise = weighted_points(points, weights, guarantee)
    d = X.shape[1]
    tried = sorted({d + 1, *range(2 * d, 4 * d + 1, max(d // 2, 1))})
    reaches, own = reach_distances(X, own_weights, tried, random_state)
    curve = {
        count: _radius(reaches[:, i], own, _rule(own_weights)) for i, count in enumerate(tried)
    }
    settings = {"min_samples": 2 * d}
    across = "Points that make a place dense"
    return Choice(2 * d, "columns", curve, promise, settings, 2 * d, across, "Radius")


def _rule(weights: Floats) -> Rule:
    return "bulk" if np.ptp(weights) == 0 else "knee"


def _radius(reaches: Floats, weights: Floats, by: Rule) -> float:
    """Return the bend among points of a reach above 0; 1 if there are none."""
    apart = reaches > 0
    return knee(reaches[apart], weights[apart], by) if apart.any() else 1.0


def _sorted_curve(reaches: Floats, weights: Floats) -> dict[float, float]:
    """Return the sorted distances by the share of the weight up to each."""
    order = np.argsort(reaches)
    shares = np.cumsum(weights[order]) / weights.sum()
    shown = np.unique(
        np.linspace(0, len(reaches) - 1, min(_SHOWN, len(reaches))).round().astype(int)
    )
    return dict(zip(shares[shown].tolist(), reaches[order][shown].tolist(), strict=True))


def reach_distances(
    points: Floats, weights: Floats, counts: Sequence[int], random_state: int | None
) -> tuple[Floats, Floats]:
    """Compute the radius within which each point has so much weight, its own included.

    Weights count in proportion: on average a point weighs one. Where all points together weigh
    less than a count, the farthest point is as far as anybody must reach.

    Parameters
    ----------
    random_state
        The seed of the sample of points if there are many.

    Examples
    --------
    >>> reach_distances(np.array([[0.0], [1.0], [5.0]]), np.ones(3), [2], 0)[0].ravel().tolist()
    [1.0, 1.0, 4.0]
    """
    shares = weights / weights.mean()
    sampled = np.arange(len(points))
    if len(points) > MOST_POINTS:
        sampled = np.random.default_rng(random_state).choice(len(points), MOST_POINTS, False)
    # All shares add up to the number of points; rounding must not ask for more.
    wanted = np.minimum(counts, len(points) * (1 - 1e-12))
    reaches = _reach_by_neighbours(NearestNeighbors().fit(points), points[sampled], shares, wanted)
    return reaches, weights[sampled]


def _reach_by_neighbours(
    tree: NearestNeighbors, at: Floats, shares: Floats, wanted: Floats
) -> Floats:
    """Query ever more neighbours, twice as many each time, for the points that need more weight."""
    reaches, unfinished = np.zeros((len(at), len(wanted))), np.arange(len(at))
    n_neighbours = int(np.ceil(wanted[-1]))
    while len(unfinished):
        n_neighbours = min(n_neighbours, len(shares))
        distances, near = tree.kneighbors(at[unfinished], n_neighbours)
        reached = np.cumsum(shares[near], axis=1)
        places = (reached[:, :, None] < wanted).sum(axis=1)
        rows = np.arange(len(unfinished))[:, None]
        reaches[unfinished] = distances[rows, np.minimum(places, n_neighbours - 1)]
        unfinished = unfinished[(places[:, -1] >= n_neighbours) & (n_neighbours < len(shares))]
        n_neighbours *= 2
    return reaches
