"""Kernels over the rows of a mixed table: labels, costs, and counts of groups."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.prototypes.measure import Assignment
from shoal.engine import Block


@dataclass(frozen=True, eq=False)
class Labels:
    """Maps rows to their nearest prototypes."""

    assignment: Assignment

    def __call__(self, block: Block) -> list[Integers]:
        """Return the label of each row."""
        return [_labels(self.assignment, block)]


@dataclass(frozen=True, eq=False)
class Costs:
    """Maps rows to their cost to every prototype."""

    assignment: Assignment

    def __call__(self, block: Block) -> list[Floats]:
        """Return a column of costs for each prototype."""
        columns = self.assignment.columns
        return list(self.assignment.costs(columns.wholes(block), columns.codes(block)))


@dataclass(frozen=True, eq=False)
class CostSum:
    """Adds up what rows cost to their nearest prototypes, in whole steps.

    Parameters
    ----------
    steps
        How many steps a cost of 1 has.
    """

    assignment: Assignment
    steps: int

    def __call__(self, block: Block) -> tuple[Integers, ...]:
        """Return the sum over a block."""
        columns = self.assignment.columns
        costs = self.assignment.costs(columns.wholes(block), columns.codes(block))
        least = np.rint(costs.min(axis=0) * self.steps).astype(np.int64)
        return (np.array([least.sum()], dtype=np.int64),)


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Counts the rows of each group."""

    assignment: Assignment

    def __call__(self, block: Block) -> tuple[Any, ...]:
        """Return the counts of a block."""
        labels, k = _labels(self.assignment, block), len(self.assignment.prototypes)
        return (np.bincount(labels, minlength=k).astype(np.int64),)


def _labels(assignment: Assignment, block: Block) -> Integers:
    columns = assignment.columns
    return assignment.labels(columns.wholes(block), columns.codes(block))
