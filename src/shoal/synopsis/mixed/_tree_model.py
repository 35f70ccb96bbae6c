"""A tree of released two-way tables as a law of whole rows: made consistent, and drawn from."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Integers

Edge = tuple[int, int]
_SWEEPS = 25  # of proportional fitting: docs/decisions/mixed-tables.md
_LEAST = 1e-6  # of the independent table, so that no cell is impossible


@dataclass(frozen=True, eq=False)
class TreeModel:
    """One-way counts of every column, and two-way tables along the edges of a forest.

    Parameters
    ----------
    one_ways
        The counts of each column; all have the same sum.
    edges
        Pairs of columns, without a cycle.
    tables
        The counts of each pair, whose sums are the one-way counts.
    """

    one_ways: tuple[Floats, ...]
    edges: tuple[Edge, ...]
    tables: tuple[Floats, ...]

    @property
    def total(self) -> float:
        """The estimated number of rows."""
        return float(self.one_ways[0].sum())

    def shares(self, column: int) -> Floats:
        """Return the share of each bin or category of a column."""
        return np.asarray(self.one_ways[column] / self.total)

    def table(self, first: int, second: int) -> Floats:
        """Return the table of two columns: measured, or what the tree says of them."""
        path = self._path(first, second)
        if path is None:
            return np.outer(self.one_ways[first], self.shares(second))
        table = np.diag(self.one_ways[first])
        for parent, child in itertools.pairwise(path):
            table = table @ self._conditional(parent, child)
        return np.asarray(table)

    def probability(self, masks: Sequence[Floats]) -> float:
        """Return the share of rows that meet a condition on every column.

        Parameters
        ----------
        masks
            For each column, the part of each bin that meets its condition.
        """
        messages = [np.array(mask, dtype=np.float64) for mask in masks]
        answer = 1.0
        for parent, child in reversed(self._downwards()):
            if parent is None:
                answer *= float(self.shares(child) @ messages[child])
            else:
                messages[parent] = messages[parent] * (
                    self._conditional(parent, child) @ messages[child]
                )
        return answer

    def sample(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw rows of bins and categories, as evenly as whole rows allow.

        Parameters
        ----------
        rng
            Draws the order of rows; nothing it draws protects anybody.
        """
        drawn = np.empty((n, len(self.one_ways)), dtype=np.int64)
        for parent, child in self._downwards():
            if parent is None:
                drawn[:, child] = spread_counts(self.shares(child), n, rng)
                continue
            conditional = self._conditional(parent, child)
            for code in range(len(conditional)):
                of_parent = np.flatnonzero(drawn[:, parent] == code)
                drawn[of_parent, child] = spread_counts(conditional[code], of_parent.size, rng)
        return drawn

    def _conditional(self, parent: int, child: int) -> Floats:
        """Return the law of a child's bins in each bin of its parent."""
        for edge, table in zip(self.edges, self.tables, strict=True):
            if edge in ((parent, child), (child, parent)):
                joint = table if edge[0] == parent else table.T
                sums = joint.sum(axis=1, keepdims=True)
                return np.where(sums > 0, joint / np.where(sums > 0, sums, 1), self.shares(child))
        raise KeyError((parent, child))  # never for an edge

    def _neighbours(self, column: int) -> list[int]:
        return [b if a == column else a for a, b in self.edges if column in (a, b)]

    def _downwards(self) -> list[tuple[int | None, int]]:
        """Return every column after its parent; None for the root of a tree."""
        order: list[tuple[int | None, int]] = []
        reached: set[int] = set()
        for root in range(len(self.one_ways)):
            waiting: list[tuple[int | None, int]] = [(None, root)] if root not in reached else []
            while waiting:
                parent, column = waiting.pop()
                reached.add(column)
                order.append((parent, column))
                waiting += [(column, b) for b in self._neighbours(column) if b not in reached]
        return order

    def _path(self, first: int, second: int) -> list[int] | None:
        """Return the columns from one to another along edges, or None."""
        before: dict[int, int | None] = {first: None}
        waiting = [first]
        while waiting:
            column = waiting.pop()
            for near in self._neighbours(column):
                if near not in before:
                    before[near] = column
                    waiting.append(near)
        if second not in before:
            return None
        path: list[int] = [second]
        while (above := before[path[-1]]) is not None:
            path.append(above)
        return path[::-1]


def consistent_model(
    one_ways: Sequence[Floats],
    one_way_variances: Sequence[float],
    edges: Sequence[Edge],
    tables: Sequence[Floats],
    table_variance: float,
    known_total: tuple[float, float],
) -> TreeModel:
    """Return noisy counts as one model whose tables agree with each other.

    Parameters
    ----------
    one_ways
        The noisy counts of each column.
    one_way_variances
        The variance of one count of each column.
    edges
        The pairs whose tables were released; a forest.
    tables
        Their noisy counts.
    table_variance
        The variance of one count of them.
    known_total
        The released or public number of rows, and its variance.
    """
    total = _total(one_ways, one_way_variances, known_total)
    better = _with_margins(one_ways, one_way_variances, edges, tables, table_variance)
    margins = tuple(norm_sub(counts, total) for counts in better)
    fitted = tuple(
        _fitted_table(table, margins[i], margins[j])
        for (i, j), table in zip(edges, tables, strict=True)
    )
    return TreeModel(margins, tuple(edges), fitted)


def _total(
    one_ways: Sequence[Floats], variances: Sequence[float], known: tuple[float, float]
) -> float:
    """Return the mean of all sums by inverse variance; at least 1, so that it can divide."""
    value, variance = known
    if variance == 0:
        return max(1.0, value)
    sums = np.array([value, *(counts.sum() for counts in one_ways)])  # 1/inf weighs nothing
    weights = 1 / np.array(
        [variance, *(c.size * v for c, v in zip(one_ways, variances, strict=True))]
    )
    return max(1.0, float(sums @ weights / weights.sum()))


def _with_margins(
    one_ways: Sequence[Floats],
    variances: Sequence[float],
    edges: Sequence[Edge],
    tables: Sequence[Floats],
    table_variance: float,
) -> list[Floats]:
    """Return one-way counts improved by the margins of the tables they are part of."""
    sums = [counts / v for counts, v in zip(one_ways, variances, strict=True)]
    weights = [1 / v for v in variances]
    for (i, j), table in zip(edges, tables, strict=True):
        for column, margin, added in (
            (i, table.sum(1), table.shape[1]),
            (j, table.sum(0), len(table)),
        ):
            sums[column] = sums[column] + margin / (added * table_variance)
            weights[column] += 1 / (added * table_variance)
    return [total / weight for total, weight in zip(sums, weights, strict=True)]


def _fitted_table(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return a noisy table without negative counts whose sums are these."""
    total = float(rows.sum())
    fitted = norm_sub(table.ravel(), total).reshape(table.shape)
    fitted = fitted + _LEAST * np.outer(rows, columns) / total
    for _ in range(_SWEEPS):
        fitted = fitted * _ratio(rows, fitted.sum(axis=1))[:, None]
        fitted = fitted * _ratio(columns, fitted.sum(axis=0))
    return np.asarray(fitted)


def _ratio(wanted: Floats, present: Floats) -> Floats:
    return np.where(present > 0, wanted / np.where(present > 0, present, 1), 0.0)


def norm_sub(counts: Floats, total: float) -> Floats:
    """Return the nearest counts from 0 up with this sum: the same is taken off all that stay.

    Parameters
    ----------
    counts
        Noisy counts.
    total
        The sum wanted, from 0 up.

    Examples
    --------
    >>> norm_sub(np.array([5.0, 3.0, -2.0]), 7.0).tolist()
    [4.5, 2.5, 0.0]
    """
    values = np.asarray(counts, dtype=np.float64)
    if total <= 0:
        return np.zeros_like(values)
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, values.size + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.asarray(np.maximum(values - excess[last], 0.0))


def spread_counts(shares: Floats, n: int, rng: np.random.Generator) -> Integers:
    """Return n codes whose counts are the shares rounded to whole rows, in random order.

    Parameters
    ----------
    rng
        Draws the order, and who gets the rows that rounding leaves.
    """
    exact = shares * (n / max(float(shares.sum()), math.ulp(1.0)))
    whole = np.floor(exact).astype(np.int64)
    left = n - int(whole.sum())
    if left > 0:
        rest = exact - whole
        rest = rest / rest.sum() if rest.sum() > 0 else np.full(rest.size, 1 / rest.size)
        whole += rng.multinomial(left, rest)
    codes = np.repeat(np.arange(shares.size), whole)[:n]
    rng.shuffle(codes)
    return codes
