import pytest

from shoal.domain import Box
from shoal.pages import verdict_page
from shoal.pages.page import Table
from shoal.pages.plan import HOW_GOOD, NOT_OPENED, REPORTS, by_groups, page
from shoal.planning import Band, Curve, Ends, Flattery, Plan, Range


def plan_of(**changes):
    bands = (
        Band(0.1, 0.002, 0.03, {"clear": 0.002, "no gaps": 0.03}, Ends(0.01, 0.2),
             Range(1_234.0, None), 0.02, 0.3, 0.8, None),
        Band(1.0, 0.0002, 0.003, {"clear": 0.0002, "no gaps": 0.003}, Ends(0.001, 0.02),
             Range(123.4, 1_000.0), 0.002, 0.03, 0.97, 456.7),
    )  # fmt: skip
    curve = Curve("central", bands, Range(0.1, 0.3333), changes.pop("needed", 0.3333))
    facts = {"n_clusters": 4, "box": Box(age=(0, 110)), "n_expected": 10_000, "within": 0.05}
    facts |= {"rows_per_person": 1, "groups": None, "curves": {"central": curve}}
    return Plan(**facts | changes)


def text_of(shown):
    return " ".join(line.text for line in shown.lines if not isinstance(line, Table))


def test_it_says_that_no_table_was_opened():
    shown = page(plan_of())
    assert NOT_OPENED in text_of(shown)
    assert HOW_GOOD in text_of(shown)
    assert "Heavy tails, a group far from all others" in text_of(shown)
    assert shown.values["opened_a_table"] is False
    assert shown.values["spent"] == 0


def test_it_answers_which_budget_the_wanted_error_takes_and_what_to_expect_there():
    text = text_of(page(plan_of()))
    assert "5 % of the range in nine of ten tables: epsilon 0.34. At epsilon 1, expect" in text
    assert "about 0.2 % of a column's range; in nine of ten tables by less than 3 %" in text
    assert "About 97 in 100 groups come back." in text


@pytest.mark.parametrize(
    ("needed", "answer"), [(None, "not reached up to epsilon 1."), (0.05, "epsilon 0.1 or less.")]
)
def test_it_says_so_where_the_error_is_not_reached_or_always(needed, answer):
    assert answer in text_of(page(plan_of(needed=needed)))


def test_the_table_has_a_line_for_each_budget():
    (table,) = [line for line in page(plan_of()).lines if isinstance(line, Table)]
    assert table.columns[-1] == "People for 5 %"
    assert [list(row) for row in table.rows] == [
        ["0.1", "2", "30", "80", "not reached"],
        ["1", "0.2", "3", "97", "460"],
    ]


def test_shapes_are_shown_only_if_asked_for():
    shown = page(plan_of(), details=True)
    shapes = [line for line in shown.lines if isinstance(line, Table)][1]
    assert shapes.columns[:3] == ["Epsilon", "Clear", "No gaps"]
    assert list(shapes.rows[0])[1:5] == ["0.2", "3", "0.2 to 3", "1 to 20"]


def test_the_command_that_follows_can_be_pasted():
    next_ = "shoal cluster TABLE.csv -k 4 --epsilon 0.34 --domain visits.yaml -o groups"
    assert next_ in text_of(page(plan_of(), domain="visits.yaml"))


def test_several_numbers_of_groups_are_lines_of_one_table():
    shown = by_groups([plan_of(n_clusters=2), plan_of(n_clusters=3)])
    (table,) = [line for line in shown.lines if isinstance(line, Table)]
    assert [list(row) for row in table.rows] == [["2", "2, 30", "0.2, 3"], ["3", "2, 30", "0.2, 3"]]
    assert [plan["groups"] for plan in shown.values["plans"]] == [2, 3]


def test_rows_are_counted_where_a_person_has_several():
    shown = page(plan_of(rows_per_person=3))
    (table,) = [line for line in shown.lines if isinstance(line, Table)]
    assert table.columns[-1] == "Rows for 5 %"
    assert "up to 3 a person" in text_of(shown)


def test_a_what_if_states_its_flattery():
    text = text_of(page(plan_of(flattery=Flattery(0.8, 0.2, 3.0, 20))))
    assert "in 20 settings" in text
    assert "0.8 in the median, from 0.2 to 3. Below 1 it flatters." in text
    assert NOT_OPENED not in text


def test_the_page_may_be_passed_on_and_has_the_picture():
    html = verdict_page(page(plan_of(skipped={"local": "Too many columns."})).verdicts)
    assert "What to expect before a budget is spent" in html
    assert "CURATOR" not in html
    assert "<svg" in html
    assert "Too many columns." in html


def test_a_plan_for_reports_says_how_little_it_was_tried():
    local = {"local": Curve("local", plan_of().curves["central"].bands, Range(0.1, 0.3), 0.3)}
    assert REPORTS in text_of(page(plan_of(curves=local)))
    assert REPORTS not in text_of(page(plan_of()))
