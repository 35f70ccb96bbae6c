"""Local hashing: report a randomised short hash of a category, for long lists."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.domain import Categories
from shoal.errors import TooLarge
from shoal.mechanisms.local.categories._base import Coded
from shoal.mechanisms.local.categories._randomized_response import RandomizedResponse
from shoal.privacy import Number

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 97, 127)
_MOST_CODES = 2**24  # different reports: the server counts each
_BLOCK = 2**18  # people whose digits are looked at together


@dataclass(frozen=True)
class LocalHash(Coded):
    r"""Report a random hash function and the randomised bucket of the true category.

    Categories are lines of t digits modulo a prime g; a hash function is another such line a, and
    sends v to :math:`a \cdot v \bmod g`. That bucket goes through randomised response over g. The
    variance is that of ``UnaryEncoding``, within 3 % up to epsilon 4, but a report is one number
    however long the list is, and the server adds up all of them by Fourier transforms of
    :math:`g^{t+1}` numbers.

    Guarantee
    ---------
    ``LocalDP(epsilon)``. Drawn exactly. See ``local_hash.proof.md``.

    Parameters
    ----------
    epsilon
        The promise of one report; at most 20.
    categories
        The public list, two values or more: ``Categories``, or anything it takes. A number k:
        values are codes 0 .. k-1 already.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> hashing = LocalHash(1.0, 2_000)
    >>> hashing.buckets, hashing.digits
    (3, 7)
    >>> found = hashing.frequencies(hashing.release([42] * 4_000, Randomness(7).noise))
    >>> int(found.value.argmax()), bool(abs(found.value[42] - 1) < 4 * found.standard_error[42])
    (42, True)

    References
    ----------
    Wang et al., Locally differentially private protocols for frequency estimation, USENIX
    Security 2017; Feldman, Nelson, Nguyen, Talwar, Private frequency estimation via projective
    geometry, ICML 2022 (linear functions modulo a prime).
    """

    epsilon: Number
    categories: Categories | int

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.buckets  # a list that is too long is refused now

    @property
    def buckets(self) -> int:
        """The prime g with the least error among those whose reports the server can count."""
        return _best_prime(math.exp(self.exact_epsilon), self.size)

    @property
    def digits(self) -> int:
        """How many digits modulo g identify a category."""
        return _digits(self.buckets, self.size)

    @property
    def _chances(self) -> tuple[float, float]:
        ratio = math.exp(self.exact_epsilon)
        return ratio / (ratio + self.buckets - 1), 1 / self.buckets

    def chances(self, shares: Floats) -> Floats:
        """Return the probability of every report for people spread over the categories so.

        Parameters
        ----------
        shares
            One number a category; the probabilities sum to their sum.
        """
        g, t = self.buckets, self.digits
        waves = np.zeros(g**t)
        waves[: self.size] = shares
        waves = np.fft.fftn(waves.reshape((g,) * t)).ravel()
        hits = np.fft.ifft(waves[_multiples(g, t)], axis=0).real.T  # of each function and bucket
        ratio = math.exp(self.exact_epsilon)
        chances: Floats = (shares.sum() + (ratio - 1) * hits) / (ratio + g - 1) / g**t
        return chances.ravel()

    def _draw(self, codes: Integers, rng: np.random.Generator) -> Integers:
        g = self.buckets
        functions = rng.integers(0, g**self.digits, size=codes.size)  # [P1]
        response = RandomizedResponse(self.exact_epsilon, g)
        places = response.release(self._hashed(functions, codes), rng).values  # [P2]
        return np.asarray(functions * g + places, dtype=np.int64)

    def _hashed(self, functions: Integers, codes: Integers) -> Integers:
        """Return the bucket that each hash function sends its code to."""
        g, places = self.buckets, np.zeros(codes.size, dtype=np.int64)
        for start in range(0, codes.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            left, right = functions[part], codes[part]
            for _ in range(self.digits):
                (left, a), (right, v) = np.divmod(left, g), np.divmod(right, g)
                places[part] += a * v
        return places % g

    @property
    def codes(self) -> int:
        """How many different reports there are."""
        return int(self.buckets ** (self.digits + 1))

    def _shares_from_tally(self, counts: Integers) -> Floats:
        g, t = self.buckets, self.digits
        # All cells at once by Fourier transforms; a loop over cells and codes would be their
        # product.
        waves = np.fft.fft(counts.reshape(g**t, g), axis=1).T.reshape((g,) * (t + 1))
        waves = np.fft.ifftn(waves, axes=range(1, t + 1)).reshape(g, g**t) * g**t
        supported = np.take_along_axis(waves, _multiples(g, t), axis=1).mean(axis=0).real
        return np.asarray(np.rint(supported[: self.size]) / counts.sum())


def _multiples(g: int, t: int) -> Integers:
    """Return the number of the line s v for every multiple s = 0 .. g-1 and line v.

    Reports that match v are a sum over s of g-th roots of unity to the power of s (a . v - z): so
    Fourier transforms over the lines a, read at the multiples of v, add up all of them at once.
    """
    lines = np.stack(np.unravel_index(np.arange(g**t), (g,) * t))
    places = g ** np.arange(t - 1, -1, -1)
    return np.stack([places @ (s * lines % g) for s in range(g)])


def _digits(g: int, size: int) -> int:
    """Return how many digits modulo g number so many categories."""
    digits = 1
    while g**digits < size:
        digits += 1
    return digits


@lru_cache(maxsize=256)
def _best_prime(ratio: float, size: int) -> int:
    """Return the prime of least variance whose reports can all be counted."""
    # The server counts every code, so the number of codes is what limits the prime.
    able = [g for g in _PRIMES if g ** (_digits(g, size) + 1) <= _MOST_CODES]
    if not able:
        raise TooLarge(
            f"{size} categories are too many to count their hashes.",
            f"Use fewer, at most {_MOST_CODES // 2}: coarser cells, or fewer columns.",
            reason="cells",
        )
    return min(able, key=lambda g: _variance(ratio, g))


def _variance(ratio: float, g: int) -> float:
    """Return the variance of an estimated share, times the number of reports."""
    return (g - 1) * (ratio + g - 1) ** 2 / ((ratio - 1) * (g - 1)) ** 2
