import csv
import json

import pytest

from shoal.anonymize import Policy, count_combinations
from shoal.anonymize.release._manifest import (
    FORMAT,
    cut_of,
    mapping_text,
    policy_hash,
    public_cut,
    read_manifest,
)
from shoal.errors import InvalidPolicy

TREE = {"*": {"x": ["a", "b"], "y": ["c", "d"]}}


def policy(k=2, **column):
    column = column or {"hierarchy": {"tree": TREE}}
    attributes = {"q": {"role": "quasi", **column}}
    return Policy.of({"version": 1, "attributes": attributes, "privacy": {"k": k}})


def test_a_policys_hash_is_that_of_its_content():
    assert policy_hash(policy()) == policy_hash(policy())
    assert policy_hash(policy()) != policy_hash(policy(3))


def test_a_file_that_is_no_manifest_is_refused(tmp_path):
    for content in ("{}", "[1]", "no json", json.dumps({"format": "other"})):
        (tmp_path / "m.json").write_text(content)
        with pytest.raises(InvalidPolicy, match=FORMAT):
            read_manifest(tmp_path / "m.json")
    with pytest.raises(InvalidPolicy, match="cannot be read"):
        read_manifest(tmp_path / "none.json")
    (tmp_path / "m.json").write_text(json.dumps({"format": FORMAT, "cut": None}))
    assert read_manifest(tmp_path / "m.json")["cut"] is None


def test_a_kept_cut_is_found_by_its_labels():
    codec = count_combinations(policy(), {"q": ["a", "c"]}).codec
    tree = codec.hierarchies["q"].taxonomy
    cut = cut_of({"q": ["x", "c", "d"]}, codec)
    assert [tree.nodes[place].label for place in cut.nodes[0]] == ["x", "c", "d"]
    for bad in ("x", {"q": 5}, {"q": [["x"]]}, {"q": ["x", "zzz"]}, {"r": ["x"]}, None):
        with pytest.raises(InvalidPolicy):
            cut_of(bad, codec)


def test_nulls_that_come_later_are_a_label_of_their_own_unless_the_root_is():
    codec = count_combinations(policy(), {"q": ["a", None]}).codec
    labels = [node.label for node in codec.hierarchies["q"].taxonomy.nodes]
    assert labels.index("<null>") in cut_of({"q": ["x", "y"]}, codec).nodes[0]
    assert cut_of({"q": ["*"]}, codec).nodes == ((0,),)


def test_a_learnt_hierarchy_may_lack_labels_of_a_kept_cut():
    learnt = policy(hierarchy={"kind": "prefix", "keep": [2, 1]})
    codec = count_combinations(learnt, {"q": ["11", "21"]}).codec
    assert len(cut_of({"q": ["11", "99"]}, codec).nodes[0]) == 1


def codec_of(rows=("a", "c"), nulls="own_value", **column):
    column = column or {"hierarchy": {"tree": TREE}}
    policy = Policy.of({
        "version": 1, "attributes": {"q": {"role": "quasi", **column}},
        "privacy": {"k": 2, "nulls": nulls},
    })  # fmt: skip
    return count_combinations(policy, {"q": list(rows)}).codec


def places(codec, labels):
    known = [node.label for node in codec.hierarchies["q"].taxonomy.nodes]
    return {"q": {known.index(label) for label in labels}}


def mapping(published, nulls="own_value", rows=("a", "c"), **column):
    codec = codec_of(rows, nulls, **column)
    text = mapping_text(codec.policy, codec, places(codec, published))
    return [(line["value"], line["label"]) for line in csv.DictReader(text.splitlines())]


def cut(published, rows=("a", "c"), **column):
    codec = codec_of(rows, **column)
    return public_cut(codec, places(codec, published))["q"]


def test_every_leaf_is_listed():
    found = mapping(["x", "c", "d"])
    assert found == [("a", "x"), ("b", "x"), ("c", "c"), ("d", "d"), ("<null>", "<null>")]


@pytest.mark.parametrize(
    ("nulls", "nodes", "wanted"),
    [
        ("own_value", ["*"], [("<null>", "*")]),
        ("as_root", ["x", "y"], [("<null>", "*")]),
        ("suppress", ["x", "y"], []),
    ],
)
def test_nulls_are_listed_whether_there_are_any_or_not(nulls, nodes, wanted):
    assert mapping(nodes, nulls)[4:] == wanted


@pytest.mark.heavy
def test_the_mapping_is_the_same_with_nulls_and_without():
    without = mapping(["x", "y"])
    with_null = mapping(["x", "y", "<null>"], rows=("a", "c", None))
    assert without == with_null


def test_of_a_learnt_hierarchy_only_what_is_published_is_listed():
    prefix = {"hierarchy": {"kind": "prefix", "keep": [2, 1]}}
    assert mapping(["11"], rows=("11", "21"), **prefix) == [("11", "11")]


@pytest.mark.heavy
def test_where_nothing_was_published_the_cut_is_as_general_as_it_can_be():
    assert cut(["a"]) == ["a", "b", "y"]
    assert cut(["x", "c"]) == ["x", "c", "d"]
    assert cut(["*"]) == ["*"]
    assert cut(["*", "x"]) == ["x", "y"]  # rows of nothing but * are beside the cut


@pytest.mark.heavy
def test_no_label_of_the_cut_is_above_the_most_general_level_allowed():
    limited = {"hierarchy": {"tree": TREE}, "max_level": 0}
    assert cut(["a"], **limited) == ["a", "b", "c", "d"]
    assert cut(["a"], **{**limited, "max_level": 1}) == ["a", "b", "y"]


@pytest.mark.heavy
def test_the_cut_does_not_tell_whether_the_table_has_nulls():
    for published in (["a"], ["x"], ["c", "d"]):
        assert cut(published) == cut(published, rows=("a", "c", None))
    lone = {"hierarchy": {"tree": {"*": ["a"]}}}
    assert cut(["a"], rows="a", **lone) == cut(["a"], rows=("a", None), **lone) == ["a"]


def test_nulls_in_the_release_are_no_part_of_the_cut_but_the_root_is_opened():
    assert cut(["<null>"], rows=("a", "c", None)) == ["x", "y"]


@pytest.mark.heavy
def test_of_learnt_intervals_the_published_ones_are_listed_and_the_gaps_between_them():
    medians = {"type": "int", "domain": [0, 9], "hierarchy": {"kind": "binary", "split": "median"}}
    rows = (1, 1, 3, 3, 5, 5, 7, 7)
    labels = [n.label for n in codec_of(rows, **medians).hierarchies["q"].taxonomy.nodes]
    assert labels == ["*", "<5", "<2", "[2, 5)", ">=5", "5", ">=6"]
    assert cut(["[2, 5)"], rows, **medians) == ["<2", "[2, 5)", ">=5"]
    assert cut(["<2", ">=6"], rows, **medians) == ["<2", "[2, 6)", ">=6"]
    assert cut(["*"], rows, **medians) == ["*"]
