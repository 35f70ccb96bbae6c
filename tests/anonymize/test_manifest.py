import json

import pytest

from shoal.anonymize import Policy, problem_of
from shoal.anonymize.manifest import FORMAT, cut_of, policy_hash, read_manifest
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
    codec = problem_of(policy(), {"q": ["a", "c"]}).codec
    tree = codec.hierarchies["q"].taxonomy
    cut = cut_of({"q": ["x", "c", "d"]}, codec)
    assert [tree.nodes[place].label for place in cut.nodes[0]] == ["x", "c", "d"]
    for bad in ("x", {"q": 5}, {"q": [["x"]]}, {"q": ["x", "zzz"]}, {"r": ["x"]}, None):
        with pytest.raises(InvalidPolicy):
            cut_of(bad, codec)


def test_nulls_that_come_later_are_a_label_of_their_own_unless_the_root_is():
    codec = problem_of(policy(), {"q": ["a", None]}).codec
    labels = [node.label for node in codec.hierarchies["q"].taxonomy.nodes]
    assert labels.index("<null>") in cut_of({"q": ["x", "y"]}, codec).nodes[0]
    assert cut_of({"q": ["*"]}, codec).nodes == ((0,),)


def test_a_learnt_hierarchy_may_lack_labels_of_a_kept_cut():
    learnt = policy(hierarchy={"kind": "prefix", "keep": [2, 1]})
    codec = problem_of(learnt, {"q": ["11", "21"]}).codec
    assert len(cut_of({"q": ["11", "99"]}, codec).nodes[0]) == 1
