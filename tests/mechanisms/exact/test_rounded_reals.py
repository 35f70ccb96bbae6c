"""Ends hold what they should, doubt is resolved by reading on, and both ways agree."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from shoal.mechanisms.exact._inversion import decimal_precision
from shoal.mechanisms.exact._rounded_reals import Interval, _Draw, rounded_noise
from shoal.randomness import Randomness


class Scripted(np.random.Generator):
    """Hands out the words it was given first, then those of a seed; counts what was asked."""

    def __init__(self, words: list[int], seed: int = 1) -> None:
        super().__init__(np.random.PCG64(seed))
        self.words = words

    def integers(self, low, high=None, size=None, dtype=np.int64):  # type: ignore[override]
        drawn = super().integers(low, high, size=size, dtype=dtype)
        if dtype == np.uint64 and self.words:
            flat = drawn.reshape(-1)
            given, self.words = self.words[: flat.size], self.words[flat.size :]
            flat[: len(given)] = given
        return drawn


def normal_alone(scale):
    return lambda normal, exponential: normal.times(Fraction(scale))


def exact(word: int) -> Decimal:
    return Decimal(word) / 2**64


@pytest.mark.heavy
@pytest.mark.parametrize("operation", ["minus_ln", "sqrt", "total", "times", "/"])
def test_float_ends_hold_the_true_number(operation):
    """Uniforms everywhere, and close to 0 and 1, where logarithms are hard."""
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, size=3000, dtype=np.uint64)
    words[:1000] >>= rng.integers(1, 60, size=1000, dtype=np.uint64)
    words[1000:2000] = ~words[:1000]
    pairs = Interval.of_digits(words.reshape(-1, 2))
    apply = {
        "minus_ln": lambda i: i.minus_ln(),
        "sqrt": lambda i: i.sqrt(),
        "total": lambda i: i.total(),
        "times": lambda i: i.times(Fraction(1, 3)),
        "/": lambda i: i / i.total(),
    }[operation]
    floats = apply(pairs)
    with localcontext(decimal_precision(60)):
        ends = np.frompyfunc(exact, 1, 1)(words.astype(object)).reshape(-1, 2)
        half = Decimal(1) / 2**65
        true = apply(Interval(ends + half, ends + half))
        below = np.vectorize(Decimal)(floats.low) <= true.high
        above = true.low <= np.vectorize(Decimal)(floats.high)
    assert below.all()
    assert above.all()
    wide = floats.high - floats.low > floats.high * 2.0**-20
    assert wide.mean() < 0.3  # and the ends are close, but for numbers of few digits


def size_of(a: Decimal, b: Decimal) -> Decimal:
    return a * (-(a * a + b * b).ln() / (a * a + b * b)).sqrt()


@pytest.mark.parametrize(("more", "nearest"), [((0, 2**64 - 1), 7), ((2**64 - 1, 0), 8)])
def test_rounding_in_doubt_reads_on_and_gives_what_the_digits_say(more, nearest):
    """A scale that puts the first number within 2**-60 of half-way."""
    words = [2**62 + 12345, 2**61 + 54321]
    with localcontext(decimal_precision(60)):
        middle = [exact(word) + Decimal(2) ** -65 for word in words]
        scale = Fraction(Decimal("7.5") / size_of(*middle))
        ends = [
            exact(word) + exact(next_word) / 2**64
            for word, next_word in zip(words, more, strict=True)
        ]
        assert round(size_of(*ends) * Decimal("7.5") / size_of(*middle)) == nearest
    drawn = rounded_noise(1, 1, 0, normal_alone(scale), Scripted([*words, *more]))
    assert abs(int(drawn[0, 0])) == nearest


def on_the_circle() -> list[int]:
    """First digits of 0.6 and 0.8: the pair lies on the circle as far as 64 digits tell."""
    return [2**64 * 6 // 10, 2**64 * 8 // 10]


@pytest.mark.parametrize(("then", "kept"), [(0, True), (2**64 - 1, False)])
def test_a_pair_that_may_lie_on_either_side_is_read_on(then, kept):
    again = [2**62, 2**62]
    stream = Scripted([*on_the_circle(), then, then, *again, 5, 6])
    drawn = rounded_noise(1, 2, 0, normal_alone(1000), stream)
    assert (np.abs(drawn).max() == 0) == kept  # on the circle both numbers are about 0
    assert bool(stream.words) == kept  # words of a second pair were taken only if the first fell


def test_a_number_of_which_nothing_is_known_yet_is_read_on():
    drawn = rounded_noise(1, 2, 0, normal_alone(1), Scripted([0, 0, 2**60, 2**60]))
    assert np.abs(drawn).min() > 5  # s = 2**-136 or so: sqrt(-ln(s) / 2) is 6.8


@pytest.mark.parametrize("m", [1, 2, 5])
def test_floats_and_decimals_give_the_same_numbers(m):
    """Draws the floats decided are evaluated again with 64 more digits."""
    draw = _Draw(m, 1, lambda x, y: (x * y.total()).times(Fraction(10**6)), Randomness(2).noise)
    pairs = draw._random_words((20 * draw._paired // 2, 2))
    draw._redraw_outside(pairs)
    words = np.hstack([pairs.reshape(20, -1), draw._random_words((20, 1))])
    sizes, decided = draw._evaluate(words)
    assert decided.sum() > 18
    again = [draw._resolve(words[i : i + 1].astype(object)) for i in np.flatnonzero(decided)]
    assert again == sizes[decided].astype(int).tolist()


def test_signs_are_fair_and_vectors_differ():
    drawn = rounded_noise(4000, 3, 0, normal_alone(10**6), Randomness(3).noise)
    assert abs((drawn > 0).sum() - 6000) < 5 * np.sqrt(3000)
    assert len(np.unique(drawn)) > 11_900
