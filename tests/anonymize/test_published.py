import pytest

from shoal.anonymize import Policy
from shoal.anonymize.hierarchies import binary, from_nested
from shoal.anonymize.published import published_names, shown

AGES = binary((0, 3), whole=True, min_width=2).with_null()


def policy(intervals, nulls="own_value"):
    age = {"role": "quasi", "type": "int", "domain": [0, 3], "hierarchy": {"kind": "binary"}}
    sex = {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}
    return Policy.of({
        "version": 1, "attributes": {"age": age, "sex": sex},
        "privacy": {"k": 2, "nulls": nulls}, "output": {"intervals": intervals},
    })  # fmt: skip


@pytest.mark.parametrize(
    ("intervals", "nulls", "wanted"),
    [
        ("label", "own_value", {"age": ["*", "<2", ">=2", "<null>"]}),
        ("label", "as_root", {"age": ["*", "<2", ">=2", "*"]}),
        ("bounds", "own_value", {"age_low": [0, 0, 2, None], "age_high": [3, 1, 3, None]}),
        ("bounds", "as_root", {"age_low": [0, 0, 2, 0], "age_high": [3, 1, 3, 3]}),
        ("midpoint", "own_value", {"age": [1.5, 0.5, 2.5, None]}),
    ],
)
def test_nodes_are_shown_as_asked(intervals, nulls, wanted):
    found = shown(policy(intervals, nulls), "age", AGES)
    assert {name: column.to_pylist() for name, column in found.items()} == wanted
    assert set(found) == set(published_names(policy(intervals, nulls), "age"))


def test_bounds_of_other_numbers_are_half_open():
    found = shown(policy("bounds"), "age", binary((0.0, 1.0), whole=False, min_width=0.5))
    assert found["age_high"].to_pylist() == [1.0, 0.5, 1.0]


def test_what_is_no_interval_keeps_its_label():
    tree = from_nested({"*": ["F", "M"]})
    assert shown(policy("bounds"), "sex", tree)["sex"].to_pylist() == ["*", "F", "M"]
    assert published_names(policy("bounds"), "sex") == ("sex",)
