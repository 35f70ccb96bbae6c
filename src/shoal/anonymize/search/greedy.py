"""Pick the next split: whatever counts the classes, the choice is made here.

What all runs over one problem share.
"""

import math
from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import Classes
from shoal.anonymize.diversity import Counting, Rules
from shoal.anonymize.problem import Cut, Problem
from shoal.anonymize.search.gains import (
    ASK_FOR_SIZES,
    Candidates,
    LossUnit,
    Nodes,
    ScoreName,
    best,
    scored,
)

__all__ = [
    "Counted",
    "Gaining",
    "Greedy",
    "Shared",
    "after",
]

Ints = NDArray[np.int64]

_SPREAD = 0.6


class Shared:
    """What all runs over one problem share: how its lines are counted, and its nodes."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.counting = Counting(problem)
        self.rules = Rules(self.counting)
        self.nodes = Nodes(problem)
        most = max(problem.N, 2) * math.log2(max(problem.N, 2))
        self.per_bit = 2.0 ** (61 - math.ceil(math.log2(most)))

    def passes(
        self, lines: Ints, groups: Ints, size: int, references: list[Ints]
    ) -> tuple[NDArray[np.bool_], Ints]:
        """Which groups have k people and keep the rules, and how many people each has."""
        people = self.counting.people(lines, groups, size)
        hold = people >= self.problem.k
        if self.rules.any:
            hold &= self.rules.hold(lines, groups, size, references)
        return hold, people

    def hold(self, classes: Classes) -> NDArray[np.bool_]:
        """Which classes have k people and keep the rules, held against all of them together."""
        live = np.flatnonzero(classes.ids >= 0)
        references = self.rules.references(live)
        return self.passes(live, classes.ids[live], classes.size, references)[0]


class Counted(Protocol):
    """For each node of all QIDs what its split would do to the classes published under it.

    ``open``: not yet found invalid. ``held``: classes published under it. ``lost``, ``kept``,
    ``bits``: rows its split would suppress, children it would keep, entropy it would add.
    """

    open: NDArray[np.bool_]
    held: Ints
    lost: Ints
    kept: Ints
    bits: Ints

    @property
    def classes(self) -> int:
        """How many classes are live."""

    def smallest(self, candidates: Ints) -> tuple[int, Ints]:
        """People in the smallest class now, and after the split of each candidate."""


class Gaining(Protocol):
    """What the split of each node gains."""

    @property
    def of_nodes(self) -> NDArray[np.float64]:
        """float64 (nodes of all QIDs,)."""


class Greedy(ABC):
    """A search that splits the best valid node of the cut, again and again.

    Parameters
    ----------
    shared, score, unit
        What is searched, by which score, and in what lost anonymity is counted.
    counted, gaining
        Kept up to date by ``split``.
    rng
        If given, the score of each node is multiplied by :math:`e^{0.6 z}`, z normal.
    """

    def __init__(
        self,
        shared: Shared,
        score: ScoreName,
        unit: LossUnit,
        counted: Counted,
        gaining: Gaining,
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
        """Divide every class at a node by its children; suppress the children that fail."""

    @property
    def cut(self) -> Cut:
        """The cut as it stands."""
        return after(self._problem, self._splits)

    @property
    def held(self) -> Ints:
        """int64 (nodes of all QIDs,): how many classes are published under each node."""
        return self._counted.held

    def valid(self) -> Ints:
        """The nodes of the cut that may be split; invalid ones are dropped for good."""
        counted = self._counted
        nodes = np.flatnonzero(counted.open & (counted.held > 0))
        within = self._suppressed + counted.lost[nodes] <= self._problem.budget
        some_stay = (counted.kept[nodes] > 0) | (counted.held[nodes] < counted.classes)
        counted.open[nodes[~(within & some_stay)]] = False
        return nodes[within & some_stay]

    def split_best(self, nodes: Ints) -> None:
        """Split the best of these nodes."""
        candidates = self._candidates(nodes)
        scores = scored(self._score, candidates, self._unit, self._problem.k) * self._tilt[nodes]
        self.split(*self._shared.nodes.home(int(nodes[best(scores, candidates.gain)])))

    def _candidates(self, nodes: Ints) -> Candidates:
        counted = self._counted
        bits = counted.bits[nodes] / self._shared.per_bit
        before, least = 0, np.zeros_like(nodes)
        if self._score in ASK_FOR_SIZES:
            before, least = counted.smallest(nodes)
        gain = bits / self._problem.N if self._score == "leteo" else self._gaining.of_nodes[nodes]
        return Candidates(gain, bits, counted.lost[nodes], before, least)


def after(problem: Problem, splits: list[tuple[int, int]]) -> Cut:
    """The starting cut with some nodes replaced by their children."""
    nodes = [set(places) for places in problem.top.nodes]
    for q, place in splits:
        nodes[q].remove(place)
        nodes[q].update(np.flatnonzero(problem.trees[q].parent == place).tolist())
    return Cut(tuple(tuple(sorted(places)) for places in nodes))
