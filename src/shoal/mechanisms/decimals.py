"""Decimal arithmetic whose precision is ours alone, whatever context the caller has set."""

from decimal import Context, Decimal
from fractions import Fraction

__all__ = ["decay", "precise"]


def precise(digits: int) -> Context:
    """So many significant digits, and no exponent out of reach."""
    return Context(prec=digits, Emin=-(10**9), Emax=10**9)


def decay(exponent: Fraction) -> Decimal:
    """e^-exponent in the current context."""
    return (-Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
