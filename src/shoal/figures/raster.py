"""Released cells of any shape, and weighted points, on a regular grid of two columns."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DimensionMismatch

__all__ = ["raster_of_cells", "raster_of_points"]

Matrix = NDArray[np.float64]
_AT_ONCE = 2**16  # cells: their shares in all parts of an axis are in memory together


def raster_of_cells(
    low: ArrayLike, high: ArrayLike, weights: ArrayLike, *, within: ArrayLike, parts: int = 48
) -> NDArray[np.int64]:
    """Cells' weights spread evenly over their area, added up on a grid and rounded.

    Parameters
    ----------
    low, high, weights
        Two corners and a weight a cell; the cells may have any sizes and may overlap, as the
        shadows of cells in more columns do.
    within
        Low and high corner of the public box.
    parts
        Of the grid, along each axis.

    Examples
    --------
    >>> raster_of_cells([[0, 0]], [[2, 1]], [8], within=[[0, 0], [4, 2]], parts=2).tolist()
    [[8, 0], [0, 0]]
    """
    corners = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    box, weight = np.asarray(within, dtype=float), np.asarray(weights, dtype=float)
    _check_two(*corners, box)
    counts = np.zeros((parts, parts))
    for start in range(0, len(weight), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        low_some, high_some = corners[0][some], corners[1][some]
        shares = [_shares(low_some[:, i], high_some[:, i], box[:, i], parts) for i in range(2)]
        counts += (shares[0] * weight[some, None]).T @ shares[1]
    return np.asarray(np.rint(counts), dtype=np.int64)


def raster_of_points(
    points: ArrayLike, weights: ArrayLike, *, within: ArrayLike, parts: int = 48
) -> NDArray[np.int64]:
    """Points' weights added up on a grid and rounded; those outside count at its edge.

    Examples
    --------
    >>> raster_of_points([[0, 0], [9, 1]], [3, 4], within=[[0, 0], [4, 2]], parts=2).tolist()
    [[3, 0], [0, 4]]
    """
    places, box = np.asarray(points, dtype=float), np.asarray(within, dtype=float)
    _check_two(places, box)
    sides = [(low, high) for low, high in box.T]
    inside, weight = np.clip(places, box[0], box[1]), np.asarray(weights, dtype=float)
    counts, *_ = np.histogramdd(inside, bins=(parts, parts), range=sides, weights=weight)
    return np.asarray(np.rint(counts), dtype=np.int64)


def _shares(low: Matrix, high: Matrix, ends: Matrix, parts: int) -> Matrix:
    """How much of each cell's side lies in each part of an axis."""
    edges = np.linspace(ends[0], ends[1], parts + 1)
    overlap = np.minimum(high[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1])
    return np.asarray(np.maximum(overlap, 0) / (high - low)[:, None])


def _check_two(*arrays: Matrix) -> None:
    if any(array.ndim != 2 or array.shape[1] != 2 for array in arrays):
        raise DimensionMismatch(
            f"Arrays of shapes {', '.join(str(a.shape) for a in arrays)} came; a map shows two "
            "columns.",
            "Choose two columns, e.g. low[:, :2].",
        )
