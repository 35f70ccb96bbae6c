from decimal import Decimal

import pytest

from shoal.domain import Box
from shoal.pages.groups._what_if import budgets_table, noise_table, what_if_values
from shoal.planning import Band, Curve, Ends, Flattery, Plan, Range

BOX = Box(age=(0, 110))


def band(epsilon, low, high):
    return Band(epsilon, low, high, {"as released": low}, Ends(high, 2 * high), Range(1.0, 1.0),
                low, high, 1.0, 1.0)  # fmt: skip


@pytest.fixture
def plan():
    bands = (band(0.25, 0.002, 0.03), band(1.0, 0.001, 0.02), band(4.0, 0.0005, 0.01))
    curves = {"central": Curve("central", bands, Range(0.25, 0.25), 0.25)}
    flattery = Flattery(0.9, 0.2, 1.5, 20)
    return Plan(2, BOX, 1_000, 1, None, 0.05, curves, flattery=flattery)


def test_the_table_marks_the_release_and_states_the_flattery(plan):
    table = budgets_table(plan)
    heads = [row[0] for row in table.rows]
    assert [head.removesuffix(" in 100") for head in heads[::2]] == ["10 → 13", "10 → 86"]
    assert heads[1] == "10 → 24 in 100 (this release)"
    assert [list(row[1:]) for row in table.rows] == [["0.2", "3"], ["0.1", "2"], ["0.05", "1"]]
    assert "in 20 settings" in table.note
    assert "0.9 in the median, from 0.2 to 1.5. Below 1 it flatters." in table.note


def test_the_numbers_are_for_scripts_too(plan):
    values = what_if_values(plan)
    assert [each["epsilon"] for each in values["budgets"]] == [0.25, 1.0, 4.0]
    assert (values["budgets"][1]["typical"], values["budgets"][1]["bad_case"]) == (0.001, 0.02)
    assert values["budgets"][1]["nine_in_ten"] == {"low": 0.02, "high": 0.04}
    assert values["flattery"]["least"] == 0.2


def test_what_noise_alone_would_do_goes_with_the_budget():
    table = noise_table(Decimal(1), {"Size, rows": 40.0})
    assert [row[1] for row in table.rows] == ["160", "40", "10"]
    assert table.rows[1][0] == "10 → 24 in 100 (this release)"
