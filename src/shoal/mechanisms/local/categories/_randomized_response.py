"""Randomised response over a list of categories."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.domain import Categories
from shoal.mechanisms.exact._coins import Coin
from shoal.mechanisms.local.categories._base import Coded
from shoal.privacy import Number


@dataclass(frozen=True)
class RandomizedResponse(Coded):
    r"""Report the true category with odds e^epsilon : 1 against each other one.

    Best for short lists; ``frequency_oracle`` chooses. Reports are codes, places in the list.

    Guarantee
    ---------
    ``LocalDP(epsilon)``. Drawn exactly. See ``randomized_response.proof.md``.

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
    >>> response = RandomizedResponse(1.0, ["bus", "bike", "foot"])
    >>> trips = ["bus"] * 6_000 + ["bike"] * 3_000 + ["foot"] * 1_000
    >>> found = response.frequencies(response.release(trips, Randomness(7).noise))
    >>> bool(np.all(abs(found.value - [0.6, 0.3, 0.1]) < 4 * found.standard_error))
    True

    References
    ----------
    Warner, Randomized response, JASA 1965; Kairouz, Bonawitz, Ramage, Discrete distribution
    estimation under local privacy, ICML 2016.
    """

    epsilon: Number
    categories: Categories | int

    @property
    def _chances(self) -> tuple[float, float]:
        ratio = math.exp(self.exact_epsilon)
        return ratio / (ratio + self.size - 1), 1 / (ratio + self.size - 1)

    def _draw(self, codes: Integers, rng: np.random.Generator) -> Integers:
        keep = _truth_coin(self.exact_epsilon, self.size).flip(codes.size, rng)  # [P1]
        other = rng.integers(0, self.size - 1, size=codes.size)  # [P2]
        other += other >= codes
        return np.where(keep, codes, other)

    @property
    def codes(self) -> int:
        """How many different reports there are."""
        return self.size

    def _shares_from_tally(self, counts: Integers) -> Floats:
        return np.asarray(counts / counts.sum())


@lru_cache(maxsize=64)
def _truth_coin(epsilon: Fraction, size: int) -> Coin:
    return Coin(epsilon, lambda E: E / (E + size - 1))
