"""Real random numbers rounded exactly: binary digits are drawn until the rounding is certain.

Of a uniform number the first 64 binary digits are drawn. So it lies between two ends, and so does
whatever is computed from it:

    ends in floats ── where both round to the same whole number, that is the answer
      else 64 more digits, ends in decimals ── and so on, until they do

See ``rounded_reals.proof.md``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Integers
from shoal.mechanisms.exact._inversion import decimal_precision
from shoal.mechanisms.exact._whole_numbers import FARTHEST

Ends = NDArray[Any]  # float64, or Decimals
Digits = NDArray[Any]  # uint64, or whole numbers of any length
_FLOAT_SLACK = 2.0**-46  # over thirty times what one operation on floats may be off by
_BLOCK = 2**14  # numbers worked on at a time, so that they stay in the cache
_WORD_BITS = 64


@dataclass(frozen=True)
class Interval:
    """Lower and upper ends of numbers from 0 up; each operation widens them by its rounding
    error.
    """

    low: Ends
    high: Ends

    @classmethod
    def of_digits(cls, digits: Digits, bits: int = _WORD_BITS) -> "Interval":
        """Return the interval of numbers in [0, 1] that begin with these binary digits."""
        low = digits.astype(np.float64) if digits.dtype == np.uint64 else digits
        return cls(low, low + 1).times(Fraction(1, 2**bits))

    def __mul__(self, other: "Interval") -> "Interval":
        return _widened(self.low * other.low, self.high * other.high)

    def __truediv__(self, other: "Interval") -> "Interval":
        return _widened(self.low / other.high, self.high / other.low)

    def __getitem__(self, place: Any) -> "Interval":
        return Interval(self.low[place], self.high[place])

    @classmethod
    def joined(cls, parts: Sequence["Interval"]) -> "Interval":
        """Return the intervals of all parts, side by side along the last axis."""
        low, high = ([getattr(part, end) for part in parts] for end in ("low", "high"))
        return cls(np.concatenate(low, axis=-1), np.concatenate(high, axis=-1))

    def reshape(self, *shape: int) -> "Interval":
        """Return the same intervals in another shape."""
        return Interval(self.low.reshape(shape), self.high.reshape(shape))

    def times(self, factor: Fraction) -> "Interval":
        """Multiply by a positive fraction."""
        number = _constant(factor, self.low)
        return _widened(self.low * number, self.high * number, steps=2)

    def sqrt(self) -> "Interval":
        """Return the square roots."""
        return _widened(np.sqrt(self.low), np.sqrt(self.high))

    def minus_ln(self) -> "Interval":
        """Return -ln of numbers known to be at most 1."""
        at_most_one = np.minimum(self.high, _constant(Fraction(1), self.high))
        return _widened(_minus_ln(at_most_one), _minus_ln(self.low))

    def total(self) -> "Interval":
        """Return the sums over the last axis, which stays with length 1."""
        low, high = (end.sum(axis=-1, keepdims=True) for end in (self.low, self.high))
        return _widened(low, high, steps=self.low.shape[-1])

    def rounded(self) -> tuple[Ends, NDArray[np.bool_]]:
        """Return the nearest whole numbers, and where both ends round to the same one."""
        half = _constant(Fraction(1, 2), self.low)
        ends = _widened(self.low + half, self.high + half)
        low, high = _floor(ends.low), _floor(ends.high)
        return low, np.asarray(low == high, dtype=np.bool_)


Formula = Callable[[Interval, Interval], Interval]


def rounded_noise(
    n: int,
    m: int,
    exponentials: int,
    formula: Formula,
    rng: np.random.Generator,
    *,
    normals: int | None = None,
) -> Integers:
    """Draw ``n`` vectors of ``m`` whole numbers: real noise of random signs, rounded.

    Parameters
    ----------
    formula
        ``formula(normal, exponential)`` gives the sizes of the noise, shape (..., m), of ``|x|``,
        x normal of variance 1/2, shape (..., normals), and of exponentials, shape (...,
        exponentials).
    normals
        How many normal numbers each vector needs; None for ``m``.
    """
    normals = m if normals is None else normals
    drawn, draw = np.empty((n, m), dtype=np.int64), _Draw(normals, exponentials, formula, rng)
    # A block holds all words of its vectors, so its size falls with their length.
    size = max(1, _BLOCK // (normals + exponentials))
    for start in range(0, n, size):
        block = drawn[start : start + size]
        block[:] = draw.sizes(len(block))
        block *= 1 - 2 * rng.integers(0, 2, size=block.shape)  # [P2] signs
    return drawn


@dataclass(frozen=True)
class _Draw:
    """Draws the absolute values of noise by a formula."""

    normals: int
    exponentials: int
    formula: Formula
    rng: np.random.Generator

    @property
    def _paired(self) -> int:
        """The number of normal numbers drawn: they come in pairs."""
        return self.normals + self.normals % 2

    def sizes(self, n: int) -> Integers:
        """Return the absolute values of ``n`` vectors."""
        pairs = self._random_words((n * self._paired // 2, 2))
        self._redraw_outside(pairs)
        digits = np.hstack(
            [pairs.reshape(n, self._paired), self._random_words((n, self.exponentials))]
        )
        with np.errstate(divide="ignore", invalid="ignore"):  # ends at 0 or 1: not decided
            sizes, decided = self._evaluate(digits)
        # NaN and infinities cannot be converted; these are resolved one by one below.
        sizes[~decided] = 0
        whole = sizes.astype(np.int64)
        for i in np.flatnonzero(~decided):
            whole[i] = self._resolve(digits[i : i + 1].astype(object))
        return whole

    def _evaluate(self, digits: Digits, bits: int = _WORD_BITS) -> tuple[Ends, NDArray[np.bool_]]:
        """Compute the sizes of vectors and which are certain; a row holds one vector's digits."""
        numbers = Interval.of_digits(digits, bits)
        pairs = numbers[:, : self._paired].reshape(len(digits), self._paired // 2, 2)
        square = (pairs * pairs).total()
        normal = pairs * (square.minus_ln() / square).sqrt()  # [P3] Marsaglia's polar method
        normal = normal.reshape(len(digits), self._paired)[:, : self.normals]
        sizes, agreed = self.formula(normal, numbers[:, self._paired :].minus_ln()).rounded()
        inside = np.asarray(square.high < 1, dtype=np.bool_)  # [P5]
        inside = inside.reshape(len(digits), self._paired // 2)
        return sizes, np.logical_and.reduce(np.hstack([agreed, inside]), axis=1)  # [P4]

    def _resolve(self, digits: Digits) -> list[int]:
        """Draw more digits until the sizes of one vector are certain."""
        bits = _WORD_BITS
        while True:
            bits += _WORD_BITS
            digits = (digits << _WORD_BITS) | self._random_words(digits.shape).astype(object)
            with localcontext(_context_without_traps(bits)):
                pairs = digits[:, : self._paired].reshape(-1, 2)
                self._redraw_outside(pairs, bits)
                digits[:, : self._paired] = pairs.reshape(1, -1)
                sizes, decided = self._evaluate(digits, bits)
                if decided.all():
                    return [min(int(size), FARTHEST) for size in sizes[0]]

    def _redraw_outside(self, pairs: Digits, bits: int = _WORD_BITS) -> None:
        """Replace, in place, the pairs that certainly lie outside the unit disc."""
        outside = np.arange(len(pairs))
        while outside.size:
            numbers = Interval.of_digits(pairs[outside], bits)
            surely = (numbers * numbers).total().low[:, 0] >= 1  # [P5]
            outside = outside[surely.astype(np.bool_)]
            pairs[outside] = self._random_words((outside.size, 2))
            for _ in range(_WORD_BITS, bits, _WORD_BITS):
                more = self._random_words((outside.size, 2)).astype(object)
                pairs[outside] = (pairs[outside] << _WORD_BITS) | more

    def _random_words(self, shape: tuple[int, ...]) -> Digits:
        return self.rng.integers(0, 2**64, size=shape, dtype=np.uint64)


def _widened(low: Ends, high: Ends, steps: int = 1) -> Interval:
    """Widen an interval by the rounding error of so many operations."""
    slack: Any = _FLOAT_SLACK + steps * 2.0**-52  # [P1]
    if low.dtype == object:
        slack = (3 + steps) * Decimal(10) ** (2 - getcontext().prec)  # [P1]
    return Interval(low * (1 - slack), high * (1 + slack))


def _constant(value: Fraction, like: Ends) -> Any:
    """Return a fraction as a number of the same type as the ends."""
    if like.dtype == object:
        return Decimal(value.numerator) / Decimal(value.denominator)
    return float(value)


def _minus_ln(ends: Ends) -> Ends:
    return -(_decimal_ln(ends) if ends.dtype == object else np.log(ends))


def _floor(ends: Ends) -> Ends:
    return _decimal_floor(ends) if ends.dtype == object else np.floor(ends)


_decimal_ln = np.frompyfunc(lambda value: value.ln(), 1, 1)
_decimal_floor = np.frompyfunc(lambda value: value.to_integral_value("ROUND_FLOOR"), 1, 1)


def _context_without_traps(bits: int) -> Context:
    """Return a context with digits for so many bits, in which undefined results are NaN."""
    context = decimal_precision(bits // 3 + 16)
    context.clear_traps()
    return context
