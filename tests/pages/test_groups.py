import numpy as np
import pytest

from shoal.domain import Box, Schema
from shoal.errors import InvalidSetting
from shoal.pages.groups import (
    Card,
    ColumnText,
    Groups,
    NumericProfiles,
    column_texts,
    interval_text,
    replace_titles,
    times_text,
)

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
    rows = profiles([[2, 2000, 10], [6, 2020, 90]], half=30).rows(0)
    unclear = {row.label for row in rows if row.detail == "no clear difference"}
    assert unclear == {row.label for row in rows if not row.is_clear} == {"Visits", "Year"}


def test_a_title_names_clear_differences_in_the_order_of_the_columns():
    assert profiles([[2, 2000, 10], [18, 2000, 90]]).titles() == [
        "Low visits, low stay",
        "High visits, high stay",
    ]


def test_a_group_like_everyone_says_so():
    assert profiles([[2, 2000, 10], [2, 2000, 10]], half=1).title(0) == "Like everyone"


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
    row = doubtful.rows(0)[0]
    assert (row.interval, row.low, row.is_clear) == ("", None, False)


def test_a_group_that_reaches_over_everyone_can_still_differ():
    means = np.array([[2.0, 2000, 10], [18, 2000, 90]])
    wide = profiles(means, half=50, reaches=True)
    assert wide.title(1) == "High visits, high stay"


def test_intervals_are_rounded_outwards():
    assert interval_text(13.149, 14.41, 30) == "13.1 to 14.5"
    assert interval_text(0.1234, 0.1236, 1) == "0.12 to 0.13"


@pytest.mark.parametrize(
    ("here", "words"),
    [(0.84, "1.8 times as common"), (0.24, "half as common"), (0.47, "about as common"),
     (0.01, "under a tenth as common"), (480, "over 99 times as common")],
)  # fmt: skip
def test_ratios_are_told_in_words(here, words):
    assert times_text(here, 0.48, "common") == words


def test_nothing_is_a_multiple_of_nothing():
    assert times_text(3, 0, "much") == ""


def test_columns_are_called_as_the_schema_says_or_by_their_names_as_words():
    schema = Schema.of(
        {
            "version": 1,
            "columns": {
                "stay": {"low": 0, "high": 9, "label": "Length of stay", "unit": "days"},
                "visits_a_year": {"low": 0, "high": 9},
            },
        }
    )
    named, plain = column_texts(schema, schema.columns)
    assert (named.axis, named.within) == ("Length of stay, days", "length of stay")
    assert plain == ColumnText("Visits a year")
    assert column_texts(Box(GPA=(0, 4)), ["GPA"])[0].within == "GPA"


@pytest.mark.parametrize("names", [["One"], ["One", " "], ["One", 2]])
def test_a_publisher_names_every_group_or_none(names):
    with pytest.raises(InvalidSetting, match="2 groups"):
        replace_titles(["a", "b"], names)


def test_the_publisher_s_names_replace_the_titles():
    assert replace_titles(["a", "b"], [" Early ", "Late"]) == ["Early", "Late"]
    assert replace_titles(["a", "b"], None) == ["a", "b"]


def test_groups_are_listed_by_size_on_a_common_scale():
    cards = [
        Card(number=1, title="Few", size=100, low=80, high=120, rows=[]),
        Card(number=2, title="Many", size=300, low=280, high=400, rows=[]),
        Card(number=3, title="Unsure", size=2, low=None, high=None, rows=[], warning="Noise."),
    ]
    shown = Groups(cards=cards, unit="rows", interval="", note="").to_dict()["cards"]
    assert [card["number"] for card in shown] == [2, 1, 3]
    assert shown[0]["scaled"] == {"size": 0.75, "low": 0.7, "high": 1.0}
    assert shown[2]["scaled"]["low"] is None
    assert [card["in_100"] for card in shown] == [75, 25, 0]
