import re
from importlib.resources import files

import pytest

from shoal.privacy import ApproxDP, KAnonymity, LocalDP, MetricDP, PureDP, Unprotected
from shoal.privacy.wording import SIMULATION, promise

EVERY_KIND = [
    PureDP(1),
    PureDP(7, rows=3),
    PureDP(1, neighbours="replace-one"),
    PureDP("0.1", neighbours="replace-one", rows=2),
    ApproxDP(6, "1/7", rows=3),
    ApproxDP(1, 1e-8),
    ApproxDP(7, "1/3000000", rows=3),
    ApproxDP(6, 1e-6, neighbours="replace-one"),
    LocalDP(1),
    LocalDP(9),
    MetricDP(4, unit="km"),
    MetricDP("0.5", slack="0.1", scale="box"),
    KAnonymity(10, l=3, t=0.2),
    Unprotected("The scores are the plain ones."),
]
NEVER = [
    "anonymous", "anonymised data", "cannot be identified", "safe", "secure", "verified",
    "certified", "compliant", "guarantees your privacy", "no risk", "military-grade", "strong",
    "the attack failed", "noise was removed", "traffic light",
]  # fmt: skip


def everything_said(guarantee, **context):
    words = promise(guarantee, **context)
    return [words.lead, *words.more, words.exact, *words.holds, *words.fails, words.name,
            words.protects, words.compared]  # fmt: skip


@pytest.mark.parametrize("guarantee", EVERY_KIND, ids=str)
def test_nothing_on_the_never_list_is_said(guarantee):
    said = " ".join(everything_said(guarantee)).lower()
    assert not [words for words in NEVER if re.search(rf"\b{words}\b", said)]


@pytest.mark.parametrize("name", ["page.html", "page.css"])
def test_nothing_on_the_never_list_is_in_the_template(name):
    page = files("shoal.pages").joinpath("templates", name).read_text(encoding="utf-8").lower()
    page = page.replace("<strong>", "").replace("</strong>", "").replace("| safe", "SAFE FILTER")
    assert not [words for words in NEVER if re.search(rf"\b{words}\b", page)]
    assert "SAFE FILTER" not in page


@pytest.mark.parametrize("guarantee", EVERY_KIND, ids=str)
def test_sentences_after_the_lead_have_at_most_25_words(guarantee):
    words = promise(guarantee)
    for text in (*words.more, *words.holds, *words.fails):
        assert max(len(s.split()) for s in re.split(r"[.:] ", text)) <= 25, text


@pytest.mark.parametrize("guarantee", EVERY_KIND[:-1], ids=str)
def test_what_does_not_hold_takes_three_to_seven_lines(guarantee):
    assert 3 <= len(promise(guarantee).fails) <= 7


def test_the_value_sentence_stands_beside_an_add_remove_promise():
    assert any("at most 7.39" in line for line in promise(PureDP(1)).fails)


def test_a_replace_one_promise_says_nothing_about_membership():
    said = " ".join(everything_said(PureDP(1, neighbours="replace-one")))
    assert "Everyone may know that you are in the table" in said
    assert "took part" not in " ".join(promise(PureDP(1, neighbours="replace-one")).holds)
    assert "at most 24 in 100" in said


def test_a_chance_of_failure_is_said_where_the_limit_is_and_where_it_fails():
    words = promise(ApproxDP(1, 1e-8))
    assert "at most 24 in 100" in words.lead
    assert words.lead.endswith("but for a chance of at most 1 in 100,000,000.")
    assert "+ δ with ε = 1, δ = 0.00000001" in words.exact
    assert "anything about you may show" in words.fails[0]
    assert words.name == "ε = 1, δ = 0.00000001, approximate differential privacy"


@pytest.mark.parametrize(("delta", "shown"), [("1/3456789", "3,450,000"), ("0.3", "3")])
def test_a_chance_is_never_understated(delta, shown):
    assert f"1 in {shown}." in promise(ApproxDP(1, delta)).lead


def test_a_person_of_several_rows_is_named():
    assert "person with at most 3 rows" in promise(PureDP(7, rows=3)).exact


def test_a_local_promise_says_what_is_not_hidden():
    said = " ".join(everything_said(LocalDP(1), value="location"))
    assert "Your location was changed at random on your own device" in said
    assert "when, and from which address is not hidden" in said


def test_a_local_promise_about_a_holders_table_speaks_of_no_device():
    said = " ".join(everything_said(LocalDP(1), value="age", by_holder=True))
    assert "Your age was changed at random before it left whoever holds the table" in said
    assert "They still hold the true one" in said
    assert "device" not in said
    assert "address" not in said
    assert "Nobody" not in said


def test_a_metric_promise_is_said_in_distances():
    words = promise(MetricDP(4, unit="km"), diameter=8, dimensions=2)
    assert words.lead == (
        "Between two places 25 m apart, odds change by a factor of at most 1.11; between places "
        "250 m apart, odds change by a factor of at most 2.72. Between opposite ends of the area, "
        "8 km apart, odds change by a factor of over 1,000, which limits next to nothing."
    )
    assert words.more[0] == (
        "Half of the reports land within 420 m of the true place, 95 in 100 within 1.19 km."
    )
    assert words.after is None


def test_slack_counts_at_every_distance():
    assert "2.46" in promise(MetricDP(1, slack="0.8")).lead  # e^0.9


def test_k_anonymity_names_its_columns_and_the_worst_share():
    rule = {"column": "income", "l": {"kind": "distinct", "value": 3}, "share": 0.614}
    words = promise(KAnonymity(10, l=3), columns=("age", "sex"), rules=[rule])
    assert words.lead.startswith("In the published table at least 10 people share every")
    assert "at most 1 in 10" in words.more[0]
    assert "62 in 100" in " ".join(words.more)
    assert "1 in 3" not in " ".join(everything_said(KAnonymity(10, l=3)))


def test_no_promise_is_said_plainly_and_without_epsilon():
    said = " ".join(everything_said(Unprotected("Plain scores.")))
    assert said.startswith("No promise. Plain scores.")
    assert "ε" not in said


def test_from_epsilon_5_on_a_small_guess_is_followed_up():
    assert "A 1 in 100 guess can become 60 in 100." in promise(PureDP(5)).fails
    assert not any("1 in 100 guess" in line for line in promise(PureDP("4.99")).fails)


def test_a_budget_that_limits_nothing_says_so():
    words = promise(PureDP(20))
    assert "to over 99 in 100, however" in words.lead
    assert "next to nothing" in words.more[0]


def test_the_simulation_banner_says_that_nothing_is_protected():
    assert SIMULATION.endswith("so nothing here is protected.")


def test_swapping_a_value_is_two_steps_for_delta_too():
    (sentence,) = [line for line in promise(ApproxDP(1, 1e-9)).fails if "your values" in line]
    assert "7.39" in sentence
    assert "1 in 268,000,000" in sentence  # (1 + e) 1e-9


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_without_a_chance_of_failure_the_words_are_those_of_the_pure_promise(neighbours):
    assert promise(ApproxDP(1, 0, neighbours=neighbours)) == promise(PureDP(1, neighbours))
