"""k-means of weighted points that were released: free, and never at a loss for points."""

import warnings
from functools import cache
from typing import Any, Literal

import numpy as np
from scipy.stats import norm, qmc
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from shoal.arrays import Floats
from shoal.engine.mllib import mllib_centers
from shoal.randomness import Randomness

Clusterer = Literal["sklearn", "mllib"]
FAINT = 1e-3  # the weight of a point that stands for nothing that was counted
_SOFT = 0.8
_EM_ROUNDS = 60
_FEW = 200_000  # points times clusters, below which a second thread costs more than it gives


def weighted_centers(
    points: Floats,
    weights: Floats,
    k: int,
    rng: Randomness,
    n_init: int = 8,
    by: Clusterer = "sklearn",
) -> Floats:
    """The best of some runs of weighted k-means in [-1, 1]^d, by scikit-learn or by Spark.

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
    threads = 1 if len(points) * k < _FEW else None
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
    told = max(0.0, 1 - variance / spread) if spread else 0.0
    return np.maximum(mean + told * away, 0)


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
