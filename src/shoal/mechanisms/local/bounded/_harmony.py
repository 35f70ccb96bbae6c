"""The Harmony mechanism: report one sign of one column."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.mechanisms.exact._coins import Coin, random_subsets
from shoal.mechanisms.local.bounded._base import Bounded, Steps
from shoal.mechanisms.local.bounded._duchi import rounded_to_signs
from shoal.privacy import Number


@dataclass(frozen=True)
class Harmony(Bounded):
    r"""Report the sign of one column, unbiased: 2d possible reports, a bit and a column number.

    A column j is drawn uniformly, and :math:`\pm d\,C_1`, with
    :math:`C_1 = (e^\varepsilon+1)/(e^\varepsilon-1)`, is reported for it, + with probability
    :math:`1/2 + x_j/(2 C_1)`. The other columns are given as the centre of the box.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole row. Drawn exactly. See ``harmony.proof.md``.

    Parameters
    ----------
    epsilon
        The promise of one report, all its columns together; at most 20.
    domain
        The public box of the rows. ``None``: they lie in [-1, 1] already.
    clip
        Move rows outside to the nearest point of the box instead of refusing them.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> harmony = Harmony(1.0)
    >>> harmony.release([-0.8, 0.9], Randomness(7).noise).values.round(3).tolist()
    [[-4.328, 0.0]]
    >>> float(harmony.variance([-0.8, 0.9]).sum().round(1))
    17.3

    References
    ----------
    Nguyên et al., Collecting and analyzing data from smart device users with local differential
    privacy, 2016.
    """

    epsilon: Number
    domain: Box | None = None
    clip: bool = False

    def _draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        d, n = steps.shape
        column = random_subsets(n, d, 1, rng)  # [P2] the row is not asked
        values = np.zeros((d, n))
        signs = one_sign(self.exact_epsilon).draw(np.take_along_axis(steps, column, axis=0), rng)
        np.put_along_axis(values, column, d * signs, axis=0)
        return values

    def _scaled_variance(self, x: Floats) -> Floats:
        largest = float(x.shape[1] * one_sign(self.exact_epsilon).size ** 2)
        return largest - x**2


class OneSign:
    """Duchi's mechanism for one number: report plus or minus C1."""

    def __init__(self, epsilon: Fraction) -> None:
        self.size = 1 / math.tanh(epsilon / 2)  # C1
        self._truth_coin = Coin(epsilon, lambda E: E / (E + 1))

    def draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        """Draw reports on the scale of [-1, 1]."""
        positive = rounded_to_signs(steps, rng)
        truthful = self._truth_coin.flip(steps.size, rng).reshape(steps.shape)  # [P1]
        return np.where(positive == truthful, self.size, -self.size)

    def variance(self, x: Floats) -> Floats:
        """Return the variance of the report of each value."""
        return self.size**2 - x**2


@lru_cache(maxsize=64)
def one_sign(epsilon: Fraction) -> OneSign:
    """Return the law at this budget, made once."""
    return OneSign(epsilon)
