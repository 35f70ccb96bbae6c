"""Noisy counts of equal cells, and what all grid synopses share."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from shoal.bounds_check import Clipping
from shoal.domain import Box, FarGrid, Grid, Schema
from shoal.domain.grid import MAX_CELLS
from shoal.engine import Rows
from shoal.errors import ShoalError, TooLarge, setting
from shoal.estimator import Spending, box_of
from shoal.mechanisms import Geometric
from shoal.privacy import LedgerOrPath, PureDP
from shoal.randomness import Seed
from shoal.synopsis._base import Synopsis, check_max_cells
from shoal.synopsis._count_weights import Negative, check_negative

CellsSetting = int | Sequence[int] | NDArray[np.integer] | Literal["auto"]
MAX_CELLS_DENSE = 2_000_000  # docs/decisions/synopses.md
_MOST_NAMED_AXES = 3  # an entry of the ledger stays one line


class GridSynopsis(Synopsis):
    """Base class of synopses that begin with a grid of cells."""

    cells: CellsSetting = "auto"
    negative: Negative = "norm-cut"
    sparse: bool = False
    max_cells: int = MAX_CELLS_DENSE

    def _check_settings(self, box: Box) -> None:
        check_negative(self.negative)
        check_max_cells(self.max_cells)
        if not self._is_auto:
            self._check_given_grid(Grid(box, self.cells))  # type: ignore[arg-type]

    def _check_given_grid(self, grid: Grid) -> None:
        """Refuse a given grid of too many cells."""
        if grid.size > self._most_given_cells:
            raise TooLarge(
                f"{grid.size} cells are more than " + setting("max_cells", self.max_cells) + ".",
                "Use fewer cells along each axis, or "
                + setting("sparse", True)
                + ", which never makes the empty ones.",
                reason="cells",
            )

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.cells, str) and self.cells == "auto"

    @property
    def _most_given_cells(self) -> int:
        """The most cells a given grid may have."""
        return MAX_CELLS if self.sparse else self.max_cells

    def _grid(self, box: Box, cells_an_axis: float) -> Grid:
        """Return the given grid, or one of about so many cells an axis, within the limit."""
        if not self._is_auto:
            return Grid(box, self.cells)  # type: ignore[arg-type]
        return Grid(box, min(int(cells_an_axis), most_an_axis(self._most_given_cells, box.d)))


def grid_name(cells: Any, box: Box) -> str:
    """Describe a grid for the ledger by its settings, before they are checked.

    Examples
    --------
    >>> grid_name(64, Box.unit(2)), grid_name("auto", Box.unit(2)), grid_name(4, Box.unit(9))
    ('a grid of 64 x 64 cells', 'a grid', 'a grid over 9 columns')
    """
    if isinstance(cells, str):
        return "a grid"
    if box.d > _MOST_NAMED_AXES:
        return f"a grid over {box.d} columns"
    try:
        along = Grid(box, cells).shape
    except ShoalError:
        return "a grid"  # which is refused before anything is released
    return f"a grid of {' x '.join(map(str, along))} cells"


def most_an_axis(most_cells: int, d: int) -> int:
    """Return the most parts of each of ``d`` axes that make at most so many cells.

    Examples
    --------
    >>> most_an_axis(2_000_000, 8), most_an_axis(10**18, 3), most_an_axis(10, 40)
    (6, 1000000, 1)
    """
    parts = max(1, int(float(most_cells) ** (1 / d)))  # near: floats round
    while parts**d > most_cells:
        parts -= 1
    while (parts + 1) ** d <= most_cells:
        parts += 1
    return parts


class UniformGrid(GridSynopsis):
    r"""Publish noisy counts of the cells of a uniform grid.

    Guarantee
    ---------
    :math:`\varepsilon`-DP: a row changes the number of rows by one and one cell's count by one;
    both carry two-sided geometric noise. See ``uniform_grid.proof.md``.

    Parameters
    ----------
    epsilon
        The budget of one ``fit``, short for ``privacy=PureDP(epsilon)``.
    privacy
        The whole promise. Give this or ``epsilon``.
    domain
        Public bounds, to which rows are moved.
    cells
        Cells along each axis, one number or one an axis; choose them without the rows. ``"auto"``
        takes :math:`(N\varepsilon/10)^{2/(2+d)}`, N the noisy number of rows, at least 2: coarse
        enough for the noise, fine enough for the shape.
    negative
        What becomes of counts that noise made too small: see ``shoal.synopsis.weights_of``.
    sparse
        Never make the empty cells, so that there may be up to 2**62. The result has the law of
        noising all of them and keeping those from a level up that few empty ones reach.
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
    >>> X = np.repeat([[0.2, 0.2], [0.8, 0.8]], 500, axis=0)
    >>> grid = UniformGrid(epsilon=1, domain=Box.unit(2), cells=4, random_state=7).fit(X)
    >>> centers, weights = grid.points()
    >>> centers[weights > 100].tolist(), weights[weights > 100].tolist()
    ([[0.125, 0.125], [0.875, 0.875]], [500.0, 500.0])

    References
    ----------
    Su, Cao, Li, Bertino, Jin, Differentially private k-means clustering, CODASPY 2016 (the rule
    for the number of cells); Qardaji, Yang, Li, Differentially private grids for geospatial data,
    ICDE 2013.
    """

    _has_far_cells = False

    def __init__(
        self,
        *,
        epsilon: Any = None,
        privacy: PureDP | None = None,
        domain: Box | Schema | None = None,
        cells: CellsSetting = "auto",
        negative: Negative = "norm-cut",
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
        self.negative = negative
        self.sparse = sparse
        self.max_cells = max_cells

    def _release_name(self, rows: Rows) -> str:
        return f"counts on {grid_name(self.cells, box_of(rows, None))}"

    def spend(self, spending: Spending) -> Self:
        """Count with a budget that the caller opened; see ``PrivateEstimator.spend``.

        Parameters
        ----------
        spending
            The rows, the page that pays, the budget and the noise.
        """
        # 1. How many rows there are.
        spending = self._begin(spending)
        # 2. How many cells that is worth; the 10 is Su et al.'s: docs/decisions/synopses.md.
        rule = (self.n_rows_ * spending.epsilon / 10) ** (2 / (2 + spending.box.d))
        grid = self._cells(spending, max(2, round(rule)))  # [P1]
        # 3. Rows in each of them, with noise; 4. what counts that noise decided are worth.
        variance = Geometric(spending.budget).variance
        if self.sparse:
            cells = spending.count_sparse(  # [P3]
                grid, of="cell counts", most_false=self.max_cells
            )
            return self._store_cells(grid, cells.keys, cells.counts, variance)
        noisy_counts = spending.count(grid, of="cell counts")  # [P2]
        keys = np.arange(grid.size)
        return self._store_cells(
            grid,
            keys,
            noisy_counts,
            variance,
            step=spending.epsilon,
            zoom=grid if isinstance(grid, FarGrid) else None,
        )

    def with_far_cells(self) -> Self:
        """Return itself, to count rows far beyond a view in wide cells of their own."""
        assert not self.sparse
        self._has_far_cells = True
        return self

    def _cells(self, spending: Spending, cells_an_axis: int) -> Grid | FarGrid:
        grid = self._grid(spending.box, cells_an_axis)
        if not self._has_far_cells or spending.view is None:
            return grid
        return FarGrid(grid, spending.view.farthest)  # [P4]
