"""Exact draws from a discrete law, by inverting a table of thresholds with integers only.

A uniform real number u in [0, 1) is read off the noise stream as bits, most significant first, and
only as far as needed: the outcome is how many thresholds lie at or below u.

    first 16 bits ── guide[16 bits] says the outcome, unless a threshold falls among them
      then 48 more ── compared with the thresholds' own first 64 bits
        then 64 more each time ── while u still agrees with a threshold bit for bit

Nothing is rounded: a threshold is a real number whose bits are computed, certified, on demand. See
``inversion.proof.md``.

Decimal arithmetic runs in contexts made here, whatever context the caller has set.
"""

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Integers

Thresholds = Callable[[], Sequence[Decimal]]
_GUARD_DIGITS = 12  # decimal digits that the computation of a threshold may lose


class ExactTable:
    """A table that draws outcome k with probability exactly t[k+1] - t[k], t irrational.

    Parameters
    ----------
    thresholds
        The rising list t[1], t[2], ... in (0, 1), computed in the current decimal context: with
        2 D + 64 significant digits each must be within 10**(12 - D) of its true value, for every
        D from ``digits`` up. Outcomes are 0 .. len(list).
    digits
        The D to begin with; doubled whenever a bit is in doubt.
    """

    def __init__(self, thresholds: Thresholds, digits: int = 40) -> None:
        self._thresholds = thresholds
        self._digits = digits
        self._floors = np.array(self._certified(64), dtype=np.uint64)
        self._guide = self._make_guide()

    def sample(self, n: int, rng: np.random.Generator) -> Integers:
        """Return ``n`` independent outcomes."""
        prefixes = _random_words(-(-n // 4), rng).view(np.uint16)[:n]
        outcomes = self._guide.take(prefixes, mode="clip")  # [P1]
        undecided = np.flatnonzero(outcomes < 0)
        outcomes[undecided] = self._resolve(prefixes[undecided], rng)
        return outcomes

    def _resolve(self, prefixes: NDArray[np.uint16], rng: np.random.Generator) -> Integers:
        """Return the outcomes of draws whose first 16 bits do not decide them."""
        uniforms = (prefixes.astype(np.uint64) << 48) | (_random_words(prefixes.size, rng) >> 16)
        places = np.searchsorted(self._floors, uniforms, side="right")  # [P2]
        # Only where all 64 bits agree with a threshold can later bits decide otherwise.
        ties = np.flatnonzero((places > 0) & (self._floors[np.maximum(places, 1) - 1] == uniforms))
        for i in ties:
            places[i] = self._refine(int(uniforms[i]), rng)
        return places

    def _refine(self, word: int, rng: np.random.Generator) -> int:
        """Read more bits of one draw until they differ from those of every threshold."""
        bits = 64
        while True:
            bits += 64
            word = (word << 64) | int(_random_words(1, rng)[0])
            floors = self._certified(bits)
            if word not in floors:  # [P3]
                return sum(floor < word for floor in floors)

    def _certified(self, bits: int) -> list[int]:
        """Return the first ``bits`` bits of each threshold, as whole numbers."""
        digits = max(self._digits, bits // 3 + 2 * _GUARD_DIGITS)
        while True:
            with localcontext(decimal_precision(2 * digits + bits)):
                scaled = [value * 2**bits for value in self._thresholds()]
                floors = [int(value) for value in scaled]
                doubt = Decimal(10) ** (_GUARD_DIGITS - digits) * 2**bits
                pairs = zip(scaled, floors, strict=True)
                if all(doubt < value - floor < 1 - doubt for value, floor in pairs):  # [P4]
                    return floors
            # Some threshold lies too close to a whole number for these digits: compute with more.
            digits *= 2

    def _make_guide(self) -> Integers:
        """Return the outcome for each value of the first 16 bits; -1 where undecided."""
        edges = np.arange(2**16, dtype=np.uint64) << 48
        guide = np.searchsorted(self._floors, edges, side="right")
        guide[np.unique(self._floors >> 48)] = -1
        return guide


def _random_words(n: int, rng: np.random.Generator) -> NDArray[np.uint64]:
    return rng.integers(0, 2**64, size=n, dtype=np.uint64)


def decimal_precision(digits: int) -> Context:
    """Return a decimal context of this precision, with exponents wide enough for any budget."""
    return Context(prec=digits, Emin=-(10**9), Emax=10**9)


def exp_minus(exponent: Fraction) -> Decimal:
    """Return e^-exponent in the current decimal context."""
    return (-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
