"""Numbers kept as what they say: a budget of 0.1 is a tenth, not the double next to it."""

import operator
from fractions import Fraction

from shoal.errors import InvalidBudget, setting, value_text

__all__ = ["Number", "exact", "exact_budget", "exact_text", "whole_number"]

Number = float | int | str | Fraction


def exact_budget(epsilon: Number) -> Fraction:
    """Epsilon as the fraction its shortest decimal form names; positive and finite."""
    value = exact(epsilon)
    if value is None or value <= 0:
        raise InvalidBudget(
            setting("epsilon") + f" must be a positive, finite number; got {value_text(epsilon)}.",
            "Name the budget of this call, e.g. "
            + setting("epsilon", 1.0)
            + "; smaller hides more.",
        )
    return value


def exact(value: object) -> Fraction | None:
    """The fraction a number's shortest decimal form names, if it is one."""
    try:
        return None if isinstance(value, bool) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def whole_number(value: object) -> int | None:
    """A whole number as a plain ``int``, if it is one: NumPy's would wrap around."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    return operator.index(value)


def exact_text(value: Fraction) -> str:
    """A decimal if one is exact, else a fraction: ``'0.25'``, ``'1/3'``."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(value)
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    whole = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
    text = whole if not digits else f"{whole[:-digits]}.{whole[-digits:]}"
    return f"-{text}" if value < 0 else text
