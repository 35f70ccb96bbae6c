"""Public lattices: reports are whole numbers of steps, so that no low bit of a float reveals a row.

The low bits of a float64 sum x + u depend on x (Mironov 2012), so real-valued mechanisms round
the row and the noise apart, each to a whole number of steps, and add those. Whole numbers up to
2**53 in size are exact in float64, sums included: they are the integers of the proofs, without a
conversion. Steps chosen here are powers of two: going to the lattice and back loses nothing.
"""

import math
from fractions import Fraction

import numpy as np

from shoal.errors import InvalidSetting, setting

Lattice = str | float | None
# Why sums below these are exact in floats: docs/decisions/local-lattice.md.
FARTHEST = 2.0**45  # steps a record without bounds may lie from the origin
WIDEST_BOX = 2.0**50  # steps across a box; with noise added, sums stay exact below 2**53
_STEP_COST = Fraction(1, 2**20)  # epsilon that one step costs


def auto_step(epsilon: Fraction) -> float:
    """Return the lattice step for metric privacy: a power of two, at most ``2**-20 / epsilon``."""
    return _power_of_two_up_to(_STEP_COST / epsilon)


def checked_step(lattice: str | float, epsilon: Fraction) -> float:
    """Return the automatic or given step, refused unless 2**-30 <= epsilon * step <= 1.

    Parameters
    ----------
    lattice
        ``"auto"``, or a step in scaled units.
    """
    if lattice == "auto":
        return auto_step(epsilon)
    step = float(lattice) if _is_number(lattice) else math.nan
    if math.isfinite(step) and 2**-30 <= epsilon * Fraction(step) <= 1:
        return step
    raise InvalidSetting(
        setting("lattice")
        + " must be a step with 2**-30 <= epsilon * step <= 1: a finer one shows the grain of "
        "the noise, a coarser one weakens the promise.",
        "Leave it at 'auto', or give a step in scaled units, e.g. "
        + setting("lattice", 0.001)
        + ".",
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _power_of_two_up_to(bound: Fraction) -> float:
    """Return the largest power of two that does not exceed the bound."""
    power = bound.numerator.bit_length() - bound.denominator.bit_length()
    return math.ldexp(1.0, power if Fraction(2) ** power <= bound else power - 1)
