"""Many runs of weighted k-means at once, on points that were released: the best one is kept."""

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.kmeans.weighted import Clusterer, pad_points, weighted_centers
from shoal.randomness import Randomness

_AT_ONCE = 2**18  # distances of points to centres that are in memory at a time
_FEW = 20_000  # points times clusters, up to which all runs at once are the faster way
_MOST_MOVES = 300
_STILL = 1e-4  # of the points' variance: centres that move by less have come to rest


def find_centers(
    points: Floats, weights: Floats, k: int, rng: Randomness, runs: int, by: Clusterer = "sklearn"
) -> Floats:
    """Centres of weighted k-means, however few the points: the best of some runs.

    Parameters
    ----------
    points, weights
        Released, in [-1, 1]^d.
    by
        Whose k-means clusters many points. Few are clustered here, all runs at once: that takes a
        tenth of the time.

    Examples
    --------
    >>> points = np.array([[-0.5], [-0.4], [0.5]])
    >>> sorted(find_centers(points, np.ones(3), 2, Randomness(7), 4).round(2).tolist())
    [[-0.45], [0.5]]
    """
    points, weights = pad_points(points, weights, k)
    if by == "mllib" or len(points) * k > _FEW:
        return weighted_centers(points, weights, k, rng, runs, by)
    return best_of_runs(points, weights, k, runs, np.random.default_rng(rng.seed()))


def best_of_runs(
    points: Floats, weights: Floats, k: int, runs: int, rng: np.random.Generator
) -> Floats:
    """The centres of the run with the least inertia; as many runs at a time as memory holds.

    Parameters
    ----------
    points, weights
        At least ``k`` different points, each of some weight.
    k, runs, rng
        As in ``find_centers``.
    """
    at_once = max(1, _AT_ONCE // (len(points) * k))
    best, least = points[:k], np.inf
    for start in range(0, runs, at_once):
        centers = seed_runs(points, weights, k, min(at_once, runs - start), rng)
        centers, inertia = move_until_settled(points, weights, centers)
        run = int(np.argmin(inertia))
        if inertia[run] < least:
            best, least = centers[run], inertia[run]
    return best


def seed_runs(
    points: Floats, weights: Floats, k: int, runs: int, rng: np.random.Generator
) -> Floats:
    """Begin every run at ``k`` points, each far from those before (greedy k-means++).

    Each next centre is the best of a few points drawn by weight times squared distance.
    """
    tries, n, run = 2 + int(np.log(k)), len(points), np.arange(runs)
    squares = (points**2).sum(axis=1)
    centers = np.empty((runs, k, points.shape[1]))
    away, drawn = np.full((runs, n), 1.0), 1  # the first by weight alone
    for number in range(k):
        chances = np.cumsum(away * weights, axis=1)
        wanted = rng.random((runs, drawn)) * chances[:, -1:]
        places = (chances[:, None] <= wanted[:, :, None]).sum(axis=2)  # as searchsorted would
        picks = np.minimum(places, n - 1)
        products = points[picks] @ points.T
        tried = np.maximum(squares[picks][:, :, None] + squares - 2 * products, 0)
        if number:
            np.minimum(tried, away[:, None], out=tried)
        best = np.argmin(tried @ weights, axis=1)
        away, drawn = tried[run, best], tries
        centers[:, number] = points[picks[run, best]]
    return centers


def move_until_settled(points: Floats, weights: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """Move the centres of each run to the means of their points until they rest (Lloyd).

    Returns
    -------
    tuple
        The centres of every run, and its inertia.
    """
    centers, inertia = centers.copy(), np.full(len(centers), np.inf)
    middle = np.average(points, axis=0, weights=weights)
    still = _STILL * np.average((points - middle) ** 2, axis=0, weights=weights).mean()
    moving = np.arange(len(centers))
    for _ in range(_MOST_MOVES):
        means, inertia[moving] = _means(points, weights, centers[moving])
        moves = ((means - centers[moving]) ** 2).sum(axis=(1, 2))
        centers[moving] = means
        moving = moving[moves > still]
        if not moving.size:
            break
    return centers, inertia


def _means(points: Floats, weights: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """The mean of each centre's points, or the centre where there are none; the inertia before."""
    runs, k, d = centers.shape
    labels, away = _nearest(points, centers)
    keys = (labels + k * np.arange(runs)[:, None]).ravel()
    mass = np.bincount(keys, np.tile(weights, runs), runs * k)
    sums = [np.bincount(keys, np.tile(values, runs), runs * k) for values in points.T * weights]
    heavy = mass > 0
    means = np.where(heavy, np.array(sums) / np.where(heavy, mass, 1), centers.reshape(-1, d).T)
    return means.T.reshape(centers.shape), away @ weights


def _nearest(points: Floats, centers: Floats) -> tuple[Integers, Floats]:
    """For each run and point, which centre is nearest, and its squared distance."""
    halves = (centers**2).sum(axis=2) / 2
    lengths = halves[:, None] - points @ centers.transpose(0, 2, 1)
    labels = lengths.argmin(axis=2)
    least = np.take_along_axis(lengths, labels[:, :, None], axis=2)[:, :, 0]
    return labels, np.maximum(2 * least + (points**2).sum(axis=1), 0)
