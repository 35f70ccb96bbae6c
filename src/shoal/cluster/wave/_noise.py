"""A released grid, the law of its noise, and estimates of the true counts behind it.

Only released values and public laws are read, so everything here is post-processing.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shoal.arrays import Floats, Integers
from shoal.cluster.wave._transform import block_sums
from shoal.errors import PromiseExceeded
from shoal.privacy import Unprotected

_MOST_MASSES = 2**16  # most entries in a table of the law

# True counts may be every number up to the first, and this many larger ones; they are estimated in
# so many steps of EM: docs/decisions/wave-selector.md.
_EACH_UP_TO, _LARGER, _STEPS = 40, 80, 300
# Bins of cells that have like neighbours: about so many cells each, and at most so many bins.
_CELLS_A_BIN, _MOST_BINS = 60, 12


@dataclass(frozen=True)
class NoiseLaw:
    """The law of a sum of independent two-sided geometric noises.

    Parameters
    ----------
    fold
        How many are added up: one for a count as released, 4 for the sum of 2 x 2 released counts.

    Examples
    --------
    >>> law = NoiseLaw(step=1.0)
    >>> round(law.variance, 3), law.mass(np.array([0, 1, -1])).round(3).tolist()
    (1.841, [0.462, 0.17, 0.17])
    """

    step: float
    fold: int = 1

    @classmethod
    def of_variance(cls, variance: float) -> "NoiseLaw":
        """Return the law of one noise of this variance.

        Examples
        --------
        >>> round(NoiseLaw.of_variance(NoiseLaw(0.5).variance).step, 9)
        0.5
        """
        positive = max(variance, 1e-300)  # a variance of 0 has no finite step
        return cls(math.log((positive + 1 + math.sqrt(2 * positive + 1)) / positive))

    @property
    def variance(self) -> float:
        """The variance of the sum."""
        return self.fold * 2 * math.exp(-self.step) / math.expm1(-self.step) ** 2

    def mass(self, at: NDArray[np.integer] | Floats) -> Floats:
        """Return the probability of each of these whole numbers."""
        return np.exp(self.log_mass(at))

    def log_mass(self, at: NDArray[np.integer] | Floats) -> Floats:
        """Return the logarithm of ``mass``, which stays finite in the far tail."""
        distance = np.abs(np.asarray(at, dtype=np.float64))
        if self.fold == 1:
            return np.asarray(math.log(math.tanh(self.step / 2)) - self.step * distance)
        places = self._stride * np.arange(self._table.size)
        # Beyond the table the tail falls like that of a single geometric noise.
        far = self.step * np.maximum(distance - places[-1], 0)
        return np.asarray(np.interp(distance, places, np.log(self._table)) - far)

    @property
    def above_zero(self) -> float:
        """The probability that the noise is 1 or more."""
        return (1 - float(self.mass(np.array([0]))[0])) / 2

    def height_reached(self, chance: float) -> float:
        """Return the least height that the noise reaches with at most this probability."""
        if self.fold == 1:
            return max(0.0, -math.log(chance * (1 + math.exp(-self.step))) / self.step)
        tail = self._stride * np.cumsum(self._table[::-1])[::-1]
        return float(self._stride * np.count_nonzero(tail > chance))

    @property
    def _reach(self) -> int:
        """The largest number in the table."""
        return int(12 * math.sqrt(self.variance) + 40 / self.step) + 2

    @property
    def _stride(self) -> int:
        """The step between entries of the table: 1, or more if noise is too wide to list all."""
        return max(1, self._reach // _MOST_MASSES)

    @cached_property
    def _table(self) -> Floats:
        """Probabilities of multiples of the stride, by inverting the characteristic function."""
        half = self._reach // self._stride
        angles = np.pi * np.arange(half + 1) / (half * self._stride)
        # 1 - a, computed so that a small step does not cancel.
        loss = -math.expm1(-self.step)
        one = loss**2 / (loss**2 + 4 * (1 - loss) * np.sin(angles / 2) ** 2)
        masses = np.fft.irfft(one**self.fold)[: half + 1] / self._stride
        return np.maximum(masses, 1e-300)


@dataclass(frozen=True, eq=False)
class NoisyGrid:
    """The released coefficients of a grid, with the variance and law of their noise.

    Parameters
    ----------
    values
        One for each cell; whole numbers where they are counts of rows.
    variance
        Of the noise in one of them; 0 without noise.
    """

    values: NDArray[Any]
    variance: float = 0.0
    law: NoiseLaw | None = None

    @property
    def counts(self) -> Integers:
        """The values as whole numbers."""
        return np.asarray(self.values, dtype=np.int64)

    @classmethod
    def of_counts(cls, values: Integers, law: NoiseLaw) -> "NoisyGrid":
        """Make a grid of whole counts under noise of this law."""
        return cls(values, law.variance, law)

    def coarser(self, levels: int) -> "NoisyGrid":
        """Add up blocks of ``2**levels`` cells along each axis; noisier than counting blocks.

        Examples
        --------
        >>> grid = NoisyGrid.of_counts(np.ones((4, 4), dtype=int), NoiseLaw(1.0))
        >>> grid.coarser(1).values.tolist(), grid.coarser(1).law.fold
        ([[4, 4], [4, 4]], 4)
        """
        fold = 2 ** (levels * self.values.ndim)
        law = None if self.law is None else NoiseLaw(self.law.step, self.law.fold * fold)
        return NoisyGrid(block_sums(self.values, 2**levels), self.variance * fold, law)


@dataclass(frozen=True)
class NoNoise:
    """A mechanism that releases exact values, for pages that promise nothing.

    Parameters
    ----------
    guarantee
        That of the page; anything but ``Unprotected`` is refused with ``PromiseExceeded``.
    """

    guarantee: Unprotected

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, Unprotected):
            raise PromiseExceeded(
                f"Exact counts cannot be released on a page of {self.guarantee}.",
                "Give the method noise, or open a page of Unprotected.",
            )

    def release(self, value: Any, rng: np.random.Generator) -> Any:
        """Return the exact value."""
        return value


@dataclass(frozen=True)
class CountPrior:
    """A distribution of true counts, for a cell taken at random.

    Parameters
    ----------
    counts
        The counts that are possible, from 0 up.
    """

    counts: Integers
    shares: Floats

    @property
    def empty(self) -> float:
        """The share of empty cells."""
        return float(self.shares[0])

    def quantile(self, p: float) -> int:
        """Return the count below which a share ``p`` of the cells that have any rows lies.

        Parameters
        ----------
        p
            The share, between 0 and 1.
        """
        occupied = self.shares[1:]
        below = np.cumsum(occupied)
        if not below.size or below[-1] <= 0:
            return int(self.counts[-1]) + 1
        return int(self.counts[1 + np.searchsorted(below, p * below[-1])])


def estimate_counts(noisy: Integers, law: NoiseLaw) -> CountPrior:
    """Estimate the distribution of true counts from noisy ones (deconvolution).

    This is the nonparametric maximum likelihood estimate, by EM, over every whole count up to 40
    and 80 larger ones on a logarithmic scale.

    Examples
    --------
    >>> rng = np.random.default_rng(7)
    >>> true = np.repeat([0, 30], [900, 100])
    >>> noisy = true + rng.geometric(0.6, 1000) - rng.geometric(0.6, 1000)
    >>> round(estimate_counts(noisy, NoiseLaw(step=0.92)).empty, 1)
    0.9
    """
    values, repeats = np.unique(noisy, return_counts=True)
    support = _support(int(values[-1]))
    kernel = _likelihoods(values, support, law)
    return CountPrior(support, _em_steps(kernel, repeats, np.full(support.size, 1 / support.size)))


def _likelihoods(values: Integers, support: Integers, law: NoiseLaw) -> Floats:
    """Compute how likely each noisy value is from each true count; each row's largest is 1."""
    logs = law.log_mass(values[:, None] - support)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _em_steps(
    kernel: Floats, repeats: NDArray[np.integer], shares: Floats, steps: int = _STEPS
) -> Floats:
    """Improve the shares by steps of expectation maximisation."""
    weights = repeats / repeats.sum()
    for _ in range(steps):
        shares = shares * (weights / (kernel @ shares) @ kernel)
    return shares


def _support(largest: int) -> Integers:
    each = np.arange(_EACH_UP_TO + 1)
    if largest <= _EACH_UP_TO:
        return each
    ladder = np.rint(np.geomspace(_EACH_UP_TO + 1, largest, _LARGER)).astype(np.int64)
    return np.unique(np.concatenate([each, ladder]))


def probability_of_reaching(
    noisy: Integers, threshold: int, prior: CountPrior, law: NoiseLaw, context: bool
) -> Floats:
    """Compute, for each cell, the probability that its true count reaches the threshold.

    Examples
    --------
    >>> prior = CountPrior(np.array([0, 10]), np.array([0.5, 0.5]))
    >>> noisy = np.array([[0, 5, 10]])
    >>> probability_of_reaching(noisy, 10, prior, NoiseLaw(1.0), context=False).round(2).tolist()
    [[0.0, 0.5, 1.0]]
    """
    chance = np.empty(noisy.shape)
    reaching = prior.counts >= threshold
    for cells in _groups(noisy) if context else [np.ones(noisy.shape, dtype=bool)]:
        values, places, repeats = np.unique(noisy[cells], return_inverse=True, return_counts=True)
        kernel = _likelihoods(values, prior.counts, law)
        shares = prior.shares
        if context:
            start = shares + 1e-4 / shares.size
            shares = _em_steps(kernel, repeats, start / start.sum(), steps=25)
        chance[cells] = (kernel @ (shares * reaching) / (kernel @ shares))[places]
    return chance


def _groups(noisy: Integers) -> list[NDArray[np.bool_]]:
    """Group the cells by the mean of their neighbours, in bins of about as many cells."""
    ones = np.ones((3,) * noisy.ndim)
    around = ndimage.convolve(noisy.astype(float), ones, mode="constant") - noisy
    bins = int(np.clip(noisy.size / _CELLS_A_BIN, 2, _MOST_BINS))
    edges = np.quantile(around, np.arange(1, bins) / bins)
    group = np.searchsorted(edges, around, side="right")
    return [group == i for i in np.unique(group)]
