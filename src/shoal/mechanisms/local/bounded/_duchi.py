"""Duchi's mechanism, with ties corrected: report a corner of a cube, likelier on the row's side."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.mechanisms.exact._coins import Bits, Coin, fair_bits
from shoal.mechanisms.local.bounded._base import STEPS, Bounded, Steps
from shoal.privacy import Number


@dataclass(frozen=True)
class Duchi(Bounded):
    r"""Report a corner of the cube [-B, B]^d, unbiased, for numbers of a box.

    The row is rounded to a corner v at random, +1 in column j with probability
    :math:`(1+x_j)/2`. A corner t that agrees with v in more than half the columns is
    :math:`e^\varepsilon` times as likely as any other; ties count with the others. The published
    form for even d puts ties in both halves, which costs ln(e^epsilon + 1) instead of epsilon.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole row, in any number of columns. Drawn exactly. See
    ``duchi.proof.md``.

    Parameters
    ----------
    epsilon
        The promise of one report, all its columns together; at most 20.
    domain
        The public box of the rows. ``None``: they lie in [-1, 1] already.
    clip
        Move rows outside to the nearest point of the box instead of refusing them.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> duchi = Duchi(1.0)
    >>> duchi.release([[0.5, -0.5, 0.0]], Randomness(7).noise).values.round(3).tolist()
    [[-4.328, -4.328, 4.328]]
    >>> float(duchi.variance([0.0, 0.0, 0.0]).sum().round(2))
    56.19

    References
    ----------
    Duchi, Jordan, Wainwright, Minimax optimal procedures for locally private estimation, JASA
    2018; Wang et al., ICDE 2019, for the form with ties.
    """

    epsilon: Number
    domain: Box | None = None
    clip: bool = False

    def _draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        law = duchi_law(self.exact_epsilon)
        corner = rounded_to_signs(steps, rng)
        agree = law.agreements(steps.shape, rng)
        size = law.size(len(steps))
        return np.where(corner == agree, size, -size)  # [P4]

    def _scaled_variance(self, x: Floats) -> Floats:
        return duchi_law(self.exact_epsilon).size(x.shape[1]) ** 2 - x**2


class DuchiLaw:
    """Draws which columns of a report agree with the row's corner, and computes the corner's
    size.
    """

    def __init__(self, epsilon: Fraction) -> None:
        self._epsilon = epsilon
        self._majority = Coin(epsilon, lambda E: E / (E + 1))
        self._keep_tie = Coin(epsilon, lambda E: 2 / (E + 1))

    def size(self, d: int) -> float:
        """Return B, the coordinate of a corner that makes the report unbiased."""
        ties: float = math.comb(d, d // 2) / 2**d if d % 2 == 0 else 0.0
        slope: float = math.comb(d - 1, d // 2) / 2**d  # [P5]
        growth = math.expm1(self._epsilon)
        return (growth * (1 - ties) / 2 + 1) / (growth * slope)

    def agreements(self, shape: tuple[int, ...], rng: np.random.Generator) -> Bits:
        """Draw in which columns the report has the corner's sign.

        Returns
        -------
            True where it has; of shape (d, n).
        """
        d, n = shape
        agree = fair_bits((d, n), rng) if d % 2 else self._with_few_ties(d, n, rng)
        agree ^= (_lead(agree) > 0) != self._majority.flip(n, rng)  # [P3]
        return agree

    def _with_few_ties(self, d: int, n: int, rng: np.random.Generator) -> Bits:
        """Draw fair bits for an even number of columns, keeping ties by a coin; (d, n)."""
        ties: float = math.comb(d, d // 2) / 2**d
        share = 1 - ties * math.tanh(self._epsilon / 2)  # of the tries that is kept
        parts, missing = [], n
        while missing > 0:
            tries = fair_bits((d, int(missing / share * 1.02) + 16), rng)
            accepted = _lead(tries) != 0
            tied = np.flatnonzero(~accepted)
            accepted[tied] = self._keep_tie.flip(tied.size, rng)  # [P2]
            parts.append(np.compress(accepted, tries, axis=1)[:, :missing])
            missing -= parts[-1].shape[1]
        return np.concatenate(parts, axis=1)


def _lead(agree: Bits) -> NDArray[np.int32]:
    """Return how many more columns agree than disagree."""
    lead: NDArray[np.int32] = 2 * agree.sum(axis=0, dtype=np.int32) - np.int32(len(agree))
    return lead


def rounded_to_signs(steps: Steps, rng: np.random.Generator) -> Bits:
    """Round each value to a sign: True with probability steps / 2**20, that is (1 + x)/2."""
    return rng.integers(0, STEPS, size=steps.shape, dtype=np.int32) < steps  # [P1]


@lru_cache(maxsize=64)
def duchi_law(epsilon: Fraction) -> DuchiLaw:
    """Return the law at this budget, made once."""
    return DuchiLaw(epsilon)
