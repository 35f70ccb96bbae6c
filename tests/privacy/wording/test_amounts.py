"""The table of limits to print, and that no printed limit is on the wrong side of the exact one."""

from decimal import Decimal
from fractions import Fraction
from math import exp, tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy.wording.amounts import (
    advantage,
    belief,
    decimal,
    hundredths,
    in_100,
    odds,
    one_in,
    remaining,
    round_down,
    round_up,
)

TABLE = {
    "0.1": ("1.11", "1.11 11.0 52.5", ".050", "1.23"),
    "0.5": ("1.65", "1.64 15.5 62.3", ".245", "2.72"),
    "1": ("2.72", "2.68 23.2 73.2", ".463", "7.39"),
    "2": ("7.39", "6.95 45.1 88.1", ".762", "54.6"),
    "5": ("149", "60.0 94.3 99.4", ".987", "over 1,000"),
}
CHANCES = [Decimal("0.01"), Decimal("0.1"), Decimal("0.5")]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(Fraction(3), "3"), (Fraction(100), "100"), (Fraction(2, 3), "about 0.667")],
)
def test_budgets_are_shown_exactly_or_marked_as_about(value, shown):
    assert decimal(value) == shown


@pytest.mark.heavy
@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**6))
def test_what_remains_is_never_more_and_what_is_spent_never_less(value):
    assert Fraction(remaining(value).removeprefix("about ")) <= value
    assert Fraction(decimal(value).removeprefix("about ")) >= value


@pytest.mark.heavy
@given(st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1)))
def test_a_small_chance_is_never_understated(chance):
    most = Fraction(1, int(one_in(chance).removeprefix("1 in ").replace(",", "")))
    assert chance <= most


@pytest.mark.parametrize("epsilon", TABLE)
def test_the_printed_values_are_those_of_the_table(epsilon):
    factor, beliefs, gap, swapped = TABLE[epsilon]
    e = Fraction(epsilon)
    assert odds(e) == factor
    assert [round_up(hundredths(belief(p, e).most)) for p in CHANCES] == beliefs.split()
    assert Decimal(round_up(advantage(e))).quantize(Decimal(".001"), "ROUND_CEILING") == Decimal(
        gap
    )
    assert odds(2 * e) == swapped


budgets = st.fractions(Fraction(1, 10**6), Fraction(40), max_denominator=10**6)
chances = st.decimals("0.001", "0.999", places=3)


@pytest.mark.heavy
@given(budgets, chances)
def test_upper_limits_are_rounded_up_and_lower_ones_down(epsilon, before):
    after = belief(before, epsilon)
    assert Decimal(round_up(after.most)) >= after.most
    assert Decimal(round_down(after.least)) <= after.least
    assert after.least <= before <= after.most
    assert Decimal(round_up(after.most)) <= after.most * Decimal("1.01")


@pytest.mark.heavy
@given(budgets, st.floats(0.001, 0.999))
def test_the_sums_agree_with_the_formulas(epsilon, before):
    E, p = exp(epsilon), before
    after = belief(Decimal(before), epsilon)
    assert float(after.most) == pytest.approx(p * E / (1 - p + p * E))
    assert float(after.least) == pytest.approx(p / (p + (1 - p) * E))
    assert float(advantage(epsilon)) == pytest.approx(tanh(float(epsilon) / 2))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**300), Fraction(10**30)])
def test_budgets_beyond_reason_still_print_a_careful_limit(epsilon):
    assert odds(epsilon) in ("1.01", "over 1,000")
    assert in_100(belief(Decimal("0.1"), epsilon).most) in ("11", "over 99")


def test_a_hundred_in_a_hundred_is_never_printed():
    assert in_100(Decimal(1)) == "over 99"
    assert in_100(Decimal("0.9900001")) == "over 99"
    assert in_100(Decimal("0.99")) == "99"


def test_a_chance_of_failure_adds_to_what_guessing_gains():
    """By the tests that keep to both lines: the best is where right = E false + delta meet."""
    delta = Fraction(1, 10)
    false = np.linspace(0, 1, 200_001)
    E = exp(1)
    right = np.minimum(np.minimum(E * false + 0.1, 1 - (1 - false - 0.1) / E), 1)
    assert float(advantage(Fraction(1), delta)) == pytest.approx((right - false).max(), abs=1e-5)
    assert advantage(Fraction(1), Fraction(0)) == advantage(Fraction(1))
