"""Whose a row is: rules on one cell, and old ids that lead to people."""

import pickle

import pyarrow as pa
import pytest

from shoal.domain.features import Crosswalk, FeaturesFile, IdRules
from shoal.engine import features
from shoal.engine.feature_table._owners import Owners
from shoal.errors import AmbiguousId, UnknownColumn

LINKS = Crosswalk("ids.csv", "was", "now")


def owners(was, now, rules=IdRules(ignore_case=True)):  # noqa: B008 - frozen
    return Owners(rules, LINKS, {"was": was, "now": now})


def test_old_ids_lead_to_those_in_use_after_the_rules():
    found = owners(["A1", "a1", "b7", None, "c"], ["X", "x", "y", "z", "C"])
    batch = pa.record_batch({"id": ["a1", "B7", "c", "other", None]})
    assert found.of(batch, "id").to_pylist() == ["x", "y", "c", "other", None]
    sent = pickle.loads(pickle.dumps(found))
    assert sent.of(batch, "id").equals(found.of(batch, "id"))


@pytest.mark.parametrize(
    ("was", "now"), [(["a", "a"], ["x", "y"]), (["a", "b"], ["b", "c"]), (["a", "x"], ["x", "a"])]
)
def test_an_id_that_leads_to_two_people_is_refused_without_its_name(was, now):
    with pytest.raises(AmbiguousId) as refused:
        owners(was, now).of(pa.record_batch({"id": ["CANARY"]}), "id")
    assert "'a'" not in str(refused.value)


def test_a_missing_column_is_found_before_a_row_is_read():
    with pytest.raises(UnknownColumn):
        Owners(IdRules(), LINKS, {"was": ["a"]})


def test_rows_of_ids_of_one_person_change_no_other_row():
    file = FeaturesFile.of(
        {
            "version": 1,
            "person": "id",
            "period": {"from": "2025-03-03", "until": "2025-12-15"},
            "people": {"table": "people.csv"},
            "ids": {"table": "ids.csv", "from": "was", "to": "now"},
            "events": {"log": {"table": "log.csv", "time": "at"}},
            "features": {"n": {"count": "log", "high": 9}},
        }
    )

    def rows(people, was, now, who):
        tables = {
            "people": {"id": people},
            "ids": {"was": was, "now": now},
            "log": {"id": who, "at": ["2025-04-01"] * len(who)},
        }
        found = features(file, tables=tables).to_arrow().to_pylist()
        return {row["id"]: row["n"] for row in found}

    both = rows(["x", "y"], ["a", "b"], ["x", "y"], ["a", "x", "b", "b"])
    assert both == {"x": 2, "y": 2}
    assert rows(["x"], ["a"], ["x"], ["a", "x"]) == {"x": 2}
