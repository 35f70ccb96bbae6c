"""PrivTHREM, corrected: the threshold by the exponential mechanism, on a public lattice."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.wave.methods.privqt import CellNoise, with_cell_noise
from shoal.cluster.wave.methods.purse import Purse
from shoal.cluster.wave.noise import NoisyGrid
from shoal.cluster.wave.transform import Transform
from shoal.mechanisms import Exponential, Intervals

__all__ = ["privthrem", "threshold_scores"]

STEPS = 256  # lattice points between 0 and one row
Integers = NDArray[np.int64]


def privthrem(
    counts: Integers,
    transform: Transform,
    p: Fraction,
    alpha: Fraction,
    noise: CellNoise,
    purse: Purse,
) -> tuple[NoisyGrid, float]:
    """Coefficients of noisy cells, and a threshold near the true ``p``-quantile.

    Parameters
    ----------
    counts, transform, noise, purse
        As in ``privqt``.
    p, alpha
        The quantile; the share of the budget that the cells get.

    References
    ----------
    Chen, Yu, Chirkova, WaveCluster with differential privacy, CIKM 2015. Corrected here: the range
    ends at the largest *noisy* coefficient, an interval counts once for each of its points, and
    the threshold is drawn once.
    """
    grid = with_cell_noise(counts, transform, noise, purse.share(alpha))  # [P1]
    top = max(1, int(np.floor(grid.values.max() * STEPS)))  # [P2]
    scores = threshold_scores(_on_lattice(transform(counts), transform.unit), p, top)
    pick = Exponential(purse.budget * (1 - alpha), sensitivity=transform.touched)  # [P3]
    drawn = purse.release(pick, scores, of="threshold")  # [P4]
    return grid, drawn / STEPS


def threshold_scores(coefficients: Integers, p: Fraction, top: int) -> Intervals:
    """How near each lattice point's rank is to that of the quantile.

    Parameters
    ----------
    coefficients
        In lattice steps; those above 0 are ranked.
    p, top
        The quantile, and the end of the range, in lattice steps.

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
    return Intervals(np.append(edges[filled], top), -np.abs(ranks[filled] - wanted))  # [P5]


def _on_lattice(units: Integers, unit: float) -> Integers:
    """Coefficients as lattice steps, rounded down: no lattice point changes its rank.

    A coefficient above 0 and below the first point still counts as positive, at the first point.
    """
    per_unit = unit * STEPS
    if per_unit >= 1:
        return units * int(per_unit)
    return np.where(units > 0, np.maximum(units // int(1 / per_unit), 1), 0)
