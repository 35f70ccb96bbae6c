"""The distribution of a sum of noises: how far noise alone reaches with a small probability."""

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Self

_ALL_BUT_NORMAL = 1e6  # as many Laplace noises add up to a normal one, to six digits
_HALVINGS = 60  # of the bisection: to the last bit of a float
_LEAST_LOG = -25.0  # log probability below which Chernoff's bound is used instead
_NEAR_ZERO = 1e-6  # below it the saddle-point formula divides 0 by 0
_NORMAL = NormalDist()


@dataclass(frozen=True)
class NoiseSum:
    r"""The distribution of a sum of independent symmetric noises.

    Each part has the characteristic function :math:`(1 + s^2 \theta^2)^{-p}`: one Laplace noise of
    scale s for p = 1, n of them for p = n, one coordinate of ``KNorm`` noise on vectors of m
    for p = (m + 1) / 2. Geometric noise is taken for Laplace noise of the same step, whose
    moment-generating function is never smaller.

    Parameters
    ----------
    parts
        Pairs (scale, shape) of the noises: s and p of each.

    Examples
    --------
    >>> one = NoiseSum.geometric(step=0.03)
    >>> round(one.reach(1 / 1000)), round(one.plus(one).reach(1 / 1000))
    (208, 261)
    """

    parts: tuple[tuple[float, float], ...]

    @classmethod
    def geometric(cls, step: float, times: float = 1.0) -> Self:
        """Return the law of the sum of several geometric noises."""
        return cls(((1 / step, times),))

    @classmethod
    def of_variance(cls, variance: float, times: float = 1.0) -> Self:
        """Return the law of the sum of several geometric noises of a given variance.

        Parameters
        ----------
        variance
            Of each noise; 0 for no noise.
        """
        if not variance:
            return cls(())
        return cls.geometric(2 * math.asinh(1 / math.sqrt(2 * variance)), times)

    @classmethod
    def normal(cls, deviation: float) -> Self:
        """Return the law of a normal noise."""
        return cls(((deviation / math.sqrt(2 * _ALL_BUT_NORMAL), _ALL_BUT_NORMAL),))

    @classmethod
    def k_norm(cls, scale: float, m: int) -> Self:
        """Return the law of one coordinate of ``KNorm`` noise."""
        return cls(((scale, (m + 1) / 2),))

    @property
    def variance(self) -> float:
        """The variance of the sum."""
        return sum(2 * shape * scale**2 for scale, shape in self.parts)

    def times(self, factor: float) -> "NoiseSum":
        """Return the law of the sum multiplied by a number."""
        return NoiseSum(tuple((abs(factor) * scale, shape) for scale, shape in self.parts))

    def plus(self, other: "NoiseSum") -> "NoiseSum":
        """Return the law of the sum of this and another, independent noise."""
        return NoiseSum(self.parts + other.parts)

    def reach(self, chance: float) -> float:
        """Return the value that the noise exceeds with this probability (one-sided).

        By the saddle-point approximation of Lugannani and Rice, Adv. Appl. Probab. 1980.
        """
        return _reach(self, math.log(chance))

    def far_reach(self, log_chance: float) -> float:
        """Return the same for a probability that may be too small for a float.

        Parameters
        ----------
        log_chance
            The logarithm of the probability. Below about 1e-11 Chernoff's bound is used.
        """
        return _reach(self, log_chance)

    def _log_tail(self, t: float, log_chance: float) -> float:
        """Return the log probability of exceeding the value of the saddle point ``t``."""
        both = [(s, p, (s * t) ** 2) for s, p in self.parts if p]
        if any(square >= 1 for _, _, square in both):
            return -math.inf
        cumulant = -sum(p * math.log1p(-square) for _, p, square in both)
        exponent = max(t * self._slope(t) - cumulant, 0.0)
        if log_chance < _LEAST_LOG:
            return -exponent
        curve = sum(2 * p * s**2 * (1 + square) / (1 - square) ** 2 for s, p, square in both)
        w, u = math.sqrt(2 * exponent), t * math.sqrt(curve)
        if w < _NEAR_ZERO:
            return math.log(0.5)
        return math.log(max(_NORMAL.cdf(-w) + _NORMAL.pdf(w) * (1 / u - 1 / w), 1e-300))

    def _slope(self, t: float) -> float:
        """Return the derivative of the cumulant-generating function: the value of ``t``."""
        return sum(2 * p * s**2 * t / (1 - (s * t) ** 2) for s, p in self.parts if p)


@lru_cache(maxsize=4096)
def _reach(noise: NoiseSum, log_chance: float) -> float:
    widest = max((scale for scale, shape in noise.parts if shape), default=0.0)
    if widest == 0:
        return 0.0
    low, high = 0.0, 1 / widest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_below = noise._log_tail(middle, log_chance) > log_chance
        low, high = (middle, high) if is_below else (low, middle)
    return noise._slope(low)
