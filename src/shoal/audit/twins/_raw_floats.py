"""Twins with noise on raw floats, where possible outputs depend on the input."""

import math
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.audit.case import Twin
from shoal.audit.twins._base import Stream, declare_broken, local_claim, metric_claim
from shoal.mechanisms import NDLaplace

FIRST, SECOND = 0.37, -0.42


@declare_broken("the low bits of raw float64 reports depend on the record")
def _draw_raw_laplace(x: Floats, n: int, rng: Stream) -> Any:
    """Draw from NDLaplace without its lattice."""
    return NDLaplace(1.0, lattice=None).release(np.tile(x, (n, 1)), rng).values


def _has_low_bits(z: Floats) -> np.ndarray:
    """Near 0 and no multiple of 2**-53: 0 + noise gets there, 1 + noise cannot."""
    bits = z[:, 0] * 2.0**53
    return np.asarray((np.abs(z[:, 0]) < 0.25) & (z[:, 0] != 0) & (bits != np.rint(bits)))


def _piecewise_branches(x: float) -> tuple[tuple[float, float], ...]:
    """Start and length of Piecewise's window, and of what lies below and above, at epsilon 1."""
    z = math.exp(0.5)
    C = (z + 1) / (z - 1)
    left, right = (C + 1) * x / 2 - (C - 1) / 2, (C + 1) * x / 2 + (C - 1) / 2
    return (left, right - left), (-C, left + C), (right, C - right)


@declare_broken("which floats the sampler can reach depends on the value")
def _draw_raw_piecewise(x: float, n: int, rng: Stream) -> Floats:
    """Draw from the textbook sampler, on raw floats."""
    inside, below, above = (low + length * rng.random(n) for low, length in _piecewise_branches(x))
    _, (_, room_below), (_, room_above) = _piecewise_branches(x)
    outside = np.where(rng.random(n) < room_below / (room_below + room_above), below, above)
    return np.where(rng.random(n) < 1 / (1 + math.exp(-0.5)), inside, outside)[:, None]


def _is_reachable(x: float, values: Floats) -> np.ndarray:
    """Whether some uniform number of 53 bits takes x to the value, in any of three branches."""
    reached = np.zeros(values.shape, dtype=bool)
    for low, length in _piecewise_branches(x):
        nearest = np.rint((values - low) / length * 2.0**53)
        for shift in range(-4, 5):
            uniform = (nearest + shift) * 2.0**-53
            possible = (uniform >= 0) & (uniform < 1)
            reached |= possible & (low + length * uniform == values)
    return reached


def is_reachable_from_first_only(z: Floats) -> np.ndarray:
    """The event of values that the first input can give and the second cannot."""
    return np.asarray(_is_reachable(FIRST, z[:, 0]) & ~_is_reachable(SECOND, z[:, 0]))


twins = {
    "Laplace noise on raw floats": Twin(
        _draw_raw_laplace,
        (np.zeros(1), np.ones(1)),
        metric_claim(1),
        at_least=9.05,
        draws=400_000,
        event=_has_low_bits,
        about="Mironov (CCS 2012): a sum of floats keeps low bits that tell what was added. Noise "
        "on 0 leaves numbers with finer bits than noise on 1 ever can.",
    ),
    "Piecewise on raw floats": Twin(
        _draw_raw_piecewise,
        (FIRST, SECOND),
        local_claim(1),
        at_least=10.0,
        draws=400_000,
        event=is_reachable_from_first_only,
        about="The same for a mechanism that adds nothing: its textbook sampler stretches a "
        "uniform number of 53 bits over a window that moves with the value. Asking which floats "
        "each value can reach tells two values apart.",
    ),
}
