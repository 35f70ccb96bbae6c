"""The Piecewise mechanism: a report is likely to fall in a window that slides with the value."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shoal.arrays import Floats
from shoal.domain import Box
from shoal.mechanisms.local.bounded._base import STEPS, Steps
from shoal.mechanisms.local.bounded._column_sampling import Sampled
from shoal.mechanisms.local.bounded._sliding_window import SlidingWindow
from shoal.privacy import Number


@dataclass(frozen=True)
class Piecewise(Sampled):
    r"""Report numbers of a box, unbiased, with little noise from epsilon 2 up.

    One number x in [-1, 1], with :math:`z = e^{\varepsilon/2}` and :math:`C = (z+1)/(z-1)`: with
    probability z/(z+1) uniform on a window of length C-1 around :math:`(C+1)x/2`, else uniform on
    the rest of [-C, C]. Of several columns ``columns_reported(d)`` are reported, drawn without
    looking at the row, at an equal share of epsilon and times d/k; the others are given as the
    centre of the box. Such reports serve means and centres, not labels of single records.

    Guarantee
    ---------
    ``LocalDP(epsilon)`` for the whole row. Drawn exactly, in whole steps of 2**-20 of the range.
    See ``piecewise.proof.md``.

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
    >>> ages = np.full((10_000, 1), 30.0)
    >>> piecewise = Piecewise(2.0, domain=Box(age=(0, 110)))
    >>> estimate = piecewise.mean(piecewise.release(ages, Randomness(7).noise))
    >>> bool(abs(estimate.value[0] - 30) < 4 * estimate.standard_error[0])
    True
    >>> piecewise.variance([55.0]).round().tolist()
    [1953.0]

    References
    ----------
    Wang et al., Collecting and analyzing multidimensional data with local differential privacy,
    ICDE 2019.
    """

    epsilon: Number
    domain: Box | None = None
    clip: bool = False

    def _law(self, epsilon: Fraction) -> "PiecewiseLaw":
        return piecewise_law(epsilon)


class PiecewiseLaw:
    """The Piecewise mechanism for one number in [-1, 1]."""

    def __init__(self, epsilon: Fraction) -> None:
        self._ratio = math.exp(epsilon)
        width = max(1, round(STEPS / math.exp(epsilon / 2)))  # [P1] least variance
        self._window = SlidingWindow(epsilon, width)
        self._unit = (self._ratio * width + STEPS) / (width * math.expm1(epsilon)) * (2 / STEPS)

    def draw(self, steps: Steps, rng: np.random.Generator) -> Floats:
        """Draw reports on the scale of [-1, 1]."""
        values = self._window.draw(steps, rng).astype(np.float64)  # [P2]
        values -= (self._window.places - 1) / 2
        values *= self._unit  # [P3] chosen so that the mean is the value
        return values

    def variance(self, x: Floats) -> Floats:
        """Return the exact variance; about x^2/(z-1) + (z+3)/(3 (z-1)^2), within 2**-19."""
        width, places = self._window.width, self._window.places
        all_places = places * (places**2 - 1) / 12
        window = width * ((width**2 - 1) / 12 + (x * STEPS / 2) ** 2)
        total = all_places + (self._ratio - 1) * window
        return self._unit**2 * total / (self._ratio * width + STEPS) - x**2


@lru_cache(maxsize=64)
def piecewise_law(epsilon: Fraction) -> PiecewiseLaw:
    """Return the law at this budget, made once.

    Parameters
    ----------
    epsilon
        The budget of one report, exact.
    """
    return PiecewiseLaw(epsilon)
