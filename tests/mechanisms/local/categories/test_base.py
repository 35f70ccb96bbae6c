"""What the mechanisms on categories share: lists, codes, shares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal import Categories, Ledger, LocalDP
from shoal.errors import (
    DimensionMismatch,
    InvalidBudget,
    InvalidDomain,
    NotAReport,
    TooFewRows,
    UnknownCategory,
)
from shoal.mechanisms import RandomizedResponse, UnaryEncoding
from shoal.mechanisms.local.categories._base import nearest_shares
from shoal.randomness import Randomness

oracles = pytest.mark.parametrize("oracle", [RandomizedResponse, UnaryEncoding])


def noise():
    return Randomness(5).noise


@oracles
@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), "much", None, 20.01])
def test_a_budget_that_is_none_is_refused(oracle, epsilon):
    with pytest.raises(InvalidBudget):
        oracle(epsilon, 5)


@oracles
@pytest.mark.parametrize("categories", [1, 0, -3, ["F"], ["F", "F"], "FM", None, True, 2.5])
def test_a_list_that_is_none_is_refused(oracle, categories):
    with pytest.raises(InvalidDomain):
        oracle(1, categories)


@oracles
def test_a_plain_list_becomes_categories(oracle):
    made = oracle(1, ["F", "M"])
    assert made == oracle(1, Categories(["F", "M"]))
    assert made.size == 2
    assert made.guarantee == LocalDP(1)


@oracles
@pytest.mark.parametrize("values", [["F", "x"], ["F", None], ["F", np.nan], None, "x", [1, 2]])
def test_a_value_outside_the_list_is_refused(oracle, values):
    ledger = Ledger()
    with pytest.raises(UnknownCategory):
        ledger.open(LocalDP(1), by="test").release(oracle(1, ["F", "M"]), values, noise(), of="sex")
    assert ledger.totals() == []


@oracles
@pytest.mark.parametrize(
    "codes", [[0, 5], [-1], [0.0, 1.0], [True], ["0"], [None], np.ma.masked_array([1], mask=[True])]
)
def test_codes_outside_the_range_are_refused(oracle, codes):
    with pytest.raises(UnknownCategory):
        oracle(1, 5).check(codes)


@oracles
def test_a_table_is_no_column(oracle):
    with pytest.raises(DimensionMismatch):
        oracle(1, 5).check([[1, 2]])


@oracles
def test_a_bucket_takes_what_is_not_listed(oracle):
    made = oracle(1, Categories(["F", "M"], other="bucket"))
    assert made.size == 3
    assert len(made.release(["F", None, "x"], noise())) == 3


@oracles
def test_no_values_give_no_reports(oracle):
    made = oracle(1, 5)
    reports = made.release(np.array([], dtype=int), noise())
    assert len(reports) == 0
    with pytest.raises(TooFewRows):
        made.frequencies(reports)


@oracles
def test_shares_want_their_own_reports(oracle):
    with pytest.raises(NotAReport):
        oracle(1, 5).frequencies(np.array([1, 2, 3]))
    with pytest.raises(NotAReport):
        oracle(1, 5).frequencies(oracle(2, 5).release([1, 2], noise()))


@oracles
def test_projected_shares_are_shares(oracle):
    made = oracle(0.2, 20)
    reports = made.release(np.zeros(300, dtype=int), noise())
    assert made.frequencies(reports).value.min() < 0
    shares = made.frequencies(reports, project=True).value
    assert shares.min() >= 0
    assert np.isclose(shares.sum(), 1)


@oracles
def test_a_single_value_is_a_list_of_one(oracle):
    made = oracle(1, ["F", "M"])
    reports = made.release("F", noise())
    assert reports.values.shape == ((1,) if oracle is RandomizedResponse else (1, 2))
    assert made.frequencies(reports).value.shape == (2,)


@pytest.mark.heavy
@given(arrays(np.float64, st.integers(1, 20), elements=st.floats(-5, 5)))
@settings(max_examples=100, deadline=None)
def test_no_other_shares_are_nearer(estimate):
    shares = nearest_shares(estimate)
    assert shares.min() >= 0
    assert np.isclose(shares.sum(), 1)
    for corner in np.eye(estimate.size):  # the angle to every corner is at least a right one
        assert (estimate - shares) @ (corner - shares) <= 1e-9
