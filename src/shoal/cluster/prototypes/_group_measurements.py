"""Label rows by their nearest prototypes, add up what groups are, and measure that with noise.

First the kernels over rows: ``Assignment`` finds the nearest prototype of a row, and the others
map or sum over it. Then ``measure``, which releases a count, sums of numbers and histograms of
every group at once: see ``measure.proof.md``.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.prototypes._mixed_rows import MISMATCH, Prototypes
from shoal.domain import Schema
from shoal.engine import Block, Rows
from shoal.estimator import Spending
from shoal.privacy import GaussianShare
from shoal.synopsis.mixed import LATTICE, Blocks, MixedColumns, mixed_columns, norm_sub

_STEPS = 2**24  # costs are added in whole steps
_CHUNK = 8192  # rows worked on at a time, so that costs stay in the cache


@dataclass(frozen=True, eq=False)
class Assignment:
    """Gives each row its nearest prototype, by that row alone.

    Costs are added column by column, one row like any other: neither the rows beside it nor its
    place in a block can change a label.

    Parameters
    ----------
    domain
        The schema, so that workers can make the columns again.
    prototypes
        Public or released.
    """

    domain: Schema
    prototypes: Prototypes

    @cached_property
    def columns(self) -> MixedColumns:
        """The columns."""
        return mixed_columns(self.domain)

    def costs(self, wholes: list[Integers], codes: list[Integers]) -> Floats:
        """Return the cost of each row to each prototype, a line for each prototype."""
        n = len((wholes or codes)[0])
        total = np.zeros((len(self.prototypes), n))
        for i, column in enumerate(self.columns.numbers):
            apart = wholes[i] / LATTICE - self.prototypes.numbers[:, i, None]
            total += column.weight * apart * apart
        for i, category in enumerate(self.columns.categories):
            other = np.arange(category.size) != self.prototypes.codes[:, i, None]
            total += (category.weight * MISMATCH * other)[:, codes[i]]
        return total

    def labels(self, wholes: list[Integers], codes: list[Integers]) -> Integers:
        """Return the nearest prototype of each row; of two that are equally near, the first."""
        n = len((wholes or codes)[0])
        labels = np.empty(n, dtype=np.int64)
        for start in range(0, n, _CHUNK):
            part = slice(start, start + _CHUNK)
            costs = self.costs([w[part] for w in wholes], [c[part] for c in codes])
            labels[part] = costs.argmin(axis=0)
        return labels


@dataclass(frozen=True, eq=False)
class NearestPrototypes:
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
class GroupCounter:
    """Counts the rows of each group.

    Parameters
    ----------
    assignment
        Labels the rows.
    """

    assignment: Assignment

    def __call__(self, block: Block) -> tuple[Any, ...]:
        """Return the counts of a block."""
        labels, k = _labels(self.assignment, block), len(self.assignment.prototypes)
        return (np.bincount(labels, minlength=k).astype(np.int64),)


def total_cost(rows: Rows, assignment: Assignment) -> float:
    """Return what all rows cost to their nearest prototypes: for their holder."""
    (total,) = rows.sum(CostSum(assignment, _STEPS))
    return float(total[0]) / _STEPS


def _labels(assignment: Assignment, block: Block) -> Integers:
    columns = assignment.columns
    return assignment.labels(columns.wholes(block), columns.codes(block))


@dataclass(frozen=True, eq=False)
class GroupSums:
    """A kernel: for each group its count, sums of numbers, and counts of categories.

    Parameters
    ----------
    assignment
        Labels the rows.
    reach
        Numbers enter as their distance from the prototype over this, cut at 1; None for the numbers
        themselves.
    """

    assignment: Assignment
    reach: Floats | None = None

    def __call__(self, block: Block) -> tuple[Integers, ...]:
        """Return a line of sums for each group."""
        columns, k = self.assignment.columns, len(self.assignment.prototypes)
        wholes, codes = columns.wholes(block), columns.codes(block)
        labels = self.assignment.labels(wholes, codes)
        counts = np.bincount(labels, minlength=k)
        parts = [counts[:, None]]
        for i, steps in enumerate(wholes):
            sums = np.bincount(labels, weights=self._offsets(i, steps, labels), minlength=k)
            parts.append(sums.astype(np.int64)[:, None])
        binary, larger = [], []
        for category, column in zip(columns.categories, codes, strict=True):
            table = np.bincount(labels * category.size + column, minlength=k * category.size)
            table = table.reshape(k, category.size)
            if category.size == 2:
                binary.append(table[:, 1:] - table[:, :1])
            else:
                larger.append(table)
        return (np.hstack([*parts, *binary, *larger]).astype(np.int64),)

    def _offsets(self, i: int, steps: Integers, labels: Integers) -> Any:
        """Return what each row adds to the sum of a number: whole, and at most one unit."""
        if self.reach is None:
            return steps
        apart = steps / LATTICE - self.assignment.prototypes.numbers[labels, i]
        return np.trunc(np.clip(apart / self.reach[i], -1.0, 1.0) * LATTICE)  # [P1]


def group_blocks(columns: MixedColumns) -> Blocks:
    """Return the blocks of a group's vector: count, numbers, binary columns, other categories.

    Parameters
    ----------
    columns
        The columns.
    """
    binary = [c for c in columns.categories if c.size == 2]
    larger = [c.size for c in columns.categories if c.size > 2]
    sizes = [1] + [1] * (len(columns.numbers) + len(binary)) + larger
    steps = [1] + [LATTICE] * len(columns.numbers) + [1] * (len(binary) + len(larger))
    return Blocks(tuple(sizes), tuple(steps))


@dataclass(frozen=True, eq=False)
class NoisyMeasurements:
    """Noisy measurements of groups, with what their noise is worth.

    Parameters
    ----------
    gaussian
        The part of a budget that Gaussian releases share, if it was that which paid.
    """

    columns: MixedColumns
    vectors: Integers
    epsilon: float
    reach: Floats
    gaussian: GaussianShare | None = None

    @cached_property
    def deviations(self) -> Floats:
        """The standard deviation of each coordinate, in rows or units of a number."""
        return group_blocks(self.columns).deviations(self.epsilon, self.gaussian)

    @cached_property
    def places(self) -> list[slice]:
        """Where each column of categories lies in a vector."""
        start = 1 + len(self.columns.numbers)
        binary = [c.size == 2 for c in self.columns.categories]
        places, larger = {}, start + sum(binary)
        for i, column in enumerate(self.columns.categories):
            if column.size == 2:
                places[i], start = slice(start, start + 1), start + 1
            else:
                places[i], larger = slice(larger, larger + column.size), larger + column.size
        return [places[i] for i in range(len(binary))]

    @cached_property
    def sizes(self) -> tuple[Floats, float]:
        """The number of rows of each group by inverse variance, and its standard deviation."""
        weights = self.size_weights
        return self.vectors @ weights, float(np.sqrt(np.square(weights * self.deviations).sum()))

    @cached_property
    def size_weights(self) -> Floats:
        """How much each coordinate counts for the size: the count, and sums of histograms."""
        weights = np.zeros(self.deviations.size)
        weights[0] = 1 / self.deviations[0] ** 2
        for column, place in zip(self.columns.categories, self.places, strict=True):
            if column.size > 2:
                weights[place] = 1 / (column.size * self.deviations[place.start] ** 2)
        whole = weights[0] + sum(
            weights[place.start]
            for column, place in zip(self.columns.categories, self.places, strict=True)
            if column.size > 2
        )
        return np.asarray(weights / whole)

    def sums(self) -> tuple[Floats, Floats]:
        """Return the sum of each number's offsets, in [-1, 1] a row, and its deviation."""
        p = len(self.columns.numbers)
        sums = self.vectors[:, 1 : 1 + p] / LATTICE * self.reach
        return sums, self.deviations[1 : 1 + p] * self.reach

    def histogram(self, i: int) -> tuple[Floats, float]:
        """Return a column's counts that add up to the sizes, and the deviation of one of them."""
        column, place = self.columns.categories[i], self.places[i]
        n, n_deviation = self.sizes
        noisy = self.vectors[:, place].astype(np.float64)
        deviation = float(self.deviations[place.start])
        if column.size == 2:  # the second minus the first
            pair = np.hstack([n[:, None] - noisy, n[:, None] + noisy]) / 2
            return pair, float(np.hypot(deviation, n_deviation)) / 2
        return noisy + (n - noisy.sum(axis=1))[:, None] / column.size, deviation

    def share_simplex(self, i: int, group: int) -> Floats:
        """Return a column's shares in a group, from 0 up and together 1."""
        n = max(float(self.sizes[0][group]), 1.0)
        return norm_sub(self.histogram(i)[0][group], n) / n


def measure(
    spending: Spending,
    domain: Schema,
    prototypes: Prototypes,
    *,
    reach: Floats | None,
    of: str,
) -> NoisyMeasurements:
    """Release the measurements of every group, empty ones too, with the whole budget.

    Parameters
    ----------
    reach
        How far from the prototype numbers are told; None for the numbers themselves.
    """
    kernel = GroupSums(Assignment(domain, prototypes), reach)
    (exact,) = spending.sum(kernel)
    columns = mixed_columns(domain)
    noisy = group_blocks(columns).release(spending, exact, of=of)  # [P2]
    scale = np.ones(len(columns.numbers)) if reach is None else reach
    gaussian = None if spending.gaussian is None else spending.gaussian_share
    return NoisyMeasurements(columns, noisy, spending.epsilon, scale, gaussian)
