import pytest

import shoal
from shoal.domain import Box, Schema
from shoal.errors import InvalidDomain, InvalidSetting
from shoal.planning import plan

BOX = Box.unit(2)


@pytest.fixture(scope="module")
def found():
    return plan(3, domain=BOX, n_expected=2_000, epsilons=[0.1, 2], trust="central")


def test_shoal_plan_is_the_function():
    assert shoal.plan is plan


@pytest.mark.heavy
def test_errors_fall_with_the_budget(found):
    poor, rich = found.curves["central"].bands
    assert rich.low < poor.low
    assert rich.low < rich.high < 0.5
    assert list(rich.by_shape) == ["clear", "near", "touching", "no gaps"]


@pytest.mark.heavy
def test_a_plan_can_be_repeated(found):
    again = plan(3, domain=BOX, n_expected=2_000, epsilons=[0.1, 2], trust="central")
    assert again == found


@pytest.mark.heavy
def test_more_people_need_less_budget():
    few, many = (
        plan(2, domain=BOX, n_expected=n, epsilons=[0.05, 0.5], trust="central", groups="clear")
        for n in (300, 300_000)
    )
    assert many.curves["central"].bands[0].high < few.curves["central"].bands[0].high


@pytest.mark.heavy
def test_what_is_known_of_the_groups_narrows_the_band(found):
    clear = plan(3, domain=BOX, n_expected=2_000, epsilons=[2], trust="central", groups="clear")
    assert clear.curves["central"].bands[0].high < found.curves["central"].bands[1].high
    assert list(clear.curves["central"].bands[0].by_shape) == ["clear", "near"]


@pytest.mark.heavy
def test_people_with_many_rows_cost_accuracy():
    schema = Schema.of_box(Box.unit(1), person="name", max_rows_per_person=50)
    settings = {"n_expected": 500, "epsilons": [0.5], "trust": "central", "groups": "clear"}
    one = plan(2, domain=Box.unit(1), **settings)
    many = plan(2, domain=schema, **settings)
    assert many.rows_per_person == 50
    assert many.curves["central"].bands[0].high > one.curves["central"].bands[0].high


@pytest.mark.heavy
def test_reports_are_planned_in_few_columns_only():
    wide = plan(2, domain=Box.unit(5), n_expected=100, epsilons=[1], groups="clear")
    assert list(wide.curves) == ["central"]
    assert "up to 4 columns" in wide.skipped["local"]


@pytest.mark.heavy
def test_progress_ends_at_one():
    calls = []
    plan(2, domain=Box.unit(1), n_expected=200, epsilons=[1], groups="clear",
         progress=lambda name, share: calls.append(share))  # fmt: skip
    assert calls == sorted(calls)
    assert calls[-1] == 1


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("n_expected", 0, "whole number of 1 or more"),
        ("n_expected", 1, "at least the number of groups"),
        ("epsilons", [-1], "positive numbers"),
        ("trust", "both of us", "central, local, both"),
        ("groups", "round", "clear, near or touching"),
        ("within", 5, "between 0 and 1"),
    ],
)
def test_a_bad_setting_is_refused(setting, value, message):
    settings = {"domain": BOX, "n_expected": 100, setting: value}
    with pytest.raises(InvalidSetting, match=message):
        plan(2, **settings)


def test_bounds_must_be_public_ones():
    with pytest.raises(InvalidDomain, match="Box or a Schema"):
        plan(2, domain=[[0, 1]], n_expected=100)
