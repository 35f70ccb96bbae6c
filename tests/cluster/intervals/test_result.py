import numpy as np

from shoal.cluster.intervals.result import RATE, Intervals


def found(sizes_high=(60.0, np.nan)):
    ends = np.array([[0.25], [np.nan]])
    low, high = np.array([40.0, np.nan]), np.array(sizes_high)
    return Intervals(ends, ends + 0.5, low, high, 90.0, 110.0)


def test_a_group_without_an_interval_is_unstable():
    assert found().unstable.tolist() == [False, True]
    assert found().rate == RATE == 0.9


def test_shares_are_sizes_over_the_total_and_at_most_one():
    assert found().shares_low[0] == 0.4
    assert found().shares_high[0] == 0.6
    assert found((150.0, np.nan)).shares_high[0] == 1.0
    assert np.isnan(found().shares_low[1])


def test_half_a_width_is_half_of_the_distance_between_the_ends():
    assert found().half_widths[0] == [0.25]
