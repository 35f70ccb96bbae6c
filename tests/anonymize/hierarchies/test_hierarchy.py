import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymize.hierarchies import (
    NULL,
    build_halves,
    build_prefixes,
    hierarchy_from_paths,
    hierarchy_from_tree,
)
from shoal.anonymize.hierarchies._hierarchy import grow_taxonomy
from shoal.domain import Taxonomy

PLACES = hierarchy_from_tree(
    {"any": {"north": {"hills": ["a", "b"], "plain": ["c"]}, "south": ["f", "g"]}}
)


@st.composite
def label_columns(draw):
    """Levels of a random tree: each coarser level merges groups of the one below."""
    leaves = draw(st.integers(1, 12))
    groups = np.arange(leaves)
    columns = [np.array([f"0:{g}" for g in groups], dtype=object)]
    for level in range(1, draw(st.integers(1, 4))):
        size = int(groups.max()) + 1
        merged = np.array(draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size)))
        groups = merged[groups]
        columns.append(np.array([f"{level}:{g}" for g in groups], dtype=object))
    columns.append(np.full(leaves, "*", dtype=object))
    return columns


@pytest.mark.heavy
@given(label_columns())
def test_a_tree_grown_from_levels_is_the_one_grown_from_paths(columns):
    tree, levels, order = grow_taxonomy(columns)
    rows = [list(row) for row in zip(*columns, strict=True)]
    assert tree.leaves == tuple(columns[0][order])
    by_paths = Taxonomy.paths([rows[i] for i in order])
    assert tree == by_paths
    assert levels.shape == (len(columns), len(order))


@pytest.mark.heavy
@given(label_columns())
def test_a_level_places_leaves_together_that_share_its_label(columns):
    tree, levels, order = grow_taxonomy(columns)
    for places, column in zip(levels, columns, strict=True):
        for code, place in enumerate(places):
            node = tree.nodes[place]
            same = {c for c in range(len(order)) if column[order[c]] == column[order[code]]}
            assert set(range(node.low, node.high)) == same


def test_levels_are_those_written_before_chains_were_contracted():
    assert PLACES.paths()[2] == ["c", "c", "north", "any"]  # 'plain' has one leaf only
    assert [PLACES.taxonomy.nodes[p].label for p in PLACES.level_nodes(1)] == [
        "hills",
        "c",
        "f",
        "g",
    ]
    assert PLACES.level_nodes(3) == (0,)


def test_a_null_is_one_more_leaf_below_the_root():
    with_null = PLACES.with_null()
    assert PLACES.null is None
    assert with_null.null == 5
    assert with_null.taxonomy.leaves == ("a", "b", "c", "f", "g", NULL)
    assert with_null.taxonomy.children("any")[-1].label == NULL
    assert with_null.taxonomy.interval("any") == (0, 6)
    assert len(with_null.level_nodes(1)) == len(PLACES.level_nodes(1)) + 1
    assert with_null.level_nodes(3) == (0,)


def test_a_lone_leaf_gets_a_root_to_share_with_nulls():
    lone = hierarchy_from_paths([["a", "*"]]).with_null()
    assert [node.label for node in lone.taxonomy.nodes] == ["*", "a", NULL]
    assert lone.level_nodes(0) == (1, 2)
    assert lone.level_nodes(1) == (0,)


def test_costs_count_the_declared_leaves_whichever_occur():
    labels = [node.label for node in PLACES.taxonomy.nodes]
    costs = dict(zip(labels, PLACES.costs(), strict=True))
    assert costs["any"] == 1.0
    assert costs["hills"] == 0.25
    assert costs["north"] == 0.5
    assert costs["a"] == 0.0
    assert PLACES.with_null().costs().tolist() == [*PLACES.costs().tolist(), 0.0]


def test_costs_of_learnt_leaves_go_by_the_level_of_the_label():
    few = build_prefixes(pa.array(["711", "712", "81"]), [3, 2, 1])
    many = build_prefixes(pa.array(["711", "712", "713", "719", "721", "81", "82"]), [3, 2, 1])
    for tree in (few, many):
        costs = {n.label: c for n, c in zip(tree.taxonomy.nodes, tree.costs(), strict=True)}
        assert (costs["*"], costs["7*"], costs["711"], costs["81"]) == (1.0, 2 / 3, 0.0, 0.0)
    assert (
        dict(zip([n.label for n in many.taxonomy.nodes], many.costs(), strict=True))["71*"] == 1 / 3
    )


def test_costs_of_numbers_go_by_the_declared_domain():
    ages = build_halves((0, 7), whole=True, min_width=2)
    by_label = dict(zip([n.label for n in ages.taxonomy.nodes], ages.costs(), strict=True))
    assert by_label["*"] == 1.0
    assert by_label["<4"] == pytest.approx(3 / 7)
    assert by_label["[2, 4)"] == pytest.approx(1 / 7)
    halves = build_halves((0.0, 1.0), whole=False, min_width=0.5).with_null()
    assert halves.costs().tolist() == [1.0, 0.5, 0.5, 0.0]


def test_bounds_of_nodes_are_those_of_their_leaves():
    ages = build_halves((0, 7), whole=True, min_width=2).with_null()
    low, high = ages.bounds()
    assert (low[0], high[0]) == (0, 8)
    assert np.isnan(low[-1])
    assert np.isnan(high[-1])
    labels = [node.label for node in ages.taxonomy.nodes]
    assert (low[labels.index("[2, 4)")], high[labels.index("[2, 4)")]) == (2, 4)


def test_values_find_their_leaves():
    assert PLACES.leaf_of(pa.array(["g", " a ", "nowhere"])).tolist() == [4, 0, -1]
