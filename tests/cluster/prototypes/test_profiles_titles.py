from dataclasses import dataclass
from typing import Any

import pytest

from shoal.cluster.prototypes._profiles import titles_of, value_label

ORDER = ["age", "visits_per_week", "sex", "region", "level"]


@dataclass(frozen=True)
class Standing:
    column: str
    value: Any
    here: float
    everyone: float
    is_clear: bool = True

    @property
    def label(self):
        return value_label(self.column, self.value)

    @property
    def effect(self):
        return abs(self.here - self.everyone)


FEMALE = Standing("sex", "F", 0.9, 0.5)
COAST = Standing("region", "coast", 0.6, 0.2)
YOUNG = Standing("age", None, -0.5, 0.1)
OFTEN = Standing("visits_per_week", None, 0.5, 0.2)
BASIC = Standing("level", "basic", 0.7, 0.5)
RARE = Standing("level", "basic", 0.3, 0.1)


def titles(*groups, measured=True):
    return titles_of(groups, ORDER, measured=measured)


def test_the_three_largest_differences_are_named_in_the_order_of_the_columns():
    assert titles([COAST, FEMALE, YOUNG, BASIC]) == ("Low age, sex F, coast",)
    assert titles([OFTEN]) == ("High visits per week",)


def test_a_category_that_few_of_the_group_have_is_not_its_name():
    assert titles([RARE, COAST]) == ("Coast",)
    assert titles([RARE]) == ("More often basic",)


def test_differences_that_are_unclear_or_small_are_not_named():
    unclear = Standing("region", "coast", 0.9, 0.2, is_clear=False)
    small = Standing("sex", "F", 0.55, 0.5)
    assert titles([unclear, small]) == ("Like everyone",)


def test_what_the_model_alone_says_is_perhaps():
    assert titles([COAST], measured=False) == ("Perhaps coast",)


def test_groups_that_would_be_named_alike_are_told_apart_by_more_or_by_a_number():
    shared = [YOUNG, COAST, FEMALE]
    assert titles([*shared, BASIC], [*shared, OFTEN]) == (
        "Low age, sex F, coast, basic",
        "Low age, high visits per week, sex F, coast",
    )
    assert titles(shared, shared) == ("Low age, sex F, coast", "Low age, sex F, coast (2)")


@pytest.mark.parametrize(
    ("value", "label"),
    [("coast", "coast"), ("yes", "home_town yes"), (3, "home_town 3"), ("2013J", "home_town 2013J"),
     ("BBB", "home_town BBB"), ("A Level or Equivalent", "A Level or Equivalent")],
)  # fmt: skip
def test_values_that_say_nothing_alone_carry_their_column(value, label):
    assert value_label("home_town", value) == label.replace("_", " ")
