"""PrivTree's split tests: grow a tree of cells of any depth at one price."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Floats, Integers
from shoal.errors import InvalidSetting, NotNumeric
from shoal.mechanisms.exact._discrete_laplace import geometric_law
from shoal.mechanisms.exact._inversion import decimal_precision
from shoal.mechanisms.exact._whole_numbers import FARTHEST, check_rate
from shoal.privacy import PureDP, whole_number

Flags = NDArray[np.bool_]
_STEPS_PER_ROW = 1024  # steps of the lattice in one row
_MOST_ROWS = 2**50  # times the steps of a row, still within 62 bits
_DEEPEST = 2**20


@dataclass(frozen=True, eq=False)
class Splits:
    """A tree, stated by which of its nodes were split at each depth.

    Parameters
    ----------
    fanout
        How many children a split node has.
    flags
        For each depth a flag for each of its nodes: was it split? The children of the split ones,
        in the same order, ``fanout`` each, are the nodes of the next depth. Depth 0 is the root.

    Examples
    --------
    >>> tree = Splits(2, (np.array([True]), np.array([False, True])))
    >>> tree.depth, tree.width  # two depths are decided; the third has the children of one node
    (2, 2)
    """

    fanout: int
    flags: tuple[Flags, ...] = ()

    @property
    def depth(self) -> int:
        """How many depths are decided; also the depth of the nodes decided next."""
        return len(self.flags)

    @property
    def width(self) -> int:
        """How many nodes the next depth has."""
        return self.fanout * int(np.count_nonzero(self.flags[-1])) if self.flags else 1

    def grown(self, flags: Flags) -> "Splits":
        """Return the tree with one more depth decided.

        Parameters
        ----------
        flags
            For each node of the next depth, whether it is split.
        """
        return Splits(self.fanout, (*self.flags, flags))


@dataclass(frozen=True)
class TreeCounts:
    """A function that counts rows in the nodes of a tree while it grows, and its limits.

    Parameters
    ----------
    counts_of
        ``counts_of(splits)`` counts the rows in the ``splits.width`` nodes at ``splits.depth``, in
        order; one call a depth, from the root on, and again from the root if asked for it again. A
        row lies in one node of each depth at most, a child of the one
        it lay in before, whatever the other rows are.
    max_depth
        Nodes at this depth are not split. Choose it without the rows.
    most_nodes
        The tree grows no deeper than a depth with more nodes than this.
    """

    counts_of: Callable[[Splits], Integers]
    max_depth: int
    most_nodes: int = 2**20

    def __post_init__(self) -> None:
        depth, nodes = whole_number(self.max_depth), whole_number(self.most_nodes)
        if depth is None or not 0 <= depth <= _DEEPEST or nodes is None or nodes < 1:
            raise InvalidSetting(
                f"max_depth must be a whole number up to {_DEEPEST}, and most_nodes one of 1 or "
                "more.",
                "E.g. TreeCounts(counts_of, max_depth=20).",
            )


@dataclass(frozen=True)
class TreeSplits:
    r"""Split a node if :math:`\max(c - i \delta, -\delta)` plus noise exceeds 0, c its count.

    The deeper a node (depth i), the more is taken off its count, and what is left is never less
    than :math:`-\delta`: so the tests along a row's path cost a converging sum, however deep.

    Guarantee
    ---------
    :math:`\varepsilon`-DP when a row is added or removed, for the whole tree. Noise is two-sided
    geometric on the lattice of 1/1024 rows, :math:`\Pr[k] \propto e^{-|k|/(1024 \lambda)}`, with
    :math:`\lambda = c_f / \varepsilon`, :math:`c_f = 1 + \sum_{j \ge 0} 1/(2 f^j - 1)`, 2.607 for
    f = 2, and :math:`\delta \ge \lambda \ln f`. See ``tree_splits.proof.md``.

    Parameters
    ----------
    guarantee
        The promise of one ``release``, a share of ``page.budget``.
    fanout
        f, the number of children of a split node.

    Examples
    --------
    >>> from shoal.randomness import Randomness
    >>> places = np.sort(np.r_[np.full(400, 0.3), 0.9])
    >>> def counts_of(splits):  # in halves of [0, 1), of those, ...
    ...     low, side = np.zeros(1), 1.0
    ...     for flags in splits.flags:
    ...         side /= 2
    ...         low = np.add.outer(low[flags], [0, side]).ravel()
    ...     return np.searchsorted(places, low + side) - np.searchsorted(places, low)
    >>> tree = TreeSplits(PureDP(1)).release(TreeCounts(counts_of, 5), Randomness(7).noise)
    >>> [int(flags.sum()) for flags in tree.flags]
    [1, 1, 1, 2, 1]

    References
    ----------
    Zhang, Xiao, Xie, PrivTree: a differentially private algorithm for hierarchical decompositions,
    SIGMOD 2016; there :math:`c_f = (2f - 1)/(f - 1)`, 3 for f = 2.
    """

    guarantee: PureDP
    fanout: int = 2

    pays_first: ClassVar[bool] = True  # rows are read at every depth, which can be seen

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, PureDP):
            raise InvalidSetting(
                "TreeSplits needs a PureDP promise.",
                "Give e.g. TreeSplits(page.budget * Fraction(3, 5)) on a page of PureDP.",
            )
        fanout = whole_number(self.fanout)
        if fanout is None or fanout < 2:
            raise InvalidSetting.of("fanout", "must be a whole number of 2 or more", 2, self.fanout)
        object.__setattr__(self, "fanout", fanout)
        check_rate(self._step)

    @property
    def scale(self) -> Fraction:
        """Lambda, the scale of the noise, in rows."""
        return path_cost(self.fanout) / self.guarantee.epsilon  # [P1]

    @property
    def decay(self) -> Fraction:
        """Delta, in rows: how much each depth takes off a count."""
        return Fraction(_decay_steps(self.scale, self.fanout), _STEPS_PER_ROW)

    @property
    def _step(self) -> Fraction:
        return 1 / (_STEPS_PER_ROW * self.scale)

    def check(self, value: object) -> None:
        """Refuse what is no ``TreeCounts``.

        Parameters
        ----------
        value
            What is to be released.
        """
        if not isinstance(value, TreeCounts):
            raise NotNumeric(
                f"Expected TreeCounts; got a {type(value).__name__}.",
                "Pass TreeCounts(counts_of, max_depth).",
            )

    def release(self, value: TreeCounts, rng: np.random.Generator) -> Splits:
        """Grow the tree breadth first and return it.

        Parameters
        ----------
        value
            Counts the rows in the nodes of each depth.
        rng
            The noise stream.
        """
        self.check(value)
        splits = Splits(self.fanout)
        while splits.depth < value.max_depth and 0 < splits.width <= value.most_nodes:  # [P5]
            counts = _checked_counts(value.counts_of(splits), splits.width)
            splits = splits.grown(self._test(counts, splits.depth, rng))
        return splits

    def log_ratio(self, output: Splits, value: TreeCounts, other: TreeCounts) -> float:
        """Return by how much, in logarithms, a tree is likelier on one value than on another.

        Parameters
        ----------
        output
            What ``release`` returned.
        value
            The counts that the tree is held to be likelier on; they are asked for again.
        other
            The counts it is compared with, of the same limits.
        """
        ratio, splits = 0.0, Splits(self.fanout)
        for flags in output.flags:
            before, after = self._both_lowered(splits, value, other)
            moved = np.flatnonzero(before != after)
            ratio += sum(self._node_ratio(before[i], after[i], bool(flags[i])) for i in moved)
            splits = splits.grown(flags)
        return ratio

    def worst_ratio(self, value: TreeCounts, other: TreeCounts) -> float:
        """Return the largest ``log_ratio`` over all trees.

        Below a node at the floor on either value nothing differs. The tree that is split in all
        others is asked for, and then cut back, from its leaves up, wherever that costs more.

        Parameters
        ----------
        value
            The counts that a tree is held to be likelier on; they are asked for again.
        other
            The counts it is compared with, of the same limits.
        """
        splits, levels = Splits(self.fanout), []
        while splits.depth < value.max_depth and splits.width > 0:
            levels.append(self._both_lowered(splits, value, other))
            splits = splits.grown(self._above_floor(*levels[-1]))
        below = np.zeros(0)  # the most that the children of the split nodes of a depth cost
        for before, after in reversed(levels):
            below = self._worst_of_nodes(before, after, below)
        return float(below.sum())

    def to_arrays(self, output: Splits) -> list[Flags]:
        """Return an output as arrays, for the ledger's journal.

        Parameters
        ----------
        output
            What ``release`` returned.
        """
        return list(output.flags)

    def from_arrays(self, arrays: Sequence[Flags]) -> Splits:
        """Rebuild an output from its arrays.

        Parameters
        ----------
        arrays
            What ``to_arrays`` returned.
        """
        return Splits(self.fanout, tuple(arrays))

    def _test(self, counts: Integers, depth: int, rng: np.random.Generator) -> Flags:
        """Decide which nodes are split; all are tested, empty ones too."""
        noise = geometric_law(self._step).two_sided(counts.size, rng)  # [P3]
        split: Flags = noise > -self._lowered(counts, depth)  # [P4]
        return split

    def _lowered(self, counts: Integers, depth: int) -> Integers:
        """Return what is tested, in steps of the lattice: counts less what the depth takes off."""
        decay = _decay_steps(self.scale, self.fanout)
        taken = min(depth * decay, FARTHEST)  # more than any count: the floor holds either way
        return np.maximum(_STEPS_PER_ROW * counts - taken, -decay)  # [P2]

    def _both_lowered(
        self, splits: Splits, value: TreeCounts, other: TreeCounts
    ) -> tuple[Integers, Integers]:
        """Return what is tested of the next depth on either value."""
        before, after = (
            self._lowered(_checked_counts(counts.counts_of(splits), splits.width), splits.depth)
            for counts in (value, other)
        )
        return before, after

    def _above_floor(self, before: Integers, after: Integers) -> Flags:
        """Return which nodes are above the floor on one value at least; so may those below be."""
        return np.maximum(before, after) > -_decay_steps(self.scale, self.fanout)

    def _node_ratio(self, before: int, after: int, split: bool) -> float:
        """Return ln of how much likelier a node is split, or is not, on one of two values."""
        return self._log_probability(int(before), split) - self._log_probability(int(after), split)

    def _log_probability(self, lowered: int, split: bool) -> float:
        """Return ln P[lowered + noise > 0], or of its complement."""
        step = float(self._step)
        # The noise must reach 1 - lowered; not to, its mirror image must reach lowered.
        reach = 1 - lowered if split else lowered
        if reach >= 0:
            return -step * reach - math.log1p(math.exp(-step))
        return math.log1p(-math.exp(-step * (1 - reach)) / (1 + math.exp(-step)))

    def _worst_of_nodes(self, before: Integers, after: Integers, below: Floats) -> Floats:
        """Return the most that each node of a depth and all below it can cost."""
        worst, tested = np.zeros(before.size), np.flatnonzero(self._above_floor(before, after))
        # The last depth has no children that are decided.
        children = np.zeros(tested.size)
        if below.size:
            children = below.reshape(-1, self.fanout).sum(axis=1)
        for i, more in zip(tested, children, strict=True):
            unsplit = self._node_ratio(before[i], after[i], split=False)
            worst[i] = max(unsplit, self._node_ratio(before[i], after[i], split=True) + more)
        return worst


@lru_cache(maxsize=64)
def path_cost(fanout: int) -> Fraction:
    """Return c_f, the cost of a path's tests in units of 1 / lambda, rounded up to a millionth."""
    # 32 terms leave a rest far below a millionth, which is added too.
    terms = sum(Fraction(1, 2 * fanout**j - 1) for j in range(32))
    rest = Fraction(2, fanout**32)  # at most: the terms left out are below 1 / fanout**j
    return Fraction(math.ceil((1 + terms + rest) * 10**6), 10**6)


@lru_cache(maxsize=64)
def _decay_steps(scale: Fraction, fanout: int) -> int:
    """Return delta in lattice steps: 1024 lambda ln f, rounded up."""
    with localcontext(decimal_precision(80)):
        steps = scale * _STEPS_PER_ROW * Fraction(Decimal(fanout).ln())
    return math.ceil(steps * (1 + Fraction(1, 10**70)))


def _checked_counts(counts: object, width: int) -> Integers:
    """Refuse counts of another type or number than asked for; counts above 2**50 become 2**50."""
    numbers = np.asarray(counts)
    if numbers.dtype.kind not in "iu" or numbers.shape != (width,):
        raise NotNumeric(
            f"counts_of gave {numbers.dtype} of shape {numbers.shape} for {width} nodes.",
            "It must return the count of every node, also of empty ones.",
        )
    return np.clip(numbers.astype(np.int64), 0, _MOST_ROWS)
