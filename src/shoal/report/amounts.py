"""Budgets, chances and factors as a sentence has them, rounded to the careful side."""

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from shoal.privacy import ApproxDP, Budget
from shoal.report.limits import belief, down, in_100, odds, up

__all__ = ["amount", "at_most", "by_factor", "decimal", "large", "odds_move", "one_in", "remaining",
           "small_guess"]  # fmt: skip


def at_most(chance: Decimal) -> str:
    """A limit in a sentence: "at most 24 in 100", or "over 99 in 100"."""
    shown = in_100(chance)
    return f"{shown} in 100" if shown.startswith("over") else f"at most {shown} in 100"


def decimal(value: Fraction) -> str:
    """A budget for people: the exact decimal if it is short, else three digits, rounded up.

    Examples
    --------
    >>> decimal(Fraction(1, 4)), decimal(Fraction(1, 3)), decimal(Fraction(1, 10**9))
    ('0.25', 'about 0.334', '0.000000001')
    """
    return _short(value, ROUND_CEILING, up)


def remaining(value: Fraction) -> str:
    """What is left of a budget: as ``decimal``, but rounded down, so that it can be spent.

    Examples
    --------
    >>> remaining(Fraction(1, 4)), remaining(Fraction(1, 3)), remaining(Fraction(-1))
    ('0.25', 'about 0.333', '0')
    """
    return _short(value, ROUND_FLOOR, down) if value > 0 else "0"


def amount(guarantee: Budget) -> str:
    """How much was promised: epsilon, and delta where there is any.

    Examples
    --------
    >>> from shoal.privacy import PureDP
    >>> amount(PureDP(1)), amount(ApproxDP(1, 1e-9))
    ('ε = 1', 'ε = 1, δ = 0.000000001')
    """
    delta = guarantee.delta if isinstance(guarantee, ApproxDP) else Fraction(0)
    return f"ε = {decimal(guarantee.epsilon)}" + (f", δ = {decimal(delta)}" if delta else "")


def one_in(chance: Fraction) -> str:
    """A small chance in three digits, never understated: "1 in 1,000,000".

    Examples
    --------
    >>> one_in(Fraction(1, 10**6)), one_in(Fraction(2, 7)), one_in(Fraction(1, 3456789))
    ('1 in 1,000,000', '1 in 3', '1 in 3,450,000')
    """
    whole = chance.denominator // chance.numerator
    step = 10 ** max(0, len(str(whole)) - 3)
    return f"1 in {whole // step * step:,}"


def _short(value: Fraction, rounding: str, rounded: Callable[[Decimal], str]) -> str:
    with localcontext(rounding=rounding):
        shown = Decimal(value.numerator) / Decimal(value.denominator)
    short = len(f"{shown:f}") <= 8 or len(shown.normalize().as_tuple().digits) <= 3
    exact = short and Fraction(str(shown)) == value
    return f"{shown.normalize():f}" if exact else f"about {rounded(shown)}"


def odds_move(epsilon: Fraction) -> str:
    """How far anybody's odds can move."""
    change = by_factor(odds(epsilon))
    return f"Whatever they believed before, their odds change {change}, up or down."


def by_factor(factor: str) -> str:
    """A factor that ``limits.odds`` wrote, in a sentence."""
    if factor.startswith("over"):
        return f"by {factor} times, which limits next to nothing"
    return f"by a factor of at most {factor}"


def large(epsilon: Fraction) -> tuple[str, ...]:
    """What to say of a budget that is too large to hide much."""
    return (f"A {small_guess(epsilon)}",) if epsilon >= 5 else ()


def small_guess(epsilon: Fraction) -> str:
    """What a faint suspicion can become."""
    return f"1 in 100 guess can become {in_100(belief(Decimal('0.01'), epsilon).most)} in 100."
