"""The law of d-dimensional Laplace noise at rate 1: its density and the quantiles of its radius."""

import math
from itertools import count

import numpy as np

from shoal.arrays import Floats
from shoal.errors import InvalidSetting


def distances(values: Floats, atoms: Floats) -> Floats:
    """Return the distance from each value (lines) to each atom (columns)."""
    squares = np.zeros((len(values), len(atoms)))
    for ours, theirs in zip(values.T, atoms.T, strict=True):
        gap: Floats = np.subtract.outer(ours, theirs)
        squares += np.square(gap, out=gap)
    return np.sqrt(squares, out=squares)


def log_density(values: Floats, atoms: Floats) -> Floats:
    """Return the log-density of each value (lines) as noise around each atom (columns)."""
    d = values.shape[1]
    sphere = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)  # log of its area
    logs = distances(values, atoms)
    logs += sphere + math.lgamma(d)
    return np.negative(logs, out=logs)


def radius_quantile(d: int, p: float) -> float:
    """Return the distance below which noise in ``d`` dimensions stays with probability ``p``.

    >>> round(radius_quantile(1, 0.5), 6) == round(math.log(2), 6)
    True

    Parameters
    ----------
    p
        A probability between 0 and 1.
    """
    if not 0 < p < 1:
        raise InvalidSetting.of("p", "must be between 0 and 1", 0.95, p)
    low, high = 0.0, float(d)
    while _gamma_cdf(d, high) < p:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):  # until the two are neighbours
        low, high = (middle, high) if _gamma_cdf(d, middle) < p else (low, middle)
    return high


def _gamma_cdf(shape: int, x: float) -> float:
    """Return P[Gamma(shape, 1) <= x] = P[Poisson(x) >= shape], summed without cancellation."""
    term = math.exp(shape * math.log(x) - x - math.lgamma(shape + 1)) if x > 0 else 0.0
    total = 0.0
    if x < shape:
        for i in count(shape + 1):
            total += term
            term *= x / i
            if term <= 1e-17 * total:
                return total
    for i in range(shape, 0, -1):
        term *= i / x
        total += term
    return 1 - total
