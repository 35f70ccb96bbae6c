"""Mixed records: a public split that sums to the promise, exactly."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal import Categories, Ledger, LocalDP
from shoal.errors import (
    DimensionMismatch,
    InvalidBudget,
    InvalidDomain,
    NotNumeric,
    OutsideDomain,
    UnknownCategory,
    UnknownColumn,
)
from shoal.mechanisms import Mixed, RandomizedResponse, UnaryEncoding
from shoal.randomness import Randomness

COLUMNS = {"age": (0, 110), "sex": Categories(["F", "M"]), "cell": 400}
PEOPLE = {"age": [30, 50, 70], "sex": ["F", "M", "F"], "cell": [0, 399, 7]}


def noise():
    return Randomness(5).noise


def test_equal_shares_sum_to_the_promise():
    mixed = Mixed(1, COLUMNS)
    assert mixed.guarantee == LocalDP(1)
    assert [m.guarantee.epsilon for m in mixed.mechanisms.values()] == [Fraction(1, 3)] * 3


def test_shares_are_exact():
    mixed = Mixed(0.3, COLUMNS, shares={"age": 0.1, "sex": 0.2, "cell": 0.7})
    assert mixed.guarantee == LocalDP(0.3)
    assert mixed.mechanisms["age"].guarantee == LocalDP(0.03)


@pytest.mark.parametrize(
    "shares",
    [
        {"age": 0.5, "sex": 0.5},
        {"age": 0.5, "sex": 0.5, "cell": 0.1},
        {"age": 0.5, "sex": 0.25, "other": 0.25},
        {"age": 1.5, "sex": -1, "cell": 0.5},
        {"age": 0.33, "sex": 0.33, "cell": 0.33},
    ],
)
def test_shares_that_do_not_sum_to_one_are_refused(shares):
    with pytest.raises(InvalidBudget):
        Mixed(1, COLUMNS, shares=shares)


@pytest.mark.parametrize("columns", [{}, None, {"age": (110, 0)}, {"sex": 1}, {"sex": ("F", "M")}])
def test_columns_that_make_no_record_are_refused(columns):
    with pytest.raises(InvalidDomain):
        Mixed(1, columns)


@pytest.mark.parametrize(
    "frame",
    [dict, pd.DataFrame, pl.DataFrame, pa.table],
    ids=["dict", "pandas", "polars", "arrow"],
)
def test_any_table_of_named_columns_will_do(frame):
    reports = Mixed(3, COLUMNS).release(frame(PEOPLE), noise())
    assert reports["age"].values.shape == (3, 1)
    assert reports["sex"].values.shape == (3,)
    assert reports["cell"].values.shape == (3, 400)


def test_each_column_gets_the_oracle_that_suits_it():
    made = Mixed(3, COLUMNS).mechanisms
    assert isinstance(made["sex"], RandomizedResponse)
    assert isinstance(made["cell"], UnaryEncoding)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"age": [30, 50]}, DimensionMismatch),
        ({"age": [[30, 1], [50, 1], [70, 1]]}, DimensionMismatch),
        ({"age": [30, 50, 170]}, OutsideDomain),
        ({"age": ["30", "50", "70"]}, NotNumeric),
        ({"age": np.ma.masked_array([30, 50, 70])}, NotNumeric),
        ({"sex": ["F", "M", None]}, UnknownCategory),
        ({"cell": [0, 1, 400]}, UnknownCategory),
    ],
)
def test_a_bad_column_is_refused_before_anything_is_written(change, error):
    ledger = Ledger()
    with pytest.raises(error):
        ledger.open(LocalDP(1), by="test").release(
            Mixed(1, COLUMNS), PEOPLE | change, noise(), of="people"
        )
    assert ledger.totals() == []


@pytest.mark.parametrize("records", [{"age": [1], "sex": ["F"]}, np.zeros((3, 3)), None])
def test_missing_columns_are_named(records):
    with pytest.raises(UnknownColumn, match="'cell'"):
        Mixed(1, COLUMNS).check(records)


def test_a_table_is_one_entry_of_the_sum():
    ledger = Ledger()
    page = ledger.open(LocalDP(1), by="test")
    page.release(Mixed(1, COLUMNS), PEOPLE, noise(), of="people")
    assert page.total() == LocalDP(1).simulated()
    assert len(ledger.entries()) == 1


def test_a_single_record_is_taken():
    reports = Mixed(3, COLUMNS).release({"age": 30, "sex": "F", "cell": 3}, noise())
    assert reports["sex"].values.shape == (1,)
    assert reports["age"].values.size == 1


def test_a_list_of_numbers_is_neither_bounds_nor_categories():
    with pytest.raises(InvalidDomain, match="means bounds or categories"):
        Mixed(3, {"age": [0, 110], "sex": ["F", "M"]}).guarantee  # noqa: B018
