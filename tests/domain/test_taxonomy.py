import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data import adults_hierarchies
from shoal.domain import Taxonomy
from shoal.errors import InvalidDomain, UnknownCategory

PLACES = Taxonomy.nested(
    "any", {"north": {"hills": ["a", "b"], "plain": ["c", "d", "e"]}, "south": ["f", "g"]}
)


def test_leaves_are_numbered_depth_first():
    assert PLACES.leaves == ("a", "b", "c", "d", "e", "f", "g")
    assert PLACES.size == 7
    assert PLACES.codes(["g", "a", "c"]).tolist() == [6, 0, 2]


def test_every_node_is_an_interval_of_its_childrens():
    for place, node in enumerate(PLACES.nodes):
        below = [child for child in PLACES.nodes if child.parent == place]
        if not below:
            assert node.high == node.low + 1
            continue
        assert [child.low for child in below] == [node.low, *(c.high for c in below[:-1])]
        assert below[-1].high == node.high
        assert all(child.depth == node.depth + 1 for child in below)


def test_intervals_and_children_go_by_label():
    assert PLACES.interval("north") == (0, 5)
    assert PLACES.interval("f") == (5, 6)
    assert [node.label for node in PLACES.children("north")] == ["hills", "plain"]
    assert PLACES.children("a") == ()


def test_an_unknown_label_is_refused():
    with pytest.raises(InvalidDomain):
        PLACES.interval("west")


def test_a_value_without_a_leaf_is_counted_and_not_quoted():
    with pytest.raises(UnknownCategory, match="1 of 2") as caught:
        PLACES.codes(["a", "secret"])
    assert "secret" not in str(caught.value)


def test_paths_and_nesting_build_the_same_tree():
    rows = [["a", "hills", "north", "any"], ["b", "hills", "north", "any"]]
    rows += [[leaf, "plain", "north", "any"] for leaf in "cde"]
    rows += [[leaf, leaf, "south", "any"] for leaf in "fg"]
    assert Taxonomy.paths(rows) == PLACES


def test_rows_of_one_parent_may_lie_apart():
    tree = Taxonomy.paths([["1", "odd", "*"], ["2", "even", "*"], ["3", "odd", "*"]])
    assert tree.leaves == ("1", "3", "2")
    assert tree.interval("odd") == (0, 2)


def test_lists_may_mix_leaves_and_branches():
    tree = Taxonomy.nested("any", ["a", {"rest": ["b", "c"]}])
    assert tree.interval("rest") == (1, 3)


def test_chains_end_in_their_leaf_or_keep_their_top():
    tree = Taxonomy.nested("any", {"x": {"only": {"both": ["a", "b"]}}, "y": {"z": ["c"]}})
    assert [node.label for node in tree.nodes] == ["any", "x", "a", "b", "c"]


def test_a_single_value_is_a_tree_of_one_node():
    tree = Taxonomy.nested("any", {"x": ["a"]})
    assert [(n.label, n.low, n.high, n.parent, n.depth) for n in tree.nodes] == [("a", 0, 1, -1, 0)]


def _cycle():
    below: dict[str, object] = {"a": ["b"]}
    below["c"] = below
    return below


INVALID_NESTED = {
    "leaf twice": {"x": ["a"], "y": ["a", "b"]},
    "leaf twice under one parent": {"x": ["a", "a"]},
    "label under two parents": {"x": {"p": ["a", "b"]}, "y": {"p": ["c", "d"]}},
    "leaf named like a branch": {"x": ["y", "a"], "y": ["b", "c"]},
    "branch named like the root": {"any": ["a", "b"], "x": ["c"]},
    "branch without leaves": {"x": []},
    "nothing": {},
    "no mapping": "abc",
    "a missing leaf": {"x": ["a", None]},
    "a list as leaf": {"x": ["a", ["b"]]},
    "cycle": _cycle(),
}


@pytest.mark.parametrize("kind", INVALID_NESTED)
def test_what_is_no_tree_is_refused(kind):
    with pytest.raises(InvalidDomain) as caught:
        Taxonomy.nested("any", INVALID_NESTED[kind])
    assert caught.value.hint


INVALID_PATHS = {
    "no rows": [],
    "empty rows": [[], []],
    "ragged": [["a", "x", "*"], ["b", "*"]],
    "several roots": [["a", "*"], ["b", "all"]],
    "leaf twice": [["a", "x", "*"], ["a", "y", "*"], ["b", "y", "*"]],
    "row twice": [["a", "x", "*"], ["a", "x", "*"], ["b", "x", "*"]],
    "label under two parents": [
        ["a", "p", "x", "*"],
        ["b", "p", "x", "*"],
        ["c", "p", "y", "*"],
        ["d", "p", "y", "*"],
    ],
    "one label for two levels": [["a", "x", "*"], ["b", "x", "*"], ["x", "y", "*"]],
}


@pytest.mark.parametrize("kind", INVALID_PATHS)
def test_rows_that_make_no_tree_are_refused(kind):
    with pytest.raises(InvalidDomain) as caught:
        Taxonomy.paths(INVALID_PATHS[kind])
    assert caught.value.hint


ADULTS = adults_hierarchies()


@pytest.mark.parametrize(
    ("column", "leaves", "nodes"), [("age", 74, 101), ("education", 16, 23), ("sex", 2, 3)]
)
def test_lines_of_an_arx_file_make_trees(column, leaves, nodes):
    lines = [";".join(path) for path in ADULTS[column]]
    tree = Taxonomy.paths(list(csv.reader(lines, delimiter=";")))
    assert (tree.size, len(tree.nodes)) == (leaves, nodes)
    assert tree.nodes[0].label == "*"


TREES = st.recursive(
    st.integers(1, 4).map(lambda n: [None] * n),
    lambda below: st.lists(below, min_size=1, max_size=3),
    max_leaves=8,
)


def _named(tree, path="n"):
    """A random nesting of lists with a name for everything in it."""
    if tree[0] is None:
        return [f"{path}.{i}" for i in range(len(tree))]
    return {f"{path}.{i}": _named(below, f"{path}.{i}") for i, below in enumerate(tree)}


@pytest.mark.heavy
@given(TREES)
def test_any_tree_is_made_of_nested_intervals(tree):
    taxonomy = Taxonomy.nested("n", _named(tree))
    assert taxonomy.codes(taxonomy.leaves).tolist() == list(range(taxonomy.size))
    for place, node in enumerate(taxonomy.nodes):
        children = taxonomy.children(node.label)
        assert len(children) != 1
        assert all(node.low <= child.low < child.high <= node.high for child in children)
        assert sum(c.high - c.low for c in children) in (0, node.high - node.low)
        assert node.parent < place
