import pytest

from shoal.data.column_names import (
    check_header,
    closest_name,
    column_positions,
    missing_columns_error,
)
from shoal.data.source import find_columns
from shoal.errors import UnknownColumn, UnreadableTable

GOOD = [
    ["age"],
    ["name", "age", "visits 2024", "q17", "No", "x0"],
    ["Wie oft waren Sie in den letzten zwölf Monaten krank?", "größe", "年齢"],
]
BAD = {
    "a number": ["CANARY Roe", "34", "flu"],
    "an amount": ["CANARY Roe", "$1,200.50"],
    "a phone": ["CANARY Roe", "+49 170 1234567"],
    "a date": ["CANARY Roe", "1984-03-02"],
    "a German date": ["CANARY Roe", "2.3.1984"],
    "a time": ["CANARY Roe", "12:30:00"],
    "nothing": ["CANARY Roe", ""],
    "blanks": ["CANARY Roe", "  "],
    "a missing value": ["CANARY Roe", "NA"],
    "an e-mail": ["CANARY Roe", "roe@example.org"],
    "a line break": ["name", "age,visits\nCANARY Roe,34"],
    "an unprintable character": ["name", "CANARY\x1b[2J"],
    "a long text": ["name", "CANARY" * 40],
}


@pytest.mark.parametrize("names", GOOD)
def test_names_of_columns_pass(names):
    check_header(names)


@pytest.mark.parametrize("kind", BAD)
def test_a_first_line_that_is_somebodys_is_refused_and_not_quoted(kind):
    with pytest.raises(
        UnreadableTable,
        match=r"visits\.csv .* the 2nd of ",
        check=lambda error: error.reason == "no header",
    ) as caught:
        check_header(BAD[kind], "visits.csv")
    for word in BAD[kind]:
        assert not word.strip() or word in ("name",) or word not in str(caught.value)


SLIPS = [("age", "Age"), ("post code", "postcode"), ("first_name", "First Name"),
         ("visits", "vists"), ("visits", "visist"), ("diagnosis", "diagosnis")]  # fmt: skip
OTHERS = [("age", "sage"), ("sex", "six"), ("name", "Anna"), ("year2019", "year2020"),
          ("visits", "Anna Roe"), ("diagnosis", "Diabetes"), ("1984-03-02", "1984-03-07"),
          ("_", "-")]  # fmt: skip


@pytest.mark.parametrize(("asked", "there"), SLIPS)
def test_a_slip_of_the_pen_is_pointed_out(asked, there):
    assert closest_name(asked, ["CANARY", there]) == [there]


@pytest.mark.parametrize(("asked", "there"), OTHERS)
def test_a_name_that_is_merely_alike_is_not_said(asked, there):
    assert closest_name(asked, ["CANARY", there]) == []


def test_what_is_asked_for_is_said_and_what_is_there_is_counted():
    error = missing_columns_error(["age", "visits", "sex"], ["age", "CANARY Roe", "34", "flu"])
    assert isinstance(error, UnknownColumn)
    message = "'visits', 'sex' of the 3 columns selected are not in the table, which has 4."
    assert error.message == message
    for word in ("CANARY", "34", "flu"):
        assert word not in str(error)


@pytest.mark.heavy
def test_thousands_of_names_are_compared_in_a_moment():
    with pytest.raises(UnknownColumn):
        find_columns([f"column {i}" for i in range(3_000)], [f"other {i}" for i in range(3_000)])


def test_places_are_said_in_order():
    assert column_positions(["a"], "abc") == "the 1st"
    assert column_positions(list("abc"), "abc") == "the 1st, 2nd and 3rd"
    assert column_positions([f"{i}" for i in range(9, 20)], [f"{i}" for i in range(30)]) == (
        "the 10th, 11th, 12th, 13th, 14th and 6 more"
    )
