"""The Hybrid mechanism: a coin between Piecewise and Duchi, with the least worst-case noise."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.mechanisms.exact._coins import Coin
from shoal.mechanisms.local.bounded._base import Steps
from shoal.mechanisms.local.bounded._column_sampling import ColumnLaw, Sampled
from shoal.mechanisms.local.bounded._harmony import OneSign, one_sign
from shoal.mechanisms.local.bounded._piecewise import piecewise_law
from shoal.privacy import Number

# Where (z + 3)(z + 1)^2 = 3 (z^2 + 1)^2, z = e^(epsilon/2): below it Piecewise does not help.
# The root below which Duchi's mechanism alone has less worst-case variance (Wang et al. 2019).
_PIECEWISE_FROM = Fraction("0.6094")


@dataclass(frozen=True)
class Hybrid(Sampled):
    r"""Report numbers of a box, unbiased: the default for means.

    Each reported column goes through ``Piecewise`` with probability
    :math:`1 - e^{-\varepsilon/2}`, else through Duchi's mechanism for one number; at a column's
    budget up to 0.6094 always through the latter. The noise is then the same for every value, and
    its worst case is the least of the three. Several columns are sampled as in ``Piecewise``.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole row. Drawn exactly. See ``hybrid.proof.md``.

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
    >>> hybrid = Hybrid(1.0, domain=Box(age=(0, 110), visits=(0, 20)))
    >>> reports = hybrid.release([[30, 4]] * 20_000, Randomness(7).noise)
    >>> estimate = hybrid.mean(reports)
    >>> bool(np.all(abs(estimate.value - [30, 4]) < 4 * estimate.standard_error))
    True

    References
    ----------
    Wang et al., Collecting and analyzing multidimensional data with local differential privacy,
    ICDE 2019.
    """

    epsilon: Number
    domain: Box | None = None
    clip: bool = False

    def _law(self, epsilon: Fraction) -> ColumnLaw:
        return _hybrid_law(epsilon) if epsilon > _PIECEWISE_FROM else one_sign(epsilon)  # [P2]


class HybridLaw:
    """The Hybrid mechanism for one number in [-1, 1]."""

    def __init__(self, epsilon: Fraction) -> None:
        self._piecewise = piecewise_law(epsilon)
        self._sign: OneSign = one_sign(epsilon)
        self._chance = -math.expm1(-epsilon / 2)
        self._coin = Coin(epsilon / 2, lambda z: 1 - 1 / z)

    def draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        """Draw reports on the scale of [-1, 1]."""
        smooth = self._coin.flip(steps.size, rng).reshape(steps.shape)  # [P1]
        return np.where(smooth, self._piecewise.draw(steps, rng), self._sign.draw(steps, rng))

    def variance(self, x: Floats) -> Floats:
        """Return the weighted mean of both variances: both laws are unbiased."""
        smooth, sign = self._piecewise.variance(x), self._sign.variance(x)
        return self._chance * smooth + (1 - self._chance) * sign


@lru_cache(maxsize=64)
def _hybrid_law(epsilon: Fraction) -> HybridLaw:
    return HybridLaw(epsilon)
