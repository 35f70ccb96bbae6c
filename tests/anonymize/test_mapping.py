import csv

import pytest

from shoal.anonymize import Policy, problem_of
from shoal.anonymize.mapping import published_cut, write_mapping
from shoal.anonymize.problem import Cut

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}


def mapping(tmp_path, nodes, nulls="own_value", rows=("a", "c"), **column):
    column = column or {"hierarchy": {"tree": TREE}}
    policy = Policy.of({
        "version": 1, "attributes": {"q": {"role": "quasi", **column}},
        "privacy": {"k": 2, "nulls": nulls},
    })  # fmt: skip
    codec = problem_of(policy, {"q": list(rows)}).codec
    labels = [node.label for node in codec.hierarchies["q"].taxonomy.nodes]
    places = tuple(labels.index(node) for node in nodes)
    write_mapping(policy, codec, Cut((places,)), {"q": {places[0]}}, tmp_path / "m.csv")
    with (tmp_path / "m.csv").open() as file:
        return [(line["value"], line["label"]) for line in csv.DictReader(file)]


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
    assert mapping(tmp_path, ["11", "21"], rows=("11", "21"), **prefix) == [("11", "11")]


def test_intervals_learnt_as_medians_are_all_listed():
    policy = Policy.of({
        "version": 1, "privacy": {"k": 2},
        "attributes": {"q": {"role": "quasi", "type": "int", "domain": [0, 9],
                             "hierarchy": {"kind": "binary", "split": "median"}}},
    })  # fmt: skip
    tree = problem_of(policy, {"q": [1, 2, 3, 4]}).codec.hierarchies["q"]
    assert (
        published_cut(tree, (1, tree.taxonomy.nodes.index(tree.taxonomy.children("*")[1])), set())
        != []
    )
