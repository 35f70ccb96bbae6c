"""Staircase noise: the least noise for one number of a public width under LocalDP."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.domain import Box
from shoal.errors import DimensionMismatch, InvalidDomain, setting
from shoal.mechanisms.exact._coins import Coin, fair_bits
from shoal.mechanisms.exact._discrete_laplace import geometric_law
from shoal.mechanisms.local.bounded._base import STEPS, Bounded, Steps, positive_number
from shoal.privacy import Number


@dataclass(frozen=True)
class Staircase(Bounded):
    r"""Add noise whose density falls by e^epsilon in steps as wide as the domain.

    Guarantee
    ---------
    ``LocalDP(epsilon)``, and nothing finer: near a stair the smallest move costs all of epsilon,
    so this is no ``MetricDP``. Drawn exactly, in whole steps of 2**-20 of the width. See
    ``staircase.proof.md``.

    Parameters
    ----------
    epsilon
        The promise of one report; at most 20.
    width
        Of the public domain [-width/2, width/2]; ``None`` for 2, or with ``domain``.
    domain
        The public box, of one column, in place of a width.
    clip
        Move values outside to the nearest bound instead of refusing them.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> noise = Staircase(1.0, domain=Box(age=(0, 110)))
    >>> estimate = noise.mean(noise.release(np.full((50_000, 1), 30.0), Randomness(7).noise))
    >>> bool(abs(estimate.value[0] - 30) < 4 * estimate.standard_error[0])
    True
    >>> round(Staircase(1.0, width=2).mean_size, 3)
    1.919

    References
    ----------
    Geng, Viswanath, The optimal noise-adding mechanism in differential privacy, 2014/2016.
    """

    epsilon: Number
    width: float | None = None
    domain: Box | None = None
    clip: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.width is not None
        if given and (self.domain is not None or not positive_number(self.width)):
            raise InvalidDomain(
                setting("width") + " must be a positive, finite number, and is given instead of "
                "a domain.",
                "Give one of them: " + setting("width", 2) + ", or domain=Box(age=(0, 110)).",
            )
        if self.domain is not None and self.domain.d != 1:
            raise DimensionMismatch(
                f"Staircase takes one column; the box has {self.domain.d}.",
                "Give each column a Staircase of its own, at a share of epsilon.",
                reason="too many columns",
            )

    @property
    def mean_size(self) -> float:
        """The mean absolute value of the noise, in the value's units."""
        box, epsilon = self._box(1), float(self.exact_epsilon)
        return float(box.sides[0]) * math.exp(epsilon / 2) / math.expm1(epsilon)

    def _box(self, d: int) -> Box:
        half = 1.0 if self.width is None else float(self.width) / 2
        return Box(x0=(-half, half)) if self.domain is None else self.domain

    def _draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        noise = _law(self.exact_epsilon).draw(steps.size, rng).reshape(steps.shape)
        halves = 2 * steps + noise  # [P4] whole numbers: half steps
        return halves.astype(np.float64) * (1 / STEPS) - 1

    def _scaled_variance(self, x: Floats) -> Floats:
        return np.full(x.shape, _law(self.exact_epsilon).variance)


class _StaircaseLaw:
    """Draws noise in half steps: odd whole numbers, 2**20 whole steps to the domain's width."""

    def __init__(self, epsilon: Fraction) -> None:
        tread = max(1, round(STEPS / (1 + math.exp(epsilon / 2))))  # [P1] up to the first stair
        self._tread = tread
        self._flights = geometric_law(epsilon)
        self._before = Coin(epsilon, lambda E: tread * E / (tread * E + STEPS - tread))
        self._epsilon = float(epsilon)

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Return ``n`` draws."""
        size = self._flights.one_sided(n, rng) * STEPS  # [P2]
        before = rng.integers(0, self._tread, size=n)
        past = rng.integers(self._tread, STEPS, size=n)
        size += np.where(self._before.flip(n, rng), before, past)
        size += size + 1
        return np.where(fair_bits((1, n), rng)[0], size, -size)  # [P3]

    @property
    def variance(self) -> float:
        """The variance on the scale of [-1, 1], where the width is 2."""
        decay, tread = math.exp(-self._epsilon), self._tread / STEPS
        chance = tread / (tread + (1 - tread) * decay)
        flights = decay / -math.expm1(-self._epsilon)  # mean of G
        squared = flights + 2 * flights**2  # mean of G^2
        place = chance * tread / 2 + (1 - chance) * (1 + tread) / 2
        place_squared = chance * tread**2 / 3 + (1 - chance) * (1 + tread + tread**2) / 3
        return 4 * (squared + 2 * flights * place + place_squared)


@lru_cache(maxsize=64)
def _law(epsilon: Fraction) -> _StaircaseLaw:
    return _StaircaseLaw(epsilon)
