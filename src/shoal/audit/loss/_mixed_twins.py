"""Broken estimators of tables with categories, each by one slip that replays must catch."""

from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np

from shoal.cluster.prototypes import Assignment, GroupCounter, GroupSums, Prototypes, group_blocks
from shoal.domain import Schema
from shoal.engine import Block
from shoal.estimator import Spending
from shoal.mechanisms import Choices, Exponential, Geometric
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Seed
from shoal.synopsis.mixed import LATTICE, ExactCounts, MixedEstimator, read_counts

SCHEMA = Schema.of(
    {
        "version": 1,
        "columns": {
            "age": {"low": 0, "high": 100, "missing": "flag"},
            "grade": {"levels": ["low", "middle", "high"]},
            "sex": {"values": ["F", "M"]},
            "town": {"values": ["a", "b", "c"], "other": "bucket"},
            "work": {"values": ["none", "some", "all"]},
        },
    }
)
_ROUNDS = 4


class BrokenMixed(MixedEstimator):
    """Base of the twins: the parameters of every private estimator, and nothing else."""

    def __init__(
        self,
        *,
        epsilon: Any = 1,
        privacy: PureDP | None = None,
        domain: Schema | None = SCHEMA,
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: Ledger | None = None,
        random_state: Seed = None,
    ) -> None:
        self.epsilon = epsilon
        self.privacy = privacy
        self.domain = domain
        self.n_public = n_public
        self.nonfinite = nonfinite
        self.ledger = ledger
        self.random_state = random_state

    def _assignment(self) -> Assignment:
        """Two public prototypes at opposite corners."""
        assert isinstance(self.domain, Schema)
        p, q = len(self.columns.numbers), len(self.columns.categories)
        ends = np.array([[-0.5] * p, [0.5] * p]), np.array([[0] * q, [1] * q])
        return Assignment(self.domain, Prototypes(ends[0], ends[1].astype(np.int64)))


class OneChargeForHistograms(BrokenMixed):
    """Histograms of all columns with the noise of one of them."""

    def spend(self, spending: Spending) -> Self:
        """Release one-way counts as if a row were in one of them only."""
        exact = read_counts(spending, self.columns)
        flat = np.concatenate(exact.one_ways)
        self.counts_ = spending.release(Geometric(spending.budget), flat, of="columns")
        return self


class TrueLabelEachRound(BrokenMixed):
    """Labels of the rows are kept from round to round, as if they were nobody's."""

    def spend(self, spending: Spending) -> Self:
        """Release group sums, and keep how many rows each group had."""
        assignment = self._assignment()
        (exact,) = spending.sum(GroupSums(assignment))
        self.vectors_ = group_blocks(self.columns).release(spending, exact, of="groups")
        self.labels_ = spending.sum(GroupCounter(assignment))[0]
        return self


class RoundsUncounted(BrokenMixed):
    """Every round has noise for the whole epsilon of the share it was charged for."""

    def spend(self, spending: Spending) -> Self:
        """Release the same sums in several rounds, each moved by as much as all of them may be."""
        (exact,) = spending.sum(GroupSums(self._assignment()))
        part = spending.share(Fraction(1, _ROUNDS))
        self.rounds_ = [
            part.release(Geometric(part.budget), _ROUNDS * exact[:, 0], of="sizes of groups")
            for _ in range(_ROUNDS)
        ]
        return self


class SkippedEmptyGroup(BrokenMixed):
    """A group without rows is left out of the release."""

    def spend(self, spending: Spending) -> Self:
        """Release the sums of groups that have rows."""
        (exact,) = spending.sum(GroupSums(self._assignment()))
        filled = exact[exact[:, 0] > 0]
        self.vectors_ = group_blocks(self.columns).release(spending, filled, of="groups")
        return self


class CategoriesFromRows(BrokenMixed):
    """Only categories that occur are counted: a new one shows by itself."""

    def spend(self, spending: Spending) -> Self:
        """Release counts of the categories that rows have."""
        exact = read_counts(spending, self.columns)
        exact_counts = np.concatenate(exact.one_ways)
        noise = Geometric(spending.budget, self.columns.d)
        self.counts_ = spending.release(noise, exact_counts[exact_counts > 0], of="columns")
        return self


class WeightsFromRows(BrokenMixed):
    """The weight of a mismatch is read off the spread of a number, as Huang's rule does."""

    def spend(self, spending: Spending) -> Self:
        """Release group sizes under a weight that the rows decide."""
        (squares, count) = spending.sum(_Squares(self.columns.numbers[0]))
        self.weight_ = float(np.sqrt(squares[0] / max(1, int(count[0]))) / LATTICE)
        (exact,) = spending.sum(GroupCounter(self._assignment()))
        self.sizes_ = spending.release(Geometric(spending.budget), exact, of="sizes of groups")
        return self


class ScoredByTrueCounts(BrokenMixed):
    """Pairs are scored against the exact one-way counts: a row moves a score by up to 4."""

    def spend(self, spending: Spending) -> Self:
        """Choose a pair by how far its exact table is from its exact margins."""
        exact = read_counts(spending, self.columns).coarsened(4)
        scores = [_true_dependence(exact, pair) for pair in exact.tables]
        choices = Choices(np.array(scores, dtype=np.int64))
        pick = Exponential(spending.budget, 256)
        self.pair_ = spending.release(pick, choices, of="pair")
        return self


class TreeByExactRows(BrokenMixed):
    """The number of bins follows the exact number of rows."""

    def spend(self, spending: Spending) -> Self:
        """Release one-way counts at as many bins as there are rows for."""
        exact = read_counts(spending, self.columns)
        bins = 4 if spending.rows.size() % 2 else 8
        counts = np.concatenate(exact.coarsened(bins).one_ways)
        noise = Geometric(spending.budget, self.columns.d)
        self.counts_ = spending.release(noise, counts, of="columns")
        return self


class UncutOffsets(BrokenMixed):
    """Offsets of numbers are not cut to the reach that their noise is for."""

    def spend(self, spending: Spending) -> Self:
        """Release sums of numbers in units of a tenth of what a row may add."""
        (exact,) = spending.sum(GroupSums(self._assignment()))
        exact[:, 1 : 1 + len(self.columns.numbers)] *= 10
        self.vectors_ = group_blocks(self.columns).release(spending, exact, of="groups")
        return self


class _Squares:
    """A kernel: the squares of a number, and how many rows there are."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __call__(self, block: Block) -> tuple[Any, ...]:
        wholes = self._column.wholes(block)
        return np.array([(wholes * wholes).sum()]), np.array([len(block)])


def _true_dependence(exact: ExactCounts, pair: tuple[int, int]) -> int:
    table = exact.tables[pair]
    total = max(1, int(table.sum()))
    product = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    return int(np.abs(256 * table - np.rint(256 * product).astype(np.int64)).sum())


mixed_twins = {
    "one charge for all histograms of a mixed table": OneChargeForHistograms(),
    "true labels of a mixed table kept": TrueLabelEachRound(),
    "rounds of a mixed table uncounted": RoundsUncounted(),
    "an empty group of a mixed table skipped": SkippedEmptyGroup(),
    "categories from the rows": CategoriesFromRows(),
    "weights from the rows": WeightsFromRows(),
    "pairs scored by true counts": ScoredByTrueCounts(),
    "bins by the exact number of rows": TreeByExactRows(),
    "offsets of numbers not cut": UncutOffsets(),
}
