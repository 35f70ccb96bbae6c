"""The two types of arrays that most signatures use, and the nearest centre of points."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "nearest_centers"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_BLOCK = 2**15  # points compared at a time, so that ten million need little extra memory


def nearest_centers(points: Floats, centers: Floats, units: Floats | float = 1.0) -> Integers:
    """Return the number of the nearest centre of each point.

    Points far from 0 beside the distances between them lose digits: move both to the middle first.

    Parameters
    ----------
    units
        How much of each column counts as one unit of distance.

    Examples
    --------
    >>> nearest_centers(np.array([[1.0], [8.0]]), np.array([[0.0], [9.0]])).tolist()
    [0, 1]
    """
    scaled = centers / units
    # |x - c|^2 less |x|^2, halved: the same order, without the distances themselves.
    halves = (scaled**2).sum(axis=1) / 2
    labels = np.empty(len(points), dtype=np.int64)
    for start in range(0, len(points), _BLOCK):
        part = slice(start, start + _BLOCK)
        labels[part] = np.argmin(halves - (points[part] / units) @ scaled.T, axis=1)
    return labels
