"""Noisy counts of the leaves of a tree that grows where rows are."""

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.domain import Box
from shoal.engine import Rows
from shoal.mechanisms import Geometric
from shoal.mechanisms.tree_splits import Splits, TreeCounts, TreeSplits
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Seed
from shoal.synopsis.base import Synopsis, check_max_cells
from shoal.synopsis.counter import Counter
from shoal.synopsis.private import Neighbours
from shoal.synopsis.tree_cells import HALVINGS, Leaves, OpenNodes
from shoal.synopsis.weights import Negative, check_negative

__all__ = ["PrivTree"]

Integers = NDArray[np.int64]
TREE_SHARE = Fraction(3, 5)
_AHEAD = 8  # depths counted in one pass, while the tree is not too wide
_MOST_COUNTED = 2**22


class PrivTree(Synopsis):
    r"""Publish noisy counts of the leaves of a binary tree of cells, finer where rows are.

    The box is halved along one axis after the other. A node is halved again if its count, less an
    amount that grows with its depth, plus noise, is above zero: so it costs no more to grow a deep
    tree than a shallow one. Leaves are then counted anew. For tight groups in many columns, where
    every grid is either coarse or mostly empty.

    Guarantee
    ---------
    :math:`\varepsilon`-DP: 3/5 of the budget decides the tree, 2/5 its leaves' counts; a row
    changes one of these by one. See ``priv_tree.proof.md``.

    Parameters
    ----------
    epsilon, domain
        The budget of one ``fit``; public bounds, to which rows are moved.
    negative
        What becomes of counts that noise made too small: see ``shoal.synopsis.weights_of``. The
        threshold is the scale of the noise, :math:`1/\varepsilon_{counts}`.
    max_cells
        The most leaves the tree may have. Each of its depths, ten an axis, gets an equal share of
        them; the first that has more nodes is the last.
    neighbours, entity, max_rows_per_person, n_public, nonfinite, ledger, random_state
        As for every private estimator: see ``shoal.synopsis.PrivateEstimator``.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal([0.2, 0.7], 0.05, (10_000, 2))
    >>> tree = PrivTree(epsilon=1, domain=Box.unit(2), random_state=7).fit(X)
    >>> centers, weights = tree.points()
    >>> np.average(centers, axis=0, weights=weights).round(2).tolist()
    [0.2, 0.7]

    References
    ----------
    Zhang, Xiao, Xie, PrivTree: a differentially private algorithm for hierarchical decompositions,
    SIGMOD 2016.
    """

    def __init__(
        self,
        *,
        epsilon: Any,
        domain: Box | None,
        negative: Negative = "norm-cut",
        max_cells: int = 2**23,
        neighbours: Neighbours = "add-remove",
        entity: str | None = None,
        max_rows_per_person: int | None = None,
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: Ledger | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            domain=domain,
            neighbours=neighbours,
            entity=entity,
            max_rows_per_person=max_rows_per_person,
            n_public=n_public,
            nonfinite=nonfinite,
            ledger=ledger,
            random_state=random_state,
        )
        self.negative = negative
        self.max_cells = max_cells

    def _check_settings(self, box: Box) -> None:
        check_negative(self.negative)
        check_max_cells(self.max_cells)

    def _release_name(self, rows: Rows) -> str:
        return "counts on a tree of cells"

    def _summarise(self, counter: Counter, budget: PureDP) -> None:
        splits = self._grown(counter, budget * TREE_SHARE)
        counts_budget = budget * (1 - TREE_SHARE)
        leaves = Leaves(counter.box, splits)  # [P4]
        noisy_counts = counter.noisy(leaves, counts_budget, of="leaf counts")  # [P5]
        variance = Geometric(counts_budget).variance
        step = float(counts_budget.epsilon)
        keys = np.arange(leaves.size)
        self._keep_weighty(leaves, keys, noisy_counts, variance, threshold=1 / step, step=step)

    def _grown(self, counter: Counter, budget: PureDP) -> Splits:
        deepest = HALVINGS * counter.box.d
        # Every depth has 2 * most_nodes nodes at most: all leaves together fit.
        most_nodes = max(1, int(self.max_cells) // (2 * (deepest + 1)))
        grown = TreeCounts(CountsAhead(counter, deepest), deepest, most_nodes)  # [P1]
        noise = TreeSplits(budget)  # [P2]
        counter.rows.size()  # every row is admitted before anything is released
        return counter.page.release(noise, grown, counter.rng.noise, of="splits of a tree")  # [P3]


class CountsAhead:
    """Counts of the nodes of one depth after the other, read eight depths to a pass.

    A pass tells rows apart by their open node and by its next halvings; counts of the depths in
    between are sums of those. Only open nodes are looked into.

    Parameters
    ----------
    counter, deepest
        Whose rows, and the last depth that will be asked for.
    """

    def __init__(self, counter: Counter, deepest: int) -> None:
        self._counter = counter
        self._deepest = deepest
        self._last = -1  # the depth of what was counted
        self._counts: Integers = np.empty(0, dtype=np.int64)
        self._places: Integers = np.empty(0, dtype=np.int64)  # of the nodes of the present depth

    def __call__(self, splits: Splits) -> Integers:
        """Rows in each of the nodes at ``splits.depth``."""
        if splits.depth > self._last:
            self._count(splits)
        else:
            halves = 2 * self._places[splits.flags[-1]]
            self._places = np.stack([halves, halves + 1], axis=1).ravel()
        each = 1 << (self._last - splits.depth)
        sums: Integers = self._counts.reshape(-1, each).sum(axis=1)
        return sums[self._places]

    def _count(self, splits: Splits) -> None:
        room = (_MOST_COUNTED // splits.width).bit_length() - 1
        ahead = max(0, min(_AHEAD, self._deepest - splits.depth, room))
        nodes = OpenNodes(self._counter.box, splits, ahead)
        self._counts = self._counter.exact(nodes)[:-1]  # the last is all rows elsewhere
        self._last = splits.depth + ahead
        self._places = np.arange(splits.width)
