import json

import numpy as np
import pytest

from shoal.cluster.intervals._result import RATE, Intervals


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


@pytest.mark.parametrize("missing", [None, "No cells."])
def test_they_come_back_from_json_as_they_were(missing):
    low, high = np.array([[0.1, -np.inf], [np.nan, 1.0]]), np.array([[0.2, 1.0], [np.nan, np.inf]])
    sizes = np.array([40.0, np.nan])
    before = Intervals(low, high, sizes, sizes + 20, 90, 110.5, missing=missing)
    text = json.dumps(before.to_dict(), allow_nan=False)
    after = Intervals.of(json.loads(text))
    for name in ("centers_low", "centers_high", "sizes_low", "sizes_high"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    assert (after.total_low, after.total_high, after.missing) == (90, 110.5, missing)


@pytest.mark.parametrize("k", [0, 3])
def test_groups_without_centres_come_back_as_they_were(k):
    none = np.empty((k, 0))
    after = Intervals.of(Intervals(none, none, np.ones(k), np.ones(k), 1.0, 2.0).to_dict())
    assert after.centers_low.shape == none.shape
    assert after.sizes_low.tolist() == [1.0] * k


def test_other_groupings_are_as_good_where_more_than_a_third_of_the_groups_are_unstable():
    assert found().has_rivals
    ends = np.zeros((3, 1))
    low = np.array([40.0, 30.0, np.nan])
    assert not Intervals(ends, ends, low, low, 90.0, 110.0).has_rivals
