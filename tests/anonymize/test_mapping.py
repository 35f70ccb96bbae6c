import csv

import pytest

from shoal.anonymize import Policy, problem_of
from shoal.anonymize.mapping import public_cut, write_mapping

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}


def codec_of(rows=("a", "c"), nulls="own_value", **column):
    column = column or {"hierarchy": {"tree": TREE}}
    policy = Policy.of({
        "version": 1, "attributes": {"q": {"role": "quasi", **column}},
        "privacy": {"k": 2, "nulls": nulls},
    })  # fmt: skip
    return problem_of(policy, {"q": list(rows)}).codec


def places(codec, labels):
    known = [node.label for node in codec.hierarchies["q"].taxonomy.nodes]
    return {"q": {known.index(label) for label in labels}}


def mapping(tmp_path, published, nulls="own_value", rows=("a", "c"), **column):
    codec = codec_of(rows, nulls, **column)
    write_mapping(codec.policy, codec, places(codec, published), tmp_path / "m.csv")
    with (tmp_path / "m.csv").open() as file:
        return [(line["value"], line["label"]) for line in csv.DictReader(file)]


def cut(published, rows=("a", "c"), **column):
    codec = codec_of(rows, **column)
    return public_cut(codec, places(codec, published))["q"]


def test_every_leaf_is_listed(tmp_path):
    found = mapping(tmp_path, ["x", "c", "d"])
    assert found == [("a", "x"), ("b", "x"), ("c", "c"), ("d", "d"), ("<null>", "<null>")]


@pytest.mark.parametrize(
    ("nulls", "nodes", "wanted"),
    [
        ("own_value", ["*"], [("<null>", "*")]),
        ("as_root", ["x", "y"], [("<null>", "*")]),
        ("suppress", ["x", "y"], []),
    ],
)
def test_nulls_are_listed_whether_there_are_any_or_not(tmp_path, nulls, nodes, wanted):
    assert mapping(tmp_path, nodes, nulls)[4:] == wanted


def test_the_mapping_is_the_same_with_nulls_and_without(tmp_path):
    without = mapping(tmp_path, ["x", "y"])
    with_null = mapping(tmp_path, ["x", "y", "<null>"], rows=("a", "c", None))
    assert without == with_null


def test_of_a_learnt_hierarchy_only_what_is_published_is_listed(tmp_path):
    prefix = {"hierarchy": {"kind": "prefix", "keep": [2, 1]}}
    assert mapping(tmp_path, ["11"], rows=("11", "21"), **prefix) == [("11", "11")]


def test_where_nothing_was_published_the_cut_is_as_general_as_it_can_be():
    assert cut(["a"]) == ["a", "b", "y"]
    assert cut(["x", "c"]) == ["x", "c", "d"]
    assert cut(["*"]) == ["*"]
    assert cut(["*", "x"]) == ["x", "y"]  # rows of nothing but * are beside the cut


def test_no_label_of_the_cut_is_above_the_most_general_level_allowed():
    limited = {"hierarchy": {"tree": TREE}, "max_level": 0}
    assert cut(["a"], **limited) == ["a", "b", "c", "d"]
    assert cut(["a"], **{**limited, "max_level": 1}) == ["a", "b", "y"]


def test_the_cut_does_not_tell_whether_the_table_has_nulls():
    for published in (["a"], ["x"], ["c", "d"]):
        assert cut(published) == cut(published, rows=("a", "c", None))
    lone = {"hierarchy": {"tree": {"*": ["a"]}}}
    assert cut(["a"], rows="a", **lone) == cut(["a"], rows=("a", None), **lone) == ["a"]


def test_nulls_in_the_release_are_no_part_of_the_cut_but_the_root_is_opened():
    assert cut(["<null>"], rows=("a", "c", None)) == ["x", "y"]


def test_of_learnt_intervals_the_published_ones_are_listed_and_the_gaps_between_them():
    medians = {"type": "int", "domain": [0, 9], "hierarchy": {"kind": "binary", "split": "median"}}
    rows = (1, 1, 3, 3, 5, 5, 7, 7)
    labels = [n.label for n in codec_of(rows, **medians).hierarchies["q"].taxonomy.nodes]
    assert labels == ["*", "<5", "<2", "[2, 5)", ">=5", "5", ">=6"]
    assert cut(["[2, 5)"], rows, **medians) == ["<2", "[2, 5)", ">=5"]
    assert cut(["<2", ">=6"], rows, **medians) == ["<2", "[2, 6)", ">=6"]
    assert cut(["*"], rows, **medians) == ["*"]
