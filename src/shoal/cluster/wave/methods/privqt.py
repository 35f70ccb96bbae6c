"""PrivQT: noise on every cell, and the quantile of what comes out positive."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.methods.purse import Purse
from shoal.cluster.wave.noise import NoisyGrid
from shoal.cluster.wave.transform import FINE, Transform
from shoal.mechanisms import Geometric

__all__ = ["CellNoise", "positive_quantile", "privqt", "with_cell_noise"]

CellNoise = Literal["laplace", "geometric"]


def privqt(
    counts: NDArray[np.int64],
    transform: Transform,
    p: float,
    noise: CellNoise,
    purse: Purse,
) -> tuple[NoisyGrid, float | None]:
    """Coefficients of noisy cells, and the ``p``-quantile of the positive ones.

    Does not settle as the budget grows: about half of the empty cells are positive too.

    References
    ----------
    Chen, Yu, Chirkova, WaveCluster with differential privacy, CIKM 2015.
    """
    grid = with_cell_noise(counts, transform, noise, purse)
    return grid, positive_quantile(grid.values, p)


def with_cell_noise(
    counts: NDArray[np.int64],
    transform: Transform,
    noise: CellNoise,
    purse: Purse,
) -> NoisyGrid:
    """The coefficients of cells that each carry noise.

    "laplace" is geometric noise on multiples of 1/1024 of a row: Laplace's law to the eye, but on
    whole numbers, where floating-point noise would give itself away.
    """
    fine = FINE if noise == "laplace" else 1
    mechanism = Geometric(purse.budget, sensitivity=fine)  # [P1]
    released = purse.release(mechanism, counts * fine, of="cell counts")  # [P2]
    values = transform(released / fine) * transform.unit
    spread = transform.spread * transform.unit / fine
    return NoisyGrid(values, mechanism.variance * spread**2)


def positive_quantile(values: NDArray[Any], p: float, drop: int = 0) -> float | None:
    """The quantile of the positive values but for the ``drop`` smallest; one at least is left.

    Examples
    --------
    >>> positive_quantile(np.array([0, 1, 2, 3, 4]), 0.5, drop=2)
    3.5
    """
    positive = np.sort(values[values > 0])
    if not positive.size:
        return None
    return float(np.quantile(positive[min(max(drop, 0), positive.size - 1) :], p))
