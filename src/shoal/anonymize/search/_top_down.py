"""Specialise a table from the top: start with all values at ``*`` and split while rules hold.

The method is that of Fung, Wang and Yu, Top-down specialization for information and privacy
preservation, ICDE 2005, on the table of distinct combinations: lines are kept in such an order
that a class is a slice, and after a split only the lines of the classes it divided are counted
again. Why what comes out keeps k, l and t: ``top_down.proof.md``.

Read from the top down: ``specialise``; classes as slices of an order of lines, and how a slice
falls apart into cells; ``Frontier``, the live classes and what the split of each node would do;
``TopDownRun``, one search over it. The functions below that class refuse problems that cannot be
solved, and repair t at the end.
"""

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.equivalence_classes import measure_release, number_classes
from shoal.anonymize.search._greedy_splits import (
    ASK_FOR_BITS,
    ASK_FOR_SIZES,
    NONE,
    GreedySearch,
    LossUnit,
    NodeGains,
    ScoreName,
    SharedCounts,
    cut_after,
    entropy_gain,
    resolve_score,
    smallest_class_after,
)
from shoal.anonymize.search_problem import Cut, Problem, SearchOutcome
from shoal.arrays import Integers
from shoal.errors import StartFails, TooFewRows, quantity

_RADIX = 2**16  # up to this many cells are sorted by counting

MAY_MISS = (
    "A split that breaks t, entropy or recursive l now is never tried again, though further "
    "splits might satisfy it again: the published table keeps the rules, but a finer one "
    "may exist."
)


def specialise(
    problem: Problem,
    *,
    score: str = "auto",
    loss_unit: LossUnit = "rows",
    rng: np.random.Generator | None = None,
) -> SearchOutcome:
    r"""Split the best valid node of the cut until none is left.

    Guarantee
    ---------
    Every class of the outcome has ``problem.k`` people and keeps the l and t rules; no more rows
    are suppressed than the budget allows. See ``top_down.proof.md``.

    Parameters
    ----------
    score
        ``auto``: ``sq`` without a suppression budget, else ``ncp-rows``. See ``greedy.SCORES``.
    loss_unit
        In what lost anonymity is counted: ``rows``, ``k`` or ``bits``.
    rng
        If given, each score is multiplied by :math:`e^{0.6 z}`, z normal, one for each node, which
        leads to other, sometimes better cuts.

    Examples
    --------
    >>> from shoal.anonymize.search_problem import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0]] * 5 + [[1]] * 4 + [[2]] + [[3]] * 2, k=3)
    >>> outcome = specialise(table)
    >>> [ages.nodes[place].label for place in outcome.cut.nodes[0]], outcome.metrics.smallest
    (['18', '19', 'old'], 3)
    """
    return TopDownRun(
        SharedCounts(problem), resolve_score(score, problem.suppression), loss_unit, rng
    ).search()


class ClassSlices(NamedTuple):
    """Classes as slices of ``order``, with the people and nodes of each.

    Each field has one entry for each class.

    Parameters
    ----------
    start
        Where each class begins in ``order``.
    node
        (classes, d): its node on each QID.
    """

    start: Integers
    length: Integers
    people: Integers
    node: NDArray[np.int32]

    def take(self, which: NDArray[Any]) -> "ClassSlices":
        """Return some of the classes."""
        return ClassSlices(*(part[which] for part in cast("tuple[NDArray[Any], ...]", self)))

    def put(self, slots: Integers, new: "ClassSlices") -> None:
        """Write other classes into these slots."""
        for part, values in zip(cast("tuple[NDArray[Any], ...]", self), new, strict=True):
            part[slots] = values

    @classmethod
    def room(cls, count: int, d: int) -> "ClassSlices":
        """Return empty slots."""
        start, length, people = np.zeros((3, count), dtype=np.int64)
        return cls(start, length, people, np.full((count, d), -1, dtype=np.int32))


def slice_positions(start: Integers, length: Integers) -> Integers:
    """Return the positions of several slices, one after another.

    Examples
    --------
    >>> slice_positions(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(int(length.sum()))


class ClassParts(NamedTuple):
    """The cells into which classes are divided, those of one class together in child order.

    Cells without lines may be left out.
    """

    of: Integers
    parent: Integers
    rank: Integers
    first: Integers

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.parent)


def divide_classes(owner: Integers, rank: NDArray[np.int32], fanout: Integers) -> ClassParts:
    """Divide classes by the children of their nodes.

    Parameters
    ----------
    fanout
        For each class how many children there are. A child with no line may be left out.

    Examples
    --------
    >>> rank = np.array([1, 0, 1], dtype=np.int32)
    >>> divide_classes(np.array([0, 0, 1]), rank, np.array([2, 3])).of.tolist()
    [1, 0, 3]
    """
    end = np.cumsum(fanout)
    begin = end - fanout
    cell = begin[owner] + rank
    present = np.arange(end[-1])
    # With far more children than lines, sorting the lines is cheaper than marking all children.
    if len(present) > 8 * len(cell) + 1024:
        present, cell = np.unique(cell, return_inverse=True)
    parent = np.searchsorted(end, present, side="right")
    first = np.searchsorted(present, begin)
    return ClassParts(cell, parent, present - begin[parent], first)


def sort_by_cell(cell: Integers, size: int) -> Integers:
    """Return the order that brings equal cells together and keeps the order within a cell.

    NumPy sorts 16-bit numbers by counting, several times faster than wider ones.
    """
    order = np.argsort((cell % _RADIX).astype(np.uint16), kind="stable")
    if size > _RADIX:
        order = order[np.argsort((cell // _RADIX)[order], kind="stable")]
    return order


class _Effects(NamedTuple):
    """The effects of dividing each class (axis 0) by each QID (axis 1).

    They are rows lost, children kept, entropy gained in units, and people in the smallest child
    kept.
    """

    lost: Integers
    stay: Integers
    bits: Integers
    least: Integers


class Frontier:
    """The live classes, and for each node of the cut the effect of splitting it.

    For each class and QID it keeps what dividing that class by that QID would do; for each node the
    sums over its classes. Sums are of whole numbers (bits in units of a power of two), so they can
    be taken back exactly, and no order of lines changes them.
    """

    def __init__(self, shared: SharedCounts, bits: bool, sizes: bool) -> None:
        problem, nodes = shared.problem, shared.nodes
        self._shared, self._bits, self._sizes = shared, bits, sizes
        self.order = np.arange(len(problem.n))
        # A node that was found invalid is never tried again.
        self.open = nodes.inner.copy()
        self.classes = 0
        self.lost, self.stay, self.bits, self.held = np.zeros((4, nodes.size), dtype=np.int64)
        self._smallest, self._least = np.full((2, nodes.size), NONE)
        self._used = 0
        self._slices = ClassSlices.room(64, problem.d)
        self._effects = _Effects(*np.zeros((4, 64, problem.d), dtype=np.int64))
        self._rank = np.zeros((problem.d, len(problem.n)), dtype=np.int32)

    def at(self, q: int, place: int) -> tuple[Integers, ClassSlices]:
        """Return the slots of the classes published under a node, and these classes."""
        slots = np.flatnonzero(self._slices.node[: self._used, q] == place)
        return slots, self._slices.take(slots)

    def rank(self, q: int, lines: Integers) -> NDArray[np.int32]:
        """Return, for each line, the child of its class's node below which it lies."""
        rank: NDArray[np.int32] = self._rank[q, lines]
        return rank

    def remove(self, slots: Integers) -> None:
        """Remove classes and their effects."""
        node = self._flat(self._slices.node[slots])
        for total, effect in zip((self.lost, self.stay, self.bits), self._effects, strict=False):
            np.subtract.at(total, node, effect[slots])
        np.subtract.at(self.held, node, 1)
        self._slices.node[slots] = -1
        self.classes -= len(slots)

    def add(self, new: ClassSlices, references: list[Integers], reuse: Integers) -> None:
        """Add classes, and compute their effects."""
        slots = self._room(len(new.start), reuse)
        self._slices.put(slots, new)
        effects = self._effects_on(new, references)
        node = self._flat(new.node)
        for total, effect in zip((self.lost, self.stay, self.bits), effects, strict=False):
            np.add.at(total, node, effect)
        np.add.at(self.held, node, 1)
        for stored, effect in zip(self._effects, effects, strict=True):
            stored[slots] = effect
        self.classes += len(slots)
        self._lower_smallest(node, new.people, effects.least)

    def descend(self, q: int, new: ClassSlices) -> None:
        """Update the child of each line of these classes after their node on a QID changed."""
        lines = self.order[slice_positions(new.start, new.length)]
        tree, codes = self._shared.problem.trees[q], self._shared.problem.codes
        place = np.repeat(new.node[:, q], new.length)
        rank = tree.rank[tree.below(place, codes[lines, q])]
        self._rank[q, lines] = np.where(tree.fanout[place] > 0, rank, 0)

    def recount(self, references: list[Integers]) -> None:
        """Recompute all effects, after the counts that t is measured against have changed."""
        slots = np.flatnonzero(self._slices.node[: self._used, 0] >= 0)
        classes = self._slices.take(slots)
        self.remove(slots)
        self.add(classes, references, slots)

    def smallest(self, candidates: Integers) -> tuple[int, Integers]:
        """Return the people in the smallest class now, and after the split of each candidate."""
        if self._shared.problem.budget > 0:
            self._recompute_smallest()
        return smallest_class_after(
            self._shared.nodes.first, self._smallest, self._least, candidates
        )

    def _recompute_smallest(self) -> None:
        slots = np.flatnonzero(self._slices.node[: self._used, 0] >= 0)
        self._smallest[:] = self._least[:] = NONE
        node = self._flat(self._slices.node[slots])
        self._lower_smallest(node, self._slices.people[slots], self._effects.least[slots])

    def _lower_smallest(self, node: Integers, people: Integers, least: Integers) -> None:
        # Without a budget a class is never lost but divided, so the smallest can only fall.
        if self._sizes:
            np.minimum.at(self._smallest, node, people[:, None])
            np.minimum.at(self._least, node, least)

    def close(self, q: int, place: int) -> None:
        """Remove a node from the cut."""
        node = self._shared.nodes.first[q] + place
        self.open[node] = False
        self._smallest[node] = self._least[node] = NONE

    def _effects_on(self, new: ClassSlices, references: list[Integers]) -> _Effects:
        shared, d = self._shared, self._shared.problem.d
        lines = self.order[slice_positions(new.start, new.length)]
        owner = np.repeat(np.arange(len(new.start)), new.length)
        effects = _Effects(*np.zeros((4, len(new.start), d), dtype=np.int64))
        effects.least[:] = NONE
        for q in range(d):
            if self.open[shared.nodes.first[q] + new.node[:, q]].any():
                fanout = np.maximum(shared.problem.trees[q].fanout[new.node[:, q]], 1)
                into = divide_classes(owner, self.rank(q, lines), fanout)
                self._measure(effects, q, lines, into, references)
        return effects

    def _measure(
        self,
        effects: _Effects,
        q: int,
        lines: Integers,
        into: ClassParts,
        references: list[Integers],
    ) -> None:
        """Compute the effects of dividing classes by one QID."""
        hold, people = self._shared.passes(lines, into.of, into.size, references)
        rows, first = people, into.first
        if self._shared.counting.by_person:
            rows = self._shared.counting.rows(lines, into.of, into.size)
        effects.lost[:, q] = np.add.reduceat(np.where(hold, 0, rows), first)
        effects.stay[:, q] = np.add.reduceat(hold, first, dtype=np.int64)
        if self._sizes:
            effects.least[:, q] = np.minimum.reduceat(np.where(hold, people, NONE), first)
        if self._bits:
            effects.bits[:, q] = entropy_gain(rows, first, self._shared.per_bit)

    def _flat(self, node: NDArray[np.int32]) -> Integers:
        return np.asarray(node + self._shared.nodes.first[:-1])

    def _room(self, count: int, reuse: Integers) -> Integers:
        fresh = max(count - len(reuse), 0)
        slots = np.append(reuse[:count], np.arange(self._used, self._used + fresh))
        self._used += fresh
        short = self._used - len(self._slices.start)
        if short > 0:
            more = short + len(self._slices.start)
            self._slices = ClassSlices(*(_extended(part, more) for part in self._slices))
            self._effects = _Effects(*(_extended(part, more) for part in self._effects))
        return slots


def _extended(part: NDArray[Any], more: int) -> NDArray[Any]:
    return np.concatenate([part, np.zeros((more, *part.shape[1:]), dtype=part.dtype)])


class TopDownRun(GreedySearch):
    """One search: the cut, its classes, and at which split each line was suppressed.

    Parameters
    ----------
    known
        bool (nodes of all QIDs,): which nodes may be split, if the lines do not tell what lies
        below the others.
    """

    def __init__(
        self,
        shared: SharedCounts,
        score: ScoreName,
        unit: LossUnit = "rows",
        rng: np.random.Generator | None = None,
        known: NDArray[np.bool_] | None = None,
    ) -> None:
        frontier = Frontier(shared, bits=score in ASK_FOR_BITS, sizes=score in ASK_FOR_SIZES)
        if known is not None:
            frontier.open &= known
        gains = NodeGains(shared.problem, score)
        super().__init__(shared, score, unit, frontier, gains, rng)
        self._frontier, self._gains = frontier, gains
        self._suppressed_at = np.full(len(self._problem.n), -1, dtype=np.int32)  # -1: still live

    def search(self) -> SearchOutcome:
        """Search, and recompute the metrics of the release from its labels."""
        self.start()
        while len(nodes := self.valid()):  # [P2] [P4]
            self.split_best(nodes)
        return self.outcome()

    def outcome(self) -> SearchOutcome:
        """Return the present state of the search as an outcome."""
        cut, suppressed = self._last_valid()
        labels = self._problem.labels(cut)  # [P6]
        return SearchOutcome(
            labels=labels,
            suppressed=suppressed,
            metrics=measure_release(self._problem, labels, suppressed),
            cut=cut,
            method=self._score,
            notes=(MAY_MISS,) if self._shared.rules.may_recover else (),
        )

    def start(self) -> None:
        """Build the classes of the starting cut, and suppress those that break a rule."""
        problem, frontier = self._problem, self._frontier
        refuse_too_few(self._shared)
        labels = problem.labels(problem.top)
        classes = number_classes(labels)
        everything = np.arange(len(problem.n))
        self._references = self._live_references()
        hold, people = self._shared.passes(everything, classes.ids, classes.size, self._references)
        if self._suppress(np.flatnonzero(~hold[classes.ids])):  # [P1]
            self._references = self._live_references()
        refuse_start(problem, self._suppressed, bool(hold.any()))
        frontier.order = sort_by_cell(classes.ids, classes.size)
        length = np.bincount(classes.ids, minlength=classes.size)
        start = np.cumsum(length) - length
        node = labels[frontier.order[start]]
        passing = ClassSlices(start, length, people, node).take(hold)
        for q in range(problem.d):
            frontier.descend(q, passing)
        frontier.add(passing, self._references, np.empty(0, dtype=np.int64))

    def split(self, q: int, place: int) -> None:
        """Divide every class at a node by its children, and suppress the children that fail."""
        frontier, tree = self._frontier, self._problem.trees[q]
        slots, old = frontier.at(q, place)
        at = slice_positions(old.start, old.length)
        lines, fanout = frontier.order[at], int(tree.fanout[place])
        owner = np.repeat(np.arange(len(slots)), old.length)
        into = divide_classes(owner, frontier.rank(q, lines), np.full(len(slots), fanout))
        hold, people = self._shared.passes(lines, into.of, into.size, self._references)
        frontier.order[at] = lines[sort_by_cell(into.of, into.size)]
        new = _children(old, into, people)
        new.node[:, q] = np.flatnonzero(tree.parent == place)[into.rank]
        new = new.take(hold)  # [P3]
        self._splits.append((q, place))
        frontier.close(q, place)
        frontier.remove(slots)
        frontier.descend(q, new)
        moved = self._suppress(lines[~hold[into.of]])
        frontier.add(new, self._references, slots)
        if moved and self._shared.rules.closeness:
            self._references = self._live_references()
            frontier.recount(self._references)

    def _live_references(self) -> list[Integers]:
        return self._shared.rules.references(np.flatnonzero(self._suppressed_at < 0))

    def _suppress(self, lines: Integers) -> bool:
        """Suppress lines, and return whether there were any."""
        if len(lines):
            self._suppressed_at[lines] = len(self._splits)
            self._suppressed += int(self._problem.n[lines].sum())
            self._gains.suppress(lines)
        return len(lines) > 0

    def _last_valid(self) -> tuple[Cut, NDArray[np.bool_]]:
        """Return the last cut whose classes keep t, and the lines it suppresses."""
        for splits in range(len(self._splits), -1, -1):
            cut = cut_after(self._problem, self._splits[:splits])
            suppressed = (self._suppressed_at >= 0) & (self._suppressed_at <= splits)
            if not self._shared.rules.closeness:
                return cut, suppressed
            mended = suppress_until_valid(self._shared, cut, suppressed)  # [P5]
            if mended is not None:
                return cut, mended
        raise invalid_start_error("no class is close to the table", self._problem)


def _children(old: ClassSlices, into: ClassParts, people: Integers) -> ClassSlices:
    """Return the slices of all cells, each within the slice of its parent."""
    length = np.bincount(into.of, minlength=into.size)
    before = np.cumsum(length) - length
    start = (old.start - before[into.first])[into.parent] + before
    return ClassSlices(start, length, people, old.node[into.parent])


def refuse_too_few(shared: SharedCounts) -> None:
    """Raise unless the whole table would make one class."""
    lines = np.arange(len(shared.problem.n))
    people = int(shared.counting.people(lines, np.zeros_like(lines), 1)[0])
    if people < shared.problem.k:
        raise TooFewRows(
            f"The table has {quantity(people, 'person', 'people')}; a class needs k = "
            f"{shared.problem.k}.",
            "Choose a smaller k, or collect more rows.",
            reason="people",
        )


def refuse_start(problem: Problem, suppressed: int, some_stay: bool) -> None:
    """Raise if too many of the starting classes break a rule."""
    if suppressed > problem.budget or not some_stay:
        raise invalid_start_error(
            f"{quantity(suppressed, 'row is', 'rows are')} in classes that do not meet k, l or t",
            problem,
        )


def invalid_start_error(what: str, problem: Problem) -> StartFails:
    """Return the error that says what is wrong at the start, and how much is allowed."""
    return StartFails(
        f"At the most general labels allowed, {what}; {quantity(max(problem.budget, 0), 'row')} "
        "may be suppressed.",
        "Allow more general labels (max_level), more suppression, or a weaker l or t.",
    )


def suppress_until_valid(
    shared: SharedCounts, cut: Cut, suppressed: NDArray[np.bool_]
) -> NDArray[np.bool_] | None:
    """Suppress classes that fail against the published rows until none does; None if too many.

    Parameters
    ----------
    suppressed
        bool (F,): lines that are suppressed already.
    """
    problem, suppressed = shared.problem, suppressed.copy()
    while int(problem.n[suppressed].sum()) <= problem.budget and not suppressed.all():
        classes = number_classes(problem.labels(cut), suppressed)
        hold = shared.hold(classes)
        if hold.all():
            return suppressed
        suppressed |= ~np.append(hold, True)[classes.ids]
    return None
