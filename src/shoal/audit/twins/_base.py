"""What the broken mechanisms share: many draws at once, the reason of the fault, and scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit._draws import Batched, Draw
from shoal.privacy import ApproxDP, LocalDP, MetricDP, Number, PureDP, Unprotected, exact_budget

Stream = np.random.Generator
_FARTHEST = 100.0  # a log ratio beyond any bound that draws can show


@dataclass(frozen=True)
class BrokenMechanism(Batched):
    """A mechanism that breaks its promise; the gate refuses it on any page with a promise.

    Parameters
    ----------
    draw
        As of ``Batched``: ``n`` independent outputs on the input ``x``.
    reason
        Why it does not protect anyone.

    Examples
    --------
    >>> half = BrokenMechanism(lambda x, n, rng: x + rng.laplace(0, 0.5, n), "half the noise")
    >>> half.release(3.0, np.random.default_rng(0)).shape, half.guarantee
    ((1,), Unprotected(reason=half the noise))
    """

    reason: str

    @property
    def guarantee(self) -> Unprotected:
        """No guarantee, with the reason."""
        return Unprotected(self.reason)

    def release(self, value: Any, rng: Stream) -> Any:
        """Return one output."""
        return self.draw(value, 1, rng)


def declare_broken(reason: str) -> Callable[[Draw], BrokenMechanism]:
    """Return a decorator that makes a function ``(x, n, rng)`` a broken mechanism.

    Parameters
    ----------
    reason
        Why it does not protect anyone.
    """
    return lambda draw: BrokenMechanism(draw, reason)


def batch_flawed(mechanism: Any) -> BrokenMechanism:
    """Draw many copies of a row through a flawed mechanism of one row for each person."""

    def draw(x: Floats, n: int, rng: Stream) -> Any:
        return round_to_lattice(mechanism.release(np.tile(x, (n, 1)), rng).values)

    return BrokenMechanism(draw, mechanism.reason)


def round_to_lattice(values: Floats) -> Floats:
    """Round to multiples of 2**-20, so that a twin is caught by its fault, not by its low bits."""
    return np.asarray(np.rint(values * 2.0**20) * 2.0**-20)


def likelihood_ratio_score(
    log_density: Callable[[Floats], Floats], pair: tuple[Floats, Floats]
) -> Callable[[Floats], Floats]:
    """Return a score: how much likelier a report is from the first row than from the second.

    Parameters
    ----------
    log_density
        The log density of the noise, up to a constant; noise is added to the row.
    """
    first, second = pair

    def score(reports: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = log_density(reports - first) - log_density(reports - second)
        return np.clip(np.nan_to_num(gain, nan=0.0), -_FARTHEST, _FARTHEST)

    return score


def unit_step(d: int, j: int, length: float = 1.0) -> Floats:
    """Return a step along one axis, numbered from 1."""
    step = np.zeros(d)
    step[j - 1] = length
    return step


def pure_claim(epsilon: Number, **rest: Any) -> PureDP:
    """Return a claim of epsilon when one row is added or removed."""
    return PureDP(exact_budget(epsilon), **rest)


def approximate_claim(epsilon: Number, delta: Number) -> ApproxDP:
    """Return a claim of (epsilon, delta)."""
    return ApproxDP(exact_budget(epsilon), exact_budget(delta))


def local_claim(epsilon: Number) -> LocalDP:
    """Return a claim for any two values of a person."""
    return LocalDP(exact_budget(epsilon))


def metric_claim(epsilon: Number) -> MetricDP:
    """Return a claim for each unit of distance."""
    return MetricDP(exact_budget(epsilon))
