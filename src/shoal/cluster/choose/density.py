"""What is dense, for DBSCAN, OPTICS and HDBSCAN: a radius, and how many points within it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.cluster.choose.choice import Choice
from shoal.cluster.choose.cloud import Weights, weighted_points
from shoal.cluster.choose.knee import Rule, knee
from shoal.cluster.choose.neighbours import reaches
from shoal.errors import InvalidSetting
from shoal.privacy import Guarantee

__all__ = ["min_points", "radius"]

_SHOWN = 200  # places of the curve


def radius(
    points: Any,
    weights: ArrayLike | None = None,
    by: Rule | None = None,
    *,
    guarantee: Guarantee | None = None,
    random_state: int | None = 0,
) -> Choice[float]:
    """How near is near, for DBSCAN: where the curve of distances to the k-th neighbour bends.

    Each point's distance to its k-th neighbour, k = 2d - 1, is how far it must reach to have 2d
    points about it, itself among them. Points in clusters reach a little way, noise far. Sorted,
    the distances rise slowly, then fast; the bend is the radius.

    Parameters
    ----------
    points
        A fitted synopsis or a model learnt from reports, at no further cost; or points, e.g. rows:
        then the choice depends on them and nothing is promised. Distances are in raw units, so
        bring columns of different kinds to one scale first.
    weights, guarantee
        What each point stands for, 1 if left out; what points were released under, if they were.
        Only proportions count: give DBSCAN ``sample_weight=weights / weights.mean()``.
    by
        "knee": where the sorted curve lies farthest below the line between its ends. "bulk":
        beyond the median by one and a half times the way from the densest tenth to it, in
        logarithms. Left out, "bulk" for points that weigh the same and "knee" for others: cells
        are equally far apart, which leaves a bulk without a spread.
    random_state
        Which 5,000 points are looked at if there are more; neighbours are sought among all.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    >>> found = DBSCAN(**radius(X).settings, **min_points(X).settings).fit(X)
    >>> len({*found.labels_} - {-1})
    3

    References
    ----------
    Ester, Kriegel, Sander, Xu, A density-based algorithm for discovering clusters, KDD 1996;
    Schubert et al., DBSCAN revisited, revisited, ACM TODS 2017.
    """
    if by not in (None, "knee", "bulk"):
        raise InvalidSetting("by is neither 'knee' nor 'bulk'.", 'E.g. by="knee".')
    X, heavy, promise = weighted_points(points, weights, guarantee)
    by = by or _rule(heavy)
    far, own = reaches(X, heavy, [2 * X.shape[1]], random_state)
    value = _radius(far[:, 0], own, by)
    curve = _sorted_curve(far[:, 0], own)
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
    """How many points make a place dense: twice the columns.

    A point in d columns needs more than d others about it to lie inside a cluster rather than on
    a line or a sheet of chance; twice d is the usual choice, and 4 in the plane the original one.
    The curve says what hangs on it: the radius that other numbers would lead to. Where it is
    level, the number hardly matters. Take more for noisy tables or ones with many duplicates.

    Parameters
    ----------
    points, weights, guarantee, random_state
        As in ``radius``.

    Examples
    --------
    >>> min_points(np.random.default_rng(0).normal(size=(100, 3))).value
    6

    References
    ----------
    Sander, Ester, Kriegel, Xu, Density-based clustering in spatial databases, Data Mining and
    Knowledge Discovery 1998.
    """
    X, heavy, promise = weighted_points(points, weights, guarantee)
    d = X.shape[1]
    tried = sorted({d + 1, *range(2 * d, 4 * d + 1, max(d // 2, 1))})
    far, own = reaches(X, heavy, tried, random_state)
    curve = {count: _radius(far[:, i], own, _rule(heavy)) for i, count in enumerate(tried)}
    settings = {"min_samples": 2 * d}
    across = "Points that make a place dense"
    return Choice(2 * d, "columns", curve, promise, settings, 2 * d, across, "Radius")


def _rule(weights: Weights) -> Rule:
    return "bulk" if np.ptp(weights) == 0 else "knee"


def _radius(far: NDArray[np.float64], weights: Weights, by: Rule) -> float:
    """The bend among points that must reach at all; any radius does where none must."""
    apart = far > 0
    return knee(far[apart], weights[apart], by) if apart.any() else 1.0


def _sorted_curve(far: NDArray[np.float64], weights: Weights) -> dict[float, float]:
    """The distances from the shortest, by the share of the weight up to them."""
    order = np.argsort(far)
    shares = np.cumsum(weights[order]) / weights.sum()
    shown = np.unique(np.linspace(0, len(far) - 1, min(_SHOWN, len(far))).round().astype(int))
    return dict(zip(shares[shown].tolist(), far[order][shown].tolist(), strict=True))
