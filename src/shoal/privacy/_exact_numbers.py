"""Exact numbers: a budget written as 0.1 is the fraction 1/10, not the nearest double."""

import operator
from fractions import Fraction

from shoal.errors import InvalidBudget, setting, value_text

Number = float | int | str | Fraction
"""What is read as an exact number: text such as ``"1/3"`` or ``"0.1"`` is taken as written."""


def exact_budget(epsilon: Number) -> Fraction:
    """Return epsilon as the fraction its shortest decimal form names.

    Parameters
    ----------
    epsilon
        A positive, finite number, or its text.

    Raises
    ------
    InvalidBudget
        If it is not.
    """
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
    """Return the fraction a number's shortest decimal form names, or None if it is no number.

    Parameters
    ----------
    value
        Anything; numbers, texts and fractions can be read.
    """
    try:
        # By its text: the double 0.1 is not a tenth, and its shortest text is.
        return None if isinstance(value, bool) else Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def whole_number(value: object) -> int | None:
    """Return a whole number as a plain ``int``, which cannot overflow, or None if it is none.

    Parameters
    ----------
    value
        Anything; NumPy's whole numbers are accepted, booleans are not.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    return operator.index(value)


def exact_text(value: Fraction) -> str:
    """Write a fraction as a decimal if that is exact, else as a quotient: ``'0.25'``, ``'1/3'``.

    Parameters
    ----------
    value
        The fraction.
    """
    rest = value.denominator
    # A fraction has an exact decimal if its denominator has no other prime.
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
