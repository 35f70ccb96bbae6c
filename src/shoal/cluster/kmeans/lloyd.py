"""DPLloyd: Lloyd's iterations with a noisy count and noisy sums for every cluster."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.kmeans.nearest import Cube, Nearest
from shoal.cluster.kmeans.rings import LATTICE
from shoal.cluster.kmeans.work import Found, Work
from shoal.cluster.noise_sum import NoiseSum
from shoal.cluster.totals import Counted
from shoal.domain.box import Matrix
from shoal.engine.rows import Block
from shoal.mechanisms import Geometric

__all__ = ["ClusterSums", "lloyd", "lloyd_step", "spread_out"]

Integers = NDArray[np.int64]
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


def lloyd(work: Work, k: int) -> Found:
    """Start from centres spread out without the rows; take as many steps as the budget bears."""
    d = work.d
    felt = work.n_rows * work.epsilon * float(work.left)
    least = math.sqrt(500 * k**3 * (d + count_weight(d)) ** 3)
    steps = min(_MOST_STEPS, max(2, int(felt / least)))
    centers = spread_out(k, d, work.rng.compute)
    for number in range(1, steps + 1):  # [P3] all of them: stopping early would tell
        found = lloyd_step(work, centers, work.left / steps, of=f"step {number}")
        centers = found.centers
    return found


def lloyd_step(work: Work, centers: Matrix, share: Fraction, *, of: str) -> Found:
    """One iteration.

    Parameters
    ----------
    work, centers
        Rows and what pays for them; where to begin.
    share
        Of the budget: 1 part for each axis's sums to ``count_weight`` parts for the counts.
    of
        What it is, for the ledger.
    """
    d = centers.shape[1]
    parts = Fraction(round(count_weight(d) * 1024), 1024)
    for_sums, for_counts = share * d / (d + parts), share * parts / (d + parts)  # [P4]
    counts, sums = work.rows.sum(ClusterSums(work.cube, Nearest(centers)))
    noise = Geometric(work.pure(for_counts))
    sizes = work.page.release(noise, counts, work.rng.noise, of=f"{of}: rows of each cluster")
    noise = Geometric(work.pure(for_sums), sensitivity=d * LATTICE)  # [P5]
    noisy = work.page.release(noise, sums, work.rng.noise, of=f"{of}: sums of each cluster")
    stays = sizes <= 1
    means = np.clip(noisy / LATTICE / np.maximum(sizes, 1)[:, None], -1, 1)
    felt = float(work.budget.epsilon * for_sums / d) * np.maximum(sizes, 1)
    moved = np.where(stays[:, None], centers, means)
    step = float(work.budget.epsilon * for_counts)
    counted = Counted.alike(sizes.astype(np.float64), NoiseSum.geometric(step))
    return Found(moved, counted.sizes, math.sqrt(2 * d) / felt, counted)


def count_weight(d: int) -> float:
    """What a count is given for 1 of an axis: (4 d rho^2)^(1/3), rho = 0.225.

    The error of a mean is about d / e_axis^2 + K / e_count^2, K the squared length of the mean;
    for a fixed sum it is least at e_count / e_axis = K^(1/3). K = 4 d rho^2 is a mean whose
    coordinates are about 0.45.
    """
    return float((4 * d * 0.225**2) ** (1 / 3))


def spread_out(k: int, d: int, rng: np.random.Generator) -> Matrix:
    """Centres by sphere packing: spheres inside the cube that do not touch, as large as may be.

    Examples
    --------
    >>> spread_out(3, 2, np.random.default_rng(0)).shape
    (3, 2)
    """
    radius = 0.5
    while True:
        centers = _packed(k, d, radius, rng)
        if centers is not None:
            return centers
        radius *= 0.8


def _packed(k: int, d: int, radius: float, rng: np.random.Generator) -> Matrix | None:
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
