"""The law of the noise on a released coefficient, as far as post-processing needs it."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["NoiseLaw"]

Floats = NDArray[np.float64]


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
        a = (variance + 1 - math.sqrt(2 * variance + 1)) / variance
        return cls(-math.log(a))

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
        near = np.minimum(distance, self._table.size - 1).astype(np.int64)
        # Beyond the table the largest of the geometric terms leads.
        far = self.step * np.maximum(distance - self._table.size + 1, 0)
        return np.asarray(np.log(self._table[near]) - far)

    @property
    def above_zero(self) -> float:
        """The probability of a noise of 1 or more."""
        return (1 - float(self.mass(np.array([0]))[0])) / 2

    def reached(self, chance: float) -> float:
        """The least height which the noise reaches no more often than this."""
        if self.fold == 1:
            return max(0.0, -math.log(chance * (1 + math.exp(-self.step))) / self.step)
        tail = np.cumsum(self._table[::-1])[::-1]
        return float(np.count_nonzero(tail > chance))

    @cached_property
    def _table(self) -> Floats:
        """Masses of 0, 1, 2, ...: powers of the characteristic function, turned back."""
        half = int(12 * math.sqrt(self.variance) + 40 / self.step) + 2
        angles = np.pi * np.arange(half + 1) / half
        a = math.exp(-self.step)
        one = (1 - a) ** 2 / (1 - 2 * a * np.cos(angles) + a * a)
        return np.maximum(np.fft.irfft(one**self.fold)[: half + 1], 1e-300)
