"""A released grid of coefficients, and what post-processing may know about its noise.

The law of the noise on a released coefficient, as far as post-processing needs it.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.transform import block_sums
from shoal.privacy import Unprotected

__all__ = [
    "NoiseLaw",
    "NoisyGrid",
    "Unnoised",
]

Floats = NDArray[np.float64]
_MOST_MASSES = 2**16


@dataclass(frozen=True)
class NoiseLaw:
    """The sum of ``fold`` independent two-sided geometric noises of this step.

    One for a count as released; 4 for the sum of a block of 2 x 2 released counts.

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
        """The law of one noise of this variance.

        Examples
        --------
        >>> round(NoiseLaw.of_variance(NoiseLaw(0.5).variance).step, 9)
        0.5
        """
        some = max(variance, 1e-300)  # none at all has no law: next to none has
        return cls(math.log((some + 1 + math.sqrt(2 * some + 1)) / some))

    @property
    def variance(self) -> float:
        """Of the sum."""
        return self.fold * 2 * math.exp(-self.step) / math.expm1(-self.step) ** 2

    def mass(self, at: NDArray[np.integer] | NDArray[np.float64]) -> Floats:
        """The probability of each of these whole numbers."""
        return np.exp(self.log_mass(at))

    def log_mass(self, at: NDArray[np.integer] | NDArray[np.float64]) -> Floats:
        """Its logarithm, which stays finite however far out."""
        distance = np.abs(np.asarray(at, dtype=np.float64))
        if self.fold == 1:
            return np.asarray(math.log(math.tanh(self.step / 2)) - self.step * distance)
        places = self._stride * np.arange(self._table.size)
        # Beyond the table the largest of the geometric terms leads.
        far = self.step * np.maximum(distance - places[-1], 0)
        return np.asarray(np.interp(distance, places, np.log(self._table)) - far)

    @property
    def above_zero(self) -> float:
        """The probability of a noise of 1 or more."""
        return (1 - float(self.mass(np.array([0]))[0])) / 2

    def reached(self, chance: float) -> float:
        """The least height which the noise reaches no more often than this."""
        if self.fold == 1:
            return max(0.0, -math.log(chance * (1 + math.exp(-self.step))) / self.step)
        tail = self._stride * np.cumsum(self._table[::-1])[::-1]
        return float(self._stride * np.count_nonzero(tail > chance))

    @property
    def _reach(self) -> int:
        """How far out the table goes."""
        return int(12 * math.sqrt(self.variance) + 40 / self.step) + 2

    @property
    def _stride(self) -> int:
        """The table has every number, or, under noise so wide that neighbours are alike, some."""
        return max(1, self._reach // _MOST_MASSES)

    @cached_property
    def _table(self) -> Floats:
        """Masses of 0, 1, 2, ... strides: powers of the characteristic function, turned back."""
        half = self._reach // self._stride
        angles = np.pi * np.arange(half + 1) / (half * self._stride)
        loss = -math.expm1(-self.step)  # 1 - a, without cancelling
        one = loss**2 / (loss**2 + 4 * (1 - loss) * np.sin(angles / 2) ** 2)
        masses = np.fft.irfft(one**self.fold)[: half + 1] / self._stride
        return np.maximum(masses, 1e-300)


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
