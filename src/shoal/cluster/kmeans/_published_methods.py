"""The published methods with iterations of their own: DPLloyd, and the hybrid of grid and step."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import Floats, Integers
from shoal.cluster.group_sizes import GroupCounts, NoiseSum
from shoal.cluster.kmeans._cells import NoisyClusters, cell_points, centers_of_cells
from shoal.cluster.kmeans._kernels import LATTICE, Cube, Nearest
from shoal.cluster.kmeans._weighted_kmeans import Clusterer
from shoal.engine import Block
from shoal.estimator import Spending
from shoal.mechanisms import Geometric
from shoal.synopsis import Synopsis, UniformGrid
from shoal.synopsis.uniform_grid import MAX_CELLS_DENSE, most_an_axis

_MOST_STEPS = 7
_TRIES = 100


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """Kernel of one iteration: rows of each cluster, and their sums on the lattice."""

    cube: Cube
    nearest: Nearest

    def __call__(self, block: Block) -> tuple[Integers, Integers]:
        """Arrays (cluster,) and (cluster, axis)."""
        columns, k = self.cube.columns(block.numbers), len(self.nearest.centers)
        labels = self.nearest.labels(columns)  # [P1]
        steps = np.trunc(columns * LATTICE)  # [P2]
        sums = [np.bincount(labels, column, k) for column in steps]
        counts = np.bincount(labels, minlength=k)
        return counts, np.column_stack(sums).astype(np.int64)


def lloyd(spending: Spending, k: int) -> NoisyClusters:
    """Start from centres spread out without the rows; take as many steps as the budget bears.

    Parameters
    ----------
    spending
        All of its budget is spent; the number of rows stands in it.
    """
    assert spending.n_rows is not None
    d = spending.box.d
    least = math.sqrt(500 * k**3 * (d + count_weight(d)) ** 3)
    steps = min(_MOST_STEPS, max(2, int(spending.n_rows * spending.epsilon / least)))
    centers = pack_centers(k, d, spending.rng.compute)
    for number in range(1, steps + 1):  # [P3] all of them: stopping early would tell
        clusters = lloyd_step(spending.share(Fraction(1, steps)), centers, of=f"step {number}")
        centers = clusters.centers
    return clusters


def lloyd_step(spending: Spending, centers: Floats, *, of: str) -> NoisyClusters:
    """One iteration: noisy counts and noisy sums of the rows nearest to each centre.

    Parameters
    ----------
    spending
        What pays for it: 1 part for each axis's sums to ``count_weight`` parts for the counts.
    """
    d = centers.shape[1]
    parts = Fraction(round(count_weight(d) * 1024), 1024)
    for_sums, for_counts = (spending.share(part / (d + parts)) for part in (d, parts))  # [P4]
    counts, sums = spending.sum(ClusterSums(Cube(spending.box), Nearest(centers)))
    noise = Geometric(for_counts.budget)
    sizes = spending.release(noise, counts, of=f"{of}: rows of each cluster")
    noise = Geometric(for_sums.budget, sensitivity=d * LATTICE)  # [P5]
    noisy_sums = spending.release(noise, sums, of=f"{of}: sums of each cluster")
    means = np.clip(noisy_sums / LATTICE / np.maximum(sizes, 1)[:, None], -1, 1)
    moved = np.where((sizes <= 1)[:, None], centers, means)
    an_axis = float(for_sums.budget.epsilon / d)
    errors = math.sqrt(2 * d) / (an_axis * np.maximum(sizes, 1))
    counted = GroupCounts.alike(sizes.astype(np.float64), NoiseSum.geometric(for_counts.epsilon))
    return NoisyClusters(moved, counted.sizes, errors, counted)


def count_weight(d: int) -> float:
    """What a count is given for 1 of an axis: (4 d rho^2)^(1/3), rho = 0.225.

    The error of a mean is about d / e_axis^2 + K / e_count^2, K the squared length of the mean;
    for a fixed sum it is least at e_count / e_axis = K^(1/3). K = 4 d rho^2 is a mean whose
    coordinates are about 0.45.
    """
    return float((4 * d * 0.225**2) ** (1 / 3))


def pack_centers(k: int, d: int, rng: np.random.Generator) -> Floats:
    """Centres by sphere packing: spheres inside the cube that do not touch, as large as may be.

    Examples
    --------
    >>> pack_centers(3, 2, np.random.default_rng(0)).shape
    (3, 2)
    """
    radius = 0.5
    while True:
        centers = _pack_spheres(k, d, radius, rng)
        if centers is not None:
            return centers
        radius *= 0.8


def _pack_spheres(k: int, d: int, radius: float, rng: np.random.Generator) -> Floats | None:
    """``k`` spheres of a radius, or None if one found no room in a hundred tries."""
    centers = np.empty((0, d))
    for _ in range(k):
        tried = rng.uniform(radius - 1, 1 - radius, (_TRIES, d))
        gaps = ((tried[:, None] - centers) ** 2).sum(axis=2)
        free = np.flatnonzero((gaps >= (2 * radius) ** 2).all(axis=1))
        if not free.size:
            return None
        centers = np.vstack([centers, tried[free[0]]])
    return centers


def hybrid(spending: Spending, k: int, by: Clusterer = "sklearn") -> tuple[Synopsis, NoisyClusters]:
    """Cluster a uniform grid, then take one step of Lloyd where that will pay.

    The grid gets half of the budget and the step the other, or the grid all of it.

    Parameters
    ----------
    spending
        All of its budget is spent; the number of rows stands in it.
    """
    assert spending.n_rows is not None
    takes_step = lloyd_step_pays(spending.n_rows * spending.epsilon / 2, spending.box.d, k)  # [P6]
    half = spending.share(Fraction(1, 2)) if takes_step else spending
    grid = UniformGrid(epsilon=half.budget.epsilon, domain=spending.box)
    grid.spend(half)  # [P7]
    grid.guarantee_ = half.budget.simulated(spending.rng.noise.simulation)
    clusters = centers_of_cells(cell_points(grid, by=by), k, spending.rng)
    if takes_step:
        clusters = lloyd_step(half, clusters.centers, of="last step")  # [P8]
    return grid, clusters


def lloyd_step_pays(rows_epsilon: float, d: int, k: int) -> bool:
    r"""Whether a step's error is expected below that of the grid.

    With M cells, M/k noisy ones to a cluster spread over a cube of side :math:`2 k^{-1/d}`, the
    grid's error is :math:`(2d/3) M k^{2-2/d} / (N \varepsilon)^2`; that of a step is
    :math:`2 k^3 (d + r)^3 / (N \varepsilon)^2`, r the weight of a count.

    Examples
    --------
    >>> lloyd_step_pays(10_000, d=2, k=3), lloyd_step_pays(100, d=2, k=3)
    (True, False)
    """
    an_axis = min(
        max(2, round((rows_epsilon / 10) ** (2 / (2 + d)))), most_an_axis(MAX_CELLS_DENSE, d)
    )
    cells = an_axis**d
    return bool(k ** (1 + 2 / d) * (d + count_weight(d)) ** 3 < d * cells / 3)
