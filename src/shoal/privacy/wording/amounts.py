"""Budgets, probabilities and factors as text, rounded so that no limit is understated.

With E = e^epsilon and p a belief before:

    belief        p / (p + (1-p) E)  <=  after  <=  p E / (1 - p + p E)       (Bayes)
    advantage     true positive rate - false positive rate  <=  tanh(epsilon / 2)

Sums run in 50 decimal digits and E is taken one step up, so upper limits are never understated.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

from shoal.privacy import ApproxDP, Budget, Guarantee
from shoal.privacy._exact_numbers import exact_text
from shoal.privacy.ledger_summary import Account, Left

_DIGITS = 50  # of every sum, far beyond the three that are shown
_LARGEST_EPSILON = 150  # e^150: every chance above is 1 to fifty digits, and prints as "over 99"


def at_most(chance: Decimal) -> str:
    """Write a limit in a sentence: "at most 24 in 100", or "over 99 in 100"."""
    # "at most over 99" would be nonsense.
    shown = in_100(chance)
    return f"{shown} in 100" if shown.startswith("over") else f"at most {shown} in 100"


def decimal(value: Fraction) -> str:
    """Write a budget: the exact decimal if it is short, else three digits, rounded up.

    Examples
    --------
    >>> decimal(Fraction(1, 4)), decimal(Fraction(1, 3)), decimal(Fraction(1, 10**9))
    ('0.25', 'about 0.334', '0.000000001')
    """
    return _short(value, ROUND_CEILING, round_up)


def remaining(value: Fraction) -> str:
    """Write what is left of a budget: as ``decimal``, but rounded down, so it can be spent.

    Examples
    --------
    >>> remaining(Fraction(1, 4)), remaining(Fraction(1, 3)), remaining(Fraction(-1))
    ('0.25', 'about 0.333', '0')
    """
    return _short(value, ROUND_FLOOR, round_down) if value > 0 else "0"


def account_values(account: Account) -> dict[str, list[dict[str, Any]]]:
    """Return what a ledger says as JSON has it, each amount exactly and in words.

    Examples
    --------
    >>> from shoal.privacy import Ledger, PureDP, account_of
    >>> account_values(account_of(Ledger(limit=PureDP(3))))["left"]
    [{'of': 'PureDP(epsilon=3)', 'epsilon': '3', 'text': '3'}]
    """
    return {
        "totals": [_total_values(each) for each in account.totals],
        "simulated": [_total_values(each) for each in account.simulated],
        "limits": [each.to_dict() | {"text": str(each)} for each in account.limits],
        "left": [_left_values(each) for each in account.left],
        "unfinished": [{"at": at.isoformat(), "by": by} for at, by in account.unfinished],
    }


def _total_values(total: Guarantee) -> dict[str, Any]:
    """Return a total as JSON has it, and in words without the mark: its place says what it is."""
    return total.to_dict() | {"text": str(replace(total, simulation=False))}


def _left_values(left: Left) -> dict[str, str]:
    values = {
        "of": str(left.limit),
        "epsilon": exact_text(left.epsilon),
        "text": remaining(left.epsilon),
    }
    if left.delta is not None:
        values |= {"delta": exact_text(left.delta), "delta_text": remaining(left.delta)}
    return values


def amount(guarantee: Budget) -> str:
    """Write how much was promised: epsilon, and delta where there is any.

    Examples
    --------
    >>> from shoal.privacy import PureDP
    >>> amount(PureDP(1)), amount(ApproxDP(1, 1e-9))
    ('ε = 1', 'ε = 1, δ = 0.000000001')
    """
    delta = guarantee.delta if isinstance(guarantee, ApproxDP) else Fraction(0)
    return f"ε = {decimal(guarantee.epsilon)}" + (f", δ = {decimal(delta)}" if delta else "")


def one_in(chance: Fraction) -> str:
    """Write a small probability in three digits, never understated: "1 in 1,000,000".

    Examples
    --------
    >>> one_in(Fraction(1, 10**6)), one_in(Fraction(2, 7)), one_in(Fraction(1, 3456789))
    ('1 in 1,000,000', '1 in 3', '1 in 3,450,000')
    """
    # Rounded down, so that the chance is rounded up.
    whole = chance.denominator // chance.numerator
    step = 10 ** max(0, len(str(whole)) - 3)
    return f"1 in {whole // step * step:,}"


def _short(value: Fraction, rounding: str, rounded: Callable[[Decimal], str]) -> str:
    """Write an amount exactly if that is short, else rounded to three digits."""
    with localcontext(rounding=rounding):
        shown = Decimal(value.numerator) / Decimal(value.denominator)
    short = len(f"{shown:f}") <= 8 or len(shown.normalize().as_tuple().digits) <= 3
    exact = short and Fraction(str(shown)) == value
    return f"{shown.normalize():f}" if exact else f"about {rounded(shown)}"


def odds_move(epsilon: Fraction) -> str:
    """Write how far anybody's odds can move."""
    change = by_factor(odds(epsilon))
    return f"Whatever they believed before, their odds change {change}, up or down."


def by_factor(factor: str) -> str:
    """Write a factor that ``odds`` returned in a sentence."""
    if factor.startswith("over"):
        return f"by a factor of {factor}, which limits next to nothing"
    return f"by a factor of at most {factor}"


def large_budget_note(epsilon: Fraction) -> tuple[str, ...]:
    """Return the warning for a budget that is too large to hide much; none below 5."""
    # From 5 up even a belief of 1 in 100 can become one of more than even odds.
    return (f"A {small_belief_note(epsilon)}",) if epsilon >= 5 else ()


def small_belief_note(epsilon: Fraction) -> str:
    """Write what a belief of 1 in 100 can become."""
    return f"1 in 100 guess can become {in_100(belief(Decimal('0.01'), epsilon).most)} in 100."


class Belief(NamedTuple):
    """The least and the most that a belief can become."""

    least: Decimal
    most: Decimal


def belief(before: Decimal, epsilon: Fraction) -> Belief:
    """Return how far a release can move a belief.

    Parameters
    ----------
    before
        The belief before, from 0 to 1.

    Examples
    --------
    >>> after = belief(Decimal("0.1"), Fraction(1))
    >>> round_down(hundredths(after.least)), round_up(hundredths(after.most))
    ('3.92', '23.2')
    """
    with localcontext(Context(prec=_DIGITS)):
        factor = _factor(epsilon)
        rest = 1 - before
        least = before / (before + rest * factor)
        return Belief(least, before * factor / (rest + before * factor))


def advantage(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Decimal:
    """Return the most that true positives can exceed false positives of any attack.

    With a delta (e^epsilon - 1 + 2 delta) / (e^epsilon + 1): both kinds of error keep to
    ``right <= E false + delta``, and the sum of both lines is where they meet.

    Parameters
    ----------
    delta
        Its delta, if it has one.

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
    """Write the factor by which odds can change, rounded up.

    Examples
    --------
    >>> odds(Fraction(1)), odds(Fraction(5)), odds(Fraction(7))
    ('2.72', '149', 'over 1,000')
    """
    factor = _factor(epsilon)
    return "over 1,000" if factor > 1000 else round_up(factor)


def hundredths(chance: Decimal) -> Decimal:
    """Return a probability in hundredths, with every digit."""
    return chance.scaleb(2, context=Context(prec=2 * _DIGITS))


def round_up(value: Decimal) -> str:
    """Write three significant digits, rounded up.

    Examples
    --------
    >>> round_up(Decimal("73.106")), round_up(Decimal("0.011"))
    ('73.2', '0.0110')
    """
    return _rounded(value, ROUND_CEILING)


def round_down(value: Decimal) -> str:
    """Write three significant digits, rounded down."""
    return _rounded(value, ROUND_FLOOR)


def in_100(chance: Decimal) -> str:
    """Write a limit as whole chances in a hundred, rounded up; never a hundred of them.

    Examples
    --------
    >>> in_100(Decimal("0.2320")), in_100(Decimal("0.9933"))
    ('24', 'over 99')
    """
    whole = int(hundredths(chance).to_integral_value(ROUND_CEILING))
    return str(whole) if whole < 100 else "over 99"


def _factor(epsilon: Fraction) -> Decimal:
    """Return e^epsilon, rounded up one step so that it is never too small."""
    with localcontext(Context(prec=_DIGITS, rounding=ROUND_CEILING)):
        capped = min(epsilon, Fraction(_LARGEST_EPSILON))
        return (Decimal(capped.numerator) / Decimal(capped.denominator)).exp().next_plus()


def _rounded(value: Decimal, rounding: str) -> str:
    if value == 0:
        return "0"
    step = Decimal(1).scaleb(value.adjusted() - 2)
    return f"{value.quantize(step, rounding=rounding):f}"
