"""What the true counts were like, all cells together, from the noisy ones: no budget needed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.noise_law import NoiseLaw

__all__ = ["CountPrior", "deconvolved"]

Floats = NDArray[np.float64]
_EACH_UP_TO = 40
_LARGER = 80
_STEPS = 300


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
