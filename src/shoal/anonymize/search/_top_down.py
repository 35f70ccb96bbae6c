"""Specialise a table from the top: start with all values at ``*`` and split while rules hold.

The method is that of Fung, Wang and Yu, Top-down specialization for information and privacy
preservation, ICDE 2005, on the table of distinct combinations: lines are kept in such an order
that a class is a slice, and after a split only the lines of the classes it divided are counted
again. Why what comes out keeps k, l and t: ``top_down.proof.md``.

The functions below the class refuse problems that cannot be solved, and repair t at the end.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import measure_release, number_classes
from shoal.anonymize.problem import Cut, Outcome, Problem
from shoal.anonymize.search._frontier import (
    ClassParts,
    ClassSlices,
    Frontier,
    divide_classes,
    slice_positions,
    sort_by_cell,
)
from shoal.anonymize.search.greedy import (
    ASK_FOR_BITS,
    ASK_FOR_SIZES,
    GreedySearch,
    LossUnit,
    NodeGains,
    ScoreName,
    SharedCounts,
    cut_after,
    resolve_score,
)
from shoal.arrays import Integers
from shoal.errors import StartFails, TooFewRows, quantity

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
) -> Outcome:
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
    >>> from shoal.anonymize.problem import problem_of
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

    def search(self) -> Outcome:
        """Search, and recompute the metrics of the release from its labels."""
        self.start()
        while len(nodes := self.valid()):  # [P2] [P4]
            self.split_best(nodes)
        return self.outcome()

    def outcome(self) -> Outcome:
        """Return the present state of the search as an outcome."""
        cut, suppressed = self._last_valid()
        labels = self._problem.labels(cut)  # [P6]
        return Outcome(
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
        classes_kept = ClassSlices(start, length, people, node).take(hold)
        for q in range(problem.d):
            frontier.descend(q, classes_kept)
        frontier.add(classes_kept, self._references, np.empty(0, dtype=np.int64))

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
    """Raise unless the whole table would make one class.

    Raises
    ------
    TooFewRows
        If there are fewer people than k.
    """
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
    """Raise if too many of the starting classes break a rule.

    Raises
    ------
    StartFails
        If they are too many.
    """
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
