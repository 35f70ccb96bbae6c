import pyarrow as pa

from shoal.anonymize import Policy, problem_of
from shoal.anonymize.codec import NOTHING

QUASI = {"role": "quasi", "hierarchy": {"tree": {"*": ["a", "b"]}}}


def codec(rows, **sensitive):
    policy = Policy.of({
        "version": 1, "privacy": {"k": 2}, "input": {"null_values": ["NA"]},
        "attributes": {"q": QUASI, "s": {"role": "sensitive", **sensitive}},
    })  # fmt: skip
    return problem_of(policy, rows).codec


def test_cells_of_any_rows_become_codes():
    made = codec({"q": ["a", "NA", "b"], "s": ["u", "v", "u"]}, t={"value": 0.5})
    assert made.leaves("q", pa.array(["b", None, "NA", "zzz"])).tolist() == [1, 2, 2, -1]
    assert made.numbers("s", pa.array(["v", None, "u"])).tolist() == [1, NOTHING, 0]


def test_without_nulls_at_first_a_null_has_no_leaf():
    made = codec({"q": ["a", "b"], "s": ["u", "v"]})
    assert made.leaves("q", pa.array([None, "a"])).tolist() == [NOTHING, 0]
    assert made.values == {}


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
