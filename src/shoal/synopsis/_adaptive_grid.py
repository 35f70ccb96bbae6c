"""Noisy counts of cells that are split finer where more rows were counted."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import Floats, Integers
from shoal.bounds_check import Clipping
from shoal.domain import Box, Grid, Schema, View, ZoomedGrid
from shoal.domain.grid import MAX_CELLS
from shoal.engine import Rows
from shoal.errors import ConflictingSettings, InvalidDomain, InvalidSetting, TooLarge, setting
from shoal.estimator import Spending
from shoal.mechanisms import Geometric
from shoal.privacy import LedgerOrPath, PureDP
from shoal.randomness import Seed
from shoal.synopsis._count_weights import Negative
from shoal.synopsis.uniform_grid import MAX_CELLS_DENSE, CellsSetting, GridSynopsis

# Noise scales in the count of a coarse cell beyond a view, below which it stays whole: its two
# counts are then averaged, and noise alone seldom makes such an average large:
# docs/decisions/private-kmeans.md.
_WHOLE = 8


@dataclass(frozen=True, init=False, eq=False)
class SplitGrid:
    """A partition: cells of a coarse grid, each split into equal parts along every axis.

    Keys run through one cell of the grid after the other; inside, the last axis counts fastest.

    Parameters
    ----------
    parts
        A whole number from 1 up for each of them: public, or made from what was released.

    Examples
    --------
    >>> cells = SplitGrid(Grid(Box.unit(1), 2), [1, 3])
    >>> cells.size, cells.keys([[0.2], [0.5], [1.0]]).tolist()
    (4, [0, 1, 3])
    >>> low, high = cells.bounds([0, 3])
    >>> high.tolist()
    [[0.5], [1.0]]
    """

    grid: Grid | ZoomedGrid
    parts: Integers
    size: int

    def __init__(self, grid: Grid | ZoomedGrid, parts: ArrayLike) -> None:
        each = np.ascontiguousarray(parts, dtype=np.int64)
        if each.shape != (grid.size,) or each.min() < 1:
            raise InvalidDomain(
                f"There are {each.size} numbers of parts for {grid.size} cells.",
                "Give each cell a whole number of 1 or more.",
            )
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "parts", each)
        object.__setattr__(self, "size", total_parts(each, grid.box.d))
        if self.size > MAX_CELLS:
            raise TooLarge(
                f"{self.size} cells are more than 2**62.", "Use fewer parts.", reason="cells"
            )
        object.__setattr__(self, "_starts", np.cumsum(self.inside) - self.inside)

    _starts: Integers

    @property
    def box(self) -> Box:
        """The box the cells cover."""
        return self.grid.box

    @property
    def inside(self) -> Integers:
        """How many parts each coarse cell has in all."""
        return self.parts**self.grid.box.d

    def keys(self, X: ArrayLike) -> Integers:
        """Return the number of each row's cell."""
        parents, fractions = self.grid.locate(X)
        return self._starts[parents] + _index_inside(fractions, self.parts[parents])

    def bounds(self, keys: ArrayLike) -> tuple[Floats, Floats]:
        """Return the lowest and the highest corner of each of these cells."""
        cells = np.asarray(keys, dtype=np.int64)
        parents = self.parents(cells)
        low, high = self.grid.bounds(parents)
        parts, left = self.parts[parents], cells - self._starts[parents]
        for axis in range(self.grid.box.d - 1, -1, -1):
            left, places = np.divmod(left, parts)
            start, side = low[:, axis].copy(), high[:, axis] - low[:, axis]
            low[:, axis] = start + side * (places / parts)
            last = places + 1 == parts  # ends exactly where the coarse cell does
            high[:, axis] = np.where(last, high[:, axis], start + side * ((places + 1) / parts))
        return low, high

    def parents(self, keys: ArrayLike) -> Integers:
        """Return the coarse cell each of these cells is a part of."""
        parents: Integers = np.searchsorted(self._starts, np.asarray(keys), side="right") - 1
        return parents


def total_parts(parts: Integers, d: int) -> int:
    """Return how many cells these parts along each of ``d`` axes make, as an exact integer."""
    # In Python's integers: m**d may exceed 64 bits.
    values, times = np.unique(parts, return_counts=True)
    return sum(n * m**d for m, n in zip(values.tolist(), times.tolist(), strict=True))


def _index_inside(fractions: list[Floats], parts: Integers) -> Integers:
    """Return each row's index among the parts of its coarse cell."""
    index = np.zeros(len(parts), dtype=np.int64)
    last, scale = parts - 1, parts.astype(np.float64)
    for fraction in fractions:
        np.multiply(fraction, scale, out=fraction)
        places = fraction.astype(np.int64)
        index *= parts
        index += np.minimum(places, last, out=places)
    return index


class AdaptiveGrid(GridSynopsis):
    r"""Publish noisy counts of a coarse grid whose cells are split again where rows are.

    Half of the budget counts coarse cells, the other half their parts: with the usual settings
    a coarse cell of noisy count v is split into
    :math:`m_2 = \lceil (v \varepsilon_2 / 5)^{2/(2+d)} \rceil` parts an axis.
    Both counts of a coarse cell, its own and the sum of its parts, then settle on one number, at
    no cost.

    Guarantee
    ---------
    :math:`\varepsilon`-DP: a row changes the number of rows, one coarse count and one fine count
    by one each; which cells are split follows from what was released. See
    ``adaptive_grid.proof.md``.

    Parameters
    ----------
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``.
    privacy
        The whole promise. Give this or ``epsilon``.
    domain
        Public bounds, to which rows are moved.
    cells
        Coarse cells along each axis, one number or one an axis; choose them without the rows.
        ``"auto"`` takes :math:`\lceil\max(100^{1/d}, (N\varepsilon/10)^{2/(2+d)}/4)\rceil`, N the
        noisy number of rows.
    consistency
        Settle the two counts of a coarse cell. Without it the method is the printed one: counts
        stay as drawn, and :math:`m_2` is rounded up in any dimension, while from six columns on it
        is otherwise rounded to the nearest (rounding 1.1 up to 2 makes 2^8 cells of one in eight
        columns). Sparse counts are not settled: parts that were left out have no sum.
    negative
        What becomes of counts that noise made too small: see ``shoal.synopsis.weights_of``.
        The printed method is ``consistency=False, negative="zero"``.
    coarse_share
        The share of the budget that counts coarse cells (alpha in print). Anything but a half
        needs ``consistency=False``: counts are settled as of equal noise.
    coarse_rows
        Rows times epsilon that a coarse cell is made for (c1 in print): more make fewer cells.
    part_rows
        The same for parts (c2 in print).
    sparse
        Never make the empty parts, so that there may be up to 2**62; coarse cells stay dense.
    max_cells
        The most cells to count, and, sparse, the most empty ones to keep.
    clipping
        "stop" refuses bounds that many rows lie outside of; "accept" goes on and says so.
    n_public
        The number of rows, if it is known without them; never read it off the rows.
    nonfinite
        What NaN does: "refuse" the table, or "drop" the row.
    ledger
        Where the promise is written and added up; None keeps no record.
    random_state
        A seed makes the fit a simulation, marked as such; None draws real noise.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal([0.2, 0.7], 0.05, (100_000, 2))
    >>> grid = AdaptiveGrid(epsilon=1, domain=Box.unit(2), random_state=7).fit(X)
    >>> centers, weights = grid.points()
    >>> np.average(centers, axis=0, weights=weights).round(2).tolist()
    [0.2, 0.7]

    References
    ----------
    Qardaji, Yang, Li, Differentially private grids for geospatial data, ICDE 2013.
    """

    _zoom: View | None = None

    def __init__(
        self,
        *,
        epsilon: Any = None,
        privacy: PureDP | None = None,
        domain: Box | Schema | None = None,
        cells: CellsSetting = "auto",
        consistency: bool = True,
        negative: Negative = "norm-cut",
        coarse_share: float = 0.5,
        coarse_rows: float = 10,
        part_rows: float = 5,
        sparse: bool = False,
        max_cells: int = MAX_CELLS_DENSE,
        clipping: Clipping = "stop",
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: LedgerOrPath | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            privacy=privacy,
            domain=domain,
            clipping=clipping,
            n_public=n_public,
            nonfinite=nonfinite,
            ledger=ledger,
            random_state=random_state,
        )
        self.cells = cells
        self.consistency = consistency
        self.negative = negative
        self.coarse_share = coarse_share
        self.coarse_rows = coarse_rows
        self.part_rows = part_rows
        self.sparse = sparse
        self.max_cells = max_cells

    @property
    def _most_given_cells(self) -> int:
        return self.max_cells  # coarse cells are dense in any case

    def _release_name(self, rows: Rows) -> str:
        return "counts on an adaptive grid"

    def _check_settings(self, box: Box) -> None:
        super()._check_settings(box)
        for name in ("coarse_share", "coarse_rows", "part_rows"):
            value, most = getattr(self, name), 1.0 if name == "coarse_share" else math.inf
            if not (isinstance(value, int | float | Fraction) and 0 < value < most):
                wanted = "between 0 and 1" if most == 1 else "above 0"
                raise InvalidSetting.of(name, f"must be a number {wanted}", 0.5, value)
        if self.coarse_share != 0.5 and self.consistency and not self.sparse:
            raise ConflictingSettings(
                "Coarse and fine counts are settled as of equal noise, which this "
                + setting("coarse_share")
                + " does not give them.",
                "Use " + setting("consistency", False) + ", or half of the budget for each.",
            )

    def spend(self, spending: Spending) -> Self:
        """Count with a budget that the caller opened; see ``PrivateEstimator.spend``.

        Parameters
        ----------
        spending
            The rows, the page that pays, the budget and the noise.
        """
        # 1. How many rows there are; the rest of the budget is divided between the two levels.
        spending = self._begin(spending)
        d, share = spending.box.d, Fraction(str(self.coarse_share))
        first, second = spending.share(share), spending.share(1 - share)
        # 2. Rows in each cell of a coarse grid, with noise; the rule: docs/decisions/synopses.md.
        rule = (self.n_rows_ * spending.epsilon / self.coarse_rows) ** (2 / (2 + d)) / 4
        coarse = self._coarse_cells(spending.box, math.ceil(max(100 ** (1 / d), rule)))  # [P1]
        coarse_counts = first.count(coarse, of="coarse cell counts")  # [P2]
        # 3. Cells with many rows are split, and the parts counted.
        cells = SplitGrid(coarse, self._parts(coarse, coarse_counts, second.epsilon))  # [P3]
        variance = Geometric(second.budget).variance
        if self.sparse:
            fine = second.count_sparse(  # [P4]
                cells, of="fine cell counts", most_false=self.max_cells
            )
            return self._store_cells(cells, fine.keys, fine.counts, variance)
        fine_counts = second.count(cells, of="fine cell counts")  # [P4]
        # 4. Both counts of a coarse cell are made one; 5. what noise decided is dropped.
        estimates = inside = None
        if self.consistency:
            inside = cells.inside
            estimates = consistent_counts(coarse_counts, fine_counts, inside)  # [P5]
            # Consistency lowers a fine count's variance to n / (n + 1); this is the mean over
            # cells.
            variance *= float(np.sum(inside**2 / (inside + 1)) / cells.size)
        return self._store_cells(
            cells,
            np.arange(cells.size),
            fine_counts,
            variance,
            estimates=estimates,
            step=second.epsilon,
            inside=inside,
            zoom=coarse if isinstance(coarse, ZoomedGrid) else None,
        )

    def zoomed(self, view: View) -> Self:
        """Return itself, to count a view along the columns in the usual cells and shells about it.

        Parameters
        ----------
        view
            Public or released; five columns at most.
        """
        assert self.consistency
        assert not self.sparse
        self._zoom = view
        return self

    def _coarse_cells(self, box: Box, cells_an_axis: int) -> Grid | ZoomedGrid:
        if self._zoom is None:
            return self._grid(box, cells_an_axis)
        return ZoomedGrid(self._zoom, self._grid(self._zoom.box, cells_an_axis))  # [P6]

    def _parts(
        self, coarse: Grid | ZoomedGrid, coarse_counts: Integers, epsilon: float
    ) -> Integers:
        """Return how many parts each coarse cell gets along an axis, within the limit."""
        d = coarse.box.d
        rule = (np.maximum(coarse_counts, 0) * epsilon / self.part_rows) ** (2 / (2 + d))
        printed = d < 6 or not (self.consistency or self.sparse)
        parts = np.maximum(np.ceil(rule) if printed else np.rint(rule), 1).astype(np.int64)
        if isinstance(coarse, ZoomedGrid):
            parts[(coarse.shell_of_cells() > 0) & (coarse_counts * epsilon < _WHOLE)] = 1
        return lower_parts(parts, d, MAX_CELLS if self.sparse else self.max_cells)


def lower_parts(parts: Integers, d: int, most_cells: int) -> Integers:
    """Lower the largest numbers of parts, equal ones together, until few enough cells remain.

    Examples
    --------
    >>> lower_parts(np.array([9, 2, 5]), d=2, most_cells=40).tolist()
    [4, 2, 4]
    """
    # Bisection: the number of cells rises with the largest number of parts.
    fits, too_many = 1, int(parts.max()) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if total_parts(np.minimum(parts, middle), d) <= most_cells:
            fits = middle
        else:
            too_many = middle
    return np.minimum(parts, fits)


def consistent_counts(coarse_counts: Integers, fine_counts: Integers, inside: Integers) -> Floats:
    r"""Return fine counts that sum to the best estimate of their coarse cell.

    A coarse cell of n parts has two counts of equal noise: its own, v, and the sum S of its parts,
    whose variance is n times as large. Their inverse-variance mean is
    :math:`v' = S + (v - S) n / (n + 1)`; the gap v' - S is spread evenly, which is the
    least-squares way. A fine count's variance falls to n / (n + 1) of what it was.

    Examples
    --------
    >>> consistent_counts(np.array([10]), np.array([4, 0, 0]), np.array([3]))
    array([5.5, 1.5, 1.5])
    """
    sums = np.add.reduceat(fine_counts, np.cumsum(inside) - inside)
    gaps = (coarse_counts - sums) / (inside + 1)
    return np.asarray(fine_counts + np.repeat(gaps, inside))
