"""Label the cells of a grid: connected components of chosen cells, and basins of peaks.

The rules that use it, persistence among them, are in ``grouping``.

*Components* are groups of chosen cells that touch, on a full grid or among listed cells only.

*Peaks*: from each cell, steepest ascent leads to a peak. The peaks and the passes between them form
a graph much smaller than the grid. Its spanning tree of highest passes tells the significance at
which any two peaks become separate clusters. The tree is built once; each cut of it is a
clustering.
"""

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from shoal.arrays import Floats, Integers

Connectivity = Literal["full", "faces"]


@dataclass(frozen=True, eq=False)
class LabelledCells:
    """The cluster labels of cells, with the threshold or the tree that gave them.

    Parameters
    ----------
    labels
        The cluster of each cell, -1 for none.
    threshold
        The level that cells had to reach, if there was one.
    tree
        Peaks and passes, if clusters are peaks.
    """

    labels: Integers
    threshold: float | None = None
    tree: "PeakTree | None" = None


def components(
    chosen: NDArray[np.bool_], connectivity: Connectivity = "full", min_cells: int = 1
) -> Integers:
    """Number the groups of chosen cells that touch, in the order of their first cell; -1 is none.

    Parameters
    ----------
    min_cells
        The fewest cells of a group; smaller ones are dropped.

    Returns
    -------
    The group of each cell, shaped like the grid.

    Examples
    --------
    >>> components(np.array([[True, False, True], [True, False, False]])).tolist()
    [[0, -1, 1], [0, -1, -1]]
    """
    reach = chosen.ndim if connectivity == "full" else 1
    labels, _ = ndimage.label(chosen, ndimage.generate_binary_structure(chosen.ndim, reach))
    return drop_small(labels.astype(np.int64) - 1, min_cells)


def listed_components(
    keys: Integers,
    shape: tuple[int, ...],
    connectivity: Connectivity = "full",
    min_cells: int = 1,
) -> Integers:
    """Number the groups of listed cells that touch, however large the grid.

    Parameters
    ----------
    min_cells
        The fewest cells of a group; smaller ones are dropped.

    Returns
    -------
    The group of each listed cell, -1 for none.

    Examples
    --------
    >>> listed_components(np.array([0, 2, 3]), (2, 3)).tolist()
    [0, 1, 0]
    """
    places = np.stack(np.unravel_index(keys, shape), axis=1)
    strides = np.append(np.cumprod(shape[:0:-1])[::-1], 1)
    starts, ends = [], []
    for offset in half_offsets(len(shape), connectivity):
        moved = places + offset
        inside = np.flatnonzero(((moved >= 0) & (moved < shape)).all(axis=1))
        wanted = keys[inside] + int(np.dot(offset, strides))
        at = np.searchsorted(keys, wanted)
        hit = at < keys.size
        hit[hit] = keys[at[hit]] == wanted[hit]
        starts.append(inside[hit])
        ends.append(at[hit])
    edges = np.concatenate(starts), np.concatenate(ends)
    graph = coo_array((np.ones(edges[0].size, dtype=bool), edges), shape=(keys.size, keys.size))
    return drop_small(connected_components(graph, directed=False)[1].astype(np.int64), min_cells)


def half_offsets(d: int, connectivity: Connectivity) -> Integers:
    """List the steps to the neighbours that come later in key order, so that each pair occurs once.

    Parameters
    ----------
    connectivity
        Whether cells touch by corners too ("full") or by "faces" only.
    """
    if connectivity == "faces":
        return np.eye(d, dtype=np.int64)
    return np.array([step for step in product((-1, 0, 1), repeat=d) if step > (0,) * d])


def drop_small(labels: Integers, min_cells: int) -> Integers:
    """Drop groups of fewer than ``min_cells`` cells, and renumber the others in order.

    Parameters
    ----------
    labels
        The group of each cell, -1 for none.
    """
    sizes = np.bincount(labels[labels >= 0])
    is_large = sizes >= max(min_cells, 1)
    numbers = np.where(is_large, np.cumsum(is_large) - 1, -1)
    # The appended entry is what label -1 reads.
    return np.append(numbers, -1)[labels]


@dataclass(frozen=True)
class SmoothGrid:
    """A grid after a Gaussian filter, and the variance of the noise left in each cell."""

    heights: Floats
    noise_variance: float
    shrink: float


def smooth_grid(values: NDArray[np.generic], variance: float, sigma: float) -> SmoothGrid:
    """Smooth a grid by a Gaussian filter; beyond the grid lie zeros.

    Parameters
    ----------
    sigma
        Width of the filter in cells; 0 leaves the grid as it is.

    Examples
    --------
    >>> round(smooth_grid(np.zeros((9, 9)), variance=1.0, sigma=1.0).noise_variance, 3)
    0.08
    """
    grid = np.asarray(values, dtype=np.float64)
    shrink = _weights(sigma)[1] ** grid.ndim
    if sigma > 0:
        grid = ndimage.gaussian_filter(grid, sigma, mode="constant")
    return SmoothGrid(grid, variance * shrink, shrink)


def smoothing_error(values: NDArray[np.generic], variance: float, sigma: float) -> float:
    """Estimate by Stein's formula how far a smoothed grid is from the true one, up to a
    constant.
    """
    grid = np.asarray(values, dtype=np.float64)
    trace = grid.size * _weights(sigma)[0] ** grid.ndim
    rest = smooth_grid(grid, variance, sigma).heights - grid
    return float((rest**2).sum() + 2 * variance * trace)


def _weights(sigma: float) -> tuple[float, float]:
    """Return the filter's middle weight along an axis, and the sum of its squared weights."""
    if sigma == 0:
        return 1.0, 1.0
    impulse = np.zeros(2 * int(4 * sigma + 0.5) + 1)
    impulse[impulse.size // 2] = 1
    weights = ndimage.gaussian_filter1d(impulse, sigma, mode="constant")
    return float(weights.max()), float((weights**2).sum())


@dataclass(frozen=True, eq=False)
class PeakTree:
    """The spanning tree of peaks: which passes separate them, from the highest pass down.

    Parameters
    ----------
    basins
        The peak that each cell climbs to; -1 below the floor.
    passes
        The peaks on either side of each pass, (m, 2).
    significance
        By how many standard errors the lower of the two summits rises above each pass.
    """

    basins: Integers
    peaks: Integers
    summits: Floats
    passes: Integers
    heights: Floats
    significance: Floats

    @classmethod
    def of(cls, grid: SmoothGrid, floor: float) -> "PeakTree":
        """Build the tree over the cells above ``floor``."""
        basins, peaks = _climb(grid.heights, grid.heights > floor)
        summits = grid.heights.ravel()[peaks]
        sides, heights = _passes(grid.heights, basins)
        return cls(basins, peaks, summits, *_spanning_tree(sides, heights, summits, grid))

    def above(self, floor: float, grid: SmoothGrid) -> "PeakTree":
        """Restrict the tree to the cells above a higher floor, without climbing again."""
        high, joined = self.summits > floor, self.heights > floor
        numbers = np.append(np.where(high, np.cumsum(high) - 1, -1), -1)
        basins = np.where(grid.heights > floor, numbers[self.basins], -1)
        passes = numbers[self.passes[joined]]
        rest = self.heights[joined], self.significance[joined]
        return PeakTree(basins, self.peaks[high], self.summits[high], passes, *rest)

    def labels(self, z: float, min_cells: int = 1) -> Integers:
        """Label the clusters left after every pass of at least this significance is cut."""
        together = self.passes[self.significance < z].tolist()
        parents = list(range(self.peaks.size))
        for a, b in together:
            parents[_root(parents, a)] = _root(parents, b)
        roots = np.array([_root(parents, i) for i in range(self.peaks.size)], dtype=np.int64)
        numbers = np.unique(roots, return_inverse=True)[1]
        return drop_small(np.append(numbers, -1)[self.basins], min_cells)

    def n_clusters(self, z: float) -> int:
        """Count the clusters that a cut leaves, small ones included."""
        return self.peaks.size - int(np.count_nonzero(self.significance < z))


def _climb(heights: Floats, above: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Return the peak that each cell climbs to, and the cell of each peak."""
    flat, inside = heights.ravel(), np.flatnonzero(above)
    upwards = inside[np.argsort(-flat[inside], kind="stable")][::-1]
    cell_of = np.append(0, upwards)  # by rank, from 1, the lowest; rank 0 is below the floor
    ranks = np.zeros(heights.shape, dtype=np.int64)
    ranks.ravel()[upwards] = np.arange(1, inside.size + 1)
    best = ndimage.maximum_filter(ranks, size=3, mode="constant")
    uphill = np.append(0, best.ravel()[upwards])
    while not np.array_equal(further := uphill[uphill], uphill):
        # Pointer doubling: each round covers twice the climb.
        uphill = further
    summits = np.flatnonzero(uphill == np.arange(uphill.size))[1:]
    peaks = np.sort(cell_of[summits])
    numbers = np.full(uphill.size, -1, dtype=np.int64)
    numbers[ranks.ravel()[peaks]] = np.arange(peaks.size)
    return np.where(above, numbers[uphill][ranks], -1), peaks


def _passes(heights: Floats, basins: Integers) -> tuple[Integers, Floats]:
    """Return pairs of peaks whose basins touch, and the height of the pass, highest first."""
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
    """Return each pair once, with its highest pass."""
    order = np.argsort(pairs)
    pairs, tops = pairs[order], tops[order]
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    return pairs[first], np.maximum.reduceat(tops, first) if first.size else tops


def _shifted(d: int, step: Integers) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return two views of a grid that pair each cell with its neighbour one step away."""
    ends = {-1: (slice(1, None), slice(None, -1)), 0: (slice(None), slice(None))}
    ends[1] = ends[-1][::-1]
    here, there = zip(*(ends[int(s)] for s in step), strict=True)
    return here, there


def _spanning_tree(
    sides: Integers, heights: Floats, summits: Floats, grid: SmoothGrid
) -> tuple[Integers, Floats, Floats]:
    """Return the passes that first join two groups of peaks, their heights and significance."""
    parents = list(range(summits.size))
    top = summits.tolist()
    joining, lower = [], []
    for place, (one, other) in enumerate(sides.tolist()):
        a, b = _root(parents, one), _root(parents, other)
        if a != b:
            high, low = (a, b) if top[a] >= top[b] else (b, a)
            parents[low] = high
            joining.append(place)
            lower.append(top[low])
    passes, P = heights[joining], np.array(lower)
    # Two sources of error: the noise of two heights, and the sampling variance of the rows.
    error = 2 * grid.noise_variance + grid.shrink * np.maximum(P + passes, 0)
    return sides[joining], passes, (P - passes) / np.sqrt(np.maximum(error, 1e-12))


def _root(parents: list[int], place: int) -> int:
    while parents[place] != place:
        parents[place] = place = parents[parents[place]]
    return place
