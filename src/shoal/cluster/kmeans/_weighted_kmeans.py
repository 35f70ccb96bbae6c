"""k-means of weighted points that were released, and the weights of such points: free.

Few points are clustered by many runs at once, many by scikit-learn or Spark. Public points fill up
where there are fewer than clusters.
"""

import warnings
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy.stats import norm, qmc
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from shoal.arrays import Floats, Integers
from shoal.engine.mllib_kmeans import mllib_centers
from shoal.randomness import Randomness

Clusterer = Literal["sklearn", "mllib"]
FAINT = 1e-3  # the weight of a point that stands for nothing that was counted
_SOFT = 0.8  # of the smallest weight kept: docs/decisions/private-kmeans.md, soft weights
_EM_ROUNDS = 60
# Points times clusters, below which a second thread costs more than it gives.
_FEW_FOR_THREADS = 200_000
_AT_ONCE = 2**18  # distances of points to centres that are in memory at a time
# Points times clusters, up to which all runs at once are the faster way.
_FEW_FOR_RUNS = 20_000
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
    if by == "mllib" or len(points) * k > _FEW_FOR_RUNS:
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
        centers, inertia = move_until_still(points, weights, centers)
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


def move_until_still(points: Floats, weights: Floats, centers: Floats) -> tuple[Floats, Floats]:
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
        means, inertia[moving] = _means_in_runs(points, weights, centers[moving])
        moves = ((means - centers[moving]) ** 2).sum(axis=(1, 2))
        centers[moving] = means
        moving = moving[moves > still]
        if not moving.size:
            break
    return centers, inertia


def _means_in_runs(points: Floats, weights: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """The mean of each centre's points, or the centre where there are none; the inertia before."""
    runs, k, d = centers.shape
    labels, away = _nearest_in_runs(points, centers)
    keys = (labels + k * np.arange(runs)[:, None]).ravel()
    mass = np.bincount(keys, np.tile(weights, runs), runs * k)
    sums = [np.bincount(keys, np.tile(values, runs), runs * k) for values in points.T * weights]
    heavy = mass > 0
    means = np.where(heavy, np.array(sums) / np.where(heavy, mass, 1), centers.reshape(-1, d).T)
    return means.T.reshape(centers.shape), away @ weights


def _nearest_in_runs(points: Floats, centers: Floats) -> tuple[Integers, Floats]:
    """For each run and point, which centre is nearest, and its squared distance."""
    halves = (centers**2).sum(axis=2) / 2
    lengths = halves[:, None] - points @ centers.transpose(0, 2, 1)
    labels = lengths.argmin(axis=2)
    least = np.take_along_axis(lengths, labels[:, :, None], axis=2)[:, :, 0]
    return labels, np.maximum(2 * least + (points**2).sum(axis=1), 0)


def weighted_centers(
    points: Floats,
    weights: Floats,
    k: int,
    rng: Randomness,
    n_init: int = 8,
    by: Clusterer = "sklearn",
) -> Floats:
    """The best of some runs of weighted k-means in [-1, 1]^d, by scikit-learn or by Spark.

    Parameters
    ----------
    points
        Points of the cube, one a line.
    weights
        How much each point counts; at least 0.
    k
        The number of centres.
    rng
        Where starts are drawn from.
    n_init
        How many runs there are to choose from.
    by
        Who computes: ``"sklearn"``, or ``"mllib"`` for points too many for one machine.

    Examples
    --------
    >>> points = np.array([[-0.5], [-0.4], [0.5]])
    >>> centers = weighted_centers(points, np.ones(3), 2, Randomness(7))
    >>> sorted(centers.round(2).tolist())
    [[-0.45], [0.5]]
    """
    points, weights = pad_points(points, weights, k)
    if by == "mllib" and k > 1:  # Spark refuses to find one mean
        at_most_k = mllib_centers(points, weights, k, rng.seed())
        return add_farthest_points(at_most_k, points, weights, k)  # k-means|| may stop at fewer
    centers: Floats = weighted_kmeans(points, weights, k, rng.seed(), n_init).cluster_centers_
    return centers


def weighted_kmeans(
    points: Floats,
    weights: Floats,
    k: int,
    seed: int,
    n_init: int,
    start: Floats | None = None,
) -> KMeans:
    """scikit-learn's, fitted, without a word if some of ``k`` centres coincide.

    Whether they do depends on the noise: where warnings are errors, a fit must not fail of it.

    Parameters
    ----------
    start
        Centres to begin at instead; ``n_init`` is then 1.
    """
    init: Any = "k-means++" if start is None else start
    kmeans = KMeans(k, init=init, n_init=n_init, random_state=seed)
    threads = 1 if len(points) * k < _FEW_FOR_THREADS else None
    with _thread_pools().limit(limits=threads), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return kmeans.fit(points, sample_weight=weights)


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the libraries that run threads; to look for them takes longer than a small k-means."""
    return ThreadpoolController()


def pad_points(points: Floats, weights: Floats, k: int) -> tuple[Floats, Floats]:
    """At least ``k`` different points: public ones, of next to no weight, fill up.

    How many cells were kept depends on the noise, so running short of them must not raise.

    Examples
    --------
    >>> pad_points(np.zeros((2, 1)), np.ones(2), 3)[1].tolist()
    [2.0, 0.001, 0.001]
    """
    heavy = weights > 0
    points, weights = points[heavy], weights[heavy]
    if len(points) < 4 * k or not _enough_differ(points, k):
        points, places = np.unique(points, axis=0, return_inverse=True)
        weights = np.bincount(places.ravel(), weights, len(points)).astype(np.float64)
    if len(points) >= k:
        return points, weights
    public = public_points(points.shape[1], 2 * k)
    fresh = public[~(public[:, None] == points).all(axis=2).any(axis=1)][: k - len(points)]
    return np.vstack([points, fresh]), np.append(weights, np.full(len(fresh), FAINT))


def public_points(d: int, n: int) -> Floats:
    """Points that fill [-1, 1]^d evenly, however many of them are taken (Halton).

    Examples
    --------
    >>> public_points(1, 3).ravel().tolist()
    [0.0, -0.5, 0.5]
    """
    points: Floats = 2 * qmc.Halton(d, scramble=False).random(n + 1)[1:] - 1
    return points


def shrink_counts(noisy_counts: Floats, variance: float) -> Floats:
    """Counts of equal cells, as far from their mean as the noise lets one tell; none below 0.

    The part 1 - variance / (variance of the counts) is what is not noise (James and Stein).

    Examples
    --------
    >>> shrink_counts(np.array([20.0, 0.0, 10.0]), 50.0).tolist()
    [15.0, 5.0, 10.0]
    """
    mean = max(float(noisy_counts.mean()), FAINT)
    away = noisy_counts - mean
    spread = float((away**2).sum()) / max(1, away.size - 1)
    signal_share = max(0.0, 1 - variance / spread) if spread else 0.0
    return np.maximum(mean + signal_share * away, 0)


def part_beyond_noise(noisy_counts: Floats, scale: float) -> Floats:
    """For each noisy count, which part of it is to be expected, going by all of them together.

    Where most cells are empty, a small count is noise; where many are small, it may well be right.
    How frequent each count is, is estimated by expectation and maximisation (an empirical Bayes
    estimate); the part is the posterior mean over the noisy count.

    Examples
    --------
    >>> part_beyond_noise(np.append(np.full(50, 0.0), [6.0, 90.0]), 2.0)[-2:].round(1).tolist()
    [0.0, 1.0]
    """
    highest = max(float(noisy_counts.max()), 4 * scale)
    atoms = np.append(0.0, scale * 2.0 ** np.arange(-2, np.log2(highest / scale) + 0.5, 0.5))
    values, places, times = np.unique(
        np.rint(noisy_counts * 4 / scale), return_inverse=True, return_counts=True
    )
    likely = np.exp(-np.abs(values[:, None] / 4 - atoms / scale)) + np.finfo(float).tiny
    prior = np.full(atoms.size, 1 / atoms.size)
    for _ in range(_EM_ROUNDS):
        posterior = likely * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        prior = times @ posterior / noisy_counts.size
    expected = (posterior @ atoms)[places]
    parts: Floats = np.clip(expected / np.where(noisy_counts > 0, noisy_counts, np.inf), 0, 1)
    return parts


def _enough_differ(points: Floats, k: int) -> bool:
    return len(np.unique(points[:, 0])) >= k or len(np.unique(points, axis=0)) >= k


def soften_weights(weights: Floats) -> Floats:
    """Weights less 0.8 of the smallest that was kept.

    What just passes the cut is mostly noise, what is far above it hardly: measured, centres are
    better than with a hard cut.

    Examples
    --------
    >>> soften_weights(np.array([10.0, 0.0, 110.0])).tolist()
    [2.0, 0.0, 102.0]
    """
    if not (weights > 0).any():
        return weights
    soft: Floats = np.maximum(weights - _SOFT * weights[weights > 0].min(), 0)
    return soft


def gaussian_cell_means(low: Floats, high: Floats, deviation: float) -> Floats:
    """The mean of a Gaussian about 0 inside each cell, axis by axis, instead of the cell's middle.

    Rows of a view lie about 0 with a known spread, so in a wide cell most are nearer to 0 than
    its middle. Cells at the wall hold what lies beyond it.

    Examples
    --------
    >>> gaussian_cell_means(np.array([[0.0]]), np.array([[1.0]]), 0.4).round(2).tolist()
    [[0.32]]
    """
    start = np.where(low <= -1, -np.inf, low / deviation)
    end = np.where(high >= 1, np.inf, high / deviation)
    mass = np.maximum(norm.cdf(end) - norm.cdf(start), np.finfo(float).tiny)
    means = deviation * (norm.pdf(start) - norm.pdf(end)) / mass
    inside: Floats = np.clip(means, np.maximum(low, -1), np.minimum(high, 1))
    return inside


def add_farthest_points(centers: Floats, points: Floats, weights: Floats, k: int) -> Floats:
    """Centres completed to ``k`` by the points that weigh and miss most."""
    points, weights = pad_points(points, weights, k)
    misses = np.min([((points - center) ** 2).sum(axis=1) for center in centers], axis=0)
    while len(centers) < k:
        worst = points[np.argmax(weights * misses)]
        centers = np.vstack([centers, worst])
        misses = np.minimum(misses, ((points - worst) ** 2).sum(axis=1))
    return centers
