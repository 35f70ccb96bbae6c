"""Our audit turned on the split tests, with broken twins it must catch. Seeds fixed, 1e-6."""

from dataclasses import dataclass

import numpy as np
import pytest

from shoal.audit import lower_bound_of
from shoal.mechanisms import Splits, TreeCounts, TreeSplits
from shoal.mechanisms.discrete_laplace import geometric_law
from shoal.privacy import PureDP
from shoal.randomness import Randomness

N = 100_000
DEPTH = 12


@dataclass(frozen=True)
class Form:
    """The test of many nodes at once: as in the code, but for what is named."""

    mechanism: TreeSplits
    decay: bool = True
    floor: bool = True
    empty: bool = True

    def __call__(self, counts, depth, rng):
        if self.decay and self.floor and self.empty:
            return self.mechanism._test(counts, depth, rng)
        steps = int(1024 * self.mechanism.decay)
        lowered = 1024 * counts - depth * steps * self.decay
        if self.floor:
            lowered = np.maximum(lowered, -steps)
        noise = geometric_law(self.mechanism._step).two_sided(counts.size, rng)
        return (noise > -lowered) & (self.empty | (counts > 0))


def depths(test, rows, rng):
    """How deep N trees are split along the path of the rows, which lie together all the way."""
    reached, still = np.zeros(N, dtype=int), np.arange(N)
    for depth in range(DEPTH):
        still = still[test(np.full(still.size, rows), depth, rng)]
        reached[still] += 1
    return reached


def audited(test, rows, claim=1.0):
    noise = Randomness(41).noise
    A, B = (depths(test, count, noise) for count in (rows + 1, rows))
    return lower_bound_of(A, B, claim=claim, alpha=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 3, 8, 15])
def test_a_path_with_one_row_more_certifies_no_more_than_epsilon(rows):
    assert audited(Form(TreeSplits(PureDP(1))), rows).verdict == "consistent"


def test_the_instrument_sees_much_of_the_promise():
    found = max(audited(Form(TreeSplits(PureDP(1))), rows).epsilon for rows in (1, 2, 3))
    assert found > 0.5


TWINS = {
    "counts not lowered with depth": (Form(TreeSplits(PureDP(1)), decay=False), 0, 1),
    "no floor below": (Form(TreeSplits(PureDP(3)), floor=False), 1, 3),
    "empty nodes not tested": (Form(TreeSplits(PureDP(1)), empty=False), 0, 1),
    "a budget for each depth": (Form(TreeSplits(PureDP(3))), 2, 1),
}


@pytest.mark.parametrize(("twin", "rows", "claim"), TWINS.values(), ids=TWINS)
def test_twins_are_caught(twin, rows, claim):
    assert audited(twin, rows, claim).verdict == "violated"


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
