"""What all runs over one problem share."""

import math

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.classes import Classes
from shoal.anonymize.counting import Counting
from shoal.anonymize.diversity import Rules
from shoal.anonymize.gains import Nodes
from shoal.anonymize.problem import Problem

__all__ = ["Shared"]

Ints = NDArray[np.int64]


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
