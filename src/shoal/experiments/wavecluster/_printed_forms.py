"""Forms of the WaveCluster report as it prints them, where ours differ; none keeps its promise."""

from fractions import Fraction
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.cluster import WaveCluster
from shoal.cluster.wave import Percentile
from shoal.mechanisms import PlanarLaplace
from shoal.privacy import Unprotected
from shoal.randomness import Randomness

PLAIN = Unprotected("Exact counts, to compare with.")
_NEAREST_TO_0 = Fraction(1, 2**80)  # a quantile that is the least of all values in floats


def noise_on_points(X: Floats, common: dict[str, Any], epsilon: float, draw: int) -> Floats:
    """Return the rows with planar noise of 1/epsilon on each, in sides of a cell."""
    sides = _sides(common)
    noise = PlanarLaplace(epsilon).release(X / sides, Randomness(draw).noise).values
    return np.asarray(noise * sides)


def noise_on_coordinates(X: Floats, common: dict[str, Any], epsilon: float, draw: int) -> Floats:
    """Return the rows with Laplace noise of 1/epsilon on each coordinate, in sides of a cell."""
    noise = Randomness(draw).compute.laplace(0, 1 / epsilon, X.shape)
    return np.asarray(X + noise * _sides(common))


def _sides(common: dict[str, Any]) -> Floats:
    box = common["domain"]
    return np.asarray((box.high - box.low) / np.broadcast_to(common["cells"], box.d))


def report_rank(X: Floats, common: dict[str, Any]) -> Fraction:
    """Return the quantile whose rank is the report's k: how many true values exceed the threshold.

    Ties at the threshold do not exceed it, so k is smaller than the rank of the percentile. It can
    jump by all of them when a row is added, so that a release with this k keeps no promise.
    """
    plain = WaveCluster(**common, privacy=PLAIN).fit(X)
    values = np.asarray(plain.noisy_counts_)
    positive, significant = int((values > 0).sum()), int((values >= plain.threshold_).sum())
    return Fraction(positive - max(significant, 1), positive)


def printed_threshold(values: Floats, k: int, epsilon: float, rng: np.random.Generator) -> float:
    """Draw PrivTHREM's threshold: a partition by its rank alone, then a point in it, uniformly.

    Parameters
    ----------
    values
        The true values of W; those above 0 end the partitions, of which the last one is rank 1.
    k
        How many of them are significant.
    epsilon
        The share of the budget for the threshold.
    """
    ends = np.sort(values[values > 0])[::-1]
    scores = -np.abs(np.arange(1, ends.size + 1) - k)
    chances = np.exp(epsilon / 2 * (scores - scores.max()))
    place = rng.choice(ends.size, p=chances / chances.sum())
    low = ends[place + 1] if place + 1 < ends.size else 0.0
    return float(ends[place] - rng.random() * (ends[place] - low))


def printed_privthrem(
    X: Floats, common: dict[str, Any], epsilon: float, draw: int, alpha: float
) -> WaveCluster:
    """Fit PrivTHREM with the printed threshold.

    The noisy cells are those of PrivQT for a share of the budget, which the seed repeats; the
    threshold is handed over as the quantile of them that selects the same cells.
    """
    values = np.asarray(WaveCluster(**common, privacy=PLAIN).fit(X).noisy_counts_, dtype=float)
    k = int((values > 0).sum() * (1 - report_rank(X, common)))
    rng = Randomness(draw).compute
    threshold = printed_threshold(values.ravel(), k, (1 - alpha) * epsilon, rng)
    settings = {**common, "variant": "privqt", "epsilon": alpha * epsilon, "random_state": draw}
    noisy = np.asarray(WaveCluster(**settings).fit(X).noisy_counts_)
    positive = np.sort(noisy[noisy > 0])
    below = int((positive <= threshold).sum())
    p = Fraction(2 * below - 1, 2 * max(positive.size - 1, 1))
    settings["selector"] = Percentile(
        min(max(p, _NEAREST_TO_0), 1 - _NEAREST_TO_0),  # type: ignore[arg-type]
        strict=below == positive.size,
    )
    return WaveCluster(**settings).fit(X)
