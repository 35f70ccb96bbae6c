import json
import shlex

import pytest
from rich.console import Console

from shoal.audit import LowerBound, Measured
from shoal.audit.case import Case
from shoal.audit.twins import twins
from shoal.pages.audit import Told, document, names, names_document, page, summary


def bound(epsilon=0.5, claim=1.0, verdict="consistent", **more):
    settings = {"event": "value 1", "ceiling": 5.1, "counts": (60, 40, 100), "alpha": 0.01,
                "draws": 2_000, "pair": "0 against 1", "constructed": True} | more  # fmt: skip
    return LowerBound(epsilon=epsilon, claim=claim, verdict=verdict, **settings)


def told(found, name="something", asked=None, **more):
    given = {"epsilon": None, "delta": None, "draws": None, "alpha": 0.01} | (asked or {})
    return Told(name, found, given, 7, **more)


def one(finding, **more):
    return told({"it": finding}, **more)


def shown(parts):
    console = Console(width=100, markup=False)
    with console.capture() as text:
        for part in parts:
            console.print(part)
    return text.get()


def test_the_worst_verdict_is_the_verdict():
    order = ("violated", "broken", "no claim", "consistent")
    for first in range(4):
        found = {each: bound(verdict=each) for each in reversed(order[first:])}
        assert told(found).verdict == order[first]


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (bound(1.31, verdict="violated"), "1.31 was found where 1 is claimed."),
        (bound(), "0.5 was found where 1 is claimed, which proves nothing."),
        (bound(claim=None, verdict="no claim"), "0.5 was found, and nothing is claimed."),
        (bound(verdict="broken", notes=("NaN: 1 and 0 of 9 outputs",)), "NaN: 1 and 0 of 9"),
        (bound(0.0), "0 was found where 1 is claimed"),
    ],
)
def test_one_finding_is_a_sentence(finding, words):
    assert words in one(finding).in_words


def test_numbers_that_differ_are_told_apart():
    told_ = one(bound(1.0004, verdict="violated")).in_words
    assert told_ == "1.0004 was found where 1 is claimed."


def test_many_findings_are_counted():
    found = {"a": bound(), "b": bound(2, verdict="violated"), "c": bound(verdict="broken")}
    assert told(found).faults == ["b", "c"]
    assert told(found).in_words.startswith("2 of 3 audits")
    assert told({"a": bound(), "b": bound()}).in_words.startswith("None of 2 audits")


def test_the_terminal_shows_every_finding_and_what_gave_faults_away():
    found = {"first": bound(), "second": bound(2, verdict="violated", event="value 9")}
    words = shown(summary(told(found)))
    for part in ("violated", "first", "second", "second: event: value 9", "alpha 0.01", "seed 7"):
        assert part in words
    assert "for you alone" not in words


def test_a_sum_or_a_sensitivity_has_neither_draws_nor_a_ceiling():
    twin = twins["split the wrong way round, d = 10"]
    found = twin.run()
    assert isinstance(found, Measured)
    (row,) = page(told({"split": found})).tables[0]["rows"]
    assert row[1:] == ["violated", "1", "1.21", "", ""]


def test_inputs_that_may_be_somebodys_are_said_to_be():
    hidden = one(bound(constructed=False))
    assert not hidden.constructed
    assert "for you alone" in shown(summary(hidden))
    assert document(hidden)["for_the_holder_alone"] is True
    assert page(hidden).constructed is False


def test_one_finding_on_somebodys_inputs_marks_all():
    assert not told({"a": bound(), "b": bound(constructed=False)}).constructed


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (one(bound()), "shoal audit something --alpha 0.01 --seed 7"),
        (
            one(bound(), name="Duchi with ties, d = 2", asked={"epsilon": "2", "draws": 1000}),
            "shoal audit 'Duchi with ties, d = 2' --epsilon 2 --draws 1000 --alpha 0.01 --seed 7",
        ),
        (
            one(bound(), python="mine:f", pair="[0, 1]", asked={"delta": 0.1}),
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
    values = document(told(found))
    assert json.loads(json.dumps(values)) == values


def test_a_page_opens_the_few_or_the_first_faults():
    few = page(told({"a": bound(), "b": bound()}))
    assert [detail.open for detail in few.details] == [True, True]
    many = {str(i): bound(verdict="violated" if i > 3 else "consistent") for i in range(10)}
    assert [d.name for d in page(told(many)).details if d.open] == ["4", "5", "6"]


def test_every_finding_has_its_figure_and_its_words():
    made = page(told({"a": bound(notes=("something odd",))}))
    (detail,) = made.details
    assert len(detail.figures) == 1
    assert "note: something odd" in detail.lines
    assert made.again == "shoal audit something --alpha 0.01 --seed 7"


def test_a_kind_is_named_once_in_the_list():
    case = Case(None, (0, 1), 1.0, about="values 0 and 1")
    known = {"mechanisms": {"a": case, "b": case}, "twins": {"c": case}}
    lines = [str(line).removeprefix(kind) for line, kind in
             zip(names(known), ("mechanisms", "", "twins"), strict=True)]  # fmt: skip
    assert [line.strip() for line in lines] == ["a", "b", "c"]
    assert names_document(known)["twins"] == {"c": "values 0 and 1"}


def test_a_list_of_nothing_is_nothing():
    assert names({"mechanisms": {}}) == []
