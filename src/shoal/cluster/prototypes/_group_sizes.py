"""Weigh noisy sizes of groups and the noisy number of rows, by what their noise is worth."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.synopsis.mixed.tree_model import norm_sub

RATE = 0.95
NOISE_SEED = 20_240_601  # of draws that protect nothing: intervals are the same each time


@dataclass(frozen=True)
class RowCount:
    """The number of all rows, beside which sizes of groups are weighed.

    Parameters
    ----------
    epsilon
        What it cost: its noise is two-sided geometric. None for a public number, which has none; 0
        where its noise is not known.
    """

    value: float
    epsilon: float | None

    @property
    def variance(self) -> float:
        """The variance of its noise."""
        if self.epsilon is None:
            return 0.0
        return math.inf if self.epsilon == 0 else geometric_variance(self.epsilon)

    def noise(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw such noise in floats, for intervals: it protects nothing."""
        return np.zeros(n) if not self.epsilon else geometric_noise(self.epsilon, n, rng)


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
    spread = sizes.size * variance + row_count.variance
    weight = 0.0 if math.isinf(spread) else variance / spread
    rng = np.random.default_rng(NOISE_SEED + 1)
    excess = row_count.noise(len(draws), rng) - draws.sum(axis=1)
    reach = float(np.quantile(np.abs(draws + weight * excess[:, None]), RATE))
    middle = sizes + weight * (row_count.value - sizes.sum())
    limits = np.maximum(middle - reach, 0.0), np.maximum(middle + reach, 0.0)
    return _whole(norm_sub(middle, max(1.0, float(middle.sum())))), limits


def _whole(sizes: Floats) -> Floats:
    """Round sizes so that they add up to the rounded total: the largest remainders go up."""
    floors = np.floor(sizes)
    left = round(float(sizes.sum())) - int(floors.sum())
    floors[np.argsort(floors - sizes, kind="stable")[:left]] += 1
    return floors
