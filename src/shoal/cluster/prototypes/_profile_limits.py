"""Intervals of shares and means of groups, from draws of the noise that was added."""

import numpy as np

from shoal.arrays import Floats
from shoal.cluster.prototypes._group_sizes import NOISE_SEED, RATE
from shoal.cluster.prototypes.measure import Measured, group_blocks

DRAWS = 16_000  # of 4,000 a quantile was off by up to 4 %, and intervals held 94 times in 100
_SHARES = np.linspace(0.0, 1.0, 2001)
_MEANS = np.linspace(-1.0, 1.0, 4001)
_GRID = 41  # values at which a quantile of the noise is computed; between them it is interpolated


class NoiseLaw:
    """Quantiles of the noise of measurements, from draws: they depend on public things alone.

    For the true share s of a count h in a group of n rows, h - s n has mean 0 and a law that no row
    changes. The interval holds every s at which it is not too far from 0 (Fieller).
    """

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        rng = np.random.default_rng(NOISE_SEED)
        blocks = group_blocks(measured.columns)
        self._noise = blocks.draw(measured.epsilon, DRAWS, rng)
        self._size_noise = self._noise @ measured.size_weights

    def size_noise(self, groups: int) -> Floats:
        """Return draws of the noise of all sizes, each group's apart from the others'."""
        rng = np.random.default_rng(NOISE_SEED)
        return np.column_stack([rng.permutation(self._size_noise) for _ in range(groups)])

    def mean_limits(self, sums: Floats, n: Floats) -> tuple[Floats, Floats]:
        """Return the limits of each mean, in [-1, 1]."""
        limits = [
            _limits(_MEANS, sums[:, i], n, self._noise[:, 1 + i], self._size_noise)
            for i in range(sums.shape[1])
        ]
        low, high = ([each[end] for each in limits] for end in (0, 1))
        return (np.column_stack(low), np.column_stack(high)) if limits else (sums, sums)

    def share_limits(self, i: int, counts: Floats, n: Floats) -> tuple[Floats, Floats]:
        """Return the limits of each share of a column."""
        place, size = self._measured.places[i], self._measured.columns.categories[i].size
        drawn = self._noise[:, place]
        if size == 2:
            noise = (self._size_noise + drawn[:, 0]) / 2
        else:  # the first category stands for all: noise treats them alike
            noise = drawn[:, 0] + (self._size_noise - drawn.sum(axis=1)) / size
        repeated = np.repeat(n, counts.shape[1])
        low, high = _limits(_SHARES, counts.ravel(), repeated, noise, self._size_noise)
        return low.reshape(counts.shape), high.reshape(counts.shape)


def _limits(
    candidates: Floats, counts: Floats, n: Floats, noise: Floats, size_noise: Floats
) -> tuple[Floats, Floats]:
    """Return the lowest and highest candidate that the noise does not rule out."""
    coarse = np.linspace(candidates[0], candidates[-1], _GRID)
    reach = np.quantile(np.abs(noise - coarse[:, None] * size_noise), RATE, axis=1)
    within = np.abs(counts[:, None] - n[:, None] * candidates) <= np.interp(
        candidates, coarse, reach
    )
    step = candidates[1] - candidates[0]
    low = candidates[within.argmax(axis=1)] - step
    high = candidates[candidates.size - 1 - within[:, ::-1].argmax(axis=1)] + step
    nothing = ~within.any(axis=1)  # no candidate fits, as with a size far below 0: nothing is known
    low, high = (
        np.where(nothing, end, x) for end, x in ((candidates[0], low), (candidates[-1], high))
    )
    return np.maximum(low, candidates[0]), np.minimum(high, candidates[-1])
