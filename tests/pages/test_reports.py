import json

import pytest

from shoal.domain import Box
from shoal.mechanisms import NDLaplace, Piecewise, clamp
from shoal.pages.reports import coarse_note, report_lines, sidecar

BOX = Box(x=(0, 3), y=(0, 4))


@pytest.fixture
def file():
    return {"name": "reports.csv", "sha256": "0" * 64}


def about(file, mechanism, remap=None, person=None, simulation=False, keep_order=False):
    guarantee = mechanism.guarantee.simulated(simulation)
    return sidecar(mechanism, remap, BOX, guarantee, person, keep_order, 12, file), guarantee


def test_a_metric_promise_is_also_told_as_the_local_one_it_implies(file):
    document, _ = about(file, NDLaplace(2.0, domain=BOX))
    assert document["as_local"]["kind"] == "LocalDP"
    assert float(document["as_local"]["epsilon"]) == pytest.approx(10, abs=1e-4)
    assert about(file, Piecewise(2.0, domain=BOX))[0]["as_local"] is None


def test_a_sidecar_is_plain_json(file):
    document, _ = about(file, NDLaplace(2.0, domain=BOX), remap=clamp(BOX), person="rider")
    assert json.loads(json.dumps(document)) == document
    assert document["remap"]["class"] == "Clamp"
    assert document["versions"]["shoal"]


@pytest.mark.parametrize(
    ("person", "words"),
    [(None, "Whoever has k rows"), ("rider", "One row of each was reported")],
)
def test_the_summary_says_who_is_protected(file, person, words):
    document, guarantee = about(file, Piecewise(2.0, domain=BOX), person=person)
    shown = " ".join(line.text for line in report_lines(document, guarantee))
    assert words in shown


@pytest.mark.parametrize(
    ("keep_order", "order", "words"),
    [(False, "shuffled", "nothing shows where a row stood"), (True, "kept", "place is not hidden")],
)
def test_both_say_in_which_order_reports_lie(file, keep_order, order, words):
    document, guarantee = about(file, Piecewise(2.0, domain=BOX), keep_order=keep_order)
    shown = " ".join(line.text for line in report_lines(document, guarantee))
    assert document["order"] == order
    assert words in shown


def test_a_holders_table_was_on_nobodys_device(file):
    document, guarantee = about(file, Piecewise(2.0, domain=BOX))
    shown = " ".join(line.text for line in report_lines(document, guarantee))
    assert "before it left whoever holds the table" in shown
    assert "device" not in shown


def test_a_simulation_promises_nothing(file):
    document, guarantee = about(file, Piecewise(2.0, domain=BOX), simulation=True)
    shown = " ".join(line.text for line in report_lines(document, guarantee))
    assert "Nothing. With real noise" in shown


@pytest.mark.parametrize(("columns", "in_rounds"), [(3, False), (4, True), (6, True)])
def test_few_columns_need_no_note(columns, in_rounds):
    assert coarse_note(columns, in_rounds) is None


@pytest.mark.parametrize(("columns", "in_rounds"), [(4, False), (8, False), (8, True)])
def test_many_columns_are_said_to_be_coarse(columns, in_rounds):
    assert f"In {columns} columns" in coarse_note(columns, in_rounds)
