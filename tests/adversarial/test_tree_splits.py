"""Our audit turned on the split tests, with broken twins it must catch. Seeds fixed, 1e-6."""

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.audit.twins import _tree_splits as tree_splits
from shoal.audit.twins._tree_splits import BrokenSplitTest
from shoal.mechanisms import Splits, TreeCounts, TreeSplits
from shoal.privacy import PureDP
from shoal.randomness import Randomness

N = 100_000


def audited(test, rows, claim=1.0):
    noise = Randomness(41).noise
    A, B = (test.draw(count, N, noise) for count in (rows + 1, rows))
    return lower_bound_of(A, B, claim=claim, alpha=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 3, 8, 15])
def test_a_path_with_one_row_more_certifies_no_more_than_epsilon(rows):
    assert audited(BrokenSplitTest(TreeSplits(PureDP(1))), rows).verdict == "consistent"


def test_the_instrument_sees_much_of_the_promise():
    found = max(audited(BrokenSplitTest(TreeSplits(PureDP(1))), rows).epsilon for rows in (1, 2, 3))
    assert found > 0.5


@pytest.mark.parametrize("name", tree_splits.twins)
def test_twins_are_caught(name):
    assert tree_splits.twins[name].run().verdict == "violated"


def test_whole_trees_of_nobody_and_of_one_row_certify_no_more_than_epsilon():
    """Through the release itself: shape of the tree, three depths, rows at the left."""
    mechanism, noise = TreeSplits(PureDP(2)), Randomness(42).noise

    def shape(rows):
        tree: Splits = mechanism.release(
            TreeCounts(lambda s: np.where(np.arange(s.width) == 0, rows, 0), 3), noise
        )
        flags = np.concatenate(tree.flags)
        return int(np.dot(flags, 2 ** np.arange(flags.size)) + 2**flags.size)

    A, B = ([shape(rows) for _ in range(2_000)] for rows in (1, 0))
    found = lower_bound_of(A, B, claim=2.0, alpha=1e-6)
    assert found.verdict == "consistent"
    assert found.epsilon > 0.1
