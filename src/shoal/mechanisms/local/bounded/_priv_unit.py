"""PrivUnitG: report a Gaussian vector that leans towards the row's direction."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.errors import InvalidDomain, OutsideDomain, setting, value_text
from shoal.mechanisms.local.bounded._base import STEPS, Bounded, Steps, positive_number, scaled_of
from shoal.privacy import Number


@dataclass(frozen=True)
class PrivUnit(Bounded):
    r"""Report rows of a ball, unbiased, with few changes of the whole vector: for many columns.

    With u the row's direction, the report is :math:`(R/t)\,g`, g Gaussian of unit variance in
    every direction but u; along u it exceeds t with a probability p that is larger than a
    Gaussian's, by e^epsilon in odds. A row shorter than the radius R takes the direction -u with
    probability :math:`(1-\|x\|/R)/2`.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole row. See ``priv_unit.proof.md``.

    Parameters
    ----------
    epsilon
        The promise of one report, all its columns together; at most 20.
    radius
        Of the ball the rows lie in, on the scale where the box is [-1, 1]^d. ``None``: the
        square root of d, the ball around that cube.
    domain
        The public box of the rows. ``None``: they lie in the ball as they are.
    clip
        Move rows outside the box or the ball to the nearest point instead of refusing them.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> private = PrivUnit(5.0, radius=1)
    >>> reports = private.release([[0.6, 0.8]] * 20_000, Randomness(7).noise)
    >>> estimate = private.mean(reports)
    >>> bool(np.all(abs(estimate.value - [0.6, 0.8]) < 4 * estimate.standard_error))
    True

    References
    ----------
    Asi, Feldman, Talwar, Optimal algorithms for mean estimation under local differential
    privacy, ICML 2022.
    """

    epsilon: Number
    radius: float | None = None
    domain: Box | None = None
    clip: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius is not None and not positive_number(self.radius):
            raise InvalidDomain(
                setting("radius") + " must be a positive, finite number; got "
                f"{value_text(self.radius)}.",
                "Give the radius of a public ball.",
            )

    def _box(self, d: int) -> Box:
        if self.domain is not None or self.radius is None:
            return super()._box(d)
        half = np.full(d, float(self.radius))
        return Box.of([f"x{i}" for i in range(d)], -half, half)

    def _scaled_radius(self, d: int) -> float:
        """Return the ball's radius on the scale where the box is [-1, 1]^d."""
        if self.radius is None:
            return math.sqrt(d)
        return 1.0 if self.domain is None else float(self.radius)

    def _rows(self, value: ArrayLike) -> Floats:
        rows = super()._rows(value)
        d = rows.shape[1]
        scaled = self._box(d).scale(rows, -1, 1)
        length, radius = np.linalg.norm(scaled, axis=1), self._scaled_radius(d)
        beyond = length > radius * (1 + 1e-12)  # an ulp is no reason to refuse
        if not beyond.any():
            return rows
        if not self.clip:
            raise OutsideDomain(
                f"{np.count_nonzero(beyond)} of {len(rows)} rows lie outside the ball.",
                "Give a larger radius by public knowledge, or "
                + setting("clip", True)
                + " to move them to its edge.",
            )
        scaled *= (radius / np.maximum(length, radius))[:, None]
        return self._box(d).clip(self._box(d).unscale(scaled, -1, 1))

    def _draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        d, n = steps.shape
        lean, radius = _lean(self.exact_epsilon), self._scaled_radius(d)
        direction, length = _directions(scaled_of(steps))  # [P1]
        towards = rng.random(n) < (1 + np.minimum(length / radius, 1)) / 2  # [P2]
        direction *= np.where(towards, 1.0, -1.0)
        noise = rng.standard_normal((d, n))
        along = np.einsum("ij,ij->j", noise, direction)
        noise += (lean.draw(n, rng) - along) * direction  # [P3]
        places = np.rint(noise * (STEPS / math.sqrt(d)))  # [P5] a whole number of public steps
        return places * (radius * math.sqrt(d) / lean.threshold / STEPS)  # [P4]

    def _scaled_variance(self, x: Floats) -> Floats:
        radius = self._scaled_radius(x.shape[1])
        direction, _ = _directions(x.T)
        noise = 1 / _lean(self.exact_epsilon).threshold ** 2
        return radius**2 * (noise + direction.T**2) - x**2


class _Lean:
    """The law of a report's component along the row's direction."""

    def __init__(self, epsilon: Fraction) -> None:
        self.threshold = _best_threshold(float(epsilon))
        tail = _tail(self.threshold)
        self.past = tail / (tail + math.exp(-epsilon) * (1 - tail))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw the component along the row's direction."""
        past = rng.random(n) < self.past
        drawn = np.empty(n)
        count = int(np.count_nonzero(past))
        drawn[past] = _draw_until(count, lambda m: self._try_past(m, rng))
        drawn[~past] = _draw_until(n - count, lambda m: self._try_below(m, rng))
        return drawn

    def _try_past(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw Gaussians past the threshold by rejection from exponentials (Robert 1995)."""
        rate = (self.threshold + math.sqrt(self.threshold**2 + 4)) / 2
        tries = self.threshold + rng.standard_exponential(n) / rate
        return tries[rng.standard_exponential(n) > (tries - rate) ** 2 / 2]

    def _try_below(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw Gaussians below the threshold by rejection."""
        tries = rng.standard_normal(n)
        return tries[tries < self.threshold]


def _draw_until(n: int, attempt: Callable[[int], Floats]) -> Floats:
    """Repeat an attempt until it has returned ``n`` values."""
    parts, missing = [np.empty(0)], n
    while missing > 0:
        # Half of the tries fail at most, so one round mostly suffices.
        parts.append(attempt(2 * missing + 8)[:missing])
        missing -= parts[-1].size
    return np.concatenate(parts)


def _directions(x: Floats) -> tuple[Floats, Floats]:
    """Return unit vectors and lengths of columns; a zero column takes the first axis."""
    length = np.sqrt(np.einsum("ij,ij->j", x, x))
    direction = x / np.where(length > 0, length, 1.0)
    direction[0, length == 0] = 1.0
    return direction, length


def _tail(t: float) -> float:
    """Return P[Gaussian > t]."""
    return math.erfc(t / math.sqrt(2)) / 2


def _best_threshold(epsilon: float) -> float:
    """Return the t of least noise: the root of t (1 + (E-1) tail(t)) = (E-1) phi(t)."""
    growth = math.expm1(epsilon)
    low, high = 0.0, 10.0
    for _ in range(100):
        t = (low + high) / 2
        density = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        if t * (1 + growth * _tail(t)) < growth * density:
            low = t
        else:
            high = t
    return high


@lru_cache(maxsize=64)
def _lean(epsilon: Fraction) -> _Lean:
    return _Lean(epsilon)
