import numpy as np
import pytest
from scipy.stats import t

from shoal.audit.estimate import Estimate, student


def test_the_standard_error_is_that_of_repeats():
    found = Estimate.of([0.0, 1.0, 0.0, 1.0], alpha=0.01)
    assert found.mean == 0.5
    assert found.standard_error == pytest.approx(np.std([0, 1, 0, 1], ddof=1) / 2)


def test_the_interval_is_students():
    values = np.random.default_rng(0).normal(size=10)
    found = Estimate.of(values, alpha=0.05)
    low, high = t.interval(0.95, 9, values.mean(), values.std(ddof=1) / np.sqrt(10))
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize("repeats", [2, 3, 4])
def test_fewer_than_five_repeats_print_no_interval(repeats):
    found = Estimate.of(np.arange(repeats), alpha=0.05)
    assert found.low is None
    assert found.high is None
    assert found.standard_error is not None
    assert "to" not in str(found)


def test_one_repeat_has_no_standard_error():
    assert Estimate.of([0.3], alpha=0.05).standard_error is None


def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(1)
    found = [Estimate.of(rng.normal(size=6), alpha=0.1) for _ in range(2_000)]
    held = np.mean([e.low <= 0 <= e.high for e in found])
    assert abs(held - 0.9) < 5 * np.sqrt(0.09 / 2_000)  # 5 sd: false alarms below 1e-6


def test_students_t_is_more_than_two_standard_errors():
    assert student(10, 0.01) == pytest.approx(2.821, abs=1e-3)


def test_it_becomes_plain_values_and_a_number():
    found = Estimate.of([1.0, 2.0, 3.0], alpha=0.05)
    assert float(found) == 2
    assert found.to_dict()["repeats"] == 3
