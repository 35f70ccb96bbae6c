"""Gaussian noise for vectors, with the least deviation an (epsilon, delta) guarantee allows."""

import math
from dataclasses import dataclass
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Integers
from shoal.errors import InvalidBudget, InvalidSetting, setting
from shoal.mechanisms.exact import check_vectors
from shoal.mechanisms.exact._inversion import decimal_precision
from shoal.mechanisms.exact._rounded_reals import Interval, rounded_noise
from shoal.mechanisms.exact._whole_numbers import (
    changed_vectors,
    check_rate,
    clipped_to_62_bits,
    exact_sensitivity,
)
from shoal.privacy import ApproxDP, GaussianShare, Number

# Beyond these the digits that most_delta computes with would run into thousands.
_LARGEST_EPSILON = 100
_SMALLEST_DELTA = Fraction(1, 10**100)
_HALVINGS = 36  # the deviation found is within 2**-36 of the least


@dataclass(frozen=True)
class Gaussian:
    r"""Add normal noise :math:`N(0, \sigma^2)`, rounded, to vectors of whole numbers.

    The deviation of a coordinate does not grow with their number, as that of ``KNorm`` does, at
    the price of a delta: with epsilon 1 and delta 1e-8 it is the smaller one from 26 on.

    Guarantee
    ---------
    :math:`(\varepsilon, \delta)`-DP for vectors that one row moves, all together, by at most
    ``sensitivity`` in Euclidean length. :math:`\sigma` is the least that keeps it, found to ten
    digits and rounded up; the noise is a real number, rounded exactly. See ``gaussian.proof.md``.

    Parameters
    ----------
    guarantee
        The promise of one ``release``, usually ``page.budget`` or a share of it; or a
        ``GaussianShare``, its part of a budget that several releases share by their variances.
        Delta from 1e-100 and epsilon up to 100.
    sensitivity
        The longest move, in steps of the vectors' lattice. Round up what is no fraction.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> noise = Gaussian(ApproxDP(1, 1e-6), sensitivity=100)
    >>> noise.release(np.zeros((2, 3), dtype=int), Randomness(7).noise).shape
    (2, 3)
    >>> round(noise.deviation(3), 2)
    422.47

    References
    ----------
    Balle, Wang, Improving the Gaussian mechanism for differential privacy: analytical calibration
    and optimal denoising, ICML 2018.
    """

    guarantee: ApproxDP | GaussianShare
    sensitivity: Number

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, ApproxDP | GaussianShare):
            raise InvalidSetting(
                "Gaussian needs an ApproxDP promise, or a GaussianShare of one.",
                "Give e.g. Gaussian(page.budget, sensitivity=...) on a page of ApproxDP.",
            )
        if self.guarantee.epsilon > _LARGEST_EPSILON or self.guarantee.delta < _SMALLEST_DELTA:
            raise InvalidBudget(
                setting("epsilon") + f" must be at most {_LARGEST_EPSILON}, and delta at least "
                "1e-100.",
                "Choose a larger delta or a smaller epsilon; without a delta use KNorm.",
            )
        object.__setattr__(self, "sensitivity", exact_sensitivity(self.sensitivity))
        check_rate(1 / self.sigma)

    @property
    def sigma(self) -> Fraction:
        """The standard deviation of one coordinate before rounding."""
        least = least_deviation(self.guarantee.epsilon, self.guarantee.delta)
        if isinstance(self.guarantee, GaussianShare):
            least *= inverse_root(self.guarantee.fraction)  # [P5]
        return least * Fraction(self.sensitivity)

    def deviation(self, m: int) -> float:
        """Return the standard deviation of one coordinate, the same for vectors of any length.

        Parameters
        ----------
        m
            The length of the vectors.
        """
        return float(self.sigma)

    def check(self, value: object) -> None:
        """Refuse what is no array of whole numbers, by its type and shape alone.

        Parameters
        ----------
        value
            What is to be released.
        """
        check_vectors(value)

    def release(self, value: ArrayLike, rng: np.random.Generator) -> Integers:
        """Return the vectors (along the last axis) with noise.

        Parameters
        ----------
        value
            Whole numbers; the last axis holds the coordinates of a vector.
        rng
            The noise stream.
        """
        self.check(value)
        vectors = clipped_to_62_bits(value)
        m = vectors.shape[-1]
        noise = rounded_noise(vectors.size // m, m, 0, self._size, rng)
        return vectors + noise.reshape(vectors.shape)  # [P4]

    def log_ratio(self, output: ArrayLike, value: ArrayLike, other: ArrayLike) -> float:
        """Return how much likelier the unrounded noise puts an output on one value, in logarithms.

        Parameters
        ----------
        output
            What ``release`` returned.
        value
            The value that the output is held to be likelier on.
        other
            The value it is compared with, of the same shape.
        """
        squares = sum(
            _square_length(noisy, after) - _square_length(noisy, before)
            for noisy, before, after in changed_vectors(output, value, other)
        )
        return float(squares / (2 * self.sigma**2))

    def worst_ratio(self, value: ArrayLike, other: ArrayLike) -> float:
        """Return the largest ``log_ratio`` over all outputs: without limit, unless nothing moves.

        Parameters
        ----------
        value
            The value that an output is held to be likelier on.
        other
            The value it is compared with, of the same shape.
        """
        return math.inf if self.mean_ratio(value, other) else 0.0

    def mean_ratio(self, value: ArrayLike, other: ArrayLike) -> float:
        """Return the mean of ``log_ratio`` over outputs on ``value``; its variance is twice that.

        Over the unrounded noise it is normal. Rounding is computed from it, and so shows no more.

        Parameters
        ----------
        value
            The value that outputs are drawn on.
        other
            The value it is compared with, of the same shape.
        """
        moved = changed_vectors(value, value, other)
        squares = sum(_square_length(before, after) for _, before, after in moved)
        return float(squares / (2 * self.sigma**2))

    def _size(self, normal: Interval, exponential: Interval) -> Interval:
        """Return the absolute values of the noise: ``rounded_noise`` adds signs and rounds."""
        return (normal * normal).times(2 * self.sigma**2).sqrt()  # [P1] normal: of variance 1/2


def _square_length(vector: list[int], other: list[int]) -> int:
    return sum((a - b) ** 2 for a, b in zip(vector, other, strict=True))


def inverse_root(fraction: Fraction) -> Fraction:
    """Return 1 / sqrt(fraction), never below it and off by less than 2**-64.

    Examples
    --------
    >>> inverse_root(Fraction(1, 4)), inverse_root(Fraction(1, 2)) ** 2 > 2
    (Fraction(2, 1), True)
    """
    squared = -(-(fraction.denominator << 128) // fraction.numerator)  # rounded up
    root = math.isqrt(squared)
    return Fraction(root + (root * root < squared), 1 << 64)


@lru_cache(maxsize=256)
def least_deviation(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the least sigma that keeps (epsilon, delta) for a sensitivity of 1, rounded up."""
    # Bracket the root by doubling and halving, then bisect; only values that pass are returned.
    high = Fraction(1)
    while most_delta(high, epsilon, delta) > delta:
        high *= 2
    low = high / 2
    while most_delta(low, epsilon, delta) <= delta:
        high, low = low, low / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if most_delta(middle, epsilon, delta) <= delta:
            high = middle
        else:
            low = middle
    return high  # [P3] was checked itself


def most_delta(sigma: Fraction, epsilon: Fraction, near: Fraction) -> Fraction:
    """Return the delta that sigma keeps at this epsilon, rounded up a little.

    Parameters
    ----------
    sigma
        The deviation of the noise, for a sensitivity of 1.
    """
    # Enough that twelve digits of delta are left after e^epsilon cancels.
    digits = 24 + math.ceil(float(epsilon) / math.log(10)) + len(str(math.ceil(1 / near)))
    with localcontext(decimal_precision(digits)):
        s, e = (Decimal(x.numerator) / Decimal(x.denominator) for x in (sigma, epsilon))
        half, drift = 1 / (2 * s), e * s
        delta = _normal_cdf(half - drift) - e.exp() * _normal_cdf(-half - drift)  # [P2]
        # An upper bound on the rounding error of the line above, added so that delta is never low.
        doubt = (1 + e.exp()) * (1 + half + drift) ** 2 * Decimal(10) ** (8 - digits)
        return Fraction(delta + doubt)


def _normal_cdf(x: Decimal) -> Decimal:
    """Return P[standard normal < x] = 1/2 + phi(x) (x + x^3/3 + x^5/(3 5) + ...)."""
    term = total = x
    enough = Decimal(10) ** -getcontext().prec
    for n in count(1):
        term *= x * x / (2 * n + 1)
        total += term
        if n > x * x and abs(term) <= enough:  # [P2] what is left out is smaller than the last
            break
    return Decimal(1) / 2 + total * (-x * x / 2).exp() / (2 * _pi()).sqrt()


def _pi() -> Decimal:
    """Return pi to the digits of the context; each round of Gauss and Legendre doubles them."""
    a, b, t, p = Decimal(1), 1 / Decimal(2).sqrt(), Decimal(1) / 4, 1
    while p < 4 * getcontext().prec:
        mean = (a + b) / 2
        b = (a * b).sqrt()
        t -= p * (a - mean) ** 2
        a, p = mean, 2 * p
    return (a + b) ** 2 / (4 * t)
