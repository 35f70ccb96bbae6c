import csv
import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.hierarchies import from_nested, from_paths, read_hierarchy, write_arx
from shoal.errors import (
    AmbiguousLabel,
    DuplicateLeaf,
    HierarchyInvalid,
    LabelDoesNotCover,
    ShoalError,
)

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data")) / "adult" / "hierarchies"
words = st.text("abcxyz;,\"' é*-0123456789", min_size=1, max_size=6).map(str.strip).filter(bool)


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def test_the_three_formats_of_one_tree_agree(tmp_path):
    arx = written(tmp_path, "a.csv", "a;x;*\nb;x;*\nc;y;*\nd;y;*\n")
    nested = written(tmp_path, "a.yaml", "'*': {x: [a, b], y: [c, d]}")
    as_json = written(tmp_path, "a.json", json.dumps({"*": {"x": ["a", "b"], "y": ["c", "d"]}}))
    pairs = written(tmp_path, "p.csv", "child,parent\na,x\nb,x\nc,y\nd,y\nx,*\ny,*\n")
    trees = [
        read_hierarchy(arx).taxonomy,
        read_hierarchy(nested, "nested").taxonomy,
        read_hierarchy(as_json, "nested").taxonomy,
        read_hierarchy(pairs, "child-parent").taxonomy,
    ]
    assert all(tree == trees[0] for tree in trees)


def test_parent_and_leaves_may_be_named(tmp_path):
    named = from_nested({"parent": "*", "leaves": [{"parent": "x", "leaves": ["a", "b"]}, "c"]})
    assert named.taxonomy == from_nested({"*": [{"x": ["a", "b"]}, "c"]}).taxonomy


@given(st.lists(words, min_size=2, max_size=6, unique=True))
def test_what_is_written_as_arx_reads_back(tmp_path_factory, leaves):
    rows = [[leaf, f"{i % 2}:half", "<root>"] for i, leaf in enumerate(leaves)]
    tree = from_paths(sorted(rows, key=lambda row: row[1]), opaque=True)
    path = tmp_path_factory.mktemp("h") / "tree.csv"
    again = read_hierarchy(write_arx(tree, path), opaque=True)
    assert again.taxonomy == tree.taxonomy
    assert (again.levels == tree.levels).all()


@given(st.text(max_size=60))
def test_any_text_reads_or_is_refused_by_name(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("h") / "any"
    path.write_text(content, encoding="utf-8")
    for format in ("arx", "nested", "child-parent"):
        with suppress(ShoalError):
            assert read_hierarchy(path, format).taxonomy.leaves


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("a;x;*\nb;*\n", HierarchyInvalid),
        ("a;*\na;*\n", DuplicateLeaf),
        ("a;x\nb;y\n", HierarchyInvalid),
        ("a;x;p;*\nb;x;q;*\n", AmbiguousLabel),
        ("5;0-4;*\n", LabelDoesNotCover),
        ("", HierarchyInvalid),
    ],
)
def test_a_broken_arx_file_is_refused(tmp_path, content, error):
    path = written(tmp_path, "broken.csv", content)
    with pytest.raises(error, match=r"broken\.csv"):
        read_hierarchy(path)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("a,b\nb,a\n", HierarchyInvalid),
        ("a,x\na,y\nx,*\ny,*\n", AmbiguousLabel),
        ("a,x,y\n", HierarchyInvalid),
        ("child,parent\n", HierarchyInvalid),
        ("a,x\nb,y\n", HierarchyInvalid),
    ],
)
def test_broken_lines_of_child_and_parent_are_refused(tmp_path, content, error):
    with pytest.raises(error):
        read_hierarchy(written(tmp_path, "broken.csv", content), "child-parent")


@pytest.mark.parametrize(
    "content", ["{'*': [yes, no]}", "{a: [1], b: [2]}", "'*': [x", "{'*': [a, a]}", "&a ['*', *a]"]
)
def test_a_broken_nested_file_is_refused(tmp_path, content):
    with pytest.raises((HierarchyInvalid, DuplicateLeaf, AmbiguousLabel)):
        read_hierarchy(written(tmp_path, "broken.yaml", content), "nested")


def test_truth_values_are_told_to_be_quoted():
    with pytest.raises(HierarchyInvalid, match="quotes"):
        from_nested({"*": [True, False]})


def test_files_that_are_not_there_or_no_text_are_refused(tmp_path):
    with pytest.raises(HierarchyInvalid, match="cannot be read"):
        read_hierarchy(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe;*")
    with pytest.raises(HierarchyInvalid, match="UTF-8"):
        read_hierarchy(tmp_path / "bytes.csv")


def test_contracted_chains_are_reported():
    tree = from_paths([["a", "x", "*"], ["b", "y", "*"], ["c", "y", "*"]])
    assert "each: 1" in tree.notes[0]
    assert from_paths([["a", "*"], ["b", "*"]]).notes == ()


@pytest.mark.skipif(not DATA.exists(), reason="the Adult hierarchies are not here")
def test_adults_hierarchies_read_and_the_lying_one_is_caught():
    for path in DATA.glob("*.csv"):
        if path.name.endswith("age.csv"):
            with pytest.raises(LabelDoesNotCover, match="leaf 5, leaf 10"):
                read_hierarchy(path)
        tree = read_hierarchy(path, opaque=path.name.endswith("age.csv"))
        with path.open() as file:
            leaves = [row[0] for row in csv.reader(file, delimiter=";")]
        assert sorted(tree.taxonomy.leaves) == sorted(leaves)
