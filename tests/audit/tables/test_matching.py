import numpy as np
import pyarrow as pa
import pytest

from shoal.anonymize import Policy
from shoal.audit.tables._matching import Matcher, text_combinations
from shoal.errors import UnknownCategory, UnknownColumn

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}
AGES = {"role": "quasi", "type": "int", "domain": [0, 7],
        "hierarchy": {"kind": "binary", "min_width": 2}}  # fmt: skip
RAW = {"q": ["a", "b", "c", "d"], "age": [0, 1, 6, 7]}


def policy(**output):
    quasi = {"q": {"role": "quasi", "hierarchy": {"tree": TREE}}, "age": AGES}
    content = {"version": 1, "privacy": {"k": 2}, "attributes": quasi}
    return Policy.of(content | ({"output": output} if output else {}))


def candidates(matcher, released, people):
    classes, codes = matcher.classes(released), matcher.codes(people)
    found = np.zeros(len(codes), dtype=int)
    for part, under in matcher.covering(classes, codes):
        found[part] = under @ classes.rows
    return found.tolist()


def label(matcher, low, high):
    """The label of an interval of ages."""
    hierarchy = matcher.codec.hierarchies["age"]
    lows, highs = hierarchy.bounds()
    (at,) = np.flatnonzero((lows == low) & (highs == high))
    return hierarchy.taxonomy.nodes[at].label


def test_labels_fit_whom_they_cover():
    matcher = Matcher.of(policy(), RAW)
    released = {"q": ["x", "x", "y"], "age": [label(matcher, 0, 4)] * 2 + [label(matcher, 4, 8)]}
    people = {"q": ["a", "b", "c", "a"], "age": [1, 3, 5, 5]}
    assert candidates(matcher, released, people) == [2, 2, 1, 0]


def test_a_missing_value_fits_every_label_and_a_strange_one_none():
    matcher = Matcher.of(policy(), RAW)
    released = {"q": ["x", "y", "*"], "age": [label(matcher, 0, 8)] * 3}
    assert candidates(matcher, released, {"q": [None, "z", "c"], "age": [1, 1, 1]}) == [3, 0, 2]


def test_labels_that_overlap_all_count():
    matcher = Matcher.of(policy(), RAW)
    whole = label(matcher, 0, 8)
    released = {"q": ["a", "x", "*"], "age": [whole] * 3}
    assert candidates(matcher, released, {"q": ["a", "b"], "age": [0, 0]}) == [3, 2]


def test_bounds_are_read_as_well_as_labels():
    matcher = Matcher.of(policy(intervals="bounds"), RAW)
    released = {"q": ["x", "y"], "age_low": [0, 4], "age_high": [3, 7]}
    assert candidates(matcher, released, {"q": ["a", "c"], "age": [3, 4]}) == [1, 1]


def test_a_starred_line_fits_everyone():
    matcher = Matcher.of(policy(), RAW)
    released = {"q": ["*", "x"], "age": ["*", label(matcher, 0, 2)]}
    assert candidates(matcher, released, {"q": ["d"], "age": [6]}) == [1]


def test_classes_are_counted():
    matcher = Matcher.of(policy(), RAW)
    classes = matcher.classes({"q": ["x", "y", "x"], "age": [label(matcher, 0, 8)] * 3})
    assert classes.sizes.tolist() == [[1, 1], [2, 1]]
    assert classes.rows[classes.of_line].tolist() == [2, 1, 2]


def test_labels_of_another_policy_are_refused_without_quoting_them():
    matcher = Matcher.of(policy(), RAW)
    with pytest.raises(UnknownCategory) as raised:
        matcher.classes({"q": ["secret"], "age": [label(matcher, 0, 8)]})
    assert "secret" not in str(raised.value)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(UnknownColumn, match="age"):
        Matcher.of(policy(), RAW).codes({"q": ["a"]})


def test_numbers_are_written_alike_before_they_are_compared():
    first = text_combinations({"a": [1, 2]}, ["a"])
    assert first == text_combinations(pa.table({"a": ["1.0", " 2"]}), ["a"]) == [("1",), ("2",)]
