"""Twins of splits of a tree of cells: each leaves out one part of PrivTree's test."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.audit.case import Twin
from shoal.audit.twins._base import BrokenMechanism, Stream, pure_claim
from shoal.mechanisms import TreeSplits
from shoal.mechanisms.exact import geometric_law

_DEPTH = 12


@dataclass(frozen=True)
class BrokenSplitTest:
    """Draws of how deep a tree is split along the path of rows that lie together.

    Parameters
    ----------
    floor
        Whether they are not lowered below a floor.
    """

    mechanism: TreeSplits
    decay: bool = True
    floor: bool = True
    empty: bool = True

    def draw(self, rows: int, n: int, rng: Stream) -> Any:
        """Return the depths of n trees."""
        reached, still = np.zeros(n, dtype=int), np.arange(n)
        for depth in range(_DEPTH):
            still = still[self._split(np.full(still.size, rows), depth, rng)]
            reached[still] += 1
        return reached

    def _split(self, counts: Any, depth: int, rng: Stream) -> Any:
        if self.decay and self.floor and self.empty:
            return self.mechanism._test(counts, depth, rng)
        steps = int(1024 * self.mechanism.decay)
        lowered = 1024 * counts - depth * steps * self.decay
        if self.floor:
            lowered = np.maximum(lowered, -steps)
        noise = geometric_law(self.mechanism._step).two_sided(counts.size, rng)
        return (noise > -lowered) & (self.empty | (counts > 0))


def _tree(
    test: BrokenSplitTest, rows: int, claim: int, at_least: float, reason: str, about: str
) -> Twin:
    form, pair = BrokenMechanism(test.draw, reason), (rows + 1, rows)
    return Twin(form, pair, pure_claim(claim), at_least, draws=100_000, about=about)


twins = {
    "tree: counts not lowered with depth": _tree(
        BrokenSplitTest(TreeSplits(pure_claim(1)), decay=False),
        0,
        1,
        2.3,
        "every level of the path spends its share again",
        "PrivTree's point is that counts are lowered with depth, so that a path costs little more "
        "than one test. Without, every level pays: quadtrees that split while a noisy count is "
        "above a threshold. True loss 3 for twelve levels; the figure is measured.",
    ),
    "tree: no floor below": _tree(
        BrokenSplitTest(TreeSplits(pure_claim(3)), floor=False),
        1,
        3,
        3.5,
        "without a floor every level of a long path adds to the loss",
        "Lowered counts are to be floored just below the threshold; without, deep tests of a path "
        "go on telling its rows apart. The figure is measured.",
    ),
    "tree: empty nodes not tested": _tree(
        BrokenSplitTest(TreeSplits(pure_claim(1)), empty=False),
        0,
        1,
        8.5,
        "a node that splits has a row",
        "Empty nodes are skipped to save time: a split then proves that somebody is there. At the "
        "ceiling; measured.",
    ),
    "tree: a budget for each depth": _tree(
        BrokenSplitTest(TreeSplits(pure_claim(3))),
        2,
        1,
        2.0,
        "each depth has the budget of the whole",
        "The budget of the tree given to every level, as if levels were disjoint rows. The figure "
        "is measured.",
    ),
}
