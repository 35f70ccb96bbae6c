"""Cells judged by what their true count probably was, given the noisy one and its surroundings."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shoal.cluster.wave.deconvolve import CountPrior, likelihoods, refined
from shoal.cluster.wave.noise_law import NoiseLaw

__all__ = ["chance_of_reaching"]

Floats = NDArray[np.float64]
_CELLS_A_BIN = 60
_MOST_BINS = 12


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
