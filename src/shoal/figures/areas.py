"""Where most people are, read off noisy counts: post-processing, so it costs nothing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Area", "dense_areas"]


@dataclass(frozen=True)
class Area:
    """A block of cells: its corners in the columns' units, its cells, their noisy sum."""

    low: tuple[float, float]
    high: tuple[float, float]
    cells: int
    noisy_count: int

    @property
    def middle(self) -> tuple[float, float]:
        """The centre of the block."""
        across, upwards = zip(self.low, self.high, strict=True)
        return sum(across) / 2, sum(upwards) / 2


def dense_areas(
    noisy_counts: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    how_many: int = 3,
    above: float = 0,
) -> list[Area]:
    """The ``how_many`` densest blocks of 3 x 3 cells that do not overlap, in order of count.

    A block adds nine counts up, so that one lucky draw of noise does not make an area; those of
    ``above`` or less are no areas. Peaks are taken first, then the best of what is left.

    Examples
    --------
    >>> counts = np.zeros((6, 6), dtype=int)
    >>> counts[1, 1], counts[4, 4] = 9, 5
    >>> [(a.middle, a.noisy_count) for a in dense_areas(counts, (0, 0), (6, 6), how_many=2)]
    [((1.5, 1.5), 9), ((4.5, 4.5), 5)]
    """
    counts = np.asarray(noisy_counts)
    corners = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    size = min(3, *counts.shape)
    blocks = np.lib.stride_tricks.sliding_window_view(counts, (size, size))
    sums = blocks.sum(axis=(2, 3))
    score = _block_scores(blocks)
    peaks = _is_peak(score)
    score[sums <= above] = -np.inf
    found: list[Area] = []
    while len(found) < how_many and np.any(np.isfinite(score)):
        best = np.where(peaks, score, -np.inf)
        best = best if np.any(np.isfinite(best)) else score
        i, j = (int(place) for place in np.unravel_index(int(np.argmax(best)), score.shape))
        found.append(_area(counts.shape, corners, (i, j), size, int(sums[i, j])))
        score[max(i - size + 1, 0) : i + size, max(j - size + 1, 0) : j + size] = -np.inf
    return sorted(found, key=lambda area: -area.noisy_count)


def _block_scores(blocks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each block's sum, its middle weighing most, so that blocks settle on their group."""
    weights = np.array({1: [1.0], 2: [1.0, 1.0], 3: [1.0, 2.0, 1.0]}[blocks.shape[-1]])
    return np.asarray(np.einsum("ijkl,k,l->ij", blocks, weights, weights))


def _is_peak(sums: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which blocks hold at least as much as all within two cells of them."""
    padded = np.pad(sums, 2, constant_values=-np.inf)
    around = np.lib.stride_tricks.sliding_window_view(padded, (5, 5)).max(axis=(2, 3))
    return np.asarray(sums >= around)


def _area(
    shape: tuple[int, ...],
    corners: tuple[NDArray[np.float64], NDArray[np.float64]],
    start: tuple[int, int],
    size: int,
    total: int,
) -> Area:
    low, high = corners
    step = (high - low) / shape
    first = low + step * start
    last = first + step * size
    return Area(_pair(first), _pair(last), size * size, total)


def _pair(corner: NDArray[np.float64]) -> tuple[float, float]:
    return float(corner[0]), float(corner[1])
