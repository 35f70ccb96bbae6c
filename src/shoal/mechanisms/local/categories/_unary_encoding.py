"""Unary encoding, one noisy bit for each category, and the choice between frequency oracles."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.domain import Categories
from shoal.mechanisms.exact._coins import Coin, fair_bits
from shoal.mechanisms.local.categories._base import Categorical
from shoal.mechanisms.local.categories._randomized_response import RandomizedResponse
from shoal.privacy import Number

_BLOCK = 2**20  # bits drawn at a time


@dataclass(frozen=True)
class UnaryEncoding(Categorical):
    r"""Report one bit for each category: a fair coin for the true one, rarely 1 for others.

    Others are 1 with probability :math:`1/(e^\varepsilon+1)`. Best for long lists: the error does
    not grow with them. Reports are lines of 0 and 1, one bit a category.

    Guarantee
    ---------
    ``LocalDP(epsilon)``. Drawn exactly. See ``unary_encoding.proof.md``.

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
    >>> encoding = UnaryEncoding(1.0, 50)
    >>> found = encoding.frequencies(encoding.release([3] * 4_000, Randomness(7).noise))
    >>> int(found.value.argmax()), bool(abs(found.value[3] - 1) < 4 * found.standard_error[3])
    (3, True)

    References
    ----------
    Wang et al., Locally differentially private protocols for frequency estimation, USENIX
    Security 2017.
    """

    epsilon: Number
    categories: Categories | int

    @property
    def _chances(self) -> tuple[float, float]:
        return 0.5, 1 / (math.exp(self.exact_epsilon) + 1)

    def _draw(self, codes: Integers, rng: np.random.Generator) -> NDArray[np.uint8]:
        bits = np.empty((codes.size, self.size), dtype=np.uint8)
        step = max(1, _BLOCK // self.size)
        for start in range(0, codes.size, step):
            part = bits[start : start + step]
            part[:] = (
                _other_bit_coin(self.exact_epsilon).flip(part.size, rng).reshape(part.shape)
            )  # [P2]
        bits[np.arange(codes.size), codes] = fair_bits((1, codes.size), rng)[0]  # [P1]
        return bits

    def _shares(self, values: NDArray[Any]) -> tuple[Floats, int]:
        lines = values.reshape(-1, self.size)
        return lines.mean(axis=0), len(lines)


def frequency_oracle(
    epsilon: Number, categories: Categories | int
) -> RandomizedResponse | UnaryEncoding:
    """Return the mechanism with the smaller error for so many categories at this budget.

    >>> frequency_oracle(1.0, 8), frequency_oracle(1.0, 100)
    (RandomizedResponse(epsilon=1.0, categories=8), UnaryEncoding(epsilon=1.0, categories=100))

    Parameters
    ----------
    epsilon
        The promise of one report.
    categories
        The public list, or how many there are.
    """
    response = RandomizedResponse(epsilon, categories)
    if response.size < 3 * math.exp(response.exact_epsilon) + 2:
        return response
    return UnaryEncoding(epsilon, response.categories)


@lru_cache(maxsize=64)
def _other_bit_coin(epsilon: Fraction) -> Coin:
    return Coin(epsilon, lambda E: 1 / (E + 1))
