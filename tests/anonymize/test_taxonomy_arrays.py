import numpy as np

from shoal.anonymize.taxonomy_arrays import Tree
from shoal.domain import Taxonomy

SYSTEM = Taxonomy.nested("*", {"a": {"b": ["0", "1"], "c": ["2", "3", "4"]}, "d": ["5", "6"]})
TREE = Tree(SYSTEM)
LABELS = [node.label for node in SYSTEM.nodes]


def test_the_arrays_say_what_the_nodes_say():
    for place in range(TREE.size):
        children = [i for i, other in enumerate(SYSTEM.nodes) if other.parent == place]
        assert TREE.fanout[place] == len(children)
        assert TREE.rank[children].tolist() == list(range(len(children)))


def test_the_height_is_the_longest_way_down():
    heights = dict(zip(LABELS, TREE.height.tolist(), strict=True))
    assert heights == {"*": 3, "a": 2, "b": 1, "c": 1, "d": 1} | dict.fromkeys("0123456", 0)


def test_below_is_the_child_that_covers_the_code():
    for place, node in enumerate(SYSTEM.nodes):
        for code in range(node.low, node.high):
            child = SYSTEM.nodes[TREE.below(np.array([place]), np.array([code]))[0]]
            assert child.low <= code < child.high
            assert child.parent == place or TREE.fanout[place] == 0


def test_a_tree_of_one_leaf_is_its_own_child():
    tree = Tree(Taxonomy.paths([["only"]]))
    assert tree.below(np.array([0]), np.array([0])).tolist() == [0]
    assert tree.height.tolist() == tree.fanout.tolist() == [0]


def test_sums_are_those_of_the_leaves_below():
    numbers = np.arange(7) ** 2
    expected = [numbers[node.low : node.high].sum() for node in SYSTEM.nodes]
    assert TREE.sums(numbers).tolist() == expected


def test_a_partition_names_the_node_over_each_leaf_and_minus_one_where_there_is_none():
    cut = [LABELS.index("b"), LABELS.index("4")]
    cover = TREE.partition(cut)
    assert [LABELS[place] if place >= 0 else None for place in cover] == [
        "b", "b", None, None, "4", None, None,
    ]  # fmt: skip
