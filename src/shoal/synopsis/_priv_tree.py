"""Noisy counts of the leaves of a tree of cells that grows where rows are.

A node at depth i is halved along axis i mod d. So a row's path from the root is a list of bits, the
binary digits of its position along the axes. A table looks up eight of them at a time, a *jump*,
instead of following the path node by node.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.arrays import Floats, Integers
from shoal.bounds_check import Clipping
from shoal.domain import Box, Schema
from shoal.domain.box import as_matrix
from shoal.domain.grid import cell_coordinates, cell_indices
from shoal.engine import Rows
from shoal.estimator import Spending
from shoal.mechanisms import Geometric, Splits, TreeCounts, TreeSplits
from shoal.privacy import LedgerOrPath, PureDP
from shoal.randomness import Seed
from shoal.synopsis._base import Synopsis, check_max_cells
from shoal.synopsis._count_weights import Negative, check_negative

TREE_SHARE = Fraction(3, 5)  # of the budget: docs/decisions/synopses.md
_DEPTHS_A_PASS = 8  # depths counted in one pass, while the tree is not too wide
_MOST_CELLS_A_PASS = 2**22  # 32 MiB of counts

# The most halvings of one axis: a leaf's side is at least 1/1024 of the box.
# See docs/decisions/synopses.md.
HALVINGS = 10
_DEPTHS_A_JUMP = 8
_MOST_JUMP_ENTRIES = 2**22  # 32 MiB: a wide depth is jumped over in shorter steps


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
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``.
    privacy
        The whole promise. Give this or ``epsilon``.
    domain
        Public bounds, to which rows are moved.
    negative
        What becomes of counts that noise made too small: see ``shoal.synopsis.weights_of``. The
        threshold is the scale of the noise, :math:`1/\varepsilon_{counts}`.
    max_cells
        The most leaves the tree may have. Each of its depths, ten an axis, gets an equal share of
        them; the first that has more nodes is the last.
    clipping
        "stop" refuses bounds that many rows lie outside of; "accept" goes on and says so.
    n_public
        The number of rows, if it is known without them; never read it off the rows.
    nonfinite
        What NaN does: "refuse" the table, or "drop" the row.
    ledger
        Where the promise is written and added up; None keeps no record.
    random_state
        A seed makes the fit a simulation, marked as such; None draws real noise.

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
        epsilon: Any = None,
        privacy: PureDP | None = None,
        domain: Box | Schema | None = None,
        negative: Negative = "norm-cut",
        max_cells: int = 2**23,
        clipping: Clipping = "stop",
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            privacy=privacy,
            domain=domain,
            clipping=clipping,
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

    def spend(self, spending: Spending) -> Self:
        """Count with a budget that the caller opened; see ``PrivateEstimator.spend``.

        Parameters
        ----------
        spending
            The rows, the page that pays, the budget and the noise.
        """
        # 1. How many rows there are.
        spending = self._begin(spending)
        # 2. Where the tree splits.
        splits = self._grow(spending.share(TREE_SHARE))
        # 3. Rows in each of its leaves, with noise; 4. what noise decided is dropped.
        leaves, for_counts = Leaves(spending.box, splits), spending.share(1 - TREE_SHARE)  # [P4]
        noisy_counts = for_counts.count(leaves, of="leaf counts")  # [P5]
        variance, step = Geometric(for_counts.budget).variance, for_counts.epsilon
        keys = np.arange(leaves.size)
        return self._store_cells(
            leaves, keys, noisy_counts, variance, threshold=1 / step, step=step
        )

    def _grow(self, spending: Spending) -> Splits:
        """Release where the tree splits."""
        deepest = HALVINGS * spending.box.d
        # Every depth has 2 * most_nodes nodes at most: all leaves together fit.
        most_nodes = max(1, int(self.max_cells) // (2 * (deepest + 1)))
        counts = TreeCounts(NodeCounts(spending, deepest), deepest, most_nodes)  # [P1]
        noise = TreeSplits(spending.budget)  # [P2]
        spending.rows.size()  # every row is admitted before anything is released
        splits: Splits = spending.release(noise, counts, of="splits of a tree")  # [P3]
        return splits


class NodeCounts:
    """Counts rows in the nodes of each depth, reading the rows once for up to eight depths.

    A pass tells rows apart by their open node and by its next halvings; counts of the depths in
    between are sums of those. Only open nodes are looked into.
    """

    def __init__(self, spending: Spending, deepest: int) -> None:
        self._spending = spending
        self._deepest = deepest
        self._counted_depth = -1  # the depth of what was counted
        self._counts: Integers = np.empty(0, dtype=np.int64)
        self._places: Integers = np.empty(0, dtype=np.int64)  # of the nodes of the present depth

    def __call__(self, splits: Splits) -> Integers:
        """Count the rows in each node at ``splits.depth``; asked for the root, begin anew."""
        if splits.depth == 0 or splits.depth > self._counted_depth:
            self._count(splits)
        else:
            halves = 2 * self._places[splits.flags[-1]]
            self._places = np.stack([halves, halves + 1], axis=1).ravel()
        each = 1 << (self._counted_depth - splits.depth)
        sums: Integers = self._counts.reshape(-1, each).sum(axis=1)
        return sums[self._places]

    def _count(self, splits: Splits) -> None:
        """Read the rows and count the open nodes of several depths ahead."""
        # A wide depth leaves room for fewer depths ahead in one count.
        room = (_MOST_CELLS_A_PASS // splits.width).bit_length() - 1
        ahead = max(0, min(_DEPTHS_A_PASS, self._deepest - splits.depth, room))
        nodes = OpenNodes(self._spending.box, splits, ahead)
        self._counts = self._spending.exact_counts(nodes)[:-1]  # the last is all rows elsewhere
        self._counted_depth = splits.depth + ahead
        self._places = np.arange(splits.width)


@dataclass(frozen=True, eq=False)
class _Jump:
    """A table that leads from the nodes of one depth to those of a later one, or to a leaf."""

    depths: range
    leads_to: Integers  # by node and digits: a node from 0 up, or -1 - leaf


@dataclass(frozen=True, eq=False)
class _Tree:
    """A tree over a box, with the tables that find a row's node."""

    box: Box
    splits: Splits
    _jumps: tuple[_Jump, ...] = field(init=False, repr=False)
    _leaf_starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        closed = [int(np.count_nonzero(~flags)) for flags in self.splits.flags]
        object.__setattr__(self, "_leaf_starts", tuple(np.cumsum([0, *closed]).tolist()))
        object.__setattr__(self, "_jumps", tuple(self._make_jumps()))

    def walk(self, X: ArrayLike, ahead: int = 0) -> tuple[Integers, Integers]:
        """Return each row's node at the last depth, or -1 - leaf, and its next ``ahead`` digits."""
        digits = _Digits(self.box, as_matrix(X, self.box.d))
        codes = np.zeros(digits.n, dtype=np.int64)
        unfinished: Integers | slice = slice(None)
        for jump in self._jumps:
            path = digits.of(jump.depths, unfinished)
            codes[unfinished] = jump.leads_to[(codes[unfinished] << len(jump.depths)) | path]
            unfinished = np.flatnonzero(codes >= 0)
        depth = self.splits.depth
        following = np.zeros(digits.n, dtype=np.int64)
        following[unfinished] = digits.of(range(depth, depth + ahead), unfinished)
        return codes, following

    def _make_jumps(self) -> list[_Jump]:
        jumps, start, width = [], 0, 1
        while start < self.splits.depth:
            longest = max(1, min(_DEPTHS_A_JUMP, (_MOST_JUMP_ENTRIES // width).bit_length() - 1))
            depths = range(start, min(start + longest, self.splits.depth))
            jumps.append(_Jump(depths, self._jump_table(depths, width)))
            start = depths.stop
            width = 2 * int(np.count_nonzero(self.splits.flags[start - 1]))
        return jumps

    def _jump_table(self, depths: range, width: int) -> Integers:
        codes = np.arange(width)
        for depth in depths:
            step = self._step_table(depth)
            both = np.repeat(codes[:, None], 2, axis=1)
            codes = np.where(both >= 0, step[np.maximum(codes, 0)], both).ravel()
        return codes

    def _step_table(self, depth: int) -> Integers:
        """Return where the lower and the upper half of each node of a depth lead."""
        flags = self.splits.flags[depth]
        child = 2 * (np.cumsum(flags) - 1)
        leaf = self._leaf_starts[depth] + np.cumsum(~flags) - 1
        halves = np.stack([child, child + 1], axis=1)
        return np.where(flags[:, None], halves, -1 - leaf[:, None])


class OpenNodes:
    """A partition by the undecided node a row lies in, and by its next halvings.

    The last key is for rows in nodes that are not split.
    """

    def __init__(self, box: Box, splits: Splits, ahead: int) -> None:
        self.box = box
        self.size = (splits.width << ahead) + 1
        self._ahead = ahead
        self._tree = _Tree(box, splits)

    def keys(self, X: ArrayLike) -> Integers:
        """Return the number of each row's cell."""
        codes, following = self._tree.walk(X, self._ahead)
        return np.where(codes >= 0, (codes << self._ahead) | following, self.size - 1)


class Leaves:
    """The partition by the leaves of a tree: nodes that were not split, shallow ones first.

    Examples
    --------
    >>> tree = Splits(2, (np.array([True]), np.array([False, True])))
    >>> leaves = Leaves(Box.unit(1), tree)
    >>> leaves.keys([[0.2], [0.6], [0.9]]).tolist()
    [0, 1, 2]
    >>> leaves.bounds([1])
    (array([[0.5]]), array([[0.75]]))
    """

    def __init__(self, box: Box, splits: Splits) -> None:
        self.box = box
        self._tree = _Tree(box, splits)
        self._first_deepest = self._tree._leaf_starts[-1]
        self.size = self._first_deepest + splits.width

    def keys(self, X: ArrayLike) -> Integers:
        """Return the number of each row's leaf."""
        codes, _ = self._tree.walk(X)
        return np.where(codes >= 0, codes + self._first_deepest, -1 - codes)

    def bounds(self, keys: ArrayLike) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of each of these leaves."""
        places, halved = self._places()
        cells = np.asarray(keys, dtype=np.int64)
        parts = 2.0 ** halved[cells]
        low, high = (
            self.box.low + (self.box.high - self.box.low) * ((places[cells] + end) / parts)
            for end in (0, 1)
        )
        return low, np.where(places[cells] + 1 == parts, self.box.high, high)

    def _places(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return each leaf's index along each axis, and how often that axis was halved."""
        d = self.box.d
        places, halved = np.zeros((1, d), np.int32), np.zeros(d, np.int32)
        leaf_places, leaf_halved = [], []
        for depth, flags in enumerate(self._tree.splits.flags):
            leaf_places.append(places[~flags])
            leaf_halved.append(np.broadcast_to(halved, leaf_places[-1].shape))
            places = np.repeat(places[flags], 2, axis=0)
            places[:, depth % d] *= 2
            places[1::2, depth % d] += 1
            halved = halved + (np.arange(d) == depth % d)
        leaf_halved.append(np.broadcast_to(halved, places.shape))
        return np.concatenate([*leaf_places, places]), np.concatenate(leaf_halved)


class _Digits:
    """The binary digits of rows' positions along the axes, computed when first needed."""

    def __init__(self, box: Box, rows: Floats) -> None:
        self.n = len(rows)
        self._rows = rows
        self._box = box
        self._places: dict[int, NDArray[np.int32]] = {}

    def of(self, depths: Sequence[int], unfinished: Integers | slice) -> Integers:
        """Return the digits of these rows at these depths, the first the highest."""
        path = np.zeros(
            self.n if isinstance(unfinished, slice) else unfinished.size, dtype=np.int32
        )
        for depth in depths:
            halving, axis = divmod(depth, self._box.d)
            digit = self._along(axis)[unfinished] >> (HALVINGS - 1 - halving)
            digit &= 1
            path <<= 1
            path |= digit
        return path.astype(np.int64)

    def _along(self, axis: int) -> NDArray[np.int32]:
        """Return the rows' positions along an axis in 1/1024 of the box."""
        if axis not in self._places:
            ends = self._box.low[axis], self._box.high[axis]
            steps = cell_coordinates(self._rows[:, axis], *ends, cells=2**HALVINGS)
            self._places[axis] = cell_indices(steps, 2**HALVINGS).astype(np.int32)
        return self._places[axis]
