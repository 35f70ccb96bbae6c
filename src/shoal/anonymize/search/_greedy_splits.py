"""Greedy search: compute gains of nodes, score the candidates, and split the best.

A candidate is a node X on the cut of QID q. What it gains is measured in bits (``leteo``), in
normalised certainty penalty (``ncp``, ``ncp-rows``, ``ncp-bits``), in its square (``sq``) or in
information about a class column (``label-gain``); what it costs in lost anonymity, in rows to
suppress, or in bits. In the method of Fung, Wang and Yu (Top-down specialization for information
and privacy preservation, ICDE 2005) the gain is ``label-gain``.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize._diversity import ClassRules, LineCounter
from shoal.anonymize.equivalence_classes import Classes
from shoal.anonymize.search_problem import Cut, Problem
from shoal.arrays import Floats, Integers
from shoal.errors import InvalidSetting

ScoreName = Literal["leteo", "ncp", "sq", "ncp-rows", "ncp-bits", "label-gain"]
LossUnit = Literal["rows", "k", "bits"]
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)
PORTFOLIO: tuple[ScoreName, ...] = ("sq", "ncp", "ncp-rows", "ncp-bits")
ASK_FOR_BITS = ("leteo", "ncp-bits")
ASK_FOR_SIZES = ("leteo", "ncp", "sq", "label-gain")

NONE = np.iinfo(np.int64).max  # the smallest size where there are no classes

# Deviation of the logarithm of a tilted score: docs/decisions/anonymize-search.md.
_SPREAD = 0.6


@dataclass(frozen=True, eq=False)
class Candidates:
    """The valid splits, in the order of their QIDs and then of the tree.

    Parameters
    ----------
    bits
        Entropy each adds, in bits times N; zeros unless the score is in ``ASK_FOR_BITS``.
    before
        The smallest class now; 0 unless the score is in ``ASK_FOR_SIZES``.
    after
        The smallest class after each split; zeros unless the score is in ``ASK_FOR_SIZES``.
    """

    gain: Floats
    bits: Floats
    lost: Integers
    before: int
    after: Integers


def resolve_score(score: str, suppression: float) -> ScoreName:
    """Return the score that ``auto`` stands for, or the one named.

    Raises
    ------
    InvalidSetting
        If there is no such score.

    Examples
    --------
    >>> resolve_score("auto", 0), resolve_score("auto", 0.02), resolve_score("leteo", 0)
    ('sq', 'ncp-rows', 'leteo')
    """
    if score == "auto":
        return "ncp-rows" if suppression > 0 else "sq"
    for name in SCORES:
        if name == score:
            return name
    raise InvalidSetting(
        f"There is no score {score!r}.",
        f"Choose auto or one of {', '.join(SCORES)}.",
        setting="score",
    )


def score_candidates(score: ScoreName, of: Candidates, unit: LossUnit, k: int) -> Floats:
    """Return the score of each candidate; the largest is split next.

    A split that costs nothing comes first.

    Parameters
    ----------
    unit
        In what lost anonymity is counted: ``rows`` (or people), ``k`` of them, or ``bits``, log2 of
        how many times smaller the smallest class becomes.
    Examples
    --------
    >>> two = Candidates(np.array([6.0, 4.0]), np.zeros(2), np.zeros(2, int), 9, np.array([4, 8]))
    >>> score_candidates("sq", two, "rows", 2).tolist()
    [1.0, 2.0]
    >>> score_candidates("sq", two, "k", 2).round(2).tolist()
    [1.71, 2.67]
    """
    if unit not in get_args(LossUnit):
        raise InvalidSetting(
            f"There is no loss unit {unit!r}.", "Choose rows, k or bits.", setting="unit"
        )
    if score == "ncp-rows":
        return of.gain / (1 + of.lost)
    if score == "ncp-bits":  # no class divides: nothing is spent, so it comes first
        free = np.full(len(of.gain), np.inf)
        return np.asarray(np.divide(of.gain, of.bits, out=free, where=of.bits > 0))
    return of.gain / (1 + _anonymity_lost(of, unit, k))


def _anonymity_lost(of: Candidates, unit: LossUnit, k: int) -> Floats:
    """Return the anonymity that each split loses, at least 0."""
    if unit == "bits":
        return np.maximum(0.0, np.log2(of.before / of.after))
    lost = np.maximum(0, of.before - of.after)
    return np.asarray(lost / (k if unit == "k" else 1))


def best_candidate(scores: Floats, gain: Floats) -> int:
    """Return the candidate to split: by score, then gain, then order, to twelve digits.

    Engines that sum in another order differ in the last digits only, so they choose the same.

    Examples
    --------
    >>> best_candidate(np.array([0.3, 0.1 + 0.2, 0.1]), np.array([1.0, 2.0, 3.0]))
    1
    """
    top = scores.max()
    least = top - 1e-11 * abs(top) if np.isfinite(top) else top
    near = np.flatnonzero(scores >= least)
    return max(near.tolist(), key=lambda i: (_digits(scores, i), _digits(gain, i), -i))


def _digits(numbers: Floats, i: int) -> float:
    return float(f"{float(numbers[i]):.12g}")


class Nodes:
    """The nodes of all QIDs in one list: node ``place`` of QID q has number ``first[q] +
    place``.
    """

    def __init__(self, problem: Problem) -> None:
        self.trees = problem.trees
        self.first = np.cumsum([0] + [tree.size for tree in self.trees])

    @property
    def size(self) -> int:
        """The number of all nodes."""
        return int(self.first[-1])

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Which nodes have children."""
        return np.concatenate([tree.fanout > 0 for tree in self.trees])

    def home(self, node: int) -> tuple[int, int]:
        """Return the QID of a node and its place there."""
        q = int(np.searchsorted(self.first, node, side="right")) - 1
        return q, node - int(self.first[q])


class NodeGains:
    """The gain of splitting each node, updated as lines are suppressed.

    Children that would be suppressed count like the others. For ``leteo`` the gain depends on the
    classes a node divides, and is not computed here.

    Parameters
    ----------
    score
        The score gains are counted for; ``label-gain`` needs ``problem.target``.
    """

    def __init__(self, problem: Problem, score: ScoreName) -> None:
        self._problem, self._score = problem, score
        self._classes = _classes_of_target(problem) if score == "label-gain" else None
        everything = np.arange(len(problem.n))
        self._live = [self._count(q, everything) for q in range(problem.d)]

    def suppress(self, lines: Integers) -> None:
        """Remove lines that are no longer published."""
        for q in range(self._problem.d):
            self._live[q] -= self._count(q, lines)
        self.__dict__.pop("of_nodes", None)

    @cached_property
    def of_nodes(self) -> Floats:
        """Return the gain of splitting each node, 0 for a leaf: float64 (nodes of all QIDs,)."""
        of_qid = self._ncp_gain if self._classes is None else self._label_gain
        return np.concatenate([of_qid(q) for q in range(self._problem.d)])

    def _count(self, q: int, lines: Integers) -> Integers:
        """Count rows of each leaf (axis 0), by class value (axis 1) if the score needs it."""
        code, width = self._problem.codes[lines, q].astype(np.int64), 1
        if self._classes is not None:
            width = int(self._classes.max()) + 1
            code = code * width + self._classes[lines]
        size = self._problem.trees[q].taxonomy.size
        counts = np.bincount(code, self._problem.n[lines], minlength=size * width)
        return counts.astype(np.int64).reshape(size, width)

    def _ncp_gain(self, q: int) -> Floats:
        rows = self._problem.trees[q].sums(self._live[q][:, 0])
        return ncp_gains(self._problem, q, rows, self._score)

    def _label_gain(self, q: int) -> Floats:
        """Return the entropy of the class column below each node less its children's mean."""
        tree = self._problem.trees[q]
        counts = np.stack([tree.sums(column) for column in self._live[q].T])
        rows = counts.sum(axis=0)
        spread = _n_log_n(rows) - _n_log_n(counts).sum(axis=0)  # entropy times rows
        below = np.bincount(tree.parent[1:], spread[1:], minlength=tree.size)
        gain = np.round((spread - below) / np.maximum(rows, 1), 12)  # 0, where it is 0
        return np.where((tree.fanout > 0) & (rows > 0), gain, 0.0)


def ncp_gains(problem: Problem, q: int, rows: Floats, score: ScoreName) -> Floats:
    r""":math:`(w / N \sum w) \sum_y m_y [ncp(X)^p - ncp(y)^p]` over the children y of each X.

    This is the certainty penalty that a split saves; p is 2 for the score ``sq``, else 1.

    Parameters
    ----------
    rows
        For each node y of the QID the live rows below it, :math:`m_y`.
    """
    tree, cost = problem.trees[q], problem.costs[q] ** (2 if score == "sq" else 1)
    parent = tree.parent[1:]
    saved = np.bincount(parent, rows[1:] * (cost[parent] - cost[1:]), minlength=tree.size)
    return np.asarray(saved * (problem.weights[q] / sum(problem.weights) / problem.N))


def _classes_of_target(problem: Problem) -> Integers:
    if problem.target is None:
        raise InvalidSetting(
            "The score label-gain needs a class column.",
            "Name one, or choose another score.",
        )
    return np.unique(problem.target, return_inverse=True)[1]


def _n_log_n(n: Floats | Integers) -> Floats:
    return np.asarray(n * np.log2(np.maximum(n, 1)))


class SharedCounts:
    """What all runs over one problem share: its nodes, and the counters of its lines."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.counting = LineCounter(problem)
        self.rules = ClassRules(self.counting)
        self.nodes = Nodes(problem)
        most = max(problem.N, 2) * math.log2(max(problem.N, 2))
        self.per_bit = 2.0 ** (61 - math.ceil(math.log2(most)))

    def passes(
        self, lines: Integers, groups: Integers, size: int, references: list[Integers]
    ) -> tuple[NDArray[np.bool_], Integers]:
        """Return which groups have k people and keep the rules, and the people of each."""
        people = self.counting.people(lines, groups, size)
        hold = people >= self.problem.k
        if self.rules.any:
            hold &= self.rules.hold(lines, groups, size, references)
        if self.problem.population is not None:
            outside = np.bincount(groups, self.problem.population[lines], minlength=size)
            for model in self.problem.class_models:
                hold &= model.holds(people, outside)
        return hold, people

    def hold(self, classes: Classes) -> NDArray[np.bool_]:
        """Return which classes have k people and keep the rules, measured against all of them."""
        live = np.flatnonzero(classes.ids >= 0)
        references = self.rules.references(live)
        return self.passes(live, classes.ids[live], classes.size, references)[0]


class SplitEffects(Protocol):
    """The interface of what the split of each node would do to the classes under it.

    Each attribute has one entry for each node of all QIDs.
    """

    open: NDArray[np.bool_]
    held: Integers
    lost: Integers
    stay: Integers
    bits: Integers

    @property
    def classes(self) -> int:
        """The number of live classes."""

    def smallest(self, candidates: Integers) -> tuple[int, Integers]:
        """Return the people in the smallest class now, and after the split of each candidate."""


class SplitGains(Protocol):
    """The interface of what the split of each node gains."""

    @property
    def of_nodes(self) -> Floats:
        """Return the gain of each node: float64 (nodes of all QIDs,)."""


def smallest_class_after(
    first: Integers, smallest: Integers, least: Integers, candidates: Integers
) -> tuple[int, Integers]:
    """Return the people in the smallest class now, and after the split of each candidate."""
    others = np.empty(len(smallest), dtype=np.int64)
    for low, high in pairwise(first):
        others[low:high] = _least_of_others(smallest[low:high])
    now = int(smallest[: first[1]].min())
    return now, np.minimum(others[candidates], least[candidates])


def entropy_gain(rows: Integers, first: Integers, per_bit: float) -> Integers:
    """Return the entropy gained by dividing classes, in whole units, which add up in any order."""
    total = np.add.reduceat(rows, first)
    gained = _n_log_n(total) - np.add.reduceat(_n_log_n(rows), first)
    return np.rint(gained * per_bit).astype(np.int64)


def _least_of_others(sizes: Integers) -> Integers:
    """Return, for each entry, the least of all the others."""
    at = int(np.argmin(sizes))
    least = np.full(len(sizes), sizes[at])
    least[at] = min(sizes[:at].min(initial=NONE), sizes[at + 1 :].min(initial=NONE))
    return least


class GreedySearch(ABC):
    """Base of searches that repeatedly split the best valid node of the cut.

    Parameters
    ----------
    counted
        What each split would do; ``split`` keeps it up to date.
    gaining
        What each split would gain; ``split`` keeps it up to date.
    rng
        If given, the score of each node is multiplied by :math:`e^{0.6 z}`, z normal.
    """

    def __init__(
        self,
        shared: SharedCounts,
        score: ScoreName,
        unit: LossUnit,
        counted: SplitEffects,
        gaining: SplitGains,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._shared, self._problem = shared, shared.problem
        self._score, self._unit = score, unit
        self._counted, self._gaining = counted, gaining
        nodes = shared.nodes.size
        self._tilt = np.ones(nodes) if rng is None else np.exp(_SPREAD * rng.standard_normal(nodes))
        self._splits: list[tuple[int, int]] = []
        self._suppressed = 0

    @abstractmethod
    def split(self, q: int, place: int) -> None:
        """Divide every class at a node by its children, and suppress the children that fail."""

    @property
    def cut(self) -> Cut:
        """The present cut."""
        return cut_after(self._problem, self._splits)

    @property
    def held(self) -> Integers:
        """How many classes are published under each node: int64 (nodes of all QIDs,)."""
        return self._counted.held

    def valid(self) -> Integers:
        """Return the nodes of the cut that may be split; invalid ones are dropped permanently."""
        counted = self._counted
        nodes = np.flatnonzero(counted.open & (counted.held > 0))
        within = self._suppressed + counted.lost[nodes] <= self._problem.budget
        some_stay = (counted.stay[nodes] > 0) | (counted.held[nodes] < counted.classes)
        counted.open[nodes[~(within & some_stay)]] = False
        return nodes[within & some_stay]

    def split_best(self, nodes: Integers) -> None:
        """Split the best of these nodes."""
        candidates = self._candidates(nodes)
        scores = (
            score_candidates(self._score, candidates, self._unit, self._problem.k)
            * self._tilt[nodes]
        )
        self.split(*self._shared.nodes.home(int(nodes[best_candidate(scores, candidates.gain)])))

    def _candidates(self, nodes: Integers) -> Candidates:
        counted = self._counted
        bits = counted.bits[nodes] / self._shared.per_bit
        before, least = 0, np.zeros_like(nodes)
        if self._score in ASK_FOR_SIZES:
            before, least = counted.smallest(nodes)
        gain = bits / self._problem.N if self._score == "leteo" else self._gaining.of_nodes[nodes]
        return Candidates(gain, bits, counted.lost[nodes], before, least)


def cut_after(problem: Problem, splits: list[tuple[int, int]]) -> Cut:
    """Return the starting cut with some nodes replaced by their children."""
    nodes = [set(places) for places in problem.top.nodes]
    for q, place in splits:
        nodes[q].remove(place)
        nodes[q].update(np.flatnonzero(problem.trees[q].parent == place).tolist())
    return Cut(tuple(tuple(sorted(places)) for places in nodes))


def find_violations(problem: Problem, classes: Classes) -> NDArray[np.bool_]:
    """Return which classes break k, l or t, measured against all published rows.

    Parameters
    ----------
    problem
        The problem.
    classes
        The classes of all lines.
    """
    return ~SharedCounts(problem).hold(classes)
