"""A released grid of coefficients, and what post-processing may know about its noise."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.noise_law import NoiseLaw
from shoal.cluster.wave.transform import block_sums
from shoal.privacy import Unprotected

__all__ = ["NoisyGrid", "Unnoised"]


@dataclass(frozen=True, eq=False)
class NoisyGrid:
    """Coefficients on their way to clusters.

    Parameters
    ----------
    values
        One a cell; whole numbers where they are counts of rows.
    variance
        Of the noise in one of them; 0 without noise.
    law
        The law of that noise, where values are whole counts under independent geometric noise.
    """

    values: NDArray[Any]
    variance: float = 0.0
    law: NoiseLaw | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        """The values as whole numbers."""
        return np.asarray(self.values, dtype=np.int64)

    @classmethod
    def of_counts(cls, values: NDArray[np.int64], law: NoiseLaw) -> "NoisyGrid":
        """Whole counts under noise of this law."""
        return cls(values, law.variance, law)

    def coarser(self, levels: int) -> "NoisyGrid":
        """Sums of blocks of ``2**levels`` cells an axis: free, though noisier than blocks counted.

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
class Unnoised:
    """Hands a value out as it is, and says so."""

    guarantee: Unprotected

    def release(self, value: Any, rng: np.random.Generator) -> Any:
        """The value."""
        return value
