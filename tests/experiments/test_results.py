import math

import pytest

from shoal.experiments._results import Mean, Results, mean_of

ROWS = [
    {"part": "utility", "data": "seeds", "epsilon": e, "draw": i, "ami": e / 10 + i / 100,
     "roc": [[0, 0]]}
    for e in (1.0, 2.0) for i in range(3)
]  # fmt: skip


def test_a_mean_has_the_standard_error_of_its_draws():
    found = mean_of([1, 2, 3, 4])
    assert (found.mean, found.n) == (2.5, 4)
    assert found.error == pytest.approx(math.sqrt(5 / 3 / 4))


def test_one_draw_has_no_error_and_none_has_no_mean():
    assert math.isnan(mean_of([3.0]).error)
    assert mean_of([]) is None
    assert mean_of([None, math.inf, math.nan]) is None


def test_the_error_of_a_difference_is_that_of_both():
    gap = Mean(0.9, 0.03, 5) - Mean(0.5, 0.04, 5)
    assert (gap.mean, gap.error) == (pytest.approx(0.4), pytest.approx(0.05))


def test_a_line_has_a_point_for_each_setting_in_order():
    results = Results(reversed(ROWS), ["data", "epsilon"])
    line = results.line("utility", "ami", data="seeds")
    assert [point[:2] for point in line] == [(1.0, pytest.approx(0.11)), (2.0, pytest.approx(0.21))]


def test_means_keep_the_settings_and_leave_curves_out():
    first, second = Results(ROWS, ["data", "epsilon"]).means("utility")
    assert (first["epsilon"], first["draws"], first["ami"]) == (1.0, 3, 0.11)
    assert "roc" not in second
    assert second["ami_se"] == pytest.approx(0.01 / math.sqrt(3), abs=1e-6)


def test_two_choices_are_compared_by_table_and_budget():
    rows = [{"part": "p", "data": data, "epsilon": 1.0, "method": method, "draw": i,
             "ratio": value + i}
            for data, method, value in (("a", "x", 3.0), ("a", "y", 1.0), ("b", "x", 9.0))
            for i in range(2)]  # fmt: skip
    ((data, epsilon, gap),) = Results(rows).gaps("p", "ratio", "method", "x", "y")
    assert (data, epsilon, gap.mean) == ("a", 1.0, 2.0)
