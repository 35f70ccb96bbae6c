from fractions import Fraction

import pytest

from shoal.cluster.prototypes._estimator import make_plan
from shoal.domain import Schema
from shoal.estimator import MIXED_ROW_COUNT_SHARE
from shoal.privacy import PureDP
from shoal.synopsis.mixed._columns import mixed_columns

COLUMNS = mixed_columns(
    Schema.of(
        {
            "version": 1,
            "columns": {f"c{i}": {"values": ["a", "b", "c"]} for i in range(6)}
            | {f"x{i}": {"low": 0, "high": 1} for i in range(3)},
        }
    )
)


def level(n_rows, epsilon=1.0, k=4):
    return make_plan(COLUMNS, n_rows, PureDP(epsilon), k, Fraction(0)).level


@pytest.mark.parametrize("n_rows", [1, 100, 500, 3_000, 10_000, 10**6])
@pytest.mark.parametrize("k", [1, 4, 50])
def test_shares_add_up_to_the_budget(n_rows, k):
    plan = make_plan(COLUMNS, n_rows, PureDP(1), k, Fraction(0))
    spent = plan.model + plan.small_groups + plan.move + plan.profile
    assert spent + MIXED_ROW_COUNT_SHARE == 1


def test_a_public_number_of_rows_leaves_more_for_the_model():
    plan = make_plan(COLUMNS, 10**6, PureDP(1), 4, MIXED_ROW_COUNT_SHARE)
    assert plan.model + plan.small_groups + plan.move + plan.profile == 1


def test_more_rows_allow_more_steps():
    levels = [level(n) for n in (10, 1_000, 4_000, 10**6)]
    assert levels[0] == "weak"
    assert levels[-1] == 2
    assert levels == sorted(levels, key=lambda each: -1 if each == "weak" else each)


def test_rows_times_epsilon_decides():
    assert level(20_000, 0.1) == level(2_000, 1.0)


def test_one_group_needs_no_steps():
    assert level(10**7, k=1) == 0
