"""Cells judged by what their true count probably was, given the noisy one and its surroundings.

What the true counts were like, all cells together, from the noisy ones: no budget needed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shoal.cluster.wave.noise import NoiseLaw

__all__ = [
    "CountPrior",
    "chance_of_reaching",
    "deconvolved",
]

Floats = NDArray[np.float64]
_EACH_UP_TO = 40
_LARGER = 80
_STEPS = 300

_CELLS_A_BIN = 60
_MOST_BINS = 12


@dataclass(frozen=True)
class CountPrior:
    """How likely each true count is, for a cell taken at random."""

    counts: NDArray[np.int64]
    shares: Floats

    @property
    def empty(self) -> float:
        """The share of empty cells."""
        return float(self.shares[0])

    def quantile(self, p: float) -> int:
        """The count below which a share ``p`` of the cells that have any rows lies."""
        occupied = self.shares[1:]
        below = np.cumsum(occupied)
        if not below.size or below[-1] <= 0:
            return int(self.counts[-1]) + 1
        return int(self.counts[1 + np.searchsorted(below, p * below[-1])])


def deconvolved(noisy: NDArray[np.int64], law: NoiseLaw) -> CountPrior:
    """The distribution of true counts under which these noisy ones are likeliest.

    The nonparametric maximum likelihood estimate over whole counts up to 40 and a coarser ladder
    above, by EM.

    Examples
    --------
    >>> rng = np.random.default_rng(7)
    >>> true = np.repeat([0, 30], [900, 100])
    >>> noisy = true + rng.geometric(0.6, 1000) - rng.geometric(0.6, 1000)
    >>> round(deconvolved(noisy, NoiseLaw(step=0.92)).empty, 1)
    0.9
    """
    values, repeats = np.unique(noisy, return_counts=True)
    support = _support(int(values[-1]))
    kernel = likelihoods(values, support, law)
    return CountPrior(support, refined(kernel, repeats, np.full(support.size, 1 / support.size)))


def likelihoods(values: NDArray[np.int64], support: NDArray[np.int64], law: NoiseLaw) -> Floats:
    """How likely each noisy value is from each true count, each row scaled to a largest of 1."""
    logs = law.log_mass(values[:, None] - support)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def refined(
    kernel: Floats, repeats: NDArray[np.integer], shares: Floats, steps: int = _STEPS
) -> Floats:
    """EM steps from these shares."""
    weights = repeats / repeats.sum()
    for _ in range(steps):
        shares = shares * (weights / (kernel @ shares) @ kernel)
    return shares


def _support(largest: int) -> NDArray[np.int64]:
    each = np.arange(_EACH_UP_TO + 1)
    if largest <= _EACH_UP_TO:
        return each
    ladder = np.rint(np.geomspace(_EACH_UP_TO + 1, largest, _LARGER)).astype(np.int64)
    return np.unique(np.concatenate([each, ladder]))


def chance_of_reaching(
    noisy: NDArray[np.int64], threshold: int, prior: CountPrior, law: NoiseLaw, context: bool
) -> Floats:
    """For each cell, the probability that its true count reaches the threshold.

    Parameters
    ----------
    noisy, law
        Released counts, and the noise on them.
    threshold
        The count to reach.
    prior
        How likely each true count is for a cell taken at random.
    context
        Refine the prior among cells whose neighbours hold about as many rows.

    Examples
    --------
    >>> prior = CountPrior(np.array([0, 10]), np.array([0.5, 0.5]))
    >>> noisy = np.array([[0, 5, 10]])
    >>> chance_of_reaching(noisy, 10, prior, NoiseLaw(1.0), context=False).round(2).tolist()
    [[0.0, 0.5, 1.0]]
    """
    chance = np.empty(noisy.shape)
    reaching = prior.counts >= threshold
    for cells in _groups(noisy) if context else [np.ones(noisy.shape, dtype=bool)]:
        values, places, repeats = np.unique(noisy[cells], return_inverse=True, return_counts=True)
        kernel = likelihoods(values, prior.counts, law)
        shares = prior.shares
        if context:
            start = shares + 1e-4 / shares.size
            shares = refined(kernel, repeats, start / start.sum(), steps=25)
        chance[cells] = (kernel @ (shares * reaching) / (kernel @ shares))[places]
    return chance


def _groups(noisy: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Cells by the mean of the cells around them, in bins of about as many cells."""
    ones = np.ones((3,) * noisy.ndim)
    around = ndimage.convolve(noisy.astype(float), ones, mode="constant") - noisy
    bins = int(np.clip(noisy.size / _CELLS_A_BIN, 2, _MOST_BINS))
    edges = np.quantile(around, np.arange(1, bins) / bins)
    group = np.searchsorted(edges, around, side="right")
    return [group == i for i in np.unique(group)]
