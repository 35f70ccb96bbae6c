"""The methods of ``WaveCluster`` that release noisy coefficients of a grid, one class each.

A method is a set of ``Options`` with the steps it stands for. ``Block`` is our own; the others are
those of Chen, Yu, Chirkova, WaveCluster with differential privacy, CIKM 2015. The proofs are in
``release_methods.proof.md``.
"""

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Integers
from shoal.cluster._grouped_settings import Options
from shoal.cluster.wave._noise import NoiseLaw, NoisyGrid, NoNoise
from shoal.cluster.wave._thresholds import positive_quantile
from shoal.cluster.wave._transform import FINE, Transform
from shoal.domain import Grid, SparseCounts
from shoal.engine import Rows
from shoal.errors import ConflictingSettings, setting
from shoal.estimator import Spending, false_cell_level
from shoal.mechanisms import Exponential, Geometric, ScoredIntervals
from shoal.privacy import PureDP
from shoal.synopsis import AdaptiveGrid

CellNoise = Literal["laplace", "geometric"]
STEPS = 256  # lattice points of PrivTHREM's threshold between 0 and one row
_MOST_FALSE = 2**24  # false (empty but released) cells that memory is spent on
_MOST_POINTS = 2**23  # with a tiny budget, noisy counts may add up to more than memory holds


class Method(Options):
    """Base of the methods: how the coefficients of a grid are released."""

    needs_row_count: ClassVar[bool] = False  # even where the number of cells is given

    def count_cells(self, spending: Spending, grid: Grid) -> Integers:
        """Count the rows in each cell of a full grid: exact counts that must not be published."""
        return spending.exact_counts(grid).reshape(grid.shape)

    @abstractmethod
    def release(self, spending: Spending, counts: Integers, transform: Transform) -> NoisyGrid:
        """Release the coefficients of these cell counts.

        Parameters
        ----------
        spending
            What pays; all of its budget, unless a threshold is released after it.
        """

    def release_sparse(self, spending: Spending, counts: SparseCounts) -> SparseCounts:
        """Release the occupied cells of a grid of far more cells than rows; few methods can.

        Returns
        -------
        The keys and noisy counts of the released cells.
        """
        raise ConflictingSettings(
            f"{type(self).__name__} needs all cells of a grid, and there are too many.",
            "Use " + setting("variant", "block") + ", fewer cells or fewer columns.",
        )


class Plain(Method):
    """WaveCluster without noise, under ``privacy=Unprotected(...)``."""

    def release(self, spending: Spending, counts: Integers, transform: Transform) -> NoisyGrid:
        """Release the exact coefficients, under a guarantee that promises nothing."""
        exact = spending.release(NoNoise(spending.budget), transform(counts), of="coefficients")
        return NoisyGrid(_in_rows(exact, transform))

    def release_sparse(self, spending: Spending, counts: SparseCounts) -> SparseCounts:
        """Release the exact counts of the occupied cells."""
        exact: SparseCounts = spending.release(NoNoise(spending.budget), counts, of="cell counts")
        return exact


class Block(Method):
    r"""Noise on the coefficients themselves, at the whole budget.

    Haar coefficients are block sums: one row moves one of them by one, so they take the noise of a
    single count, however many cells a block has. With longer filters, noise is put on the
    coefficients or on the cells, wherever it ends up smaller; that depends on the filter alone, not
    on the rows. ``variant="block"``; it has no settings.

    Guarantee
    ---------
    All of the budget that it is handed. See ``release_methods.proof.md``.
    """

    def release(self, spending: Spending, counts: Integers, transform: Transform) -> NoisyGrid:
        """Release coefficients, with noise on them or on the cells, wherever it ends up smaller."""
        if transform.on_subband and _fits(spending.budget, transform.sensitivity):
            noise = Geometric(spending.budget, sensitivity=transform.sensitivity)  # [P1]
            noisy = spending.release(noise, transform(counts), of="coefficients")  # [P2]
            if transform.is_blocks:
                return NoisyGrid.of_counts(noisy, NoiseLaw(spending.epsilon))
            return NoisyGrid(noisy * transform.unit, noise.variance * transform.unit**2)
        on_cells = Geometric(spending.budget)  # [P3]
        noisy_cells = spending.release(on_cells, counts, of="cell counts")
        spread = transform.spread * transform.unit
        return NoisyGrid(transform(noisy_cells) * transform.unit, on_cells.variance * spread**2)

    def release_sparse(self, spending: Spending, counts: SparseCounts) -> SparseCounts:
        """Release the cells that stand out, by the function ``release_sparse``."""
        return release_sparse(spending, counts)


class ThresholdMethod(Method):
    """Base of the published methods: noise on every cell, and a threshold of the method's own.

    Parameters
    ----------
    noise
        On the cells: "geometric", on whole rows; or "laplace", which is geometric noise on
        multiples of 1/1024 of a row.
    """

    def __init__(self, *, noise: CellNoise = "laplace") -> None:
        self.noise = noise

    def release(self, spending: Spending, counts: Integers, transform: Transform) -> NoisyGrid:
        """Release the coefficients of noisy cells, by ``release_noisy_cells``."""
        return release_noisy_cells(spending, counts, transform, self.noise)

    @abstractmethod
    def release_threshold(
        self,
        spending: Spending,
        counts: Integers,
        transform: Transform,
        noisy: NoisyGrid,
        p: Fraction,
    ) -> float | None:
        """Find the least coefficient of a cell in a cluster; None if no cell has one.

        Parameters
        ----------
        spending
            What pays, if the threshold costs anything.
        """


class PrivQT(ThresholdMethod):
    """PrivQT: noise on every cell; the threshold is a quantile of the positive coefficients.

    It does not converge as the budget grows, since about half of the empty cells are positive too.

    Parameters
    ----------
    noise
        On the cells: "laplace" or "geometric".
    """

    def release_threshold(
        self,
        spending: Spending,
        counts: Integers,
        transform: Transform,
        noisy: NoisyGrid,
        p: Fraction,
    ) -> float | None:
        """Return the quantile of the positive noisy coefficients, which costs nothing."""
        return positive_quantile(noisy.values, float(p))


class DividedBudget(ThresholdMethod):
    """Base of methods that divide the budget between the cells and the threshold.

    Parameters
    ----------
    noise
        On the cells: "laplace" or "geometric".
    """

    def __init__(self, alpha: Any, *, noise: CellNoise = "laplace") -> None:
        super().__init__(noise=noise)
        self.alpha = alpha

    def release(self, spending: Spending, counts: Integers, transform: Transform) -> NoisyGrid:
        """Release the coefficients of noisy cells for ``alpha`` of the budget."""
        return super().release(spending.share(self.alpha), counts, transform)  # [P6] [P9]


class PrivTHR(DividedBudget):
    """PrivTHR: a noisy count of empty coefficients says how many positive ones are only noise.

    In the paper one row is taken to change the number of empty coefficients by 1, which holds for
    Haar only; here it is as many as the filter reaches.

    Parameters
    ----------
    alpha
        The share of the budget for the cells; the rest is for the number of empty coefficients. For
        the default see docs/decisions/wave-selector.md.
    noise
        On the cells: "laplace" or "geometric".
    """

    def __init__(self, alpha: Any = 0.9, *, noise: CellNoise = "laplace") -> None:
        super().__init__(alpha, noise=noise)

    def release_threshold(
        self,
        spending: Spending,
        counts: Integers,
        transform: Transform,
        noisy: NoisyGrid,
        p: Fraction,
    ) -> float | None:
        """Release the number of empty coefficients; leave out the positives that are only noise."""
        rest = spending.share(1 - self.alpha)
        empty = np.array([np.count_nonzero(transform(counts) <= 0)])
        on_empty = Geometric(rest.budget, sensitivity=transform.touched)  # [P7]
        noisy_empty = int(rest.release(on_empty, empty, of="empty coefficients")[0])  # [P8]
        return positive_quantile(noisy.values, float(p), drop=round(noisy_empty / 2))


class PrivTHREM(DividedBudget):
    """PrivTHREM, corrected: draw the threshold by the exponential mechanism on a public lattice.

    Corrected here: the range ends at the largest *noisy* coefficient, an interval counts once for
    each of its points, and the threshold is drawn once.

    Parameters
    ----------
    alpha
        The share of the budget for the cells; the rest is for the threshold. For the default see
        docs/decisions/wave-selector.md.
    noise
        On the cells: "laplace" or "geometric".
    """

    def __init__(self, alpha: Any = 0.7, *, noise: CellNoise = "laplace") -> None:
        super().__init__(alpha, noise=noise)

    def release_threshold(
        self,
        spending: Spending,
        counts: Integers,
        transform: Transform,
        noisy: NoisyGrid,
        p: Fraction,
    ) -> float | None:
        """Draw a threshold near the true quantile by the exponential mechanism."""
        rest = spending.share(1 - self.alpha)
        top = max(1, int(np.floor(noisy.values.max() * STEPS)))  # [P10]
        scores = threshold_scores(_on_lattice(transform(counts), transform.unit), p, top)
        mechanism = Exponential(rest.budget, sensitivity=transform.touched)  # [P11]
        threshold: int = rest.release(mechanism, scores, of="threshold")  # [P12]
        return threshold / STEPS


class Baseline(Method):
    """Draw synthetic points from a private adaptive grid, then run plain WaveCluster on them.

    ``variant="baseline"``; it has no settings. From eight million on, a point stands for several
    rows.

    References
    ----------
    Qardaji, Yang, Li, Differentially private grids for geospatial data, ICDE 2013.
    """

    needs_row_count = True

    def count_cells(self, spending: Spending, grid: Grid) -> Integers:
        """Count synthetic points, drawn from a private adaptive grid, in each cell."""
        synopsis = AdaptiveGrid(epsilon=spending.budget.epsilon, domain=grid.box, negative="zero")
        synopsis.spend(spending)  # [P14]
        total = round(float(synopsis.points()[1].sum()))
        drawn = min(total, _MOST_POINTS)
        points = synopsis.sample(drawn, spending.rng.compute)  # [P15]
        counts = np.bincount(grid.keys(points), minlength=grid.size).reshape(grid.shape)
        return counts * max(1, round(total / max(drawn, 1)))

    def release(self, spending: Spending, counts: Integers, transform: Transform) -> NoisyGrid:
        """Transform the counts, which are of synthetic points and so carry their noise already."""
        return NoisyGrid(_in_rows(transform(counts), transform))


METHODS: dict[str, type[Method]] = {
    "block": Block,
    "privqt": PrivQT,
    "privthr": PrivTHR,
    "privthrem": PrivTHREM,
    "baseline": Baseline,
}


def release_noisy_cells(
    spending: Spending, counts: Integers, transform: Transform, noise: CellNoise
) -> NoisyGrid:
    """Release the coefficients of cells that each carry noise, for all of the budget.

    "laplace" is geometric noise on multiples of 1/1024 of a row: close to Laplace's law, but on
    whole numbers, since the low bits of floating-point noise reveal the count.

    Parameters
    ----------
    noise
        "laplace" or "geometric".
    """
    fine = FINE if noise == "laplace" else 1
    mechanism = Geometric(spending.budget, sensitivity=fine)  # [P4]
    noisy_cells = spending.release(mechanism, counts * fine, of="cell counts")  # [P5]
    values = transform(noisy_cells / fine) * transform.unit
    spread = transform.spread * transform.unit / fine
    return NoisyGrid(values, mechanism.variance * spread**2)


def release_sparse(spending: Spending, counts: SparseCounts) -> SparseCounts:
    """Release the cells whose noisy count reaches a level, which about one empty cell a row does.

    References
    ----------
    Cormode, Procopiuc, Srivastava, Tran, Differentially private summaries for sparse data, ICDT
    2012.
    """
    most_false = min(spending.n_rows or 1, _MOST_FALSE)
    level = false_cell_level(counts.size, spending.budget, most_false)  # [P16]
    noise = Geometric(spending.budget, at_least=level)  # [P17]
    noisy: SparseCounts = spending.release(noise, counts, of="cell counts")  # [P18]
    return noisy


def count_blocks(rows: Rows, grid: Grid, level: int) -> SparseCounts:
    """Count the rows in each occupied block of ``2**level`` cells along each axis.

    Parameters
    ----------
    rows
        The rows; the counts are exact and must not be published.
    """
    fine = rows.count(grid, sparse=True)
    if level == 0:
        return fine
    places = [place >> level for place in np.unravel_index(fine.keys, grid.shape)]
    shape = [-(-cells >> level) for cells in grid.shape]
    keys, block = np.unique(np.ravel_multi_index(places, shape), return_inverse=True)
    counts = np.zeros(keys.size, dtype=np.int64)
    np.add.at(counts, block, fine.counts)  # [P19] whole numbers: a row is in one block
    return SparseCounts(keys, counts, math.prod(shape))


def threshold_scores(coefficients: Integers, p: Fraction, top: int) -> ScoredIntervals:
    """Score each lattice point by how near its rank is to that of the quantile.

    Parameters
    ----------
    coefficients
        In lattice steps; those above 0 are ranked.
    p
        The quantile.
    top
        The end of the range, in lattice steps.

    Examples
    --------
    >>> scores = threshold_scores(np.array([0, 2, 5, 9]), Fraction(1, 2), top=7)
    >>> scores.edges.tolist(), scores.scores.tolist()
    ([0, 2, 5, 7], [-1, 0, -1])
    """
    values, repeats = np.unique(coefficients[coefficients > 0], return_counts=True)
    m = int(repeats.sum())
    wanted = m - int(p * m)
    ends = np.minimum(values, top)
    # A point x of (edge, next edge] has as many coefficients at or above it as from there on.
    ranks = np.append(m - np.cumsum(repeats) + repeats, 0)
    edges = np.concatenate([[0], ends, [top]])
    filled = np.flatnonzero(np.diff(edges))
    return ScoredIntervals(np.append(edges[filled], top), -np.abs(ranks[filled] - wanted))  # [P13]


def _in_rows(units: Integers, transform: Transform) -> NDArray[np.generic]:
    return units if transform.is_blocks else units * transform.unit


def _fits(budget: PureDP, sensitivity: int) -> bool:
    """Whether noise of this sensitivity fits in 64-bit integers; if not, it is put on the cells."""
    return budget.epsilon >= Fraction(sensitivity, 2**40)


def _on_lattice(units: Integers, unit: float) -> Integers:
    """Convert coefficients to lattice steps, rounded down, which keeps the rank of lattice points.

    A coefficient above 0 and below the first point still counts as positive, at the first point.
    """
    per_unit = unit * STEPS
    if per_unit >= 1:
        return units * int(per_unit)
    return np.where(units > 0, np.maximum(units // int(1 / per_unit), 1), 0)
