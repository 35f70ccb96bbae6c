import numpy as np
import pytest

from shoal.cluster.prototypes._profile_limits import NoiseLaw
from shoal.cluster.prototypes.measure import Measured
from shoal.domain import Schema
from shoal.synopsis.mixed.columns import mixed_columns

COLUMNS = mixed_columns(
    Schema.of(
        {
            "version": 1,
            "columns": {
                "age": {"low": 0, "high": 100},
                "sex": {"values": ["F", "M"]},
                "town": {"values": ["a", "b", "c"]},
            },
        }
    )
)


def law(epsilon=1.0):
    return NoiseLaw(Measured(COLUMNS, np.zeros((2, 6), dtype=np.int64), epsilon, np.ones(1)))


def test_limits_lie_about_the_measured_share_and_narrow_with_the_rows():
    widths = []
    for n in (100.0, 1000.0):
        counts = n * np.array([[0.3, 0.7], [0.5, 0.5]])
        low, high = law().share_limits(0, counts, np.array([n, n]))
        assert (low + high) / 2 == pytest.approx(counts / n, abs=0.02)
        widths.append((high - low).mean())
    assert widths[0] > 5 * widths[1]


def test_of_a_group_that_may_be_empty_nothing_is_known():
    low, high = law().share_limits(1, np.array([[1.0, 0.0, 0.0]]), np.array([1.0]))
    assert low.tolist() == [[0, 0, 0]]
    assert high.tolist() == [[1, 1, 1]]
    low, high = law().mean_limits(np.array([[0.5]]), np.array([1.0]))
    assert (low[0, 0], high[0, 0]) == (-1, 1)


def test_noise_of_sizes_is_drawn_for_each_group_apart():
    draws = law().size_noise(3)
    assert draws.shape[1] == 3
    assert np.abs(np.corrcoef(draws.T) - np.eye(3)).max() < 0.05
    assert np.ptp(draws.std(axis=0)) < 1e-9
