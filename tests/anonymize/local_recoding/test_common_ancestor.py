"""Where a leaf and a node meet, and what that costs."""

import numpy as np
import pytest

from shoal.anonymize.local_recoding import _common_ancestor as common_ancestor
from shoal.anonymize.local_recoding._common_ancestor import AncestorPenalties
from shoal.anonymize.taxonomy_arrays import Tree
from shoal.domain import Taxonomy

TREE = Taxonomy.nested("*", [{"a": [{"b": ["1", "2"]}, "3"]}, "4", {"c": ["5", "6"]}])


def lowest_above(taxonomy, code, place):
    """From the definition: the smallest node that holds both."""
    node = taxonomy.nodes[place]
    holds = [
        (other.high - other.low, i)
        for i, other in enumerate(taxonomy.nodes)
        if other.low <= min(code, node.low) and max(code + 1, node.high) <= other.high
    ]
    return min(holds)[1]


@pytest.mark.parametrize("whole", [0, 2**22])
def test_every_leaf_meets_every_node_where_the_definition_says(monkeypatch, whole):
    monkeypatch.setattr(common_ancestor, "_WHOLE", whole)
    penalties = np.arange(len(TREE.nodes), dtype=np.float64)
    found = AncestorPenalties(Tree(TREE), penalties).of(np.arange(TREE.size))
    expected = [
        [lowest_above(TREE, code, place) for place in range(len(TREE.nodes))]
        for code in range(TREE.size)
    ]
    assert found.tolist() == expected
