"""Private estimators that are broken on purpose, each by one slip that replays must catch.

The gate sees nothing wrong with any of them: what mechanisms receive adds up to the promise.
"""

import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np

from shoal.audit.loss._mixed_twins import mixed_twins
from shoal.domain import Box, Grid, Schema
from shoal.engine import Block, Rows, Terms
from shoal.engine.local import LocalRows
from shoal.estimator import PrivateEstimator, Spending
from shoal.mechanisms import Gaussian, Geometric, KNorm
from shoal.mechanisms.central._gaussian import inverse_root
from shoal.privacy import ApproxDP, GaussianShare, Ledger, PureDP
from shoal.randomness import Seed

PLANE = Box(x=(-1, 1), y=(-1, 1))
PEOPLE = Schema.of_box(PLANE, person="person", max_rows_per_person=2)
UNIT = 1000  # steps of the lattice in a unit of the box
_ROUNDS = 8
_FEW = 13  # rows below which one of the twins warns


class BrokenEstimator(PrivateEstimator):
    """Base of the twins: the parameters of every private estimator, and nothing else."""

    _promises = (PureDP, ApproxDP)

    def __init__(
        self,
        *,
        epsilon: Any = 1,
        privacy: Any = None,
        domain: Box | Schema | None = PLANE,
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "drop",
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


def sums_and_count(block: Block) -> tuple[Any, ...]:
    """Return the sums of all columns, in steps of the lattice, and the number of rows."""
    return np.rint(block.numbers * UNIT).astype(np.int64).sum(axis=0), np.array([len(block)])


def vector_of_rows(block: Block) -> tuple[Any, ...]:
    """Return sums and count as one vector; a row moves it by sqrt(3) units at most."""
    sums, count = sums_and_count(block)
    return (np.concatenate([sums, UNIT * count]),)


def smallest_and_largest(rows: Rows) -> tuple[float, float]:
    """Return the ends of the first column, read from the rows, -1 and 1 if there are none."""
    ends = [
        (float(block.numbers[:, 0].min()), float(block.numbers[:, 0].max()))
        for block in rows.each(lambda block: block)  # type: ignore[attr-defined]
        if len(block)
    ]
    low, high = (
        min(low for low, _ in ends) if ends else -1.0,
        max(high for _, high in ends) if ends else 1.0,
    )
    return low, max(high, low + 1e-6)


class SwappedSplit(BrokenEstimator):
    """The noise of the sums has the sensitivity of the count, and the other way round."""

    def spend(self, spending: Spending) -> Self:
        """Release sums and count with each other's sensitivity."""
        sums, count = spending.sum(sums_and_count)
        half = spending.share(Fraction(1, 2))
        self.sums_ = half.release(Geometric(half.budget, 1), sums, of="sums")
        noise = Geometric(half.budget, 2 * UNIT)
        self.count_ = half.release(noise, count, of="number of rows")
        return self


class HalfSensitivity(BrokenEstimator):
    """Vector noise for half the length that a row can have."""

    def spend(self, spending: Spending) -> Self:
        """Release a vector of sums and count."""
        (vector,) = spending.sum(vector_of_rows)
        self.vector_ = spending.release(KNorm(spending.budget, 866), vector, of="sums")
        return self


class HalfGaussian(BrokenEstimator):
    """Gaussian noise for half the length that a row can have."""

    def spend(self, spending: Spending) -> Self:
        """Release a vector of sums and count."""
        (vector,) = spending.sum(vector_of_rows)
        self.vector_ = spending.release(Gaussian(spending.budget, 866), vector, of="sums")
        return self


class SharedGaussian(BrokenEstimator):
    """Gaussian sums in several rounds that share one budget: sound, and the base of those not."""

    length = 1733  # sqrt(3) units, rounded up
    noise: type[Gaussian] = Gaussian

    def spend(self, spending: Spending) -> Self:
        """Release the same sums in several rounds, each for an equal part."""
        (vector,) = spending.sum(vector_of_rows)
        shared = spending.with_gaussian(Fraction(1))
        part = shared.share(Fraction(1, _ROUNDS))
        noise = self.noise(part.gaussian_share, self.length)
        self.rounds_ = [part.release(noise, vector, of="sums") for _ in range(_ROUNDS)]
        return self


class _TwiceThePart(Gaussian):
    """Noise for twice the part that the gate is told."""

    @property
    def sigma(self) -> Fraction:
        return super().sigma * Fraction(708, 1000)


class _FourthRoot(Gaussian):
    """Noise whose variance, instead of its deviation, is divided by the root of the part."""

    @property
    def sigma(self) -> Fraction:
        assert isinstance(self.guarantee, GaussianShare)
        return super().sigma / inverse_root(1 / inverse_root(self.guarantee.fraction))


class PartsBeyondOne(SharedGaussian):
    """Rounds that together take twice the budget they share."""

    noise = _TwiceThePart


class RootOfTheRoot(SharedGaussian):
    """Rounds whose variances are over the root of their part."""

    noise = _FourthRoot


class HalfLengthOfParts(SharedGaussian):
    """Rounds with noise for half the length that a row can have."""

    length = 866


class OverlappingCells(BrokenEstimator):
    """Two grids of cells over the same rows, noised as if a row lay in one cell of both."""

    def spend(self, spending: Spending) -> Self:
        """Release the counts of both grids at once."""
        grids = [spending.exact_counts(Grid(spending.box, cells)) for cells in (3, 4)]
        noise = Geometric(spending.budget)
        self.counts_ = spending.release(noise, np.concatenate(grids), of="cell counts")
        return self


class SkippedEmptyCluster(BrokenEstimator):
    """A cluster without rows is left out, which tells that it has none."""

    def spend(self, spending: Spending) -> Self:
        """Release a count for each quarter of the box that has rows."""
        counts = spending.exact_counts(Grid(spending.box, 2))
        filled = counts[counts > 0]
        self.counts_ = spending.release(Geometric(spending.budget), filled, of="rows of clusters")
        return self


class BoundsFromRows(BrokenEstimator):
    """Cells between the smallest and the largest row: one row moves all of them."""

    def spend(self, spending: Spending) -> Self:
        """Release counts of cells whose edges are read from the rows."""
        low, high = smallest_and_largest(spending.rows)
        x, y = spending.box.names
        box = Box.of([x, y], [low, -1], [high, 1])
        counts = spending.sum(_CellCounts(Grid(box, (16, 1))))[0]
        self.counts_ = spending.release(Geometric(spending.budget), counts, of="cell counts")
        return self


class RoundsByRows(BrokenEstimator):
    """As many rounds as there are cells with rows: how many were paid for tells."""

    def spend(self, spending: Spending) -> Self:
        """Release the number of rows in every round."""
        cells = spending.exact_counts(Grid(spending.box, 2))
        rounds = 1 + int(np.count_nonzero(cells))
        part = spending.share(Fraction(1, _ROUNDS))
        count = np.array([spending.rows.size()])
        noise = Geometric(part.budget)
        self.counts_ = [part.release(noise, count, of="number of rows") for _ in range(rounds)]
        return self


class LimitIgnored(BrokenEstimator):
    """All rows of a person are counted, whatever the promise says."""

    def _rows(self, X: Any) -> Rows:
        return LocalRows(X._source, self.box, Terms(nonfinite="drop"))

    def spend(self, spending: Spending) -> Self:
        """Release cell counts of all rows."""
        self.counts_ = spending.count(Grid(spending.box, 4), of="cell counts")
        return self


class KeyFromRows(BrokenEstimator):
    """Which rows of a person stay depends on how many rows everybody has."""

    def _rows(self, X: Any) -> Rows:
        everyone = LocalRows(X._source, X.domain.box, Terms(nonfinite="drop"))
        return LocalRows(X._source, X.domain, X.terms, key=str(everyone.size()))

    def spend(self, spending: Spending) -> Self:
        """Release cell counts of the rows that stayed."""
        self.counts_ = spending.count(Grid(spending.box, 16), of="cell counts")
        return self


class ExactRowCount(BrokenEstimator):
    """The exact number of rows is kept on the model."""

    def spend(self, spending: Spending) -> Self:
        """Release cell counts, and store the number of rows beside them."""
        self.counts_ = spending.count(Grid(spending.box, 4), of="cell counts")
        self.n_rows_ = spending.rows.size()
        return self


class CellsByRowCount(BrokenEstimator):
    """The exact number of rows decides how many cells there are."""

    def spend(self, spending: Spending) -> Self:
        """Release counts of as many cells as rows allow."""
        cells = 2 + spending.rows.size() // 2
        self.counts_ = spending.count(Grid(spending.box, cells), of="cell counts")
        return self


class OccupiedCells(BrokenEstimator):
    """Which cells have rows is kept on the model, as labels of the rows would."""

    def spend(self, spending: Spending) -> Self:
        """Release cell counts, and store which cells are not empty."""
        grid = Grid(spending.box, 4)
        self.counts_ = spending.count(grid, of="cell counts")
        self.labels_ = np.flatnonzero(spending.exact_counts(grid))
        return self


class WarningAboutRows(BrokenEstimator):
    """A warning is shown if there are few rows, exactly counted."""

    def spend(self, spending: Spending) -> Self:
        """Release cell counts, and warn of few rows."""
        if spending.rows.size() < _FEW:
            warnings.warn("There are few rows.", UserWarning, stacklevel=2)
        self.counts_ = spending.count(Grid(spending.box, 4), of="cell counts")
        return self


class _CellCounts:
    """Counts rows in cells of a box of its own; those outside are moved to its border."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __call__(self, block: Block) -> tuple[Any, ...]:
        keys = self._grid.keys(self._grid.box.clip(block.numbers))
        return (np.bincount(keys, minlength=self._grid.size).astype(np.int64),)


twins: Mapping[str, PrivateEstimator] = {
    "swapped split": SwappedSplit(),
    "vector noise for half the sensitivity": HalfSensitivity(),
    "Gaussian parts that sum to two": PartsBeyondOne(
        epsilon=None, privacy=ApproxDP(Fraction(1), Fraction(1, 10**6))
    ),
    "the root of the root of a Gaussian part": RootOfTheRoot(
        epsilon=None, privacy=ApproxDP(Fraction(1), Fraction(1, 10**6))
    ),
    "Gaussian parts for half the sensitivity": HalfLengthOfParts(
        epsilon=None, privacy=ApproxDP(Fraction(1), Fraction(1, 10**6))
    ),
    "Gaussian noise for half the sensitivity": HalfGaussian(
        epsilon=None, privacy=ApproxDP(Fraction(1), Fraction(1, 10**6))
    ),
    "a row in two cells, noised for one": OverlappingCells(),
    "empty clusters skipped": SkippedEmptyCluster(),
    "bounds from the rows": BoundsFromRows(),
    "rounds by the rows": RoundsByRows(),
    "limit of rows a person ignored": LimitIgnored(domain=PEOPLE),
    "key of a person's rows from the table": KeyFromRows(domain=PEOPLE),
    "exact number of rows kept": ExactRowCount(),
    "exact number of rows for a public one": CellsByRowCount(),
    "labels kept": OccupiedCells(),
    "warning about the rows": WarningAboutRows(),
    **mixed_twins,
}
