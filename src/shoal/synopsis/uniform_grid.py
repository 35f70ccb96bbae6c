"""Noisy counts of equal cells."""

from typing import Any, Literal

import numpy as np

from shoal.domain import Box
from shoal.engine import Rows
from shoal.mechanisms import Geometric
from shoal.privacy import Ledger, PureDP
from shoal.randomness import Seed
from shoal.synopsis.counter import Counter, box_of
from shoal.synopsis.grid_settings import MAX_CELLS_DENSE, AskedCells, GridSynopsis, grid_name
from shoal.synopsis.private import Neighbours
from shoal.synopsis.weights import Negative

__all__ = ["UniformGrid"]


class UniformGrid(GridSynopsis):
    r"""Publish noisy counts of the cells of a uniform grid.

    Guarantee
    ---------
    :math:`\varepsilon`-DP: a row changes the number of rows by one and one cell's count by one;
    both carry two-sided geometric noise. See ``uniform_grid.proof.md``.

    Parameters
    ----------
    epsilon, domain
        The budget of one ``fit``; public bounds, to which rows are moved.
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
    neighbours, entity, max_rows_per_person, n_public, nonfinite, ledger, random_state
        As for every private estimator: see ``shoal.synopsis.PrivateEstimator``.

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

    def __init__(
        self,
        *,
        epsilon: Any,
        domain: Box | None,
        cells: AskedCells = "auto",
        negative: Negative = "norm-cut",
        sparse: bool = False,
        max_cells: int = MAX_CELLS_DENSE,
        neighbours: Neighbours = "add-remove",
        entity: str | None = None,
        max_rows_per_person: int | None = None,
        n_public: int | None = None,
        nonfinite: Literal["refuse", "drop"] = "refuse",
        ledger: Ledger | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            domain=domain,
            neighbours=neighbours,
            entity=entity,
            max_rows_per_person=max_rows_per_person,
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

    def _summarise(self, counter: Counter, budget: PureDP) -> None:
        d, epsilon = counter.box.d, float(budget.epsilon)
        rule = (self.n_rows_ * epsilon / 10) ** (2 / (2 + d))
        grid = self._grid(counter.box, max(2, round(rule)))  # [P1]
        variance = Geometric(budget).variance
        if self.sparse:
            found = counter.noisy_sparse(  # [P3]
                grid, budget, of="cell counts", most_false=self.max_cells
            )
            self._keep_weighty(grid, found.keys, found.counts, variance)
        else:
            noisy_counts = counter.noisy(grid, budget, of="cell counts")  # [P2]
            keys = np.arange(grid.size)
            self._keep_weighty(grid, keys, noisy_counts, variance, step=epsilon)
