from datetime import date

import pyarrow as pa
import pytest

from shoal.anonymize import run_policy
from shoal.anonymize._policy import Policy
from shoal.anonymize.hierarchies import NO_LEAF, build_by_frequency, build_ordered, build_periods
from shoal.anonymize.hierarchies._build import build_hierarchy, needs_rows
from shoal.errors import HierarchyInvalid, InvalidPolicy


def policy(hierarchy, **entry):
    column = {"role": "quasi", "hierarchy": hierarchy, **entry}
    return Policy.of({"version": 1, "privacy": {"k": 2}, "attributes": {"x": column}})


def test_neighbours_of_an_ordered_list_are_merged_and_every_leaf_is_covered():
    hierarchy = build_ordered([1, 2, 3, 4, 5, 6, 7], fanout=3)
    assert hierarchy.paths()[0] == ["1", "1 to 3", "*"]
    assert hierarchy.paths()[-1] == ["7", "7", "*"]
    assert hierarchy.leaf_of(pa.array(["2", "7", "8"])).tolist() == [1, 6, NO_LEAF]
    assert not hierarchy.learnt


def test_a_list_by_frequency_goes_from_common_to_rare_and_keeps_ties_in_order():
    hierarchy = build_by_frequency({"a": 1, "b": 5, "c": 5, "d": 9})
    assert list(hierarchy.taxonomy.leaves) == ["d", "b", "c", "a"]
    assert hierarchy.paths()[1] == ["b", "d and 1 more", "*"]


def test_a_value_that_reads_like_a_label_is_refused():
    with pytest.raises(HierarchyInvalid):
        build_ordered(["a", "b", "c", "a to b"])


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"kind": "order", "values": ["a", "b", "c"]},
        {"kind": "frequency", "counts": {"a": 3, "b": 2, "c": 1}},
        {"kind": "prefix", "keep": [2, 1], "values": ["70", "71", "80"]},
    ],
)
def test_public_lists_of_a_policy_need_no_rows_and_learn_nothing(hierarchy):
    rules = policy(hierarchy)
    assert not needs_rows(rules.attributes["x"])
    built = build_hierarchy(rules, "x")
    assert built.taxonomy.size == 3
    assert not built.learnt


@pytest.mark.parametrize(
    ("hierarchy", "what"),
    [
        ({"kind": "order", "values": ["a", "a"]}, "twice"),
        ({"kind": "order", "values": [1, "1"]}, "twice"),
        ({"kind": "order", "values": ["a", True]}, "quotes"),
        ({"kind": "frequency", "counts": {"a": -1.0}}, "0 or more"),
        ({"kind": "order", "values": ["a"], "fanout": 1}, "fanout"),
        ({"kind": "sorted"}, "order or frequency"),
    ],
)
def test_lists_that_make_no_sense_are_refused(hierarchy, what):
    with pytest.raises(InvalidPolicy) as refused:
        policy(hierarchy)
    assert what in str(refused.value)


@pytest.mark.parametrize(("written", "month"), [("dd/mm/yyyy", "03"), ("mm/dd/yyyy", "05")])
def test_days_are_read_as_they_are_written(written, month):
    rules = policy({"kind": "date", "levels": ["month"], "format": written}, type="date")
    built = build_hierarchy(rules, "x", pa.array(["5/3/2001", "05.03.2001 12:00", "1/1/2001"]))
    assert list(built.taxonomy.leaves) == ["2001-01", f"2001-{month}"]
    cells = pa.array(["05/03/2001", "2001-03-05", "40/40/2001"])
    assert built.leaf_of(cells).tolist() == [1, NO_LEAF, NO_LEAF]


def test_a_column_of_dates_needs_no_spelling():
    days = pa.array([date(2001, 3, 5)])
    built = build_periods(["month"], values=days, written="dd/mm/yyyy")
    assert built.leaf_of(days).tolist() == [0]


@pytest.mark.heavy
def test_a_release_under_an_ordered_list_has_its_labels(tmp_path):
    rules = {
        "version": 1,
        "privacy": {"k": 4, "suppression": 0},
        "attributes": {
            "x": {"role": "quasi", "hierarchy": {"kind": "order", "values": ["a", "b", "c", "d"]}}
        },
        "output": {"path": str(tmp_path / "out.csv")},
    }
    run_policy(rules, {"x": ["a", "b"] * 3 + ["c"] * 4 + ["d"] * 4})
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert sorted({line.strip('"') for line in lines}) == ["a to b", "c", "d"]
