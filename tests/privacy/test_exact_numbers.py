from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy._exact_numbers import exact, exact_text, whole_number


@pytest.mark.heavy
@given(st.fractions())
def test_what_is_written_plainly_reads_back_the_same(value):
    assert Fraction(exact_text(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [("1", "1"), ("0.25", "0.25"), ("1/3", "1/3"), ("-0.5", "-0.5"), ("1e-7", "0.0000001")],
)
def test_decimals_are_written_as_decimals(value, text):
    assert exact_text(Fraction(value)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_what_its_shortest_form_says(value):
    assert float(exact(value)) == value


@pytest.mark.parametrize("value", ["x", None, True, float("nan"), float("inf"), "1/0", [1]])
def test_what_is_no_number_is_none(value):
    assert exact(value) is None


def test_whole_numbers_are_plain_ints():
    assert type(whole_number(np.int64(5))) is int
    assert [whole_number(x) for x in (5, True, 5.0, "5", None)] == [5, None, None, None, None]
