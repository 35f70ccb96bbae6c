"""PrivTHR: a noisy number of empty coefficients says how many positives are only noise."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.methods.privqt import CellNoise, positive_quantile, with_cell_noise
from shoal.cluster.wave.methods.purse import Purse
from shoal.cluster.wave.noise import NoisyGrid
from shoal.cluster.wave.transform import Transform
from shoal.mechanisms import Geometric

__all__ = ["privthr"]


def privthr(
    counts: NDArray[np.int64],
    transform: Transform,
    p: float,
    alpha: Fraction,
    noise: CellNoise,
    purse: Purse,
) -> tuple[NoisyGrid, float | None]:
    """Coefficients of noisy cells, and a quantile without the positives that noise made.

    Parameters
    ----------
    counts, transform, p, noise, purse
        As in ``privqt``.
    alpha
        The share of the budget that the cells get; the rest goes to the number of empty
        coefficients.

    References
    ----------
    Chen, Yu, Chirkova, WaveCluster with differential privacy, CIKM 2015; there one row is taken
    to change the number of empty coefficients by 1, which holds for Haar only.
    """
    grid = with_cell_noise(counts, transform, noise, purse.share(alpha))  # [P1]
    empty = np.array([np.count_nonzero(transform(counts) <= 0)])
    on_empty = Geometric(purse.budget * (1 - alpha), sensitivity=transform.touched)  # [P2]
    noisy_empty = int(purse.release(on_empty, empty, of="empty coefficients")[0])  # [P3]
    return grid, positive_quantile(grid.values, p, drop=round(noisy_empty / 2))
