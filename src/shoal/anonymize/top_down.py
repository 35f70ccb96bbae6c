"""Specialise a table from the top: begin with everything at ``*`` and split while k holds.

The method is that of Fung, Wang and Yu, Top-down specialization for information and privacy
preservation, ICDE 2005, on the table of distinct combinations: lines are kept in such an order
that a class is a slice, and after a split only the lines of the classes it divided are counted
again. Why what comes out keeps k, l and t: ``top_down.proof.md``.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import Classes, classes_of, metrics_of
from shoal.anonymize.frontier import Frontier, Ints, Shared, Slices, by_cell, ranges
from shoal.anonymize.gains import Gains
from shoal.anonymize.problem import Cut, Outcome, Problem
from shoal.anonymize.scores import Candidates, LossUnit, ScoreName, best, resolved, scored
from shoal.errors import StartFails, TooFewEntities

__all__ = ["MAY_MISS", "Run", "specialise"]

MAY_MISS = (
    "A split that breaks t, entropy or recursive l now is never tried again, though further splits "
    "might mend it: what is published keeps the rules, a finer table may exist."
)
_SPREAD = 0.6


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
    problem
        The frequency table and what is asked.
    score
        ``auto``: ``sq`` without a suppression budget, else ``ncp-rows``. See ``scores``.
    loss_unit
        In what lost anonymity is counted: ``rows``, ``k`` or ``bits``.
    rng
        If given, each score is multiplied by :math:`e^{0.6 z}`, z normal, one for each node: a
        way to other, sometimes better cuts.

    Examples
    --------
    >>> from shoal.anonymize.lines import problem_of
    >>> from shoal.domain import Taxonomy
    >>> ages = Taxonomy.nested("*", {"young": ["18", "19"], "old": ["70", "71"]})
    >>> table = problem_of({"age": ages}, [[0]] * 5 + [[1]] * 4 + [[2]] + [[3]] * 2, k=3)
    >>> outcome = specialise(table)
    >>> [ages.nodes[place].label for place in outcome.cut.nodes[0]], outcome.metrics.smallest
    (['18', '19', 'old'], 3)
    """
    return Run(Shared(problem), resolved(score, problem.suppression), loss_unit, rng).outcome()


class Run:
    """One search: the cut, its classes and which lines were suppressed at which split."""

    def __init__(
        self,
        shared: Shared,
        score: ScoreName,
        unit: LossUnit = "rows",
        rng: np.random.Generator | None = None,
    ) -> None:
        self._shared, self._problem = shared, shared.problem
        self._score, self._unit = score, unit
        nodes = shared.nodes.size
        self._tilt = np.ones(nodes) if rng is None else np.exp(_SPREAD * rng.standard_normal(nodes))
        self._frontier = Frontier(
            shared,
            bits=score in ("leteo", "ncp-bits"),
            sizes=score not in ("ncp-rows", "ncp-bits"),
        )
        self._splits: list[tuple[int, int]] = []
        self._gone_at = np.full(len(self._problem.n), -1, dtype=np.int32)  # -1: still live
        self._suppressed = 0
        self._gains = Gains(self._problem, score)
        self._start()
        while (node := self._choose()) is not None:
            self._split(*shared.nodes.home(node))

    def outcome(self) -> Outcome:
        """The release, re-counted from its labels."""
        cut, suppressed = self._settled()
        labels = self._problem.labels(cut)  # [P6]
        return Outcome(
            labels=labels,
            suppressed=suppressed,
            metrics=metrics_of(self._problem, labels, suppressed),
            cut=cut,
            method=self._score,
            notes=(MAY_MISS,) if self._shared.rules.may_recover else (),
        )

    def _start(self) -> None:
        """The classes of the starting cut; those that break a rule are suppressed."""
        problem, frontier = self._problem, self._frontier
        _refuse_too_few(self._shared)
        classes = classes_of(problem.labels(problem.top))
        everything = np.arange(len(problem.n))
        self._references = self._shared.rules.references(everything)
        hold, people = self._shared.passes(everything, classes.ids, classes.size, self._references)
        self._suppress(np.flatnonzero(~hold[classes.ids]))  # [P1]
        _refuse_start(problem, self._suppressed, bool(hold.any()))
        frontier.order = by_cell(classes.ids, classes.size)
        length = np.bincount(classes.ids, minlength=classes.size)
        start = np.cumsum(length) - length
        node = problem.labels(problem.top)[frontier.order[start]]
        kept = Slices(start, length, people, node).take(hold)
        for q in range(problem.d):
            frontier.descend(q, kept)
        frontier.add(kept, self._references, np.empty(0, dtype=np.int64))

    def _choose(self) -> int | None:
        """The best valid node to split, if there is one; invalid ones are dropped for good."""
        frontier = self._frontier
        nodes = np.flatnonzero(frontier.open & (frontier.held > 0))
        within = self._suppressed + frontier.lost[nodes] <= self._problem.budget  # [P2]
        some_stay = (frontier.kept[nodes] > 0) | (frontier.held[nodes] < frontier.classes)
        frontier.open[nodes[~(within & some_stay)]] = False  # [P4]
        nodes = nodes[within & some_stay]
        if not len(nodes):
            return None
        candidates = self._candidates(nodes)
        scores = scored(self._score, candidates, self._unit, self._problem.k) * self._tilt[nodes]
        return int(nodes[best(scores, candidates.gain)])

    def _candidates(self, nodes: Ints) -> Candidates:
        frontier = self._frontier
        bits = frontier.bits[nodes] / self._shared.per_bit
        needs_sizes = self._score not in ("ncp-rows", "ncp-bits")
        before, after = frontier.smallest(nodes) if needs_sizes else (0, np.zeros_like(nodes))
        gain = bits / self._problem.N if self._score == "leteo" else self._gains.of_nodes[nodes]
        return Candidates(gain, bits, frontier.lost[nodes], before, after)

    def _split(self, q: int, place: int) -> None:
        """Divide every class at a node by its children; suppress the children that fail."""
        frontier, tree = self._frontier, self._problem.trees[q]
        slots, old = frontier.at(q, place)
        at = ranges(old.start, old.length)
        lines, fanout = frontier.order[at], int(tree.fanout[place])
        cell = np.repeat(np.arange(len(slots)) * fanout, old.length) + frontier.rank(q, lines)
        hold, people = self._shared.passes(lines, cell, len(slots) * fanout, self._references)
        frontier.order[at] = lines[by_cell(cell, len(hold))]
        new = _children(old, cell, people, fanout)
        new.node[:, q] = np.tile(np.flatnonzero(tree.parent == place), len(slots))
        new = new.take(hold)  # [P3]
        self._splits.append((q, place))
        frontier.close(q, place)
        frontier.remove(slots)
        frontier.descend(q, new)
        moved = self._suppress(lines[~hold[cell]])
        frontier.add(new, self._references, slots)
        if moved and self._shared.rules.closeness:
            self._references = self._shared.rules.references(np.flatnonzero(self._gone_at < 0))
            frontier.recount(self._references)

    def _suppress(self, lines: Ints) -> bool:
        """Take lines out of the release; whether there were any."""
        if len(lines):
            self._gone_at[lines] = len(self._splits)
            self._suppressed += int(self._problem.n[lines].sum())
            self._gains.suppress(lines)
        return len(lines) > 0

    def _settled(self) -> tuple[Cut, NDArray[np.bool_]]:
        """The last cut whose classes keep t against what is published, and what it suppresses."""
        for splits in range(len(self._splits), -1, -1):
            cut = _after(self._problem, self._splits[:splits])
            suppressed = (self._gone_at >= 0) & (self._gone_at <= splits)
            if not self._shared.rules.closeness:
                return cut, suppressed
            settled = _settle(self._shared, cut, suppressed)
            if settled is not None:
                return cut, settled
        raise _start_fails("no class is close to the table", self._problem)


def _children(old: Slices, cell: Ints, people: Ints, fanout: int) -> Slices:
    """The slices of all children, those with no line included, in the order of the cells."""
    length = np.bincount(cell, minlength=len(people))
    before = np.cumsum(length) - length
    start = np.repeat(old.start - before[::fanout], fanout) + before
    return Slices(start, length, people, np.repeat(old.node, fanout, axis=0))


def _after(problem: Problem, splits: list[tuple[int, int]]) -> Cut:
    """The starting cut with some nodes replaced by their children."""
    nodes = [set(places) for places in problem.top.nodes]
    for q, place in splits:
        nodes[q].remove(place)
        nodes[q].update(np.flatnonzero(problem.trees[q].parent == place).tolist())
    return Cut(tuple(tuple(sorted(places)) for places in nodes))


def _settle(shared: Shared, cut: Cut, suppressed: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Suppress what fails against the published rows, until nothing does; None if too much."""
    problem, suppressed = shared.problem, suppressed.copy()
    while int(problem.n[suppressed].sum()) <= problem.budget and not suppressed.all():
        classes = classes_of(problem.labels(cut), suppressed)
        hold = _classes_hold(shared, classes)
        if hold.all():  # [P5]
            return suppressed
        suppressed |= ~np.append(hold, True)[classes.ids]
    return None


def _classes_hold(shared: Shared, classes: Classes) -> NDArray[np.bool_]:
    live = np.flatnonzero(classes.ids >= 0)
    references = shared.rules.references(live)
    return shared.passes(live, classes.ids[live], classes.size, references)[0]


def _refuse_too_few(shared: Shared) -> None:
    lines = np.arange(len(shared.problem.n))
    people = int(shared.counting.people(lines, np.zeros_like(lines), 1)[0])
    if people < shared.problem.k:
        raise TooFewEntities(
            f"The table has {people} of the k = {shared.problem.k} that a class needs.",
            "Choose a smaller k, or gather more rows.",
        )


def _refuse_start(problem: Problem, suppressed: int, some_stay: bool) -> None:
    over = suppressed - problem.budget
    if over > 0 or not some_stay:
        raise _start_fails(f"{suppressed} rows lie in classes that break k, l or t", problem)


def _start_fails(what: str, problem: Problem) -> StartFails:
    return StartFails(
        f"At the most general labels allowed, {what}; {max(problem.budget, 0)} rows may be "
        "suppressed.",
        "Allow more general labels (max_level), more suppression, or ask for less of l or t.",
    )
