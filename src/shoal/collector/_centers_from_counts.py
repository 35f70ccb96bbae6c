"""Learn centres from noisy counts of cells, whoever counted them; cut what liars add."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats
from shoal.cluster.kmeans import weighted_centers
from shoal.cluster.local.methods import CellCounts, density_of, likely_groups
from shoal.domain import Box
from shoal.randomness import Randomness

_RUNS = 10
_TIMES, _DEVIATIONS = 3, 4  # measured in docs/collector-accuracy.md


class CappedCounts(NamedTuple):
    """Counts of cells, none far above its neighbours."""

    counts: Floats
    cut: Floats

    @property
    def n_cells(self) -> int:
        """How many cells were cut."""
        return int(np.count_nonzero(self.cut))

    @property
    def amount(self) -> float:
        """By how much, in all."""
        return float(self.cut.sum())


def cap_counts(counts: Floats, shape: tuple[int, ...], deviation: float) -> CappedCounts:
    """Cut counts that stand out from their neighbours by more than people of one kind would.

    Against liars who all report one cell. It costs little where groups are wider than a cell, and
    hurts those that are narrower: say on the page what was cut.

    Parameters
    ----------
    counts
        Unbiased counts, in the order of a grid's keys.
    """
    field = counts.reshape(shape)
    padded = np.pad(field, 1)
    inside = np.pad(np.ones(shape), 1)
    total, number = np.zeros(shape), np.zeros(shape)
    for offset in itertools.product((0, 1, 2), repeat=len(shape)):
        if any(step != 1 for step in offset):
            window = tuple(slice(o, o + m) for o, m in zip(offset, shape, strict=True))
            total += padded[window]
            number += inside[window]
    most = _TIMES * np.maximum(total / number, 0) + _DEVIATIONS * deviation
    capped = np.minimum(field, most).ravel()
    return CappedCounts(capped, counts - capped)


def centers_of_counts(
    counts: Floats,
    box: Box,
    shape: tuple[int, ...],
    deviation: float,
    n: int,
    n_clusters: int,
    rng: Randomness,
) -> Floats:
    """Return centres from noisy counts, as local clustering learns them from reports.

    Parameters
    ----------
    counts
        Unbiased counts, in the order of a grid's keys.
    """
    units = (box.high - box.low) / 2
    edges = tuple(np.linspace(-1, 1, m + 1) for m in shape)
    cells = CellCounts(edges, np.asarray(counts, dtype=np.float64), deviation, n)
    points, weights = density_of(cells, likely_groups(cells, n_clusters, rng.compute))
    centers = weighted_centers(points, weights, n_clusters, rng, _RUNS)
    return np.asarray(box.clip(centers * units + (box.low + box.high) / 2))


def scatter_of_centers(
    centers: Floats, box: Box, learn_again: Callable[[], Floats], runs: int
) -> Floats:
    """Return how far each coordinate of centres scatters over counts that are drawn anew.

    What noise and sampling do to centres; not what groups of another shape than the learner's
    would do.
    """
    from scipy.optimize import linear_sum_assignment

    units = (box.high - box.low) / 2
    squares = np.zeros_like(centers)
    for _ in range(runs):
        again = learn_again()
        gaps = (((centers[:, None] - again) / units) ** 2).sum(axis=2)
        squares += (again[linear_sum_assignment(gaps)[1]] - centers) ** 2
    return np.asarray(np.sqrt(squares / runs))
