import json
import shlex

import pytest

from shoal.audit import LowerBound, Measured
from shoal.audit.case import Case
from shoal.audit.twins import twins
from shoal.cli._output import render_text
from shoal.pages.audit import Audit, case_list, page


def bound(epsilon=0.5, claim=1.0, verdict="consistent", **more):
    settings = {"event": "value 1", "ceiling": 5.1, "counts": (60, 40, 100), "alpha": 0.01,
                "draws": 2_000, "pair": "0 against 1", "constructed": True} | more  # fmt: skip
    return LowerBound(epsilon=epsilon, claim=claim, verdict=verdict, **settings)


def audit(findings, name="something", options=None, **more):
    given = {"epsilon": None, "delta": None, "draws": None, "alpha": 0.01} | (options or {})
    return Audit(name, findings, given, 7, **more)


def one(finding, **more):
    return audit({"it": finding}, **more)


def test_the_worst_verdict_is_the_verdict():
    order = ("violated", "broken", "no claim", "consistent")
    for first in range(4):
        found = {each: bound(verdict=each) for each in reversed(order[first:])}
        assert audit(found).verdict == order[first]


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (bound(1.31, verdict="violated"), "1.31 was found where 1 is claimed."),
        (bound(), "0.5 was found where 1 is claimed. This is not a proof."),
        (bound(claim=None, verdict="no claim"), "0.5 was found, and nothing is claimed."),
        (bound(verdict="broken", notes=("NaN: 1 and 0 of 9 outputs",)), "NaN: 1 and 0 of 9"),
        (bound(0.0), "0 was found where 1 is claimed"),
    ],
)
def test_one_finding_is_a_sentence(finding, words):
    assert words in one(finding).sentence


def test_numbers_that_differ_are_told_apart():
    text = one(bound(1.0004, verdict="violated")).sentence
    assert text == "1.0004 was found where 1 is claimed."


def test_many_findings_are_counted():
    found = {"a": bound(), "b": bound(2, verdict="violated"), "c": bound(verdict="broken")}
    assert audit(found).faults == ["b", "c"]
    assert audit(found).sentence.startswith("2 of 3 audits")
    assert audit({"a": bound(), "b": bound()}).sentence.startswith(
        "No audit shows more than is claimed (2 run)"
    )


def test_the_terminal_shows_every_finding_and_what_gave_faults_away():
    found = {"first": bound(), "second": bound(2, verdict="violated", event="value 9")}
    words = render_text(*page(audit(found)).lines)
    for part in ("violated", "first", "second", "second: event: value 9", "alpha 0.01", "seed 7"):
        assert part in words
    assert "for you only" not in words


def test_a_sum_or_a_sensitivity_has_neither_draws_nor_a_ceiling():
    twin = twins["split the wrong way round, d = 10"]
    found = twin.run()
    assert isinstance(found, Measured)
    (row,) = page(audit({"split": found})).verdicts.tables[0]["rows"]
    assert row[1:] == ["violated", "1", "1.21", "", ""]


def test_inputs_that_may_be_somebodys_are_said_to_be():
    hidden = one(bound(constructed=False))
    assert not hidden.constructed
    assert "for you only" in render_text(*page(hidden).lines)
    assert page(hidden).values["for_the_holder_alone"] is True
    assert page(hidden).verdicts.constructed is False


def test_one_finding_on_somebodys_inputs_marks_all():
    assert not audit({"a": bound(), "b": bound(constructed=False)}).constructed


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (one(bound()), "shoal audit something --alpha 0.01 --seed 7"),
        (
            one(bound(), name="Duchi with ties, d = 2", options={"epsilon": "2", "draws": 1000}),
            "shoal audit 'Duchi with ties, d = 2' --epsilon 2 --draws 1000 --alpha 0.01 --seed 7",
        ),
        (
            one(bound(), python="mine:f", pair="[0, 1]", options={"delta": 0.1}),
            "shoal audit --python mine:f --pair '[0, 1]' --made-up --delta 0.1 --alpha 0.01 "
            "--seed 7",
        ),
        (
            one(bound(constructed=False), python="mine:f", pair="[0, 8191]"),
            "shoal audit --python mine:f --pair ... --alpha 0.01 --seed 7",
        ),
    ],
)
def test_the_command_does_the_same_again_and_keeps_nobodys_inputs(made, words):
    assert made.command == words
    assert shlex.split(words)[:2] == ["shoal", "audit"]


def test_the_document_is_plain_json():
    found = {name: twins[name].run(draws=4_000) for name in ("memo per value", "box from the rows")}
    values = page(audit(found)).values
    assert json.loads(json.dumps(values)) == values


def test_a_page_opens_the_few_or_the_first_faults():
    few = page(audit({"a": bound(), "b": bound()})).verdicts
    assert [detail.open for detail in few.details] == [True, True]
    many = {str(i): bound(verdict="violated" if i > 3 else "consistent") for i in range(10)}
    assert [d.name for d in page(audit(many)).verdicts.details if d.open] == ["4", "5", "6"]


def test_every_finding_has_its_figure_and_its_words():
    made = page(audit({"a": bound(notes=("something odd",))})).verdicts
    (detail,) = made.details
    assert len(detail.figures) == 1
    assert "note: something odd" in detail.lines
    assert made.again == "shoal audit something --alpha 0.01 --seed 7"


def test_a_kind_is_named_once_in_the_list():
    case = Case(None, (0, 1), 1.0, about="values 0 and 1")
    known = {"mechanisms": {"a": case, "b": case}, "twins": {"c": case}}
    listed = case_list(known)
    labels = [(line.label, line.text) for line in listed.lines]
    assert labels == [("mechanisms", "a"), ("", "b"), ("twins", "c")]
    assert listed.values["twins"] == {"c": "values 0 and 1"}


def test_a_list_of_nothing_is_nothing():
    assert case_list({"mechanisms": {}}).lines == []
