"""What every broken form shares: many draws at once, the reason it fails, exact scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.draws import Batched, Draw
from shoal.privacy import ApproxDP, LocalDP, MetricDP, PureDP, Unprotected
from shoal.privacy.exact import Number, exact_budget

__all__ = [
    "BrokenMechanism",
    "Matrix",
    "Stream",
    "approximate_claim",
    "batch_flawed",
    "declare_broken",
    "likelihood_ratio_score",
    "local_claim",
    "metric_claim",
    "pure_claim",
    "round_to_lattice",
    "unit_step",
]

Matrix = NDArray[np.float64]
Stream = np.random.Generator
_FARTHEST = 100.0  # a log-ratio beyond any bound that draws can show


@dataclass(frozen=True)
class BrokenMechanism(Batched):
    """A form that breaks the promise it was sold with; the gate refuses it on any page with one.

    Parameters
    ----------
    draw
        As of ``Batched``: ``n`` independent outputs on the input ``x``.
    reason
        Why it protects nobody.

    Examples
    --------
    >>> half = BrokenMechanism(lambda x, n, rng: x + rng.laplace(0, 0.5, n), "half the noise")
    >>> half.release(3.0, np.random.default_rng(0)).shape, half.guarantee
    ((1,), Unprotected(reason=half the noise))
    """

    reason: str

    @property
    def guarantee(self) -> Unprotected:
        """None, with the reason."""
        return Unprotected(self.reason)

    def release(self, value: Any, rng: Stream) -> Any:
        """One output."""
        return self.draw(value, 1, rng)


def declare_broken(reason: str) -> Callable[[Draw], BrokenMechanism]:
    """Make a function ``(x, n, rng)`` a broken form."""
    return lambda draw: BrokenMechanism(draw, reason)


def batch_flawed(mechanism: Any) -> BrokenMechanism:
    """A flawed mechanism of one row a person, drawn for many copies of a row."""

    def draw(x: Matrix, n: int, rng: Stream) -> Any:
        return round_to_lattice(mechanism.release(np.tile(x, (n, 1)), rng).values)

    return BrokenMechanism(draw, mechanism.reason)


def round_to_lattice(values: Matrix) -> Matrix:
    """Multiples of 2**-20: so that a form is caught by its own fault, not by its low bits."""
    return np.asarray(np.rint(values * 2.0**20) * 2.0**-20)


def likelihood_ratio_score(
    log_density: Callable[[Matrix], Matrix], pair: tuple[Matrix, Matrix]
) -> Callable[[Matrix], Matrix]:
    """How much likelier a report is from the first row than from the second, noise being added.

    Parameters
    ----------
    log_density
        Of the noise, a line each, up to a constant.
    pair
        The two rows.
    """
    first, second = pair

    def score(reports: Matrix) -> Matrix:
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = log_density(reports - first) - log_density(reports - second)
        return np.clip(np.nan_to_num(gain, nan=0.0), -_FARTHEST, _FARTHEST)

    return score


def unit_step(d: int, j: int, length: float = 1.0) -> Matrix:
    """A step along one axis, numbered from 1."""
    step = np.zeros(d)
    step[j - 1] = length
    return step


def pure_claim(epsilon: Number, **rest: Any) -> PureDP:
    """A claim of epsilon when one row is added or removed."""
    return PureDP(exact_budget(epsilon), **rest)


def approximate_claim(epsilon: Number, delta: Number) -> ApproxDP:
    """A claim that may fail with chance delta."""
    return ApproxDP(exact_budget(epsilon), exact_budget(delta))


def local_claim(epsilon: Number) -> LocalDP:
    """A claim for any two values of a person."""
    return LocalDP(exact_budget(epsilon))


def metric_claim(epsilon: Number) -> MetricDP:
    """A claim per unit of distance."""
    return MetricDP(exact_budget(epsilon))
