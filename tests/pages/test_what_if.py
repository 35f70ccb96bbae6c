import numpy as np
import pytest

import shoal
from shoal.domain import Box
from shoal.pages._what_if import what_if_plan, what_if_table, what_if_values
from shoal.planning import Band, Curve, Ends, Flattery, Plan, Range
from shoal.privacy import ApproxDP

BOX = Box(age=(0, 110))


def band(epsilon, low, high):
    return Band(epsilon, low, high, {"as released": low}, Ends(high, 2 * high), Range(1.0, 1.0))


@pytest.fixture
def plan():
    bands = (band(0.25, 0.002, 0.03), band(1.0, 0.001, 0.02), band(4.0, 0.0005, 0.01))
    curves = {"central": Curve("central", bands, Range(0.25, 0.25))}
    flattery = Flattery(0.9, 0.2, 1.5, 20)
    return Plan(2, BOX, 1_000, 1, None, 0.05, curves, flattery=flattery)


def rows(n=600):
    return np.random.default_rng(0).normal([[30.0], [70.0]], 4, (2, n // 2)).reshape(-1, 1)


@pytest.mark.heavy
def test_the_budgets_lie_about_that_of_the_release():
    model = shoal.PrivateKMeans(2, epsilon=2, domain=BOX, random_state=1).fit(rows())
    plan = what_if_plan(model)
    assert [each.epsilon for each in plan.curves["central"].bands] == [0.5, 2, 8]
    assert abs(plan.n_expected - 600) < 30


def test_a_promise_with_a_delta_has_none():
    promise = ApproxDP(1, 1e-6)
    model = shoal.PrivateKMeans(2, privacy=promise, domain=BOX, random_state=1).fit(rows())
    assert what_if_plan(model) is None


def test_the_table_marks_the_release_and_states_the_flattery(plan):
    table = what_if_table(plan)
    assert [row[0] for row in table.rows] == ["0.25", "1 (this release)", "4"]
    assert [row[1] for row in table.rows] == ["0.2 to 3", "0.1 to 2", "0.05 to 1"]
    assert "in 20 settings" in table.note
    assert "0.9 in the median, from 0.2 to 1.5. Below 1 it flatters." in table.note


def test_the_numbers_are_for_scripts_too(plan):
    values = what_if_values(plan)
    assert [each["epsilon"] for each in values["budgets"]] == [0.25, 1.0, 4.0]
    assert values["budgets"][1]["nine_in_ten"] == {"low": 0.02, "high": 0.04}
    assert values["flattery"]["least"] == 0.2
