"""A uniform grid finds the clusters; one step of Lloyd refines them, where that will pay."""

from typing import Any

from shoal.cluster.kmeans.cells import cell_points, centers_of_cells
from shoal.cluster.kmeans.lloyd import count_weight, lloyd_step
from shoal.cluster.kmeans.weighted import Clusterer
from shoal.cluster.kmeans.work import Found, Work
from shoal.estimator import Spending
from shoal.synopsis import UniformGrid
from shoal.synopsis.base import Synopsis
from shoal.synopsis.uniform_grid import MAX_CELLS_DENSE, most_an_axis

__all__ = ["hybrid", "step_pays"]


def hybrid(
    work: Work, k: int, by: Clusterer = "sklearn", **settings: Any
) -> tuple[Synopsis, Found]:
    """The grid gets half of the budget and the step the other, or the grid all of it."""
    felt = work.n_rows * work.epsilon * float(work.left)
    share = work.left / 2 if step_pays(felt / 2, work.d, k) else work.left  # [P1]
    budget = work.pure(share)
    grid = UniformGrid(epsilon=budget.epsilon, domain=work.cube.box, **settings)
    grid.spend(Spending(work.rows, work.page, budget, work.rng, work.n_rows))  # [P2]
    grid.guarantee_ = budget.simulated(work.rng.noise.simulation)
    found = centers_of_cells(cell_points(grid, by=by), k, work.rng)
    rest = work.left - share
    if rest > 0:
        found = lloyd_step(work, found.centers, rest, of="last step")  # [P3]
    return grid, found


def step_pays(felt: float, d: int, k: int) -> bool:
    r"""Whether a step's error is expected below that of the grid.

    With M cells, M/k noisy ones to a cluster spread over a cube of side :math:`2 k^{-1/d}`, the
    grid's error is :math:`(2d/3) M k^{2-2/d} / (N \varepsilon)^2`; that of a step is
    :math:`2 k^3 (d + r)^3 / (N \varepsilon)^2`, r the weight of a count.

    Parameters
    ----------
    felt
        Rows times the epsilon of either.
    d, k
        Columns, clusters.

    Examples
    --------
    >>> step_pays(10_000, d=2, k=3), step_pays(100, d=2, k=3)
    (True, False)
    """
    an_axis = min(max(2, round((felt / 10) ** (2 / (2 + d)))), most_an_axis(MAX_CELLS_DENSE, d))
    cells = an_axis**d
    return bool(k ** (1 + 2 / d) * (d + count_weight(d)) ** 3 < d * cells / 3)
