from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.report.amounts import decimal, one_in, remaining


@pytest.mark.parametrize(
    ("value", "shown"),
    [(Fraction(3), "3"), (Fraction(100), "100"), (Fraction(2, 3), "about 0.667")],
)
def test_budgets_are_shown_exactly_or_marked_as_about(value, shown):
    assert decimal(value) == shown


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**6))
def test_what_remains_is_never_more_and_what_is_spent_never_less(value):
    assert Fraction(remaining(value).removeprefix("about ")) <= value
    assert Fraction(decimal(value).removeprefix("about ")) >= value


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1)))
def test_a_small_chance_is_never_understated(chance):
    most = Fraction(1, int(one_in(chance).removeprefix("1 in ").replace(",", "")))
    assert chance <= most
