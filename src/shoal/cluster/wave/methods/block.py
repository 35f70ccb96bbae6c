"""Noise where it is used: on the coefficients themselves, at the whole budget."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.methods.purse import Purse
from shoal.cluster.wave.noise import NoiseLaw, NoisyGrid
from shoal.cluster.wave.transform import Transform
from shoal.mechanisms import Geometric
from shoal.privacy import PureDP

__all__ = ["block_noise"]


def block_noise(
    counts: NDArray[np.int64],
    transform: Transform,
    purse: Purse,
) -> NoisyGrid:
    r"""Release the coefficients of these cell counts.

    Haar coefficients are block sums: one row moves one of them by one, so they take the noise of
    a single count, however many cells a block has. Longer filters take it where it ends up
    smaller, on the coefficients or on the cells, which the filter alone decides.

    Guarantee
    ---------
    All that is in the ``purse``. See ``block.proof.md``.

    References
    ----------
    Chen, Yu, Chirkova, WaveCluster with differential privacy, CIKM 2015, put it on the cells.
    """
    if transform.on_subband and _fits(purse.budget, transform.sensitivity):
        noise = Geometric(purse.budget, sensitivity=transform.sensitivity)  # [P1]
        released = purse.release(noise, transform(counts), of="coefficients")  # [P2]
        if transform.is_blocks:
            return NoisyGrid.of_counts(released, NoiseLaw(float(purse.budget.epsilon)))
        return NoisyGrid(released * transform.unit, noise.variance * transform.unit**2)
    on_cells = Geometric(purse.budget)  # [P3]
    noisy = purse.release(on_cells, counts, of="cell counts")
    spread = transform.spread * transform.unit
    return NoisyGrid(transform(noisy) * transform.unit, on_cells.variance * spread**2)


def _fits(budget: PureDP, sensitivity: int) -> bool:
    """Whether noise so wide has room in whole numbers; on the cells it is far narrower."""
    return budget.epsilon >= Fraction(sensitivity, 2**40)
