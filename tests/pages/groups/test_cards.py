import pytest

from shoal.domain import Box, Schema
from shoal.errors import InvalidSetting
from shoal.pages.groups._cards import (
    Card,
    ColumnText,
    Groups,
    column_texts,
    interval_text,
    replace_titles,
    times_text,
)


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
