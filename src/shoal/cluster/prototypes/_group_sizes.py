"""Weigh noisy sizes of groups and the noisy number of rows, by what their noise is worth."""

import math
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.estimator import RowCount
from shoal.synopsis.mixed.tree_model import norm_sub

RATE = 0.95
NOISE_SEED = 20_240_601  # of draws that protect nothing: intervals are the same each time


def geometric_variance(epsilon: float) -> float:
    """Return the variance of two-sided geometric noise."""
    return 2 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


def geometric_noise(epsilon: float, n: Any, rng: np.random.Generator) -> Floats:
    """Draw two-sided geometric noise for intervals: it protects nothing.

    Parameters
    ----------
    n
        How many draws, or their shape.
    """
    p = -math.expm1(-epsilon)
    return np.asarray(rng.geometric(p, n) - rng.geometric(p, n), dtype=np.float64)


def weigh_sizes(
    sizes: Floats, variance: float, draws: Floats, row_count: RowCount
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return whole sizes that add up, and their limits, from noisy sizes and the noisy total.

    What total and sizes disagree by is divided among them by their variances (least squares), so
    that each size is the middle of its interval; only sizes below 0 are moved further.
    """
    spread = sizes.size * variance + _count_variance(row_count)
    weight = 0.0 if math.isinf(spread) else variance / spread
    rng = np.random.default_rng(NOISE_SEED + 1)
    excess = count_noise(row_count, len(draws), rng) - draws.sum(axis=1)
    reach = float(np.quantile(np.abs(draws + weight * excess[:, None]), RATE))
    middle = sizes + weight * (row_count.value - sizes.sum())
    limits = np.maximum(middle - reach, 0.0), np.maximum(middle + reach, 0.0)
    return _whole(norm_sub(middle, max(1.0, float(middle.sum())))), limits


def count_noise(row_count: RowCount, n: int, rng: np.random.Generator) -> Floats:
    """Draw noise like that of the row count, for intervals: it protects nothing."""
    epsilon = row_count.epsilon
    return np.zeros(n) if not epsilon else geometric_noise(epsilon, n, rng)


def _count_variance(row_count: RowCount) -> float:
    if row_count.epsilon is None:
        return 0.0
    return math.inf if row_count.epsilon == 0 else geometric_variance(row_count.epsilon)


def _whole(sizes: Floats) -> Floats:
    """Round sizes so that they add up to the rounded total: the largest remainders go up."""
    floors = np.floor(sizes)
    left = round(float(sizes.sum())) - int(floors.sum())
    floors[np.argsort(floors - sizes, kind="stable")[:left]] += 1
    return floors
