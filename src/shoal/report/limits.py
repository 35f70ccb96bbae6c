"""The numbers behind the words: what a promise of epsilon limits, rounded to the careful side.

With E = e^epsilon, p a belief before and x a chance if the person's rows are left out:

    belief        p / (p + (1-p) E)  <=  after  <=  p E / (1 - p + p E)       (Bayes)
    consequence   chance with the rows  <=  min(E x, 1 - (1-x) / E)
    advantage     true positive rate - false positive rate  <=  tanh(epsilon / 2)

Sums run in 50 decimal digits and E is taken one step up, so upper limits are never understated.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

__all__ = [
    "Belief",
    "advantage",
    "belief",
    "consequence",
    "down",
    "hundredths",
    "in_100",
    "odds",
    "up",
]

_DIGITS = 50
_BEYOND = 150  # e^150: every chance above is 1 to fifty digits, and prints as "over 99"


class Belief(NamedTuple):
    """The least and the most a belief can become."""

    least: Decimal
    most: Decimal


def belief(before: Decimal, epsilon: Fraction) -> Belief:
    """Where a belief of ``before`` (0 to 1) can end.

    Examples
    --------
    >>> after = belief(Decimal("0.1"), Fraction(1))
    >>> down(hundredths(after.least)), up(hundredths(after.most))
    ('3.92', '23.2')
    """
    with localcontext(Context(prec=_DIGITS)):
        factor = _factor(epsilon)
        rest = 1 - before
        least = before / (before + rest * factor)
        return Belief(least, before * factor / (rest + before * factor))


def consequence(without: Decimal, epsilon: Fraction) -> Decimal:
    """The most a chance of ``without`` becomes when the person's rows are there.

    Examples
    --------
    >>> up(hundredths(consequence(Decimal("0.1"), Fraction(1))))
    '27.2'
    """
    with localcontext(Context(prec=_DIGITS)):
        factor = _factor(epsilon)
        return min(factor * without, 1 - (1 - without) / factor)


def advantage(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Decimal:
    """The most that right answers can exceed false alarms when guessing what the promise hides.

    With a delta (e^epsilon - 1 + 2 delta) / (e^epsilon + 1): both kinds of error keep to
    ``right <= E false + delta``, and the sum of both lines is where they meet.

    Examples
    --------
    >>> in_100(advantage(Fraction(1)))
    '47'
    """
    with localcontext(Context(prec=_DIGITS)):
        factor = _factor(epsilon)
        slack = 2 * Decimal(delta.numerator) / Decimal(delta.denominator)
        return (factor - 1 + slack) / (factor + 1)


def odds(epsilon: Fraction) -> str:
    """By which factor odds can change, rounded up.

    Examples
    --------
    >>> odds(Fraction(1)), odds(Fraction(5)), odds(Fraction(7))
    ('2.72', '149', 'over 1,000')
    """
    factor = _factor(epsilon)
    return "over 1,000" if factor > 1000 else up(factor)


def hundredths(chance: Decimal) -> Decimal:
    """A chance in hundredths, every digit kept: the default context would round some away."""
    return chance.scaleb(2, context=Context(prec=2 * _DIGITS))


def up(value: Decimal) -> str:
    """Three significant digits, rounded up.

    Examples
    --------
    >>> up(Decimal("73.106")), up(Decimal("0.011"))
    ('73.2', '0.0110')
    """
    return _rounded(value, ROUND_CEILING)


def down(value: Decimal) -> str:
    """Three significant digits, rounded down."""
    return _rounded(value, ROUND_FLOOR)


def in_100(chance: Decimal) -> str:
    """A limit as whole chances in a hundred, rounded up; never a hundred of them.

    Examples
    --------
    >>> in_100(Decimal("0.2320")), in_100(Decimal("0.9933"))
    ('24', 'over 99')
    """
    whole = int(hundredths(chance).to_integral_value(ROUND_CEILING))
    return str(whole) if whole < 100 else "over 99"


def _factor(epsilon: Fraction) -> Decimal:
    """E, or barely more: ``exp`` rounds to nearest, so one step up is never too small."""
    with localcontext(Context(prec=_DIGITS, rounding=ROUND_CEILING)):
        capped = min(epsilon, Fraction(_BEYOND))
        return (Decimal(capped.numerator) / Decimal(capped.denominator)).exp().next_plus()


def _rounded(value: Decimal, rounding: str) -> str:
    if value == 0:
        return "0"
    step = Decimal(1).scaleb(value.adjusted() - 2)
    return f"{value.quantize(step, rounding=rounding):f}"
