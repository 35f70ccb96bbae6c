"""Coins whose probability is a formula in e^epsilon, and other draws without floats.

Everything here reads whole random bits and compares whole numbers, so a coin has exactly the
chance its proof names. See ``inversion.proof.md`` for the irrational ones.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Integers
from shoal.mechanisms.exact._inversion import ExactTable

Bits = NDArray[np.bool_]


class Coin(ExactTable):
    """A coin that shows heads with exactly the probability a formula of E = e^epsilon gives.

    Parameters
    ----------
    chance
        From E to the chance of heads, strictly between 0 and 1 and irrational: any ratio of two
        straight lines in E that is not constant.

    Examples
    --------
    >>> coin = Coin(Fraction(1), lambda E: E / (E + 1))
    >>> bool(abs(coin.flip(10_000, np.random.default_rng(0)).mean() - 0.731) < 0.02)
    True
    """

    def __init__(self, epsilon: Fraction, chance: Callable[[Decimal], Decimal]) -> None:
        exponent = epsilon.as_integer_ratio()

        def thresholds() -> list[Decimal]:
            return [chance((Decimal(exponent[0]) / Decimal(exponent[1])).exp())]

        super().__init__(thresholds)
        self._first_bits = np.uint16(self._floors[0] >> np.uint64(48))

    def flip(self, n: int, rng: np.random.Generator) -> Bits:
        """Return ``n`` independent flips; True is heads, outcome 0 of the table.

        With one threshold the first 16 bits need no table: below the threshold's own they are
        heads, above tails, and where they agree more bits are read.
        """
        # Four 16-bit prefixes from each 64-bit word: most flips need no more.
        random_words = rng.integers(0, 2**64, size=-(-n // 4), dtype=np.uint64)
        prefixes = random_words.view(np.uint16)[:n]
        heads: Bits = prefixes < self._first_bits
        undecided = np.flatnonzero(prefixes == self._first_bits)
        heads[undecided] = self._resolve(prefixes[undecided], rng) == 0
        return heads


def fair_bits(shape: tuple[int, int], rng: np.random.Generator) -> Bits:
    """Return a matrix of fair coin flips."""
    n = shape[0] * shape[1]
    # One bit a coin: an eighth of the random bytes of a byte a coin.
    packed = np.frombuffer(rng.bytes(-(-n // 8)), dtype=np.uint8)
    return np.unpackbits(packed, count=n).reshape(shape).view(np.bool_)


def random_subsets(n: int, d: int, k: int, rng: np.random.Generator) -> Integers:
    """Draw ``k`` distinct columns of ``d`` for each of ``n`` rows, all subsets equally likely.

    Floyd's way: the j-th pick is uniform up to a limit that rises with j, and the limit itself
    takes the place of a pick that came before.

    >>> sorted(random_subsets(1, 3, 3, np.random.default_rng(0))[:, 0].tolist())
    [0, 1, 2]

    Returns
    -------
        Column numbers, of shape (k, n).
    """
    picks = np.empty((k, n), dtype=np.int64)
    for place, limit in enumerate(range(d - k, d)):
        pick = rng.integers(0, limit, size=n, endpoint=True)
        taken = np.any(picks[:place] == pick, axis=0)
        picks[place] = np.where(taken, limit, pick)
    return picks
