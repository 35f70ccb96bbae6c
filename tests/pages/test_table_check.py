import json

import pytest

from shoal.anonymize import Policy, recount
from shoal.cli._output import render_text
from shoal.pages.table import check_summary

POLICY = {
    "version": 1, "privacy": {"k": 2, "person": "who"},
    "attributes": {
        "who": {"role": "identifier"},
        "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}},
        "ill": {"role": "sensitive", "l": {"value": 2}},
    },
}  # fmt: skip


@pytest.fixture
def measured():
    policy = Policy.of(POLICY)
    achieved = recount({"sex": ["F", "F", "M"], "ill": ["flu", "cold", "flu"]}, policy)
    return check_summary(policy, achieved, achieved.broken(policy))


@pytest.mark.heavy
def test_a_script_reads_what_was_asked_and_what_was_reached(measured):
    values = json.loads(json.dumps(measured.values))
    assert values["k"] == {"asked": 2, "reached": 1}
    assert values["kept"] is False
    assert len(values["broken"]) == 2
    assert values["counted"] == "rows"


@pytest.mark.heavy
def test_words_name_what_is_broken_and_that_rows_were_counted(measured):
    words = " ".join(render_text(*measured.lines).split())
    assert "Broken" in words
    assert "1 row in the smallest of 2 groups" in words
    assert "does not say whose a row is" in words
