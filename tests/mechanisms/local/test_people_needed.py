"""How many people a wanted accuracy takes."""

import math

import pytest

from shoal.errors import InvalidBudget, InvalidSetting
from shoal.mechanisms.local._people_needed import people_needed

USUAL = {"ratio": 1.1, "n_clusters": 5, "d": 2, "epsilon": 1}


@pytest.mark.parametrize("more", [{"ratio": 1.01}, {"n_clusters": 9}, {"d": 4}, {"epsilon": 0.5}])
def test_more_is_wanted_for_more(more):
    assert people_needed(**USUAL | more) > people_needed(**USUAL)


def test_it_grows_with_the_square_of_the_clusters():
    ratio = people_needed(**USUAL | {"n_clusters": 20}) / people_needed(**USUAL)
    assert math.isclose(ratio, 16, rel_tol=0.1)


def test_a_rough_answer_takes_enough_people_to_see_the_clusters():
    assert people_needed(**USUAL | {"ratio": 2}) == people_needed(**USUAL | {"ratio": 1.9})


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("ratio", [1.01, 1.1, 2])
def test_nine_of_ten_tables_take_as_many_people_as_every_second_or_more(d, ratio):
    asked = USUAL | {"d": d, "ratio": ratio}
    assert people_needed(**asked) >= people_needed(**asked, cautious=False)


@pytest.mark.parametrize("epsilon", [1e-3, 20])
def test_any_budget_has_an_answer(epsilon):
    assert people_needed(**USUAL | {"epsilon": epsilon}) >= 5


@pytest.mark.parametrize(
    ("error", "wrong"),
    [
        (InvalidSetting, {"ratio": 1.0}),
        (InvalidSetting, {"ratio": 3}),
        (InvalidSetting, {"ratio": "1.1"}),
        (InvalidSetting, {"n_clusters": 0}),
        (InvalidSetting, {"n_clusters": 2.5}),
        (InvalidSetting, {"d": 5}),
        (InvalidBudget, {"epsilon": 0}),
    ],
)
def test_what_the_rule_does_not_cover_is_refused(error, wrong):
    with pytest.raises(error):
        people_needed(**USUAL | wrong)
