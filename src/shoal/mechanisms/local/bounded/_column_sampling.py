"""Report only some columns, drawn without looking at the row, so that each gets more budget."""

from abc import abstractmethod
from fractions import Fraction
from typing import Protocol

import numpy as np

from shoal.arrays import Floats
from shoal.mechanisms.exact._coins import random_subsets
from shoal.mechanisms.local.bounded._base import Bounded, Steps


class ColumnLaw(Protocol):
    """How one number in [-1, 1] is randomised, without bias."""

    def draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        """Draw reports on the scale of [-1, 1]."""

    def variance(self, x: Floats) -> Floats:
        """Return the variance of the report of each value.

        Parameters
        ----------
        x
            Values in [-1, 1].
        """


class Sampled(Bounded):
    """Base class of ``Piecewise`` and ``Hybrid``: k of d columns get epsilon / k each."""

    def columns_reported(self, d: int) -> int:
        """Return how many of ``d`` columns a report carries: one for every 2.5 of epsilon."""
        # The rule of Wang et al. (ICDE 2019): below 2.5 a column, fewer columns have less noise.
        return max(1, min(d, int(self.exact_epsilon / Fraction(5, 2))))

    @abstractmethod
    def _law(self, epsilon: Fraction) -> ColumnLaw:
        """Return the law of one column at this budget."""

    def _draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        d, n = steps.shape
        k = self.columns_reported(d)
        law = self._law(self.exact_epsilon / k)  # [P2]
        if k == d:
            return law.draw(steps, rng)
        chosen = random_subsets(n, d, k, rng)  # [P1] the row is not asked
        values = np.zeros((d, n))
        drawn = law.draw(np.take_along_axis(steps, chosen, axis=0), rng)
        np.put_along_axis(values, chosen, drawn * (d / k), axis=0)  # [P3]
        return values

    def _scaled_variance(self, x: Floats) -> Floats:
        d = x.shape[1]
        k = self.columns_reported(d)
        law = self._law(self.exact_epsilon / k)
        scaled: Floats = (law.variance(x) + x**2) * (d / k)
        return scaled - x**2
