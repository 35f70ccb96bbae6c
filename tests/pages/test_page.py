import pytest

from shoal.domain import Box
from shoal.errors import NotPublishable
from shoal.pages import findings
from shoal.pages.page import (
    Fact,
    Line,
    Page,
    Table,
    bounds_text,
    labelled_lines,
    name_list,
    promise_lines,
)
from shoal.privacy import Protected, Public, PureDP, Released, Result

TABLE = Table("Groups", ["Group", "x"], [["Group 1", "0.5"]], marked=True)


def page(result):
    return Page(
        result=result,
        settings={"title": "Groups"},
        summary="One group.",
        facts=[Fact("Groups", "1", "found")],
        figures=[],
        tables=[TABLE],
        limits=["Noise."],
        lines=[Line("Found", "One group.")],
        values={"n": 1},
    )


def test_a_page_adds_its_own_to_what_was_released():
    given = Result("x", PureDP(1), {"k": Public(1)}, {"centers_": Released([0.5])})
    shown = findings(page(given).to_result())
    assert (shown["settings"]["title"], shown["settings"]["k"]) == ("Groups", 1)
    assert shown["result"]["facts"] == [{"name": "Groups", "value": "1", "detail": "found"}]
    assert shown["result"]["tables"] == [TABLE.to_dict()]
    assert shown["result"]["values"] == {"centers_": [0.5]}
    assert shown["errors"] == ["Noise."]


def test_what_a_result_marks_as_protected_stays_so():
    given = Result("x", PureDP(1), released={"inertia": Protected(3.0)})
    with pytest.raises(
        NotPublishable, match="inertia", check=lambda error: error.reason == "protected value"
    ):
        findings(page(given).to_result())


def test_the_first_line_alone_carries_the_label():
    assert labelled_lines("Cost", ["a", "b"]) == [Line("Cost", "a"), Line("", "b")]
    assert labelled_lines("Cost", []) == []


def test_a_simulation_is_said_to_promise_nothing():
    note, promised = promise_lines(PureDP(1, simulation=True))
    assert note.label == "Note"
    assert promised.text.startswith("Nothing. With real noise: ")
    (promised,) = promise_lines(PureDP(1))
    assert "Nothing" not in promised.text


@pytest.mark.parametrize(
    ("names", "text"),
    [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c"),
     (list("abcde"), "a, b and 3 more columns")],
)  # fmt: skip
def test_names_are_listed_as_in_a_sentence(names, text):
    assert name_list(names) == text


def test_many_bounds_are_cut():
    box = Box.of(list("abcdef"), [0] * 6, [1] * 6)
    assert bounds_text(box).endswith("d 0 to 1 and 2 more")
