"""Clusters as the peaks of a smoothed noisy grid that rise well above the passes between them.

Every cell climbs to its highest neighbour until it stands on a peak; peaks and the passes between
their slopes make a graph, small beside the grid, whose spanning tree of highest passes tells at
which significance any two peaks part. The tree is made once; each cut of it is a clustering.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from shoal.cluster.wave.components import half_offsets, sifted

__all__ = ["PeakTree", "Smoothed", "smoothed", "smoothing_error"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Smoothed:
    """A grid after a Gaussian filter, and what is left of the noise in one of its cells."""

    heights: Floats
    noise_variance: float
    shrink: float  # what the filter leaves of a variance


def smoothed(values: NDArray[np.generic], variance: float, sigma: float) -> Smoothed:
    """Filter with ``sigma`` cells; beyond the grid lie zeros.

    Examples
    --------
    >>> round(smoothed(np.zeros((9, 9)), variance=1.0, sigma=1.0).noise_variance, 3)
    0.08
    """
    grid = np.asarray(values, dtype=np.float64)
    shrink = _weights(sigma)[1] ** grid.ndim
    if sigma > 0:
        grid = ndimage.gaussian_filter(grid, sigma, mode="constant")
    return Smoothed(grid, variance * shrink, shrink)


def smoothing_error(values: NDArray[np.generic], variance: float, sigma: float) -> float:
    """Stein's estimate of how far smoothing leaves the grid from the true one, up to a constant."""
    grid = np.asarray(values, dtype=np.float64)
    trace = grid.size * _weights(sigma)[0] ** grid.ndim
    rest = smoothed(grid, variance, sigma).heights - grid
    return float((rest**2).sum() + 2 * variance * trace)


def _weights(sigma: float) -> tuple[float, float]:
    """The filter's middle weight along an axis, and the sum of its squared weights."""
    if sigma == 0:
        return 1.0, 1.0
    impulse = np.zeros(2 * int(4 * sigma + 0.5) + 1)
    impulse[impulse.size // 2] = 1
    weights = ndimage.gaussian_filter1d(impulse, sigma, mode="constant")
    return float(weights.max()), float((weights**2).sum())


@dataclass(frozen=True, eq=False)
class PeakTree:
    """Peaks, and the passes at which they part, from the highest pass down.

    ``significance[i]`` says by how many standard errors the lower of the two summits that
    pass ``i`` parts rises above it.
    """

    basins: Integers  # the peak each cell climbs to; -1 below the floor
    peaks: Integers  # the cell of each peak
    summits: Floats  # and its height
    passes: Integers  # (m, 2): the peaks on either side
    heights: Floats
    significance: Floats

    @classmethod
    def of(cls, grid: Smoothed, floor: float) -> "PeakTree":
        """The tree over the cells above ``floor``."""
        basins, peaks = _climbed(grid.heights, grid.heights > floor)
        summits = grid.heights.ravel()[peaks]
        sides, heights = _passes(grid.heights, basins)
        return cls(basins, peaks, summits, *_spanning(sides, heights, summits, grid))

    def above(self, floor: float, grid: Smoothed) -> "PeakTree":
        """The same tree over the cells above a higher floor: climbs end where they did."""
        high, joined = self.summits > floor, self.heights > floor
        numbers = np.append(np.where(high, np.cumsum(high) - 1, -1), -1)
        basins = np.where(grid.heights > floor, numbers[self.basins], -1)
        passes = numbers[self.passes[joined]]
        rest = self.heights[joined], self.significance[joined]
        return PeakTree(basins, self.peaks[high], self.summits[high], passes, *rest)

    def labels(self, z: float, min_cells: int = 1) -> Integers:
        """Cut every pass that parts summits significantly; what stays together is a cluster."""
        together = self.passes[self.significance < z].tolist()
        parents = list(range(self.peaks.size))
        for a, b in together:
            parents[_root(parents, a)] = _root(parents, b)
        roots = np.array([_root(parents, i) for i in range(self.peaks.size)], dtype=np.int64)
        numbers = np.unique(roots, return_inverse=True)[1]
        return sifted(np.append(numbers, -1)[self.basins], min_cells)

    def n_clusters(self, z: float) -> int:
        """How many clusters a cut leaves, small ones included."""
        return self.peaks.size - int(np.count_nonzero(self.significance < z))


def _climbed(heights: Floats, above: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """The peak that each cell climbs to, and the peaks' cells."""
    flat, inside = heights.ravel(), np.flatnonzero(above)
    upwards = inside[np.argsort(-flat[inside], kind="stable")][::-1]
    cell_of = np.append(0, upwards)  # by rank, from 1, the lowest; rank 0 is below the floor
    ranks = np.zeros(heights.shape, dtype=np.int64)
    ranks.ravel()[upwards] = np.arange(1, inside.size + 1)
    best = ndimage.maximum_filter(ranks, size=3, mode="constant")
    uphill = np.append(0, best.ravel()[upwards])
    while not np.array_equal(further := uphill[uphill], uphill):
        uphill = further  # doubling: each round covers twice the climb
    summits = np.flatnonzero(uphill == np.arange(uphill.size))[1:]
    peaks = np.sort(cell_of[summits])
    numbers = np.full(uphill.size, -1, dtype=np.int64)
    numbers[ranks.ravel()[peaks]] = np.arange(peaks.size)
    return np.where(above, numbers[uphill][ranks], -1), peaks


def _passes(heights: Floats, basins: Integers) -> tuple[Integers, Floats]:
    """Pairs of peaks whose slopes touch, and the highest place where they do, highest first."""
    pairs, tops = [], []
    n_peaks = basins.max(initial=0) + 1
    for step in half_offsets(heights.ndim, "full"):
        here, there = _shifted(heights.ndim, step)
        a, b = basins[here], basins[there]
        touch = (a != b) & (a >= 0) & (b >= 0)
        low, high = np.minimum(a[touch], b[touch]), np.maximum(a[touch], b[touch])
        pairs.append(low * n_peaks + high)
        tops.append(np.minimum(heights[here][touch], heights[there][touch]))
    pair, top = _highest(np.concatenate(pairs), np.concatenate(tops))
    order = np.argsort(-top, kind="stable")
    return np.stack(np.divmod(pair[order], n_peaks), axis=1), top[order]


def _highest(pairs: Integers, tops: Floats) -> tuple[Integers, Floats]:
    """Each pair once, with the highest of its tops."""
    order = np.argsort(pairs)
    pairs, tops = pairs[order], tops[order]
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    return pairs[first], np.maximum.reduceat(tops, first) if first.size else tops


def _shifted(d: int, step: Integers) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Two views of a grid in which each cell meets its neighbour a step away."""
    ends = {-1: (slice(1, None), slice(None, -1)), 0: (slice(None), slice(None))}
    ends[1] = ends[-1][::-1]
    here, there = zip(*(ends[int(s)] for s in step), strict=True)
    return here, there


def _spanning(
    sides: Integers, heights: Floats, summits: Floats, grid: Smoothed
) -> tuple[Integers, Floats, Floats]:
    """The passes that first join two groups of peaks, and how clearly each parts them."""
    parents = list(range(summits.size))
    top = summits.tolist()
    kept, lower = [], []
    for place, (one, other) in enumerate(sides.tolist()):
        a, b = _root(parents, one), _root(parents, other)
        if a != b:
            high, low = (a, b) if top[a] >= top[b] else (b, a)
            parents[low] = high
            kept.append(place)
            lower.append(top[low])
    passes, P = heights[kept], np.array(lower)
    # Two noisy heights differ; and rows are themselves a draw: a count varies by its own size.
    error = 2 * grid.noise_variance + grid.shrink * np.maximum(P + passes, 0)
    return sides[kept], passes, (P - passes) / np.sqrt(np.maximum(error, 1e-12))


def _root(parents: list[int], place: int) -> int:
    while parents[place] != place:
        parents[place] = place = parents[parents[place]]
    return place
