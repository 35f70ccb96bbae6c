import math

import pytest

from shoal.cluster.prototypes._profiles import Difference, titles_of, value_label

ORDER = ["age", "visits_per_week", "sex", "region", "level"]


def standing(column, value, here, everyone, far=0.02):
    """A difference measured to 0.02, in limits that hold together to as far as is said."""
    span = (-1.0, 1.0) if value is None else (0.0, 1.0)
    joint = (here - far, here + far)
    return Difference(column, value, here, here - 0.02, here + 0.02, everyone, span, joint)


def modelled(column, value, here, everyone):
    unknown = math.nan
    return Difference(
        column, value, here, unknown, unknown, everyone, (0.0, 1.0), (unknown, unknown)
    )


FEMALE = standing("sex", "F", 0.9, 0.5)
COAST = standing("region", "coast", 0.6, 0.2)
YOUNG = standing("age", None, -0.5, 0.1)
OFTEN = standing("visits_per_week", None, 0.5, 0.2)
BASIC = standing("level", "basic", 0.7, 0.5)
RARE = standing("level", "basic", 0.3, 0.1)


def titles(*groups, measured=True):
    return titles_of(groups, ORDER, measured=measured)


def test_the_three_largest_differences_are_named_in_the_order_of_the_columns():
    assert titles([COAST, FEMALE, YOUNG, BASIC]) == ("Low age, sex F, coast",)
    assert titles([OFTEN]) == ("High visits per week",)


def test_a_category_that_few_of_the_group_have_is_not_its_name():
    assert titles([RARE, COAST]) == ("Coast",)
    assert titles([RARE]) == ("More often basic",)


def test_a_category_is_a_name_only_if_most_have_it_in_all_limits_that_hold_together():
    assert titles([standing("region", "coast", 0.6, 0.2, far=0.15)]) == ("More often coast",)
    assert titles([standing("region", "coast", 0.6, 0.2, far=0.05)]) == ("Coast",)


def test_what_differs_most_for_certain_is_named_before_what_seems_to_differ_more():
    sure = [standing(name, "yes", 0.9, 0.5) for name in ("level", "region", "sex")]
    unsure = standing("visits_per_week", None, 0.9, 0.1, far=0.6)
    assert titles([unsure, *sure]) == ("Sex yes, region yes, level yes",)


def test_differences_that_may_be_noise_are_not_named():
    unclear = standing("region", "coast", 0.9, 0.2, far=0.75)
    assert titles([unclear], [unclear]) == ("Not clear at this budget",) * 2
    assert titles([unclear, BASIC]) == ("Basic",)


def test_small_differences_are_named_only_where_there_is_nothing_larger():
    small = standing("sex", "F", 0.56, 0.5)
    assert titles([small, BASIC]) == ("Basic",)
    assert titles([small]) == ("Sex F",)


def test_without_noise_a_group_that_differs_by_nothing_is_like_everyone():
    assert titles([standing("sex", "F", 0.51, 0.5, far=0.0)]) == ("Like everyone",)


def test_what_the_model_alone_says_is_perhaps_and_only_where_it_is_far():
    assert titles([modelled("region", "coast", 0.8, 0.2)], measured=False) == ("Perhaps coast",)
    near = modelled("region", "coast", 0.6, 0.2)
    assert titles([near], measured=False) == ("Not clear at this budget",)


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
