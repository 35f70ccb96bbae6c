"""Exact inversion, driven by streams made to hit every branch."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from shoal.mechanisms.exact._inversion import ExactTable


class Script(np.random.Generator):
    """A generator whose next 64-bit words are given."""

    def __init__(self, words):
        super().__init__(np.random.PCG64(0))
        self.script = list(words)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        taken, self.script = self.script[:size], self.script[size:]
        assert len(taken) == size, "the script ran out of words"
        return np.array(taken, dtype=np.uint64)


def thirds() -> list[Decimal]:
    """Thresholds 1/3 and 2/3: not whole multiples of 2**-64 either, which is all that is needed."""
    return [Decimal(1) / 3, Decimal(2) / 3]


def digits_of(value: Fraction, words: int) -> list[int]:
    """The first 64-bit words of a fraction."""
    whole = int(value * 2 ** (64 * words))
    return [(whole >> (64 * (words - 1 - i))) % 2**64 for i in range(words)]


def stream_of(value: Fraction, words: int = 6) -> Script:
    """The words that ``sample(1)`` reads for u = value: 16 bits, then 48, then 64 at a time."""
    first, *rest = digits_of(value, words)
    return Script([first >> 48, (first << 16) % 2**64, *rest])


@pytest.mark.parametrize(
    ("u", "outcome"),
    [
        (Fraction(0), 0),
        (Fraction(1, 5), 0),
        (Fraction(1, 2), 1),
        (Fraction(9, 10), 2),
        (Fraction(1, 3) - Fraction(1, 2**40), 0),
        (Fraction(1, 3) + Fraction(1, 2**40), 1),
        (Fraction(1, 3) - Fraction(1, 2**100), 0),
        (Fraction(1, 3) + Fraction(1, 2**100), 1),
        (Fraction(2, 3) - Fraction(1, 2**200), 1),
        (Fraction(2, 3) + Fraction(1, 2**200), 2),
    ],
)
def test_the_outcome_is_the_number_of_thresholds_below(u, outcome):
    assert ExactTable(thirds).sample(1, stream_of(u)).tolist() == [outcome]


def test_only_as_many_bits_are_read_as_needed():
    clear = Script([0x1234])
    assert ExactTable(thirds).sample(1, clear).tolist() == [0]
    assert clear.script == []


def test_thresholds_closer_than_one_word_are_told_apart():
    gap = Decimal(2) ** -90
    table = ExactTable(lambda: [Decimal(1) / 3, Decimal(1) / 3 + gap])
    between = Fraction(1, 3) + Fraction(1, 2**91)
    assert table.sample(1, stream_of(between)).tolist() == [1]
    assert table.sample(1, stream_of(between + Fraction(1, 2**89))).tolist() == [2]


def test_digits_in_doubt_are_computed_anew():
    """A threshold 10**-45 above a multiple of 2**-64 is in doubt at 40 digits, not at 80."""
    calls = []

    def thresholds():
        calls.append(1)
        return [Decimal(2) ** -1 + Decimal(10) ** -45]

    table = ExactTable(thresholds, digits=40)
    assert len(calls) == 2
    assert table.sample(1, stream_of(Fraction(1, 2))).tolist() == [0]
    assert table.sample(1, stream_of(Fraction(1, 2) + Fraction(1, 10**44))).tolist() == [1]


def test_frequencies_match_the_thresholds():
    """Chi-square, 2 degrees of freedom; false alarm at 1e-6 beyond 27.6."""
    drawn = np.bincount(ExactTable(thirds).sample(90_000, np.random.default_rng(1)), minlength=3)
    assert np.sum((drawn - 30_000) ** 2 / 30_000) < 27.6


def test_zero_draws_are_an_empty_array():
    assert ExactTable(thirds).sample(0, np.random.default_rng(1)).tolist() == []
