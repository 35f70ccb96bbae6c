"""Exact draws of geometric and discrete Laplace numbers, through tables of thresholds.

A geometric variate G, P[G = j] = (1 - a) a^j, is memoryless, and that is used twice:

- its low bits and the rest are independent: G = 2^s Q + R, with Q geometric of ratio a^(2^s) and
  R, on 0 .. 2^s - 1, of weights a^R; so a small step needs no long table;
- beyond the end T of a table it starts anew: G = T + G'.

A discrete Laplace variate is G, or -1 - G with probability a / (1 + a), independent of G.
See ``discrete_laplace.proof.md``.
"""

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise, repeat
from typing import Any, Generic, TypeVar

import numpy as np

from shoal.arrays import Integers
from shoal.mechanisms.exact._inversion import ExactTable, exp_minus
from shoal.mechanisms.exact._whole_numbers import FARTHEST

LazyValue = TypeVar("LazyValue")
_MOST_BITS = 62  # draws are cut there: sums with 62-bit counts then fit 64
_TABLE_BITS = 12  # low bits drawn by one table of 4,096 entries
_LONG_STEP = -7  # log2 of the step from which on one table holds the law
_TAIL = 12.0  # a table ends where a^T < e^-12
_BLOCK = 2**14  # draws made at a time, so that they stay in the cache


class _LazyTable(Generic[LazyValue]):
    """A property computed at first use and stored, without a lock.

    `functools.cached_property` holds one while it computes; a process forked meanwhile by another
    thread would wait for it for ever. Computing a table twice does no harm.
    """

    def __init__(self, make: Callable[[Any], LazyValue]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, law: object, owner: type | None = None) -> LazyValue:
        made = vars(law)[self._name] = self._make(law)
        return made


class GeometricLaw:
    """The geometric law of ratio a, and the discrete Laplace law made from it.

    Parameters
    ----------
    log_step
        log2(-ln a), roughly; it decides the sizes of the tables, not the law.
    """

    def __init__(self, ratio: Callable[[], Decimal], log_step: float) -> None:
        self._ratio = ratio
        self._shifts = _low_bits(log_step)
        self._bits = sum(self._shifts)
        # A small step needs more digits: its powers differ late.
        self._digits = 40 + max(0, math.ceil(-log_step))
        past_62_bits = self._bits == _MOST_BITS
        self._end = 1 if past_62_bits else math.ceil(_TAIL / 2 ** (log_step + self._bits))

    def one_sided(self, n: int, rng: np.random.Generator) -> Integers:
        """Return ``n`` geometric draws; those above 2**62 become 2**62."""
        return _in_blocks(n, lambda size: self._one_sided(size, rng))

    def two_sided(self, n: int, rng: np.random.Generator) -> Integers:
        """Return ``n`` draws of the discrete Laplace law, P[k] = (1 - a)/(1 + a) a^|k|."""
        return _in_blocks(n, lambda size: self._two_sided(size, rng))

    def _one_sided(self, n: int, rng: np.random.Generator) -> Integers:
        top = self._draw_top(self._one_sided_top, self._end, n, rng)
        return self._with_low_bits(top, rng)

    def _two_sided(self, n: int, rng: np.random.Generator) -> Integers:
        pairs = self._draw_top(self._two_sided_top, 2 * self._end, n, rng)
        magnitudes = self._with_low_bits(pairs >> 1, rng)
        return magnitudes ^ -(pairs & 1)  # [P3] g ^ -1 is -1 - g

    def _draw_top(self, table: ExactTable, end: int, n: int, rng: np.random.Generator) -> Integers:
        """Draw the high bits; beyond the end of the table the law starts anew."""
        drawn = table.sample(n, rng)
        if self._bits == _MOST_BITS:  # past the table is past 2**62
            return drawn
        beyond = np.flatnonzero(drawn == end)
        while beyond.size:  # [P2] past the table the law starts anew
            more = table.sample(beyond.size, rng)
            drawn[beyond] += more
            beyond = beyond[more == end]
        return drawn

    def _with_low_bits(self, top: Integers, rng: np.random.Generator) -> Integers:
        """Append random low bits to the high bits, where the result fits 62 bits."""
        if not self._shifts:
            return top
        # Shifted further, the others would wrap around: they are cut at 2**62.
        near = np.flatnonzero(top < FARTHEST >> self._bits)  # [P4]
        drawn = np.full(top.size, FARTHEST)
        low = self._draw_low_bits(near.size, rng)
        drawn[near] = (top[near] << self._bits) | low  # [P1]
        return drawn

    def _draw_low_bits(self, n: int, rng: np.random.Generator) -> Integers:
        drawn, place = np.zeros(n, dtype=np.int64), 0
        for shift, table in zip(self._shifts, self._low_tables if n else (), strict=bool(n)):
            drawn |= table.sample(n, rng) << place
            place += shift
        return drawn

    @_LazyTable
    def _one_sided_top(self) -> ExactTable:
        return ExactTable(
            lambda: [1 - p for p in self._powers(self._bits, self._end)], self._digits
        )

    @_LazyTable
    def _two_sided_top(self) -> ExactTable:
        """A table of outcomes in pairs: 2 g for G = g with sign +, 2 g + 1 for sign -."""

        def thresholds() -> list[Decimal]:
            powers = [Decimal(1), *self._powers(self._bits, self._end)]
            past_plus = 1 - (1 - powers[1]) / (1 + self._ratio())
            return [1 - p for this, after in pairwise(powers) for p in (this * past_plus, after)]

        return ExactTable(thresholds, self._digits)

    @_LazyTable
    def _low_tables(self) -> list[ExactTable]:
        places = [0, *accumulate(self._shifts)]
        return [self._low_table(*at) for at in zip(places[:-1], self._shifts, strict=True)]

    def _low_table(self, place: int, shift: int) -> ExactTable:
        def thresholds() -> list[Decimal]:
            *inner, last = self._powers(place, 2**shift)
            return [(1 - p) / (1 - last) for p in inner]

        return ExactTable(thresholds, self._digits)

    def _powers(self, place: int, count: int) -> Iterator[Decimal]:
        """Yield the first ``count`` powers of a^(2^place), beginning with the first."""
        ratio = self._ratio()
        for _ in range(place):
            ratio *= ratio
        return accumulate(repeat(ratio, count), lambda power, each: power * each)


def _in_blocks(n: int, draw: Callable[[int], Integers]) -> Integers:
    """Return ``n`` draws, made a block at a time so that a block stays in the cache."""
    drawn = np.empty(n, dtype=np.int64)
    for start in range(0, n, _BLOCK):
        part = drawn[start : start + _BLOCK]
        part[:] = draw(part.size)
    return drawn


def _low_bits(log_step: float) -> list[int]:
    """Return how many bits to split off, table by table, until the rest fits one table."""
    shifts: list[int] = []
    while log_step < _LONG_STEP and sum(shifts) < _MOST_BITS:
        # As many bits as one table holds, so that few tables are drawn from.
        shifts.append(min(math.ceil(-log_step), _TABLE_BITS, _MOST_BITS - sum(shifts)))
        log_step += shifts[-1]
    return shifts


@lru_cache(maxsize=64)
def geometric_law(step: Fraction) -> GeometricLaw:
    """Return the law of ratio e^-step.

    Parameters
    ----------
    step
        Minus the logarithm of the ratio.
    """
    return GeometricLaw(lambda: exp_minus(step), math.log2(step))


@lru_cache(maxsize=64)
def skip_law(step: Fraction, at_least: int) -> GeometricLaw:
    """Return the law of how many empty cells precede one whose noise reaches ``at_least``.

    Each does so with probability p = a^at_least / (1 + a), a = e^-step, so the law is geometric
    of ratio 1 - p.
    """
    log_probability = -float(step * at_least) / math.log(2) - math.log2(1 + math.exp(-step))
    return GeometricLaw(lambda: 1 - _exact_reach_probability(step, at_least), log_probability)


def reach_probability(step: Fraction, at_least: int) -> float:
    """Return roughly P[discrete Laplace >= at_least], for at_least from 0 up."""
    return math.exp(-float(step * at_least)) / (1 + math.exp(-float(step)))


def _exact_reach_probability(step: Fraction, at_least: int) -> Decimal:
    return exp_minus(step * at_least) / (1 + exp_minus(step))
