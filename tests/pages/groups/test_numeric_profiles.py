import numpy as np

from shoal.pages.groups._cards import ColumnText
from shoal.pages.groups._numeric_profiles import NumericProfiles

COLUMNS = [ColumnText("Visits"), ColumnText("Year"), ColumnText("Stay", "days")]
WITHIN = np.array([[0.0, 1990.0, 0.0], [20.0, 2030.0, 100.0]])


def profiles(means, half=0.5, **settings):
    means = np.asarray(means, dtype=float)
    everyone = means.mean(axis=0)
    return NumericProfiles(COLUMNS, WITHIN, means, means - half, means + half, everyone, **settings)


def test_the_strongest_difference_comes_first_and_each_column_once():
    rows = profiles([[2, 2000, 10], [6, 2020, 90]]).rows(1)
    assert [row.label for row in rows] == ["Stay", "Year", "Visits"]
    assert rows[0].unit == "days"


def test_a_difference_is_told_as_a_ratio_only_where_the_scale_begins_at_nothing():
    rows = {row.label: row for row in profiles([[2, 2000, 10], [6, 2020, 90]]).rows(1)}
    assert rows["Visits"].detail == "1.5 times as much"
    assert rows["Year"].detail == "10.0 higher"


def test_where_the_interval_holds_everyone_there_is_no_clear_difference():
    rows = profiles([[2, 2000, 10], [6, 2020, 90]], half=20).rows(0)
    unclear = {row.label for row in rows if row.detail == "no clear difference"}
    assert unclear == {row.label for row in rows if not row.is_clear} == {"Visits", "Year"}


def test_a_title_names_clear_differences_in_the_order_of_the_columns():
    assert profiles([[2, 2000, 10], [18, 2000, 90]]).titles() == [
        "Low visits, low stay",
        "High visits, high stay",
    ]


def test_a_group_that_is_like_everyone_for_certain_says_so():
    same = [[2, 2000, 10], [2, 2000, 10]]
    assert profiles(same, half=0.5).title(0) == "Like everyone"
    assert profiles(same, half=20).titles() == ["Not clear at this budget"] * 2


def test_a_difference_that_one_of_many_intervals_may_show_by_chance_is_not_clear():
    means = np.array([[2.0, 2000, 10], [8.0, 2000, 10]])
    assert profiles(means, half=1.4).title(0) == "Low visits"
    assert profiles(means, half=2.4).title(0) == "Not clear at this budget"


def test_of_equal_titles_the_extreme_one_is_told_apart():
    titles = profiles([[2, 2000, 10], [18, 2000, 10], [14, 2000, 10], [2, 2000, 60]]).titles()
    assert len(set(titles)) == 4
    assert titles[1] == "Highest visits, low stay"
    assert titles[2] == "High visits, low stay"


def test_an_unstable_group_is_named_with_a_perhaps():
    means = np.array([[2.0, 2000, 10], [18, 2000, 90]])
    unknown = np.full(means.shape, np.nan)
    doubtful = NumericProfiles(COLUMNS, WITHIN, means, unknown, unknown, means.mean(axis=0))
    assert doubtful.title(0) == "Perhaps low visits; the rest is unclear"
    near = NumericProfiles(COLUMNS, WITHIN, means, unknown, unknown, means[0] + [4, 0, 0])
    assert near.title(0) == "Not clear at this budget"
    row = doubtful.rows(0)[0]
    assert (row.interval, row.low, row.is_clear) == ("", None, False)


def test_a_group_that_reaches_over_everyone_can_still_differ():
    means = np.array([[2.0, 2000, 10], [18, 2000, 90]])
    wide = profiles(means, half=50, reaches=True)
    assert wide.title(1) == "High visits, high stay"


def test_groups_of_one_title_are_told_apart_by_where_they_lie():
    assert profiles([[10, 2009, 50], [10, 2011, 50]]).titles() == [
        "Like everyone, year 2009.0",
        "Like everyone, year 2011.0",
    ]
