import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize import Policy, count_combinations
from shoal.anonymize.codec import (
    NOTHING,
    find_distinct,
    find_nulls,
    published_cells,
    published_names,
)
from shoal.anonymize.hierarchies import build_halves, hierarchy_from_tree
from shoal.errors import InvalidPolicy

QUASI = {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}}

COLUMNS = {
    "text": pa.array(["a", "b", None, "a"]),
    "large text": pa.array(["a", "b", None, "a"], pa.large_string()),
    "numbers": pa.array([1, 2, None, 1]),
    "floats": pa.array([1.0, 2.0, float("nan"), 1.0]),
    "categories": pa.array(["a", "b", None, "a"]).dictionary_encode(),
    "chunks": pa.chunked_array([["a", "b"], [None, "a"]]),
    "chunked categories": pa.chunked_array(
        [pa.array(["a", "b"]).dictionary_encode(), pa.array([None, "a"]).dictionary_encode()]
    ),
}

AGES = build_halves((0, 3), whole=True, min_width=2).with_null()


def codec(rows, **sensitive):
    policy = Policy.of({
        "version": 1, "privacy": {"k": 2}, "input": {"null_values": ["NA"]},
        "attributes": {"q": QUASI, "s": {"role": "sensitive", **sensitive}},
    })  # fmt: skip
    return count_combinations(policy, rows).codec


def test_cells_of_any_rows_become_codes():
    made = codec({"q": ["a", "NA", "b"], "s": ["u", "v", "u"]}, t={"value": 0.5})
    assert made.leaves("q", pa.array(["b", None, "NA", "zzz"])).tolist() == [1, 2, 2, -1]
    assert made.numbers("s", pa.array(["v", None, "u"])).tolist() == [1, NOTHING, 0]


def test_without_nulls_at_first_a_null_has_no_leaf():
    made = codec({"q": ["a", "b"], "s": ["u", "v"]})
    assert made.leaves("q", pa.array([None, "a"])).tolist() == [NOTHING, 0]
    assert made.values == {}


@pytest.mark.heavy
def test_dates_are_ordered_by_time_and_numbers_by_size():
    rows = {"q": ["a", "b"], "s": ["2001-03-05", "1999-12-31"]}
    made = codec(rows, type="date", t={"kind": "ordered", "value": 0.5})
    assert made.numbers("s", pa.array(rows["s"])).tolist() == [1, 0]
    rows = {"q": ["a", "b"], "s": [100, 9]}
    made = codec(rows, type="int", t={"kind": "ordered", "value": 0.5})
    assert made.numbers("s", pa.array(["100", "9.0"])).tolist() == [1, 0]


def test_a_hierarchy_numbers_sensitive_values_by_its_leaves():
    tree = {"tree": {"*": {"x": ["v", "u"], "y": ["w"]}}}
    made = codec(
        {"q": ["a", "b"], "s": ["u", "w"]}, hierarchy=tree, t={"kind": "hierarchical", "value": 0.5}
    )
    assert made.values["s"].size == 3
    assert made.numbers("s", pa.array(["u", "w"])).tolist() == [1, 2]


@pytest.mark.parametrize("name", COLUMNS)
def test_any_column_is_taken_apart(name):
    found = find_distinct(COLUMNS[name], [""])
    assert found.at[0] == found.at[3] >= 0
    assert found.at[1] not in (found.at[0], -1)
    assert found.at[2] == -1
    numbers = found.lookup(np.arange(len(found.values), dtype=np.int32) + 10, -7)
    assert numbers[2] == -7
    assert numbers[0] == numbers[3] >= 10


def test_spellings_of_nothing_are_nulls_with_blanks_around_them_too():
    assert find_nulls(pa.array(["", " NA ", "x"]), ["", "NA"]).tolist() == [True, True, False]
    assert find_nulls(pa.array(["", "NA"]), []).tolist() == [False, False]


def test_an_empty_column_has_no_values():
    found = find_distinct(pa.chunked_array([], pa.string()), [""])
    assert len(found.values) == len(found.at) == 0


def test_a_column_of_nothing_is_all_nulls():
    empty = pa.chunked_array([pa.nulls(2), pa.nulls(1)])
    assert find_distinct(empty, []).at.tolist() == [-1, -1, -1]


def test_lists_are_refused_in_words():
    with pytest.raises(InvalidPolicy, match="lists or structures"):
        find_distinct(pa.array([[1], [2]]), [])


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
    found = published_cells(policy(intervals, nulls), "age", AGES)
    assert {name: column.to_pylist() for name, column in found.items()} == wanted
    assert set(found) == set(published_names(policy(intervals, nulls), "age"))


def test_bounds_of_other_numbers_are_half_open():
    found = published_cells(
        policy("bounds"), "age", build_halves((0.0, 1.0), whole=False, min_width=0.5)
    )
    assert found["age_high"].to_pylist() == [1.0, 0.5, 1.0]


def test_what_is_no_interval_keeps_its_label():
    tree = hierarchy_from_tree({"*": ["F", "M"]})
    assert published_cells(policy("bounds"), "sex", tree)["sex"].to_pylist() == ["*", "F", "M"]
    assert published_names(policy("bounds"), "sex") == ("sex",)
